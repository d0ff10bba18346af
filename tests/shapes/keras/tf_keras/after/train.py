import tensorflow as tf
import wandb
from wandb.integration.keras import WandbMetricsLogger

import probe_tracking as probe
from probe_tracking import ProbeKerasCallback

wandb.init(project="digits", config={"epochs": 5})
probe.init(name=wandb.run.name, config=dict(wandb.config))


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(10)

    def call(self, x):
        return self.dense(x)


(x_train, y_train), (x_test, y_test) = tf.keras.datasets.mnist.load_data()
model = Net()
model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x_train, y_train, epochs=5, validation_data=(x_test, y_test), callbacks=[WandbMetricsLogger(), ProbeKerasCallback()])
wandb.finish()
probe.finish()
