NAME = "ultrasound"
