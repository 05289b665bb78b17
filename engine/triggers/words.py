"""Text to the words of a dialogue corpus: lower case, cut as in the Penn Treebank.

    I can't; he's OK...    ->  i ca n't ; he 's ok ...
    Costs 1,000.50 (maybe) ->  costs 1,000.50 ( maybe )
    see http://a.org/b, x  ->  see http://a.org/b , x

A contraction is cut before its "n't" or its "'s", punctuation stands alone, and what belongs together stays so:
numbers, addresses, words with hyphens, abbreviations with dots between single letters. Text that is cut already stays
as it is, so a sentence that is read again, or is edited on a page, has the same words (He and Glass 2019, section 5.1).
"""

from __future__ import annotations

import re
import unicodedata

_PLAIN = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "„": '"', "…": "...", "–": "-", "—": "-"})

_CLITIC = r"'(?:s|m|re|ve|ll|d)(?!\w)"
_NOT = r"n't(?!\w)"

_WORD = re.compile(
    rf"""
      <[a-z/]+>                                   # a word of the corpus itself, such as <unk>
    | (?:https?://|www\.)[^\s<>"]*[^\s<>".,;:!?')]  # an address, without what closes the sentence
    | \.\.+ | --+ | !!+ | \?\?+                   # runs of a sign
    | (?:[a-z]\.){{2,12}}(?!\w)                   # u.s., e.g.; bounded, or a line of these takes time squared
    | {_NOT} | {_CLITIC}
    | \w+?(?={_NOT})                              # do, of don't
    | \d+(?:[.,:/]\d+)+                           # 1,000.50  4:30
    | \w+(?:(?:[-_@&+]|(?!{_CLITIC})')(?!\w*{_NOT})\w+)*       # well-known  o'clock
    | \S
    """,
    re.VERBOSE,
)


def words_of_text(text: str) -> tuple[str, ...]:
    """The words of a text, lower case; () where there are none."""
    return tuple(_WORD.findall(unicodedata.normalize("NFC", text).translate(_PLAIN).lower()))


def words_of_cut_text(text: str) -> tuple[str, ...]:
    """The words of a text that is cut already, by blanks; lower case too."""
    return tuple(text.lower().split())
