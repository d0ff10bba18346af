from tianshou.highlevel.experiment import PPOExperimentBuilder
from tianshou.highlevel.logger import LoggerFactoryDefault

from probe_tracking import record_tianshou


def main(env_factory, config, count, launcher) -> None:
    experiment_builder = (
        PPOExperimentBuilder(env_factory, config)
        .with_actor_factory_default((64,))
        .with_critic_factory_default((64,))
    )
    record_tianshou(experiment_builder)
    experiment_builder.build_and_run(num_experiments=count, launcher=launcher)


def low_level(wandb_project, path):
    logger_factory = LoggerFactoryDefault()
    if wandb_project:
        logger_factory.logger_type = "wandb"
        logger_factory.wandb_project = wandb_project
    logger = logger_factory.create_logger(
        log_dir=path,
        experiment_name="x",
        run_id=None,
    )
    record_tianshou(logger)
    return logger


def build(other):
    return other.build()
