"""TensorBoard's event files; a folder is a run, as in TensorBoard (tensorboard 2.21).

There is no id in them: the name of the first file and the time in it, which stay what they are when a folder is moved
or renamed, stand for one. Hyperparameters come from `add_hparams` (the plugin's record) and from Lightning's
`hparams.yaml`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from instrument.imports.model import Finished
from instrument.imports.sources import Source, relative, written
from instrument.verify.model import Run
from instrument.verify.records import tensorboard
from instrument.verify.records._wire import Field, decode, one

#: google.protobuf.Value, in a map's entry.
_HPARAM = {
    "key": Field(1, "text"),
    "value": Field(2, "message", {"number": Field(2, "double"), "text": Field(3, "text"), "flag": Field(4, "int")}),
}
#: tensorboard/plugins/hparams/plugin_data.proto
_HPARAMS = {"start": Field(3, "message", {"hparams": Field(1, "message", _HPARAM)})}
_VALUE = {
    **(tensorboard.EVENT["summary"].message or {})["value"].message,  # type: ignore[dict-item]
    "metadata": Field(
        9,
        "message",
        {"plugin": Field(1, "message", {"name": Field(1, "text"), "content": Field(2, "bytes")})},
    ),
}
_EVENT = {**tensorboard.EVENT, "summary": Field(5, "message", {"value": Field(1, "message", _VALUE)})}
_TABLE = re.compile(r"\d+(\.\d+)?")


def _hparams(content: bytes) -> dict[str, object]:
    try:
        data = decode(content, _HPARAMS)
    except ValueError:
        return {}
    values: dict[str, object] = {}
    for start in data.get("start", ()):
        for entry in start.get("hparams", ()):
            value = one(entry, "value", {})
            if "flag" in value:
                values[one(entry, "key", "")] = bool(one(value, "flag"))
            else:
                values[one(entry, "key", "")] = one(value, "number", one(value, "text"))
    return values


class _Folder:
    """A folder's event files, read in the order of their names, which begin with the time."""

    def __init__(self, root: Path, folder: Path, files: Sequence[Path]) -> None:
        self.run = Run(id=folder.name, tracker="tensorboard", name=relative(root, folder), folder=folder)
        if self.run.name == ".":
            self.run.name = folder.resolve().name
        self.media: dict[str, None] = {}
        self.hparams: dict[str, object] = {}
        self.first: float | None = None
        self.last: float | None = None
        for path in files:
            self._read(path)

    def _read(self, path: Path) -> None:
        try:
            data = path.read_bytes()
        except OSError as error:
            self.run.damage.append(f"{path.name} can't be read: {error.strerror}")
            return
        for message in tensorboard.events(data):
            try:
                event = decode(message, _EVENT)
            except ValueError as error:
                self.run.damage.append(f"an event of {path.name} is damaged ({error})")
                continue
            wall, step = one(event, "wall"), one(event, "step", 0)
            self.first = wall if self.first is None else self.first
            self.last = wall if wall is not None else self.last
            for summary in event.get("summary", ()):
                for value in summary.get("value", ()):
                    self._take(value, step, wall)

    def _take(self, value: Mapping[str, list[Any]], step: int, wall: float | None) -> None:
        tag = one(value, "tag", "")
        number = tensorboard.scalar(value)
        if number is not None:
            self.run.get(tag).add(step, number, wall)
            return
        plugin = one(one(value, "metadata", {}), "plugin", {})
        if one(plugin, "name") == "hparams":
            self.hparams.update(_hparams(one(plugin, "content", b"")))
        elif tag:
            self.media[tag] = None


def _yaml_config(folder: Path) -> dict[str, object]:
    """Lightning's `hparams.yaml`, where it is plain data."""
    path = folder / "hparams.yaml"
    if not path.is_file():
        return {}
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        value = YAML(typ="safe", pure=True).load(path.read_text("utf-8"))
    except (OSError, ValueError, YAMLError):
        return {}
    return {str(k): v for k, v in value.items()} if isinstance(value, dict) else {}


def _read(root: Path, files: Sequence[Path]) -> list[Finished]:
    folders: dict[Path, list[Path]] = {}
    for path in files:
        folders.setdefault(path.parent, []).append(path)
    found: dict[Path, Finished] = {}
    ids: set[str] = set()
    for folder, paths in sorted(folders.items()):
        paths = sorted(paths, key=lambda path: path.name)
        read = _Folder(root, folder, paths)
        if read.hparams and _TABLE.fullmatch(folder.name) and folder.parent in found:
            # The folder that `add_hparams` makes: the settings are its run's, the values are there already.
            found[folder.parent].run.config.update(read.hparams)
            continue
        read.run.config.update({**_yaml_config(folder), **read.hparams})
        told = f"{paths[0].name} {read.first!r}"
        external_id = f"tensorboard:{hashlib.sha256(told.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}"
        if external_id in ids:
            continue  # a copy of a folder that was read
        ids.add(external_id)
        # An event file does not say how its run ended: it is taken as done.
        read.run.status = "completed"
        one_ = Finished(
            external_id=external_id, run=read.run, path=relative(root, folder), media=list(read.media),
            started=read.first, ended=read.last, written=written(paths),
        )  # fmt: skip
        one_.settle()
        found[folder] = one_
    return list(found.values())


SOURCE = Source(name="tensorboard", title="TensorBoard", owns=tensorboard.READER.owns, read=_read)
