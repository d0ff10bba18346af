from transformers import Trainer

trainer = Trainer(model=None, args=None)
for epoch in range(3):
    trainer.train()
    loss = trainer.state.log_history[-1]["loss"]
    print("loss", loss)
