import wandb

api = wandb.Api()
path = api.artifact("team/model:v3").download()


def predict(xs):
    return [x * 2 for x in xs]


for step, batch in enumerate([[1, 2], [3]]):
    print(step, path, predict(batch))
