"""Masks written a second way: every form of every word is a branch of a regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from relens.studies.masking import mask_word
from relens.studies.word_lists import key_of


def masked_by_re(words: Iterable[str], text: str) -> str:
    exact = sorted({key_of(word) for word in words}, key=lambda word: (-len(word), word))
    near = dict.fromkeys(form for word in exact for form in near_forms(word))
    patterns = [rf"(?<!\w)(?:{'|'.join(near)})(?!\w)", "|".join(map(literal, exact))]
    for pattern in patterns if exact else []:
        text = re.sub(pattern, lambda hit: mask_word(hit.group()), text, flags=re.IGNORECASE | re.DOTALL)
    return text


def near_forms(word: str) -> Iterator[str]:
    is_short = len(word) < 4
    for place in range(1, len(word)):
        yield f"{literal(word[:place])}.{literal(word[place:])}"
    for place in range(len(word)):
        before, after = literal(word[:place]), literal(word[place + 1 :])
        yield f"{before}{'[^a-z]' if is_short else '.'}{after}"
        if not is_short:
            yield before + after


def literal(text: str) -> str:
    return re.escape(text).replace("'", "['’]")
