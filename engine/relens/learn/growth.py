"""The number of encodings of a text, for every beginning of it.

"cat" with the tokens c, a, t, ca, at and cat has four encodings. The count of a beginning is the sum, over the tokens
that it may end with, of the count of the text before the token.

    ""  1      "c"  1      "ca"  1 (c·a) + 1 (ca) = 2      "cat"  2 (..·t) + 1 (c·at) + 1 (cat) = 4

A text of n bytes has at most 2^(n-1) encodings: each of the n - 1 places between two bytes is a border or not.
Vocabularies have few of the long pieces, so the growth is slower, but still exponential. (ReLM section 3.2.)
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from relens.learn.steps import Growth
from relens.pictures.labels import visible_bytes
from relens.tokens.tokenizer import Tokenizer

#: The longest text, in bytes: people read the numbers.
LONGEST_TEXT = 48


def growth(text: str, tokenizer: Tokenizer) -> tuple[Growth, ...]:
    """The counts for every beginning of `text`, from one byte to all of it, at most `LONGEST_TEXT` bytes."""
    data = text.encode("utf-8", "replace")[:LONGEST_TEXT]
    spelled, longest = _spellings(tokenizer)
    ways = [1]
    for end in range(1, len(data) + 1):
        begins = range(max(0, end - longest), end)
        ways.append(sum(ways[begin] * spelled[data[begin:end]] for begin in begins))
    return tuple(
        Growth(visible_bytes(data[:length]), length, ways[length], 2 ** (length - 1))
        for length in range(1, len(data) + 1)
    )


@lru_cache(maxsize=4)
def _spellings(tokenizer: Tokenizer) -> tuple[Counter[bytes], int]:
    """How many tokens spell some bytes, and the length of the longest."""
    spelled = Counter(data for data in tokenizer.vocabulary.token_bytes if data)
    return spelled, max(map(len, spelled), default=0)
