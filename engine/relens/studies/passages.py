"""The passages of a cloze test: each a text in parts, with its last word apart.

    {"text": "Ann gave the ring to Shane. \\"Is it real?\\" asked Shane.\\""}

    context   Ann gave the ring to Shane. "Is it real?" asked
    gap       one space
    word      Shane        the truth: the last word without the punctuation around it
    ending    ."

The parts put together are the text again. A file has one passage a line, as plain text or as a JSON object with
"text", the format of OpenAI's LAMBADA test set. Typographic quotes become plain ones first, as in the preparation of
that test set for GPT-2 (ReLM section 4.4 follows it): a model has mostly seen plain quotes.

A file may be an upload. So it is read line by line, no further than needed, and errors name the line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

from relens.assets import ASSETS
from relens.errors import LimitError, QueryError
from relens.record import Record

#: Passages written for Relens.
OWN_PASSAGES = ASSETS / "passages.jsonl"

#: Characters of a passage, passages of a file, and bytes of a line (JSON may spell a character with six).
MOST_CHARACTERS, MOST_PASSAGES = 20_000, 20_000
MOST_LINE_BYTES = 8 * MOST_CHARACTERS
#: Lines that are read, empty ones included.
_MOST_LINES = 10 * MOST_PASSAGES

_PLAIN = {"“": '"', "”": '"', "„": '"', "``": '"', "''": '"', "‘": "'", "’": "'"}
_QUOTES = re.compile("|".join(map(re.escape, _PLAIN)))

#: A word of plain letters, as the patterns of the cloze test allow.
_LETTERS = re.compile("[a-zA-Z]+")
#: The words of a text: "Shane" in "Shane's", and neither the s nor the ll of "they'll".
_WORDS = re.compile(r"(?<![a-zA-Z]')\b[a-zA-Z]+\b")


@dataclass(frozen=True)
class Passage(Record):
    """A text in parts: context + gap + word + ending. gap: the blanks before the word, and what opens it."""

    context: str
    gap: str
    word: str
    ending: str

    @property
    def text(self) -> str:
        """The whole passage."""
        return self.context + self.gap + self.word + self.ending

    @property
    def can_be_answered(self) -> bool:
        """See `can_be_an_answer`."""
        return can_be_an_answer(self.word)

    @property
    def context_words(self) -> tuple[str, ...]:
        """The different words of plain letters in the context, as they first come."""
        return tuple(dict.fromkeys(_WORDS.findall(self.context)))


def can_be_an_answer(word: str) -> bool:
    """Whether the word is one of plain letters: neither "1969" nor "don't" is."""
    return bool(_LETTERS.fullmatch(word))


def split_passage(text: str, where: str = "The passage") -> Passage:
    """The parts of a passage. where: its name in errors.

    Raises `QueryError` for a text without a last word, or with nothing before it, and `LimitError` for more than 20,000
    characters.
    """
    if len(text) > MOST_CHARACTERS:
        raise LimitError(
            f"{where} has {len(text):,} characters, more than the limit of {MOST_CHARACTERS:,}.", limit="passage"
        )
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise QueryError(f"{where} has half of a surrogate pair, which is no character.")
    text = _QUOTES.sub(lambda quote: _PLAIN[quote.group()], text).strip()
    last = text[len(text) - len(text.split()[-1]) :] if text else ""
    letters = [place for place, character in enumerate(last) if character.isalnum()]
    if not letters:
        raise QueryError(f"{where} does not end with a word.")
    before = text[: len(text) - len(last)]
    context = before.rstrip()
    if not context:
        raise QueryError(f"{where} has nothing before its last word.")
    first, end = letters[0], letters[-1] + 1
    return Passage(context, before[len(context) :] + last[:first], last[first:end], last[end:])


def passages_of_lines(lines: Iterable[str], count: int | None = None) -> tuple[Passage, ...]:
    """The passages of these lines, or the first `count` of them, without empty lines.

    Where the first line is a JSON object, all are. Raises `QueryError` and `LimitError`, with the number of the line.
    """
    passages: list[Passage] = []
    is_json: bool | None = None
    for number, line in enumerate(lines, start=1):
        if number > _MOST_LINES:
            raise LimitError(f"The passages have more than the limit of {_MOST_LINES:,} lines.", limit="passages")
        if not line.strip():
            continue
        if len(passages) >= MOST_PASSAGES:
            raise LimitError(
                f"There are more than {MOST_PASSAGES:,} passages; ask for the first of them.", limit="passages"
            )
        where = f"Line {number} of the passages"
        if is_json is None:
            is_json = line.lstrip().startswith("{")
        passages.append(split_passage(_text_of_json(line, where) if is_json else line, where))
        if len(passages) == count:
            break
    if not passages:
        raise QueryError("There are no passages.")
    return tuple(passages)


def passages_of_file(file: BinaryIO, count: int | None = None) -> tuple[Passage, ...]:
    """The passages of an open file, UTF-8, or the first `count` of them; raises what `passages_of_lines` raises."""
    return passages_of_lines(_lines(file), count)


def read_passages(path: str | Path, count: int | None = None) -> tuple[Passage, ...]:
    """The passages of a file, UTF-8, or the first `count` of them.

    Raises `QueryError` for a file that cannot be read, else what `passages_of_lines` raises.
    """
    try:
        if not Path(path).is_file():
            raise QueryError(f"There is no file of passages at {str(path)!r}.")
        with Path(path).open("rb") as file:
            return passages_of_file(file, count)
    except (OSError, ValueError) as error:
        raise QueryError(f"The file of passages {str(path)!r} cannot be read: {error}.") from None


@cache
def own_passages() -> tuple[Passage, ...]:
    """The passages written for Relens."""
    return read_passages(OWN_PASSAGES)


def _lines(file: BinaryIO) -> Iterator[str]:
    """The lines of a file, each read no further than its limit."""
    number = 0
    while line := file.readline(MOST_LINE_BYTES + 1):
        number += 1
        if len(line) > MOST_LINE_BYTES:
            raise LimitError(
                f"Line {number} of the passages has more than the limit of {MOST_LINE_BYTES:,} bytes.", limit="passage"
            )
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise QueryError(f"Line {number} of the passages is not UTF-8.") from None


def _text_of_json(line: str, where: str) -> str:
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        raise QueryError(f"{where} is not JSON.") from None
    if not isinstance(read, dict) or not isinstance(read.get("text"), str):
        raise QueryError(f'{where} is not a JSON object with a "text".')
    return str(read["text"])
