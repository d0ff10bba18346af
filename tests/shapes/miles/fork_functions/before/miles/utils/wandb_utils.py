def open_run(args, primary):
    if not args.use_wandb:
        return
    import wandb

    wandb.init(project="toy", group=args.wandb_group, name=None if primary else "worker", config=vars(args))
    wandb.define_metric("train/step")
    wandb.define_metric("train/*", step_metric="train/step")
