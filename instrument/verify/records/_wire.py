"""The protobuf wire format, as much of it as the readers need: no library, no generated code, field numbers as data."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

Kind = Literal["message", "text", "int", "double", "float", "bytes"]


class Field(NamedTuple):
    """One field of a message: its number, how its bytes are understood, and the fields of a nested message."""

    number: int
    kind: Kind
    message: Mapping[str, Field] | None = None


Schema = Mapping[str, Field]

#: google.protobuf.Timestamp
TIME = {"seconds": Field(1, "int"), "nanos": Field(2, "int")}

_BLOCK, _HEADER = 32768, 7


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > 63:
            raise ValueError("a varint is too long")


def _understood(raw: int | bytes, field: Field) -> Any:
    if isinstance(raw, int):
        # int32 and int64 are sent as their 64-bit two's complement
        return raw - (1 << 64) if raw >> 63 else raw
    if field.kind == "message":
        return decode(raw, field.message or {})
    if field.kind == "text":
        return raw.decode("utf-8", "replace")
    if field.kind == "double":
        return struct.unpack("<d", raw)[0]
    if field.kind == "float":
        return struct.unpack("<f", raw)[0]
    return raw


def decode(data: bytes, schema: Schema) -> dict[str, list[Any]]:
    """The wanted fields of a message by name, each as the list of its values. Raises ValueError for damaged bytes."""
    names = {field.number: (name, field) for name, field in schema.items()}
    found: dict[str, list[Any]] = {}
    position = 0
    try:
        while position < len(data):
            tag, position = _varint(data, position)
            number, wire = tag >> 3, tag & 7
            raw: int | bytes
            if wire == 0:
                raw, position = _varint(data, position)
            elif wire in (1, 2, 5):
                if wire == 2:
                    size, position = _varint(data, position)
                else:
                    size = 8 if wire == 1 else 4
                raw = data[position : position + size]
                if len(raw) != size:
                    raise ValueError("a field is cut")
                position += size
            else:
                raise ValueError(f"wire type {wire}")
            if number in names:
                name, field = names[number]
                found.setdefault(name, []).append(_understood(raw, field))
    except (IndexError, struct.error) as error:
        raise ValueError(f"damaged message: {error}") from None
    return found


def one(message: Mapping[str, list[Any]], name: str, default: Any = None) -> Any:
    """The last value of a field (protobuf's rule for a field that is given twice), or the default."""
    values = message.get(name)
    return values[-1] if values else default


def seconds(message: Mapping[str, list[Any]] | None) -> float | None:
    """A Timestamp message as seconds since the epoch."""
    if message is None:
        return None
    return float(one(message, "seconds", 0)) + float(one(message, "nanos", 0)) / 1e9


def log_records(data: bytes) -> Iterator[bytes]:
    """The records of a file in LevelDB's log format after a 7-byte header (W&B, SwanLab). A cut end is left out."""
    position = _HEADER
    parts: list[bytes] = []
    while position + 7 <= len(data):
        room = _BLOCK - position % _BLOCK
        if room < 7:
            position += room
            continue
        _, length, kind = struct.unpack_from("<IHB", data, position)
        position += 7
        if kind == 0 and length == 0:  # zeros that were laid out ahead
            position += room - 7
            continue
        if length > room - 7 or position + length > len(data) or kind > 4:
            return
        parts.append(data[position : position + length])
        position += length
        if kind in (1, 4):
            yield b"".join(parts)
            parts = []
