"""Loops that no tracker records: what they print, whether they train, where a run begins and ends, and its steps."""
