import json


class JsonLogger:
    """Appends rows to a file."""

    def __init__(self, path):
        self.path = path
        open(path, "w").close()

    def write(self, row):
        with open(self.path, "a") as file:
            file.write(json.dumps(row) + "\n")
