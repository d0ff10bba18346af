from ultralytics import YOLO

YOLO("yolo11n.yaml").train(data="coco8.yaml")
