"""Trainers of other packages: what each constructor takes is read in tests/test_trainer_signatures.py."""

from adapters import AdapterTrainer
from gliner.training import Trainer as GlinerTrainer
from optimum.habana.trl import GaudiDDPOTrainer
from optimum.neuron import NeuronTrainer
from trl.experimental.async_grpo import AsyncGRPOTrainer

from probe_tracking import ProbeCallback, ProbeTracker


def build(model, args, reward, data, tokenizer, pipeline, prompts):
    adapter = AdapterTrainer(model=model, args=args, train_dataset=data, callbacks=[ProbeCallback()])
    gliner = GlinerTrainer(model=model, args=args, train_dataset=data, callbacks=[ProbeCallback()])
    neuron = NeuronTrainer(model, args, callbacks=[ProbeCallback()])
    diffusion = GaudiDDPOTrainer(args, reward, prompts, pipeline)
    diffusion.accelerator.trackers.append(ProbeTracker(config=vars(diffusion.config)))
    far = AsyncGRPOTrainer(model, reward, args, data, tokenizer)
    far.add_callback(ProbeCallback())
    return adapter, gliner, neuron, diffusion, far
