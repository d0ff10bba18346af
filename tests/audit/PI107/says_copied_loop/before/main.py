from loop import fit
from trainer import Trainer

Trainer.fit = fit  # -> PI107
Trainer().fit()
