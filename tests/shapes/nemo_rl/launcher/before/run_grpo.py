from nemo_rl.algorithms.grpo import MasterConfig, grpo_train, setup


def main():
    config: MasterConfig = MasterConfig()
    policy, generation, cluster, dataloader, loss_fn, logger, checkpointer, state, master_config = setup(config, None)
    grpo_train(policy, generation, dataloader, loss_fn, logger, checkpointer, state, master_config)


if __name__ == "__main__":
    main()
