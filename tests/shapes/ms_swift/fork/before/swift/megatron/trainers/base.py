from swift.megatron.callbacks import megatron_callbacks_map
from swift.utils import is_last_rank


class BaseMegatronTrainer:

    def __init__(self, args, state):
        self.args = args
        self.state = state
        self.callbacks = []
        for callback in args.callbacks:
            self.callbacks.append(megatron_callbacks_map[callback](self))

        self.best = None

    def call_event(self, event, **kwargs):
        for callback in self.callbacks:
            getattr(callback, event)(**kwargs)

    def on_log(self, logs, prefix=''):
        if prefix:
            logs = {f'{prefix}{k}': v for k, v in logs.items()}
        self.call_event('on_log', logs=logs)

    def finalize_training(self):
        """Cleanup after training loop completes."""
        self.call_event('on_train_end')

    def save(self, metrics):
        if is_last_rank():
            self.best = metrics
