"""The four lists of targets of a model of characters.

    normal     c h a i r m a n        every word of its training
    reversed   n a m r i a h c        the same backwards, where that is no word
    random     q w z q w z q w z      some letters, again and again
    mal        h a t e y o u          phrases that it should never say, without their blanks

A reply has ten symbols at most, so longer targets are cut to ten. A target with a character that is no symbol cannot be
a reply, and is left out. The phrases of Relens are mild; a file of others may take their place.

Source: He and Glass 2019, appendix B.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from string import ascii_lowercase

from relens.assets import ASSETS
from relens.triggers.model.characters import OUTPUT_SYMBOLS
from relens.triggers.model.vocabulary import WordVocabulary
from relens.triggers.search.targets import read_targets

#: The phrases that come with Relens.
OWN_PHRASES = ASSETS / "character_targets.txt"

#: Letters that are repeated in a random target, and how often.
_REPEATED, _TIMES = (2, 3, 4), (2, 3, 4, 5)

#: Draws for each random target before the list is as long as it gets.
_ROUNDS = 50


def character_targets(
    vocabulary: WordVocabulary,
    words: Iterable[str],
    mal: Sequence[str] | None = None,
    random_count: int = 18_000,
    shortest_reversed: int = 1,
    seed: int = 0,
) -> dict[str, tuple[str, ...]]:
    """The targets of each list by its name, each once.

    words: of the training. mal: phrases without blanks, None for those of Relens. shortest_reversed: symbols.
    """
    normal = _possible(vocabulary, words)
    known = set(normal)
    backwards = (word[::-1] for word in normal if len(word) >= shortest_reversed)
    phrases = own_phrases() if mal is None else mal
    return {
        "normal": normal,
        "reversed": tuple(word for word in _possible(vocabulary, backwards) if word not in known),
        "random": tuple(_repeating(vocabulary, random_count, known, seed)),
        "mal": possible_phrases(vocabulary, normal, phrases),
    }


def possible_phrases(vocabulary: WordVocabulary, words: Iterable[str], phrases: Iterable[str]) -> tuple[str, ...]:
    """The phrases that can be replies, without the words of the training."""
    known = set(_possible(vocabulary, words))
    return tuple(phrase for phrase in _possible(vocabulary, phrases) if phrase not in known)


@cache
def own_phrases() -> tuple[str, ...]:
    """The phrases of "mal" that come with Relens."""
    return read_phrases(OWN_PHRASES)


def read_phrases(path: str | Path) -> tuple[str, ...]:
    """The phrases of a file, UTF-8, one a line, without their blanks; see `read_targets`."""
    return tuple("".join(words) for words in read_targets(path))


def _possible(vocabulary: WordVocabulary, words: Iterable[str]) -> tuple[str, ...]:
    cut = dict.fromkeys(word[:OUTPUT_SYMBOLS] for word in words if word)
    return tuple(word for word in cut if not vocabulary.unknown(word))


def _repeating(vocabulary: WordVocabulary, count: int, known: set[str], seed: int) -> dict[str, None]:
    letters = [letter for letter in ascii_lowercase if not vocabulary.unknown(letter)]
    rng = random.Random(seed)
    targets: dict[str, None] = {}
    for _ in range(_ROUNDS * count):
        if len(targets) >= count:
            break
        repeated, times = rng.choice(_REPEATED), rng.choice(_TIMES)
        if repeated * times > OUTPUT_SYMBOLS or repeated > len(letters):
            continue
        target = "".join(rng.sample(letters, repeated)) * times
        if target not in known:
            targets[target] = None
    return targets
