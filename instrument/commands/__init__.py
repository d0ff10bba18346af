"""The commands, one file each: a module here with a function `register(app)` is a command; nothing else lists it."""
