"""Messages between two processes that trust each other little: JSON with numpy arrays, and no pickle.

    8 bytes         8 bytes         header, JSON                                  body
    header length   body length     {"values": {"states": 4}, "arrays": [...]}   the arrays' bytes, one after another

A message is a dictionary whose values are JSON or numeric arrays. Arrays travel as they lie in memory; the
header lists their names, types and shapes in order. Each is padded to a multiple of 8 bytes, so that it can be used in
place where it arrives.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

LENGTHS = struct.Struct("<QQ")
_ALIGNMENT = 8
_NUMERIC_KINDS = "biuf"


def pack(message: Mapping[str, Any]) -> bytes:
    """The bytes of a message. Raises `TypeError` for a value that is neither JSON nor an array of numbers."""
    values: dict[str, Any] = {}
    arrays: list[tuple[str, str, tuple[int, ...]]] = []
    body: list[bytes] = []
    for name, value in message.items():
        if not isinstance(value, np.ndarray):
            values[name] = value
            continue
        if value.dtype.kind not in _NUMERIC_KINDS:
            raise TypeError(f"The array {name!r} of type {value.dtype} cannot be sent.")
        arrays.append((name, value.dtype.str, value.shape))
        raw = value.tobytes()
        body.extend((raw, bytes(-len(raw) % _ALIGNMENT)))
    header = json.dumps({"values": values, "arrays": arrays}).encode()
    data = b"".join(body)
    return b"".join((LENGTHS.pack(len(header), len(data)), header, data))


def unpack(header: bytes | bytearray, body: bytes | bytearray) -> dict[str, Any]:
    """The message back from its two parts. Arrays look into `body` and cannot be written to."""
    description = json.loads(bytes(header))
    message: dict[str, Any] = description["values"]
    place = 0
    for name, kind, shape in description["arrays"]:
        array = np.frombuffer(body, np.dtype(kind), count=int(np.prod(shape, dtype=np.int64)), offset=place)
        place += array.nbytes + -array.nbytes % _ALIGNMENT
        message[name] = array.reshape(shape)
        message[name].flags.writeable = False
    return message
