import keras


def train(x, y, **settings):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model.fit(x, y, **settings)
