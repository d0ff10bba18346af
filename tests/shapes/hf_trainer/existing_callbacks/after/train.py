from transformers import EarlyStoppingCallback, Seq2SeqTrainer

from probe_tracking import ProbeCallback


def build(model, args, extra=None):
    first = Seq2SeqTrainer(model, args, callbacks=[EarlyStoppingCallback(), ProbeCallback()])
    second = Seq2SeqTrainer(model, args, callbacks=[*(extra or []), ProbeCallback()])
    return first, second
