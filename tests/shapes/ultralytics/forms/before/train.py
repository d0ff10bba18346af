import argparse

from ultralytics import RTDETR, YOLO
from ultralytics.models.yolo.detect import DetectionTrainer


class Detector:
    def __init__(self, weights):
        self.model = YOLO(weights)

    def fit(self, data):
        return self.model.train(data=data, epochs=3)


def folds(paths):
    for path in paths:
        YOLO("yolo11n.yaml").load("yolo11n.pt").train(data=path, epochs=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--detr", action="store_true")
    args = parser.parse_args()
    model = RTDETR("rtdetr-l.yaml") if args.detr else YOLO("yolo11n.yaml")
    if args.detr: model.train(data="coco8.yaml")
    results = model.train(
        data="coco8.yaml",
        epochs=3,
    )
    metrics = model.val()
    trainer = DetectionTrainer(overrides={"data": "coco8.yaml"})
    trainer.train()
    return results, metrics


if __name__ == "__main__":
    main()
