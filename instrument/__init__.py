"""Wire Probe into machine-learning trainers: read the repository, write the smallest change, prove it."""

__version__ = "0.1.0"
