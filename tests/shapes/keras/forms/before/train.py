from keras.callbacks import EarlyStopping
from keras.layers import Dense
from keras.models import Sequential, load_model


def build():
    model = Sequential([Dense(8), Dense(1)])
    model.compile("adam", "mse")
    return model


def with_a_list(x, y, rate):
    model = build()
    model.fit(
        x,
        y,
        epochs=3,
        callbacks=[
            EarlyStopping(patience=2),
        ],
    )


def with_a_name(x, y):
    callbacks = [EarlyStopping()]
    for fold in range(3):
        build().fit(x, y, callbacks=callbacks)


def with_a_parameter(x, y, callbacks=None):
    return build().fit(x, y, 32, 3, 1, callbacks)


def with_none(x, y):
    load_model("model.keras").fit(x, y, callbacks=None)


def from_elsewhere(model, x, y):
    model.compile("adam", "mse")
    model.fit(x, y, epochs=3, batch_size=8, callbacks=EarlyStopping())
