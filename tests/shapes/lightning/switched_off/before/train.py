import pytorch_lightning as pl

trainer = pl.Trainer(logger=False)
