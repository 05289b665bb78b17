"""Why a token stands in no encoding of the tokenizer's own.

Of the ways to spell "The", SmolLM2's tokenizer takes one. It cuts a text into pre-tokens and merges inside each, the
merge of least rank first:

    T h e    merge 3: h + e -> he     T he    merge 252: T + he -> The     The

So an arc that spells the h of "The" by itself is in no canonical encoding, and the reason has a name: the first merge
that crosses a border of the arc's token. Three things can forbid a token in its place:

    boundary    the tokenizer cuts the text in the middle of it, as it cuts 1|9 when it takes every digit by itself
    merge       a merge takes one of its ends and joins it with a neighbour
    unmade      nothing crosses its ends, but the merges never put its pieces together

Whatever text an arc is on, one of the three holds or the arc is on the encoding of that text; so one example text tells
the reason. For tokenizers that do not work in this way the reason is only what the tokenizer writes in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from engine.pictures.labels import visible_bytes
from engine.tokens.byte_level import byte_level_tables
from engine.tokens.pretokenizer import boundary_automaton
from engine.tokens.tokenizer import Tokenizer


@dataclass(frozen=True)
class Reason:
    """Why an arc is cut. sentence: for people, plain text. rank: of the merge, to sort by; -1 without one."""

    kind: Literal["boundary", "merge", "unmade", "other"]
    sentence: str
    rank: int = -1


class _Merge(NamedTuple):
    """A merge as it was made: the bytes of a text from `begin` over `middle` to `end`."""

    rank: int
    begin: int
    middle: int
    end: int


class CutReasons:
    """The reasons of one tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._tables = byte_level_tables(tokenizer)
        self._boundaries = boundary_automaton(tokenizer.configuration.get("pre_tokenizer")) if self._tables else None

    def reason(self, text: str, begin: int, end: int) -> Reason:
        """Why no encoding of `text` has a token for its bytes `begin` to `end`; of a text that has one: "other"."""
        data = text.encode()
        token = f"“{visible_bytes(data[begin:end])}”"
        canonical = self._tokenizer.encode(text.removeprefix(" ") if self._tokenizer.drops_first_space else text)
        spelled = [self._tokenizer.vocabulary[part] or b"" for part in canonical]
        cuts, merges = self._run(text)
        borders = sorted(set(range(len(data) + 1)) - {merge.middle for merge in merges})
        if not cuts or [data[low:high] for low, high in pairwise(borders)] != spelled:
            written = " · ".join(map(visible_bytes, spelled))
            return Reason("other", f"The tokenizer itself writes {written}, without {token} in that place.")
        for cut in cuts:
            if begin < cut < end:
                left, right = visible_bytes(data[begin:cut]), visible_bytes(data[cut:end])
                return Reason("boundary", f"Before it merges, the tokenizer cuts between “{left}” and “{right}”.")
        for merge in merges:
            if merge.begin < begin < merge.end or merge.begin < end < merge.end:
                return Reason("merge", _merge_sentence(data, merge), merge.rank)
        inside = [border for border in borders if begin <= border <= end]
        parts = " · ".join(visible_bytes(data[low:high]) for low, high in pairwise(inside))
        return Reason("unmade", f"The merges never make {token} of its bytes: they leave {parts}.")

    def _run(self, text: str) -> tuple[list[int], list[_Merge]]:
        """Where the text is cut, its end included, and the merges inside the pre-tokens; nothing if not known."""
        if self._tables is None or self._boundaries is None:
            return [], []
        spelled = self._tokenizer.vocabulary
        cuts: list[int] = []
        merges: list[_Merge] = []
        for piece in self._boundaries.pieces(text):
            first = cuts[-1] if cuts else 0
            cuts.append(first + len(piece.encode()))
            for merge in self._tables.pairs.merges_of(piece.encode()):
                left, right, middle = spelled[merge.left] or b"", spelled[merge.right] or b"", first + merge.position
                merges.append(_Merge(merge.rank, middle - len(left), middle, middle + len(right)))
        return cuts, merges


def _merge_sentence(data: bytes, merge: _Merge) -> str:
    left, right = visible_bytes(data[merge.begin : merge.middle]), visible_bytes(data[merge.middle : merge.end])
    return f"Merge {merge.rank:,} of the tokenizer joins “{left}” and “{right}” into “{left}{right}”."
