from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy

model = PPO.load("ppo")
print(evaluate_policy(model, model.get_env()))


class Student:
    def learn(self, lessons):
        return lessons


Student().learn(3)
