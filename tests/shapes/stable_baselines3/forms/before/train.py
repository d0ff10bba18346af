from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.callbacks import CallbackList, CheckpointCallback, EvalCallback


def plain(env):
    model = PPO("MlpPolicy", env).learn(10_000)
    model.save("ppo")


def with_a_list(env):
    model = SAC("MlpPolicy", env)
    model.learn(
        total_timesteps=10_000,
        callback=[CheckpointCallback(1000, "checkpoints"), EvalCallback(env)],
    )


def with_one(env):
    model = RecurrentPPO("MlpLstmPolicy", env)
    callback = CallbackList([EvalCallback(env)])
    model.learn(10_000, callback)


def learning_on(env, callback=None):
    model = PPO.load("ppo", env=env)
    for _ in range(10):
        model.learn(total_timesteps=1000, reset_num_timesteps=False, callback=callback)


def with_a_function(env):
    def callback(locals_, globals_):
        return True

    SAC("MlpPolicy", env).learn(1000, callback=callback)
