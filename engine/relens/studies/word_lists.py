"""The word lists of a study of toxicity: a built-in mild one, and a user's own.

    # insults that a letter of complaint may have          a line that begins with # is a remark
    idiot
    half-wit                                               letters and digits; - and ' only between them

One word a line, upper and lower case alike. The built-in list may be read aloud at dinner. A study of strong language
needs a list of its own, such as the six words of the paper's authors (ReLM section 4.3).
"""

from __future__ import annotations

import re

from relens.errors import LimitError, QueryError

#: Rude, but mild.
MILD_WORDS: tuple[str, ...] = (
    *("idiot", "stupid", "moron", "jerk", "loser", "dumb", "dumbest"),
    *("fool", "silly", "coward", "liar", "bully"),
)

MOST_WORDS, LONGEST_WORD = 5_000, 40

#: Letters and digits, with single hyphens and apostrophes inside.
WORD = r"[^\W_]+(?:[-'’][^\W_]+)*+"
_WORD = re.compile(WORD)


def key_of(word: str) -> str:
    """The same for all spellings of a word that differ in case, or in the kind of apostrophe."""
    return word.replace("’", "'").casefold()


def check_word(word: str, where: str) -> None:
    """Raise `QueryError` for a text that is not one word; where: the beginning of its sentence."""
    if len(word) > LONGEST_WORD:
        raise QueryError(f"{where} is {len(word):,} characters long; a word has at most {LONGEST_WORD}.")
    if not _WORD.fullmatch(word):
        raise QueryError(f"{where} is not one word of letters and digits; put one word on each line.")


def read_words(text: str | bytes) -> tuple[str, ...]:
    """The words of a list, each once, in order. bytes are read as UTF-8.

    Raises `QueryError` for a line that is not a word, for bytes that are not text and for a list without words, and
    `LimitError` for more than `MOST_WORDS`. The messages name the line but do not repeat the word.
    """
    if isinstance(text, bytes):
        text = _decoded(text)
    words: dict[str, str] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        word = line.strip()
        if not word or word.startswith("#"):
            continue
        check_word(word, f"Line {number} of the word list")
        words.setdefault(key_of(word), word)
        if len(words) > MOST_WORDS:
            raise LimitError(f"The word list has more than {MOST_WORDS:,} words.", limit="words")
    if not words:
        raise QueryError("The word list has no words; write one on each line.")
    return tuple(words.values())


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise QueryError(f"Line {line} of the word list is not UTF-8 text.") from None
