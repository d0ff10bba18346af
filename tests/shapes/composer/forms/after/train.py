import composer
from composer import Trainer
from composer.loggers import InMemoryLogger, TensorboardLogger, WandBLogger

from probe_tracking import ProbeComposerLogger, with_callback


def main(model, data, args):
    trainer = Trainer(model=model, train_dataloader=data, max_duration="1ep", loggers=ProbeComposerLogger())
    trainer.fit()
    Trainer(
        model=model,
        train_dataloader=data,
        loggers=[
            WandBLogger(project="x"),
            InMemoryLogger(),
            ProbeComposerLogger(),
        ],
    ).fit()
    one = composer.Trainer(model=model, loggers=[TensorboardLogger("logs"), ProbeComposerLogger()], max_duration="1ep")
    none = Trainer(model=model, loggers=ProbeComposerLogger())
    loggers = []
    if args.wandb:
        loggers.append(WandBLogger())
    named = Trainer(model=model, loggers=[*loggers, ProbeComposerLogger()])
    known_when_run = Trainer(model=model, loggers=with_callback(args.loggers, ProbeComposerLogger()))
    return one, none, named, known_when_run
