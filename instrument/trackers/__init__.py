"""Existing trackers, one file each: how they are opened, logged to and closed."""
