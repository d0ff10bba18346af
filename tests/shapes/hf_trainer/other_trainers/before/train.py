from mylib import Trainer

trainer = Trainer(model=None)
trainer.train()
