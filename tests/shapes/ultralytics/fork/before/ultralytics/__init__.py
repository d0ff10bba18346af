__version__ = "8"
from ultralytics.models import YOLO
