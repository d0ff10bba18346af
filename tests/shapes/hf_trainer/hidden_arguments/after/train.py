from trl import SFTTrainer

from probe_tracking import ProbeCallback


class Mine(SFTTrainer):
    pass


def run(**kwargs):
    trainer = Mine(**kwargs)
    trainer.add_callback(ProbeCallback())
    trainer.train()
    logged_trainer = Mine(**kwargs)
    logged_trainer.add_callback(ProbeCallback())
    logged_trainer.train()
