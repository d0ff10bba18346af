from timm.utils import update_summary

for epoch in range(3):
    train_metrics, eval_metrics = {"loss": 1.0 / (epoch + 1)}, {"loss": 0.5, "top1": 10.0 * epoch}
    lrs = [0.1, 0.2]
    update_summary(epoch, train_metrics, eval_metrics, "summary.csv", lr=sum(lrs) / len(lrs), write_header=epoch == 0)
