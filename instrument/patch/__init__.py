"""Proofs, diff, atomic write, undo."""
