"""Trainers whose constructor has no `callbacks`."""

from setfit import DistillationTrainer, SetFitTrainer
from trl import IterativeSFTTrainer


def old(model, data):
    trainer = SetFitTrainer(model=model, train_dataset=data)
    trainer.train()


def distill(teacher, student, args, data):
    trainer = DistillationTrainer(teacher_model=teacher, student_model=student, args=args, train_dataset=data)
    trainer.train()


def iterate(model, args, tokenizer):
    trainer = IterativeSFTTrainer(model=model, args=args, tokenizer=tokenizer)
    return trainer
