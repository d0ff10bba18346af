import os
from pathlib import Path

os.environ["YOLO_CONFIG_DIR"] = "."

import cv2
import numpy as np
from ultralytics import YOLO, settings

settings.update({"mlflow": False, "sync": False})
rng = np.random.default_rng(0)
for split in ("train", "val"):
    images, labels = Path("data/images", split), Path("data/labels", split)
    images.mkdir(parents=True)
    labels.mkdir(parents=True)
    for i in range(4):
        cv2.imwrite(str(images / f"{i}.png"), rng.integers(0, 255, (32, 32, 3), dtype=np.uint8))
        (labels / f"{i}.txt").write_text("0 0.5 0.5 0.4 0.4\n")
Path("data.yaml").write_text(f"path: {Path('data').resolve()}\ntrain: images/train\nval: images/val\nnames:\n  0: thing\n")

if __name__ == "__main__":
    model = YOLO("yolo11n.yaml")
    model.train(
        data="data.yaml", epochs=2, imgsz=32, batch=4, device="cpu", workers=0, project=str(Path("runs").resolve()), name="one",
        plots=False, amp=False, seed=0, verbose=False,
    )  # fmt: skip
