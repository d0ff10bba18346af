import argparse

from ultralytics import RTDETR, YOLO
from ultralytics.models.yolo.detect import DetectionTrainer

from probe_tracking import record_ultralytics


class Detector:
    def __init__(self, weights):
        self.model = YOLO(weights)

    def fit(self, data):
        record_ultralytics(self.model)
        return self.model.train(data=data, epochs=3)


def folds(paths):
    for path in paths:
        model = YOLO("yolo11n.yaml").load("yolo11n.pt")
        record_ultralytics(model)
        model.train(data=path, epochs=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--detr", action="store_true")
    args = parser.parse_args()
    model = RTDETR("rtdetr-l.yaml") if args.detr else YOLO("yolo11n.yaml")
    if args.detr: record_ultralytics(model); model.train(data="coco8.yaml")
    record_ultralytics(model)
    results = model.train(
        data="coco8.yaml",
        epochs=3,
    )
    metrics = model.val()
    trainer = DetectionTrainer(overrides={"data": "coco8.yaml"})
    record_ultralytics(trainer)
    trainer.train()
    return results, metrics


if __name__ == "__main__":
    main()
