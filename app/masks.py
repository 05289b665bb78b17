"""The one way for a page to come by a mask, and to show a text through it.

    mask_of(("loser", "idiot"))                        masks both, and what is one edit away from them
    shown(mask, "You are a loser. " * 100_000)         "You are a l····. You are ...": shortened first, then masked

Every page draws in the same process, again and again, and the words and the texts may come from anybody's file. How
many words there may be, and how much of a text is read, is bounded in `engine.studies.masking`; here masks are kept for
all sessions, each with the short texts that it was last put on, and a text is cut to what a page has room for before.
"""

from __future__ import annotations

from functools import lru_cache

from app.text import shortened
from engine.studies.masking import Masker

#: Characters of a text that a page shows.
LONGEST_SHOWN = 1_000
#: Masks that are kept, and of each the texts that are no longer than this.
_MASKS, _TEXTS, _SHORT = 8, 1_000, 1_000


class PageMask(Masker):
    """A mask that remembers what it made of short texts, since a page is drawn again and again."""

    def __init__(self, words: tuple[str, ...]) -> None:
        super().__init__(words)
        self._remembered = lru_cache(maxsize=_TEXTS)(super().__call__)

    def __call__(self, text: str) -> str:
        """The text with its words masked; as long as it was."""
        return self._remembered(text) if len(text) <= _SHORT else super().__call__(text)


@lru_cache(maxsize=_MASKS)
def mask_of(words: tuple[str, ...]) -> PageMask:
    """What masks these words; the same object for the same words, as long as few others are asked for."""
    return PageMask(words)


def shown(mask: Masker | None, text: str, longest: int = LONGEST_SHOWN) -> str:
    """The text as a page shows it: at most so many characters, and masked where there is a mask."""
    short = shortened(text, longest)
    return short if mask is None else mask(short)
