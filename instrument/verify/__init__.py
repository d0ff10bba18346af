"""Run the trainer offline, read both records, compare."""
