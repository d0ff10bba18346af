import lightning.pytorch as pl
from lightning.pytorch.loggers import CSVLogger, WandbLogger

from probe_tracking import ProbeLogger


def fit(model, choice):
    trainer = pl.Trainer(max_epochs=1)
    trainer.loggers.append(ProbeLogger())
    trainer.fit(model)
    one = pl.Trainer(logger=[WandbLogger(), ProbeLogger()])
    two = pl.Trainer(logger=[CSVLogger("logs"), ProbeLogger()])
    three = pl.Trainer(logger=choice)
    three.loggers.append(ProbeLogger())
    return one, two, three
