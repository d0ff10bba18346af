from . import app, flags
