"""Trainers of other packages: what each constructor takes is read in tests/test_trainer_signatures.py."""

from adapters import AdapterTrainer
from gliner.training import Trainer as GlinerTrainer
from optimum.habana.trl import GaudiDDPOTrainer
from optimum.neuron import NeuronTrainer
from trl.experimental.async_grpo import AsyncGRPOTrainer


def build(model, args, reward, data, tokenizer, pipeline, prompts):
    adapter = AdapterTrainer(model=model, args=args, train_dataset=data)
    gliner = GlinerTrainer(model=model, args=args, train_dataset=data)
    neuron = NeuronTrainer(model, args)
    diffusion = GaudiDDPOTrainer(args, reward, prompts, pipeline)
    far = AsyncGRPOTrainer(model, reward, args, data, tokenizer)
    return adapter, gliner, neuron, diffusion, far
