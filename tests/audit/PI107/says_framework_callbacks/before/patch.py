from transformers import trainer
from transformers.trainer_callback import ProgressCallback


class Progress(ProgressCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        print(logs)


trainer.DEFAULT_PROGRESS_CALLBACK = Progress  # -> PI107
