from tianshou.highlevel.config import OffPolicyTrainingConfig
from tianshou.highlevel.env import EnvFactoryRegistered, VectorEnvType
from tianshou.highlevel.experiment import DQNExperimentBuilder, ExperimentConfig


def main() -> None:
    experiment = (
        DQNExperimentBuilder(
            EnvFactoryRegistered(task="CartPole-v1", venv_type=VectorEnvType.DUMMY),
            ExperimentConfig(persistence_enabled=False),
            OffPolicyTrainingConfig(max_epochs=10),
        )
        .with_model_factory_default(hidden_sizes=(64, 64))
        .build()
    )
    experiment.run()


if __name__ == "__main__":
    main()
