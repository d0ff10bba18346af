"""Work that is already done, brought to Probe: what `instrument import` finds, and how it is sent.

`find` walks a folder for the stores of trackers, `sources/` reads them (one file a tracker), `send` writes a run
through the SDK (`work` many of them), `ledger` remembers which are there. Nothing of the repository is run.
"""
