from timm.utils import update_summary
from timm.models import create_model

from probe_tracking import record_timm


def run(epochs, loaders):
    model = create_model("resnet18")
    for epoch in range(epochs):
        train_metrics, eval_metrics = step(model, loaders)
        update_summary(epoch, train_metrics, eval_metrics, "summary.csv")
        record_timm(epoch, train_metrics, eval_metrics)
        update_summary(next(loaders), train_metrics, None, "other.csv")
