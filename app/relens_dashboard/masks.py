"""Masks of pages, shared by all sessions, and masked texts.

    mask_of(("loser", "idiot"))                        masks both, and spellings one edit away
    shown(mask, "You are a loser. " * 100_000)         "You are a l····. You are ...": shortened first, then masked

One process draws all pages, again and again, and words and texts may come from anybody's file. `relens.studies.masking`
bounds both; here a text is first cut to the room of a page, and each mask keeps the short texts that it masked last.
"""

from __future__ import annotations

from functools import lru_cache

from relens.studies.masking import Masker
from relens_dashboard.text import shortened

#: Characters of a text that a page shows.
LONGEST_SHOWN = 1_000
#: Masks that are kept, texts of each, and characters of such a text.
_MASKS, _TEXTS, _SHORT = 8, 1_000, 1_000


class PageMask(Masker):
    """A mask that remembers short texts, since a page is drawn again and again."""

    def __init__(self, words: tuple[str, ...]) -> None:
        super().__init__(words)
        self._remembered = lru_cache(maxsize=_TEXTS)(super().__call__)

    def __call__(self, text: str) -> str:
        """The text with its words masked, in the same length."""
        return self._remembered(text) if len(text) <= _SHORT else super().__call__(text)


@lru_cache(maxsize=_MASKS)
def mask_of(words: tuple[str, ...]) -> PageMask:
    """The mask of these words; the same object for the same words, among the last few."""
    return PageMask(words)


def shown(mask: Masker | None, text: str, longest: int = LONGEST_SHOWN) -> str:
    """The text as a page shows it: at most so many characters, masked if there is a mask."""
    short = shortened(text, longest)
    return short if mask is None else mask(short)
