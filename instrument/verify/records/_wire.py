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

#: How each kind is sent. A field that comes in another way is skipped, as protobuf skips what it does not know: a
#: damaged tag must not hand a number to whoever expects a message.
#: "bytes" takes a repeated number unpacked too (TensorFlow's `float_val`).
_WIRE: Mapping[Kind, tuple[int, ...]] = {
    "message": (2,),
    "text": (2,),
    "bytes": (2, 5, 1),
    "int": (0,),
    "double": (1,),
    "float": (5,),
}

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
        return decode(raw, field.message or _NONE)
    if field.kind == "text":
        return raw.decode("utf-8", "replace")
    if field.kind == "double":
        return struct.unpack("<d", raw)[0]
    if field.kind == "float":
        return struct.unpack("<f", raw)[0]
    return raw


#: Fields by tag (number and wire type), of each schema that was used: by its identity, which stays its own because the
#: schema is kept.
_NUMBERS: dict[int, tuple[Schema, dict[int, tuple[str, Field]]]] = {}


def _by_tag(schema: Schema) -> dict[int, tuple[str, Field]]:
    known = _NUMBERS.get(id(schema))
    if known is None:
        tags = {field.number << 3 | wire: (name, field) for name, field in schema.items() for wire in _WIRE[field.kind]}
        known = _NUMBERS[id(schema)] = (schema, tags)
    return known[1]


_NONE: Schema = {}


def decode(data: bytes, schema: Schema) -> dict[str, list[Any]]:
    """The wanted fields of a message by name, each as the list of its values. Raises ValueError for damaged bytes."""
    names = _by_tag(schema)
    found: dict[str, list[Any]] = {}
    position, end = 0, len(data)
    try:
        while position < end:
            tag = data[position]
            position += 1
            if tag >= 0x80:  # most tags and lengths are one byte: a call for each would be half of the time
                tag, position = _varint(data, position - 1)
            wire = tag & 7
            raw: int | bytes
            if wire == 2:
                size = data[position]
                position += 1
                if size >= 0x80:
                    size, position = _varint(data, position - 1)
                raw = data[position : position + size]
                if len(raw) != size:
                    raise ValueError("a field is cut")
                position += size
            elif wire == 0:
                raw, position = _varint(data, position)
            elif wire in (1, 5):
                size = 8 if wire == 1 else 4
                raw = data[position : position + size]
                if len(raw) != size:
                    raise ValueError("a field is cut")
                position += size
            else:
                raise ValueError(f"wire type {wire}")
            known = names.get(tag)
            if known is not None:
                name, field = known
                value = (
                    decode(raw, field[2] or _NONE)
                    if field[1] == "message" and isinstance(raw, bytes)
                    else _understood(raw, field)
                )
                values = found.get(name)
                if values is None:
                    found[name] = [value]
                else:
                    values.append(value)
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
