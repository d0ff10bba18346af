class YOLO:
    def train(self, **kwargs):
        return kwargs
