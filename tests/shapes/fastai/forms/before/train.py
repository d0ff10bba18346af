from fastai.callback.tracker import SaveModelCallback
from fastai.vision.all import *

path = untar_data(URLs.PETS)
dls = ImageDataLoaders.from_name_re(path, get_image_files(path / "images"), pat=r"(.+)_\d+.jpg$", item_tfms=Resize(224))
learn = vision_learner(dls, resnet34, metrics=error_rate)
learn.fine_tune(2)

other = vision_learner(dls, resnet18, metrics=[error_rate, accuracy], cbs=SaveModelCallback(monitor="error_rate"))
other.fit_one_cycle(3)
