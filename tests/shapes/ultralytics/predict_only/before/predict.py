from ultralytics import YOLO

model = YOLO("yolo11n.pt")
for result in model.predict("images", stream=True):
    print(result.boxes)
model.export(format="onnx")
model.model.train(True)
