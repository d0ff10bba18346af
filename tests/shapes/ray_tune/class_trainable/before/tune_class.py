"""A trial is a class: several ways out of `step`, no `cleanup` of its own."""

from ray import tune


class Climb(tune.Trainable):
    def setup(self, config):
        """Take the trial's settings."""
        self.rate = config["rate"]
        self.height = 0.0

    def step(self):
        self.height += self.rate
        if self.height > 3:
            return {"height": self.height, "done": True}
        result = {"height": self.height}
        return result


if __name__ == "__main__":
    tuner = tune.Tuner(
        tune.with_resources(Climb, {"cpu": 1}),
        param_space={"rate": tune.grid_search([1.0, 2.0])},
        run_config=tune.RunConfig(stop={"training_iteration": 3}),
    )
    print(len(tuner.fit()))
