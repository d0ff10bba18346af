from trl import SFTTrainer


class Mine(SFTTrainer):
    pass


def run(**kwargs):
    trainer = Mine(**kwargs)
    trainer.train()
    Mine(**kwargs).train()
