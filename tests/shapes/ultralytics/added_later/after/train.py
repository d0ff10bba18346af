from probe_tracking import record_ultralytics
from ultralytics import YOLO


def first():
    model = YOLO("yolo11n.pt")
    record_ultralytics(model)
    model.train(data="coco8.yaml")


def second():
    model = YOLO("yolo11n.pt")
    record_ultralytics(model)
    model.train(data="coco8.yaml")
