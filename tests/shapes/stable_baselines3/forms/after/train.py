from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.callbacks import CallbackList, CheckpointCallback, EvalCallback

from probe_tracking import ProbeSB3Callback, sb3_callback


def plain(env):
    model = PPO("MlpPolicy", env).learn(10_000, callback=ProbeSB3Callback())
    model.save("ppo")


def with_a_list(env):
    model = SAC("MlpPolicy", env)
    model.learn(
        total_timesteps=10_000,
        callback=[CheckpointCallback(1000, "checkpoints"), EvalCallback(env), ProbeSB3Callback()],
    )


def with_one(env):
    model = RecurrentPPO("MlpLstmPolicy", env)
    callback = CallbackList([EvalCallback(env)])
    model.learn(10_000, sb3_callback(callback))


def learning_on(env, callback=None):
    model = PPO.load("ppo", env=env)
    for _ in range(10):
        model.learn(total_timesteps=1000, reset_num_timesteps=False, callback=sb3_callback(callback))


def with_a_function(env):
    def callback(locals_, globals_):
        return True

    SAC("MlpPolicy", env).learn(1000, callback=sb3_callback(callback))
