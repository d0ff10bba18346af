from keras.preprocessing.image import ImageDataGenerator
from sklearn.preprocessing import StandardScaler
from tensorflow.keras.utils import to_categorical


def prepare(x, y, images, model):
    scaler = StandardScaler().fit(x)
    ImageDataGenerator(featurewise_center=True).fit(images)
    model.fit(x, y)
    return scaler, to_categorical(y)
