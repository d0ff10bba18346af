"""Trainer frameworks, one file each: where a backend is registered in them."""
