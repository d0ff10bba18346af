"""A trainer whose step counter is an attribute that its checkpoint does not have."""

import os
import pickle
import random
import signal

import probe


class Trainer:
    def __init__(self, path):
        self.path = path
        self.weight = 5.0
        self.epoch = 0
        self.global_step = 0

    def save_checkpoint(self):
        with open(self.path, "wb") as file:
            pickle.dump({"weight": self.weight, "epoch": self.epoch}, file)

    def load_checkpoint(self):
        with open(self.path, "rb") as file:
            state = pickle.load(file)
        self.weight = state["weight"]
        self.epoch = state["epoch"]

    def train_step(self):
        self.weight -= 0.1 * self.weight * random.random()
        probe.log({"train/loss": self.weight**2}, step=self.global_step)
        self.global_step += 1
        if os.environ.get("KILL_AT") == str(self.global_step):
            os.kill(os.getpid(), signal.SIGKILL)

    def fit(self, epochs):
        if os.path.exists(self.path):
            self.load_checkpoint()
        while self.epoch < epochs:
            for _ in range(5):
                self.train_step()
            self.epoch += 1
            self.save_checkpoint()


random.seed(1)
probe.init(name="class", external_id="job-8", capture_reads=False, capture_outputs=False)
Trainer("checkpoint.pkl").fit(4)
probe.finish()
