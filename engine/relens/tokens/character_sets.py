r"""The characters of a class such as `\p{L}`, as the tokenizer library itself has them.

Python, Rust and the regular-expression engine inside the tokenizer library carry different editions of Unicode: they
disagree about the class of some nine thousand code points. An automaton built on Python's tables would cut texts where
the tokenizer does not. So the library itself decides: it gets one text of all code points and removes the runs that
match. For `\p{N}` and the text `a12b` the pieces `a` and `b` come back with their offsets; the gap between them holds
the members.

One class takes a fifth of a second, so the results are kept in the cache folder, by library version.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import tempfile
from typing import Any

import numpy as np
import numpy.typing as npt
import tokenizers
from tokenizers import pre_tokenizers

from relens.settings import cache_folder

CODE_POINTS = 0x110000

#: A set of characters as ascending code points where membership changes: members are edges[0] to edges[1] - 1, ...
Edges = npt.NDArray[np.int64]

#: The planes of Unicode that hold characters of different kinds. Planes 4 to 13 are unassigned and 15 and 16 private:
#: their code points all have the same class, so one of each plane is tried.
_VARIED = [(0x0, 0xD800), (0xE000, 0x40000), (0xE0000, 0xF0000)]
_UNIFORM = [plane << 16 for plane in (*range(4, 14), 15, 16)]


@functools.cache
def _probe_text() -> tuple[str, npt.NDArray[np.int64]]:
    """The text of all code points that are tried, and the code points."""
    code_points = np.concatenate([*(np.arange(low, high) for low, high in _VARIED), np.array(_UNIFORM)])
    return "".join(map(chr, code_points.tolist())), code_points


@functools.lru_cache(maxsize=512)
def regex_set(source: str) -> Edges:
    """The characters that the regular expression `source`, which matches single characters, matches."""
    return _cached("regex " + source, pre_tokenizers.Split(tokenizers.Regex(f"(?:{source})+"), "removed"))


@functools.lru_cache(maxsize=1)
def digit_set() -> Edges:
    """The digits of the Digits pre-tokenizer."""
    return _cached("digits", None)


@functools.lru_cache(maxsize=1)
def punctuation_set() -> Edges:
    """The punctuation of the Punctuation pre-tokenizer."""
    return _cached("punctuation", pre_tokenizers.Punctuation("removed"))


def literal_set(character: str, ignore_case: bool) -> Edges:
    """One character; with `ignore_case` an ASCII letter in every form that the library holds equal."""
    if not (ignore_case and character.isascii() and character.isalpha()):
        return np.array([ord(character), ord(character) + 1])
    forms = sorted({character.lower(), character.upper(), "\u017f", "\u212a"})  # the long s, the Kelvin sign
    split = pre_tokenizers.Split(tokenizers.Regex(f"(?i:{character})"), "removed")
    members = [form for form in forms if not split.pre_tokenize_str(form)]
    return np.array([edge for form in members for edge in (ord(form), ord(form) + 1)])


def contains(edges: Edges, code_points: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """(n,) which of the code points are members."""
    return np.asarray(np.searchsorted(edges, code_points, side="right") % 2 == 1)


def _cached(question: str, remover: Any) -> Edges:
    name = hashlib.sha256(f"{tokenizers.__version__} {question}".encode()).hexdigest()[:32]
    path = cache_folder() / "character-sets" / f"{name}.npy"
    try:
        edges = np.load(path, allow_pickle=False)
        if edges.dtype == np.int64 and edges.ndim == 1 and (np.diff(edges) > 0).all():
            return np.asarray(edges)
    except (OSError, ValueError, EOFError):
        pass  # not there yet, or spoiled: make it again
    edges = _probe_digits() if remover is None else _probe(remover)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".npy", delete=False) as file:
            np.save(file, edges)
        os.replace(file.name, path)
    except OSError:
        pass  # a full disk costs time, not the answer
    return edges


def _probe(remover: Any) -> Edges:
    text, code_points = _probe_text()
    member = np.ones(len(code_points), np.bool_)
    for _, (begin, end) in remover.pre_tokenize_str(text):
        member[begin:end] = False
    return _edges(code_points, member)


def _probe_digits() -> Edges:
    """Digits has no way to remove; but it leaves runs of digits apart from all else, and 0 is one."""
    text, code_points = _probe_text()
    member = np.zeros(len(code_points), np.bool_)
    begins = [begin for _, (begin, _) in pre_tokenizers.Digits(individual_digits=False).pre_tokenize_str(text)]
    begins.append(len(code_points))
    is_digit = False  # U+0000 is none
    for begin, end in itertools.pairwise(begins):
        member[begin:end] = is_digit
        is_digit = not is_digit
    return _edges(code_points, member)


def _edges(code_points: npt.NDArray[np.int64], member: npt.NDArray[np.bool_]) -> Edges:
    full = np.zeros(CODE_POINTS + 1, np.bool_)
    full[code_points] = member
    for first in _UNIFORM:
        full[first : first + 0x10000] = full[first]
    return np.flatnonzero(np.diff(full, prepend=False)).astype(np.int64)
