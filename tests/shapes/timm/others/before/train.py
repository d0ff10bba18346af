import timm


def update_summary(epoch, train_metrics, eval_metrics):
    print(epoch, train_metrics, eval_metrics)


model = timm.create_model("resnet18")
update_summary(1, {}, {})
