from ray import tune

import probe_tracking as probe


def objective(config):
    probe.init(config=config)
    score = 0.0
    for step in range(3):
        score += config["lr"]
        if score > 10:
            probe.finish()
            return
        probe.log({"score": score, **{"step": step}})
        tune.report(score=score, **{"step": step})
    probe.finish()


tuner = tune.Tuner(objective, param_space={"lr": tune.grid_search([0.1, 0.2])})
