"""Metric-hygiene rules."""
