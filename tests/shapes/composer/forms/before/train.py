import composer
from composer import Trainer
from composer.loggers import InMemoryLogger, TensorboardLogger, WandBLogger


def main(model, data, args):
    trainer = Trainer(model=model, train_dataloader=data, max_duration="1ep")
    trainer.fit()
    Trainer(
        model=model,
        train_dataloader=data,
        loggers=[
            WandBLogger(project="x"),
            InMemoryLogger(),
        ],
    ).fit()
    one = composer.Trainer(model=model, loggers=TensorboardLogger("logs"), max_duration="1ep")
    none = Trainer(model=model, loggers=None)
    loggers = []
    if args.wandb:
        loggers.append(WandBLogger())
    named = Trainer(model=model, loggers=loggers)
    known_when_run = Trainer(model=model, loggers=args.loggers)
    return one, none, named, known_when_run
