from nemo_rl.algorithms.grpo import MasterConfig, grpo_train, setup

import probe_tracking as probe


def main():
    config: MasterConfig = MasterConfig()
    policy, generation, cluster, dataloader, loss_fn, logger, checkpointer, state, master_config = setup(config, None)
    logger.loggers.append(probe.Logger(config=config))
    grpo_train(policy, generation, dataloader, loss_fn, logger, checkpointer, state, master_config)


if __name__ == "__main__":
    main()
