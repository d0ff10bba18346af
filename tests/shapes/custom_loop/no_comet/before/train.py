from comet_ml import Experiment

experiment = Experiment()
w = 2.0
for epoch in range(3):
    grad = 2 * w
    w -= 0.1 * grad
    print("loss", w * w)
    experiment.log_metric("loss", w * w)
