from timm.utils import update_summary
from timm.models import create_model


def run(epochs, loaders):
    model = create_model("resnet18")
    for epoch in range(epochs):
        train_metrics, eval_metrics = step(model, loaders)
        update_summary(epoch, train_metrics, eval_metrics, "summary.csv")
        update_summary(next(loaders), train_metrics, None, "other.csv")
