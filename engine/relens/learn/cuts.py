"""The reason why a token is in no canonical encoding.

SmolLM2's tokenizer gives "The" one encoding. It cuts a text into pre-tokens and merges inside each, the
merge of least rank first:

    T h e    merge 3: h + e -> he     T he    merge 252: T + he -> The     The

So an arc that spells only the h of "The" is in no canonical encoding. The reason is the first merge that crosses a
border of the arc's token. Three rules can forbid a token in its place:

    boundary    the tokenizer cuts the text in the middle of the token, as 1|9 where each digit is a pre-token
    merge       a merge joins one of its ends with a neighbour
    unmade      no merge crosses its ends, but the merges never join its pieces

For any text through an arc, one of the three holds or the arc is on the canonical encoding of that text, so one example
text gives the reason. For tokenizers of another kind the reason is only the encoding in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from relens.pictures.labels import visible_bytes
from relens.tokens.byte_level import byte_level_tables
from relens.tokens.pretokenizer import boundary_automaton
from relens.tokens.tokenizer import Tokenizer


@dataclass(frozen=True)
class Reason:
    """The rule that cuts an arc. sentence: plain text. rank: of the merge, to sort by; -1 without one."""

    kind: Literal["boundary", "merge", "unmade", "other"]
    sentence: str
    rank: int = -1


class _Merge(NamedTuple):
    """A merge in a text: of its bytes from `begin` to `middle` with those to `end`."""

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
        """The reason why the bytes `begin` to `end` are no token of the canonical encoding of `text`."""
        data = text.encode()
        token = f"“{visible_bytes(data[begin:end])}”"
        canonical = self._tokenizer.encode(text.removeprefix(" ") if self._tokenizer.drops_first_space else text)
        spelled = [self._tokenizer.vocabulary[part] or b"" for part in canonical]
        cuts, merges = self._run(text)
        borders = sorted(set(range(len(data) + 1)) - {merge.middle for merge in merges})
        if not cuts or [data[low:high] for low, high in pairwise(borders)] != spelled:
            written = " · ".join(map(visible_bytes, spelled))
            return Reason("other", f"The tokenizer writes {written}, without {token} in that place.")
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
        """The cuts of the text, its end included, and the merges inside the pre-tokens; () and () if not known."""
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
