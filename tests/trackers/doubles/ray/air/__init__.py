"""Only what the programs import."""
