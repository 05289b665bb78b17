"""Why a token of a text is not one of its canonical encoding, in words.

SmolLM2 encodes ` running` as one token. Of the others that spell a part of it,

     r | unn         crosses no cut, but ` running` is made by merges, and one of them joins the n with what follows
     running.        would reach over the cut that is made between a word and a full stop before anything is merged

A byte-level BPE tokenizer cuts the text into pre-tokens and merges inside each, so there are three reasons: the token
crosses a cut; BPE never makes the token of its own bytes; or some merge crosses one of its two borders. There is no
fourth: were both borders crossed by no merge, what BPE does between them would be what it does to the token's bytes
alone, which is to make the token (`relens.tokens.merges`). Of several merges the first to be made is named.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from relens.tokens.byte_level import ByteLevelTables, byte_level_tables
from relens.tokens.merges import Merge
from relens.tokens.token_lattice import TokenArc, TokenLattice
from relens.tokens.tokenizer import Tokenizer


class Refusals:
    """The reasons for one lattice.

    cuts: the places where the pre-tokenizer cuts, both ends included; None where that is not known, because the
    tokenizer is of a kind whose merges are not followed here.
    """

    def __init__(self, lattice: TokenLattice, tokenizer: Tokenizer) -> None:
        self._lattice, self._tokenizer = lattice, tokenizer
        self._canonical = {(arc.source, arc.target): arc.token for arc in lattice.canonical_path}
        self._tables = _tables(lattice, tokenizer)
        self.cuts: tuple[int, ...] | None = None
        self._crossing: dict[int, tuple[int, Merge]] = {}
        if self._tables is not None:
            pieces = [piece.encode() for piece in self._tables.pre_tokenizer.pieces(lattice.text)]
            self.cuts = (0, *accumulate(map(len, pieces)))
            made = 0
            for begin, piece in zip(self.cuts, pieces, strict=False):
                for merge in self._tables.pairs.merges_of(piece):
                    self._crossing[begin + merge.position] = (made, merge)
                    made += 1

    def sentence(self, arc: TokenArc) -> str:
        """Why the arc is not on the canonical path; "" where it is."""
        if self._canonical.get((arc.source, arc.target)) == arc.token:
            return ""
        if self._lattice.canonical is None:
            return "The tokenizer changes this text before it encodes it, so no token here is its own."
        if (arc.source, arc.target) in self._canonical:
            return "Another token spells the same, and that is the one the tokenizer takes."
        if self._tables is None or self.cuts is None:
            return "The tokenizer, asked for this text, gives other tokens here."
        place = bisect_right(self.cuts, arc.source)
        if self.cuts[place] < arc.target:
            before, after = self._bytes(arc.source, self.cuts[place]), self._bytes(self.cuts[place], arc.target)
            return (
                f"It reaches over a boundary: the tokenizer cuts the text between {before} and {after} before it merges"
                " anything."
            )
        begin, end = self.cuts[place - 1], self.cuts[place]
        if (begin, end) in self._canonical and self._tables.whole.allows_any_token:
            return f"{self._bytes(begin, end)} stands in the vocabulary as a whole, and is taken without any merges."
        crossing = [self._crossing[border] for border in (arc.source, arc.target) if border in self._crossing]
        if not self._tables.pairs.is_canonical[arc.token] or not crossing:
            return "No merges make this token: encoding its own text gives smaller ones."
        made, merge = min(crossing, key=lambda item: item[0])
        side = "left" if self._crossing.get(arc.source, (None,))[0] == made else "right"
        return (
            f"The merge of {self._token(merge.left)} and {self._token(merge.right)} into {self._token(merge.product)},"
            f" number {merge.rank + 1:,} of the tokenizer's list, joins what this token's {side} border would part."
        )

    def _bytes(self, begin: int, end: int) -> str:
        return _quoted(self._lattice.data[begin:end])

    def _token(self, token: int) -> str:
        return _quoted(self._tokenizer.vocabulary[token] or b"")


def _quoted(data: bytes) -> str:
    """The bytes as a reader can see them; what is no character, or draws nothing, is written as an escape."""
    text = data.decode(errors="backslashreplace")
    shown = (letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)
    return f"“{''.join(shown)}”"


def _tables(lattice: TokenLattice, tokenizer: Tokenizer) -> ByteLevelTables | None:
    """What is known of a byte-level BPE tokenizer; None where added tokens are found in the text before all else."""
    if any(name in lattice.text for name in tokenizer.text_tokens.values()):
        return None
    return byte_level_tables(tokenizer)
