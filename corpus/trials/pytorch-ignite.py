import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers.wandb_logger import WandBLogger
from ignite.metrics import Loss
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
inputs = torch.randn(32, 2)
loader = DataLoader(TensorDataset(inputs, inputs.sum(1, keepdim=True)), batch_size=8)
model, mse = torch.nn.Linear(2, 1), torch.nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
trainer = create_supervised_trainer(model, optimizer, mse)
evaluator = create_supervised_evaluator(model, metrics={"mse": Loss(mse)})
trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda engine: evaluator.run(loader))
step = {"global_step_transform": lambda engine, event: trainer.state.iteration}
logger = WandBLogger(project="toy")
logger.attach_output_handler(
    trainer, Events.ITERATION_COMPLETED, tag="train", output_transform=lambda loss: {"loss": loss}, **step
)
logger.attach_output_handler(evaluator, Events.COMPLETED, tag="val", metric_names="all", **step)
trainer.run(loader, max_epochs=3)
