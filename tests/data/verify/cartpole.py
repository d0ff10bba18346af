"""A policy gradient on CartPole, logged as single-file RL scripts do: TensorBoard by step, W&B synced with it."""

import gymnasium
import torch
import wandb
from torch.utils.tensorboard import SummaryWriter

import probe

torch.manual_seed(1)
wandb.init(project="toy", sync_tensorboard=True, name="cartpole", config={"lr": 0.01})
writer = SummaryWriter("runs/cartpole")
probe.init(name="cartpole", config={"lr": 0.01})
env = gymnasium.make("CartPole-v1")
policy = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
global_step = 0
for episode in range(12):
    observation, _ = env.reset(seed=episode)
    logs, rewards, done = [], [], False
    while not done:
        choice = torch.distributions.Categorical(logits=policy(torch.as_tensor(observation)))
        action = choice.sample()
        observation, reward, terminated, truncated, _ = env.step(action.item())
        logs.append(choice.log_prob(action))
        rewards.append(reward)
        done = terminated or truncated
        global_step += 1
    loss = -torch.stack(logs).sum() * sum(rewards) / 100
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    writer.add_scalar("charts/episodic_return", sum(rewards), global_step)
    probe.log({"charts/episodic_return": sum(rewards)}, step=global_step)
    writer.add_scalar("losses/policy_loss", loss.item(), global_step)
    probe.log({"losses/policy_loss": loss.item()}, step=global_step)
probe.finish()
writer.close()
wandb.finish()
