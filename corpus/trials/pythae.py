import torch
from pythae.data.datasets import BaseDataset
from pythae.models import VAE, VAEConfig
from pythae.trainers import BaseTrainer, BaseTrainerConfig
from pythae.trainers.training_callbacks import WandbCallback

torch.manual_seed(0)
inputs = torch.rand(32, 1, 4, 4)
data = BaseDataset(inputs, torch.ones(32))
model = VAE(VAEConfig(input_dim=(1, 4, 4), latent_dim=2))
config = BaseTrainerConfig(
    output_dir="out", num_epochs=3, per_device_train_batch_size=8, per_device_eval_batch_size=8, no_cuda=True
)
tracked = WandbCallback()
tracked.setup(training_config=config, model_config=model.model_config, project_name="toy")
BaseTrainer(model=model, train_dataset=data, eval_dataset=data, training_config=config, callbacks=[tracked]).train()
