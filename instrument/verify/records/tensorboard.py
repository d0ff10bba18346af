"""TensorBoard's event files, wherever a program put them: TFRecord frames of `Event` messages (tensorboard 2.21).

Read as bytes, so that neither TensorFlow nor tensorboard has to be installed beside this tool; a test holds the result
against tensorboard's own reader. A folder is a run, as in TensorBoard. Values are 32-bit floats there.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from instrument.verify.model import Process, Run
from instrument.verify.records import Reader
from instrument.verify.records._wire import Field, decode, one

_TENSOR = {
    "dtype": Field(1, "int"),
    "content": Field(4, "bytes"),
    "float_val": Field(5, "bytes"),
    "double_val": Field(6, "bytes"),
}
_VALUE = {
    "tag": Field(1, "text"),
    "simple": Field(2, "float"),
    "tensor": Field(8, "message", _TENSOR),
    "metadata": Field(9, "message", {"plugin": Field(1, "message", {"name": Field(1, "text")})}),
}
EVENT = {
    "wall": Field(1, "double"),
    "step": Field(2, "int"),
    "summary": Field(5, "message", {"value": Field(1, "message", _VALUE)}),
}
#: TensorFlow's numbers of the types that scalars are stored in, as struct has them.
_TYPES = {1: "<f", 2: "<d", 3: "<i", 9: "<q"}


def events(data: bytes) -> Iterator[bytes]:
    """The messages of an event file. A cut end (still being written) is left out."""
    position = 0
    while position + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, position)
        start = position + 12
        if start + length + 4 > len(data):
            return
        yield data[start : start + length]
        position = start + length + 4


def scalar(value: Mapping[str, list[Any]]) -> float | None:
    """The number of a summary value, in any of the forms that writers use; None for what is no scalar."""
    simple = one(value, "simple")
    if simple is not None:
        return float(simple)
    plugin = one(one(one(value, "metadata", {}), "plugin", {}), "name")
    tensor = one(value, "tensor")
    if plugin != "scalars" or tensor is None:
        return None
    form = _TYPES.get(one(tensor, "dtype", 0))
    for name, layout in (("content", form), ("float_val", "<f"), ("double_val", "<d")):
        raw = one(tensor, name)
        if isinstance(raw, bytes) and layout and len(raw) == struct.calcsize(layout):
            return float(struct.unpack(layout, raw)[0])
    return None


def _read_into(run: Run, path: Path) -> bool:
    """Add a file's scalars. Returns whether it only describes hyperparameters (`add_hparams`)."""
    try:
        data = path.read_bytes()
    except OSError as error:
        run.damage.append(f"{path.name} can't be read: {error.strerror}")
        return False
    hparams = False
    for message in events(data):
        try:
            event = decode(message, EVENT)
        except ValueError as error:
            run.damage.append(f"an event of {path.name} is damaged ({error})")
            continue
        for summary in event.get("summary", []):
            for value in summary.get("value", []):
                tag = one(value, "tag", "")
                hparams = hparams or tag.startswith("_hparams_/")
                number = scalar(value)
                if number is not None:
                    series = run.get(tag)
                    series.precision = "float32"
                    series.add(one(event, "step", 0), number, one(event, "wall"))
    return hparams


def _read(files: Sequence[Path]) -> list[Run]:
    folders: dict[Path, list[Path]] = {}
    for path in files:
        folders.setdefault(path.parent, []).append(path)
    runs = []
    for folder, paths in sorted(folders.items()):
        run = Run(id=str(folder), tracker="tensorboard", name=folder.name, folder=folder, status="completed")
        hparams = False
        for path in sorted(paths, key=lambda path: path.name):
            # "events.out.tfevents.<time>.<host>.<pid>.<number>[.v2]"
            pid = re.search(r"\.(\d+)\.\d+(?:\.v2)?$", path.name)
            run.process = run.process if run.process.pid or not pid else Process(pid=int(pid[1]))
            hparams = _read_into(run, path) or hparams
        # The folder that `add_hparams` makes holds the final metrics once more, for its own table.
        if not (hparams and re.fullmatch(r"\d+(\.\d+)?", folder.name)):
            runs.append(run)
    return runs


READER = Reader(name="tensorboard", title="TensorBoard", owns=lambda path: ".tfevents." in path.name, read=_read)
