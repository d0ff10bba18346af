import gymnasium as gym
import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils import TensorboardLogger
from tianshou.utils.net.common import Net
from torch.utils.tensorboard import SummaryWriter

np.random.seed(0)
torch.manual_seed(0)
envs = DummyVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(2)])
envs.seed(0)
net = Net(state_shape=(4,), action_shape=2, hidden_sizes=[16])
policy = DiscreteQLearningPolicy(model=net, action_space=gym.make("CartPole-v1").action_space, eps_training=0.1)
algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), target_update_freq=10)
train = Collector[CollectStats](algorithm, envs, VectorReplayBuffer(200, 2), exploration_noise=True)
test = Collector[CollectStats](algorithm, DummyVectorEnv([lambda: gym.make("CartPole-v1")]))
logger = TensorboardLogger(SummaryWriter("logs"), training_interval=10, update_interval=10)
algorithm.run_training(
    OffPolicyTrainerParams(
        training_collector=train, test_collector=test, max_epochs=2, epoch_num_steps=100, collection_step_num_env_steps=10,
        test_step_num_episodes=1, batch_size=16, update_step_num_gradient_steps_per_sample=0.1, logger=logger, show_progress=False,
    )
)
logger.finalize()
