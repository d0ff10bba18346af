"""Platforms that know a run's state and hold no run handle: one file each, used only with `--push`.

A module here has an object `RULE`, as in `launch/`; its hook is `templates/push/NAME...`.
"""
