import json

import torch
from fastai.callback.schedule import *
from fastai.data.core import DataLoaders
from fastai.learner import Learner
from fastai.metrics import mse, mae
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
data = torch.utils.data.TensorDataset(x, y)
from fastai.data.load import DataLoader
dls = DataLoaders(DataLoader(data, bs=16), DataLoader(data, bs=16))
learn = Learner(dls, nn.Linear(4, 1), loss_func=nn.MSELoss(), metrics=[mae])
learn.lr_find(num_it=5, show_plot=False)
record = []
learn.fit(2, lr=0.01)
record.append([list(map(float, v)) for v in learn.recorder.values])
learn.fit_one_cycle(3)
record.append([list(map(float, v)) for v in learn.recorder.values])
json.dump(record, open("record.json", "w"))
