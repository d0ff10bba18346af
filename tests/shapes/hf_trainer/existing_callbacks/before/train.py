from transformers import EarlyStoppingCallback, Seq2SeqTrainer


def build(model, args, extra=None):
    first = Seq2SeqTrainer(model, args, callbacks=[EarlyStoppingCallback()])
    second = Seq2SeqTrainer(model, args, callbacks=extra)
    return first, second
