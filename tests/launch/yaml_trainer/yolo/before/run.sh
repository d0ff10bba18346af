#!/bin/bash
yolo detect train data=coco8.yaml model=yolo11n.pt epochs=3
yolo task=detect mode=predict model=yolo11n.pt source=train
