from rllm.trainer import AgentTrainer


def main(config):
    trainer = AgentTrainer(config=config, backend="verl")
    trainer.train()
