"""Launchers and dependency files, one file a kind."""
