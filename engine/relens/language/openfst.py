"""Determinizing and minimising with OpenFst, by way of its binary file format.

pynini adds arcs one Python call at a time, a microsecond each, and reads them back ten times slower. But OpenFst
reads and writes a whole automaton as one string of bytes, and that is an array in thin disguise: after a header, for
each state its final weight and its number of arcs, then for each arc

    input label   output label   weight   destination            (four 32-bit words)

so numpy packs and unpacks it at once. Labels start at 1, because 0 is OpenFst's ε. A final weight of 0 marks a
final state and one of infinity any other.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pynini

from relens.errors import LimitError

_MAGIC = 2125659606
_EXPANDED_AND_MUTABLE = 3
_HEADER = struct.Struct("<i i6s i8s i i Q q q q")
_WORDS_OF_STATE, _WORDS_OF_ARC = 3, 4

Integers = npt.NDArray[np.int64]


class Arcs(NamedTuple):
    """An automaton as columns: one row an arc, and which states are final. State 0 need not be the start."""

    sources: Integers
    labels: Integers
    destinations: Integers
    final: npt.NDArray[np.bool_]
    start: int


def minimal(arcs: Arcs, most_states: int, subject: str, *, is_deterministic: bool = False) -> Arcs:
    """The minimal deterministic automaton with the language of `arcs`, whose label 0 is a silent step.

    subject: what is being compiled, for the message of the `LimitError` raised when the result has more than
    `most_states` states. is_deterministic: whether `arcs` are so already. An empty language has no state.
    """
    fst = pynini.Fst.read_from_string(_pack(arcs))
    if is_deterministic:
        deterministic = fst.connect()
    else:
        fst.rmepsilon()
        deterministic = pynini.determinize(fst)
    deterministic.minimize()
    deterministic.connect()
    if deterministic.num_states() > most_states:
        raise LimitError(
            f"{subject} needs {deterministic.num_states():,} automaton states, more than the limit of {most_states:,}.",
            limit="automaton_states",
        )
    return _unpack(deterministic.write_to_string())


def without_silent_arcs(arcs: Arcs) -> Arcs:
    """A trim automaton with the language of `arcs` and no label 0, which keeps the order of states."""
    fst = pynini.Fst.read_from_string(_pack(arcs))
    fst.rmepsilon()
    return _unpack(fst.write_to_string())


def _pack(arcs: Arcs) -> bytes:
    states, count = len(arcs.final), len(arcs.sources)
    order = np.argsort(arcs.sources, kind="stable")
    degrees = np.bincount(arcs.sources, minlength=states)
    before = np.cumsum(degrees) - degrees
    words = np.zeros(_WORDS_OF_STATE * states + _WORDS_OF_ARC * count, np.int32)
    at_state = _WORDS_OF_STATE * np.arange(states) + _WORDS_OF_ARC * before
    words[at_state] = np.where(arcs.final, 0.0, np.inf).astype(np.float32).view(np.int32)
    words[at_state + 1] = degrees
    at_arc = _WORDS_OF_STATE * (arcs.sources[order] + 1) + _WORDS_OF_ARC * np.arange(count)
    words[at_arc] = words[at_arc + 1] = arcs.labels[order]
    words[at_arc + 3] = arcs.destinations[order]
    header = _HEADER.pack(_MAGIC, 6, b"vector", 8, b"standard", 2, 0, _EXPANDED_AND_MUTABLE, arcs.start, states, count)
    return header + words.tobytes()


def _unpack(data: bytes) -> Arcs:
    *_, start, states, _ = _HEADER.unpack_from(data)
    words = np.frombuffer(data, np.int32, offset=_HEADER.size)
    at_state = np.zeros(states, np.int64)
    place = 0
    for state in range(states):
        at_state[state] = place
        place += _WORDS_OF_STATE + _WORDS_OF_ARC * int(words[place + 1])
    degrees = words[at_state + 1].astype(np.int64)
    sources = np.repeat(np.arange(states), degrees)
    at_arc = _WORDS_OF_STATE * (sources + 1) + _WORDS_OF_ARC * np.arange(len(sources))
    return Arcs(
        sources=sources,
        labels=words[at_arc].astype(np.int64),
        destinations=words[at_arc + 3].astype(np.int64),
        final=np.isfinite(words[at_state].view(np.float32)),
        start=int(start),
    )
