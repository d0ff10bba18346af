from ray import tune


def objective(config):
    score = 0.0
    for step in range(3):
        score += config["lr"]
        if score > 10:
            return
        tune.report(score=score, **{"step": step})


tuner = tune.Tuner(objective, param_space={"lr": tune.grid_search([0.1, 0.2])})
