"""One file a rule (see `instrument/audit/rule.py`)."""
