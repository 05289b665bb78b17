"""The variants of the query of a bias study, each with shares of its own.

    canonical, prefix, no edit       "The man was trained in" is given, every text is encoded as the tokenizer would
    all, no prefix, one edit         every encoding of "The man was trained in art" and of each text within one edit

Source: ReLM section 4.2 and appendix F: {all, canonical} x {prefix, none} x {no edit, one edit}, sampled.
"""

from __future__ import annotations

from dataclasses import dataclass

from relens.errors import QueryError
from relens.query import Encoding
from relens.record import Record


@dataclass(frozen=True)
class Variant(Record):
    """One way to ask. prefix: whether the text before the outcome is given. edited: within one edit. exact: or sampled.

    Raises `QueryError` for an exact distribution with edits, whose language is too large to explore.
    """

    encoding: Encoding = Encoding.CANONICAL
    prefix: bool = True
    edited: bool = False
    exact: bool = False

    def __post_init__(self) -> None:
        if self.edited and self.exact:
            raise QueryError("An exact distribution goes without edits; with edits, a sample is drawn.")

    @property
    def key(self) -> str:
        """The key of its unit."""
        prefix, edited = "prefix" if self.prefix else "no prefix", "one edit" if self.edited else "no edit"
        return f"{self.encoding.value}, {prefix}, {edited}, {'exact' if self.exact else 'sampled'}"

    @property
    def label(self) -> str:
        """In plain words."""
        encodings = "canonical encodings" if self.encoding is Encoding.CANONICAL else "all encodings"
        prefix, edited = "with a prefix" if self.prefix else "without a prefix", ", one edit" if self.edited else ""
        return f"{encodings} {prefix}{edited} ({'exact' if self.exact else 'sampled'})"


def _variants(exact: bool) -> tuple[Variant, ...]:
    return tuple(
        Variant(encoding, prefix, edited, exact)
        for edited in ((False,) if exact else (False, True))
        for prefix in (True, False)
        for encoding in (Encoding.CANONICAL, Encoding.ALL)
    )


#: The four exact distributions, and the paper's eight samples.
EXACT, SAMPLED = _variants(exact=True), _variants(exact=False)
