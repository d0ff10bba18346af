import lightning.pytorch as pl
from lightning.pytorch.loggers import CSVLogger, WandbLogger


def fit(model, choice):
    pl.Trainer(max_epochs=1).fit(model)
    one = pl.Trainer(logger=WandbLogger())
    two = pl.Trainer(logger=[CSVLogger("logs")])
    three = pl.Trainer(logger=choice)
    return one, two, three
