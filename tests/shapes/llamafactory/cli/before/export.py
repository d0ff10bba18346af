from llamafactory.train.tuner import export_model

export_model()
