"""The pairs of input and reply of a dialogue model, read from a corpus in one of four forms.

    dialogues, a line each,        how are you ?            pairs   how are you ?  ->  fine , and you ?
    a blank line between           fine , and you ?                 fine , and you ?  ->  me too .
                                   me too .

    the same on one line           how are you ? <eou> fine , and you ? <eou> me too .
    pairs, with a tab              how are you ?<TAB>fine , and you ?
    JSON, one object a line        {"dialogue": ["how are you ?", "fine , and you ?"]}
                                   {"input": "how are you ?", "response": "fine , and you ?"}

All become dialogues, and each utterance with the next one is a pair. The two pairs above share an utterance, so whole
dialogues are held out for the test, drawn by a seed: no test pair is known from training.

A corpus is an uploaded file. It is read line by line within limits, and each error names its line.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from sys import intern
from typing import Any, BinaryIO, Literal, get_args

from relens.errors import LimitError, QueryError
from relens.record import Record
from relens.triggers.model.vocabulary import words_of_cut_text, words_of_text
from relens.triggers.text_files import opened, text_of_line

Form = Literal["auto", "dialogues", "eou", "pairs", "json"]
FORMS: tuple[Form, ...] = get_args(Form)

Words = tuple[str, ...]
Dialogue = tuple[Words, ...]

#: Bytes of a line, pairs of a corpus, and words of an utterance that are kept.
MOST_LINE_BYTES, MOST_PAIRS, MOST_WORDS = 1 << 22, 3_000_000, 1_000

#: A longer turn of the corpus that comes with Relens is a speech, not conversation.
MONOLOGUE_WORDS = 40

_SEPARATOR = "<eou>"
_LISTS = ("dialogue", "utterances", "messages")
_INPUTS, _RESPONSES = ("input", "source", "prompt"), ("response", "target", "reply")


@dataclass(frozen=True)
class Pair(Record):
    """An input and its reply, in words."""

    source: Words
    response: Words


@dataclass(frozen=True)
class Corpus:
    """Pairs for training and pairs for the test."""

    name: str
    train: tuple[Pair, ...]
    test: tuple[Pair, ...]

    @cached_property
    def fingerprint(self) -> str:
        """A short name for exactly these pairs: 16 hexadecimal digits."""
        digest = hashlib.sha256()
        for part in (self.train, self.test):
            for pair in part:
                line = "\t".join((" ".join(pair.source), " ".join(pair.response)))
                digest.update(line.encode("utf-8", "replace") + b"\n")
            digest.update(b"\n")
        return digest.hexdigest()[:16]


def split_corpus(
    name: str, dialogues: Sequence[Dialogue], test_share: float = 0.05, seed: int = 0, pairs: int | None = None
) -> Corpus:
    """The corpus of these dialogues, with about `test_share` of them, and at least one, for the test.

    pairs: of the training, drawn at random, None for all. Raises `QueryError` where no pair is left for either.
    """
    if not 0.0 < test_share < 1.0:
        raise QueryError(f"The share of the test is above 0 and below 1, not {test_share}.")
    if pairs is not None and pairs < 1:
        raise QueryError(f"A model is trained with at least 1 pair, not {pairs}.")
    useful = [dialogue for dialogue in dialogues if len(dialogue) > 1]
    if not dialogues:
        raise QueryError("The corpus has no text.")
    if not useful:
        raise QueryError("The corpus has no pairs: nothing in it is answered by anything.")
    if len(useful) == 1:
        raise QueryError(
            "The corpus has a single dialogue, so nothing is left to test with: it needs two, each on a line of"
            " its own or with a blank line between them."
        )
    order = list(range(len(useful)))
    random.Random(seed).shuffle(order)
    kept = min(len(useful) - 1, max(1, round(test_share * len(useful))))
    parts: list[list[Pair]] = []
    for places in (order[kept:], order[:kept]):
        parts.append([Pair(said, answer) for place in places for said, answer in pairwise(useful[place])])
    return Corpus(name, tuple(parts[0][:pairs]), tuple(parts[1]))


def read_corpus(
    path: str | Path,
    form: Form = "auto",
    is_cut: bool = False,
    test_share: float = 0.05,
    seed: int = 0,
    pairs: int | None = None,
) -> Corpus:
    """The corpus in a file, UTF-8. is_cut: whether its words stand apart already; the rest as in `split_corpus`.

    Raises `QueryError` and `LimitError`, which name the line.
    """
    with opened(path, "corpus") as file:
        dialogues = read_dialogues(file, form, is_cut)
    return split_corpus(Path(path).name, dialogues, test_share, seed, pairs)


def read_dialogues(file: BinaryIO, form: Form = "auto", is_cut: bool = False) -> list[Dialogue]:
    """The dialogues of an open file, without empty utterances. Raises what `read_corpus` raises."""
    if form not in FORMS:
        raise QueryError(f"The form of a corpus is one of {', '.join(FORMS)}, not {form!r}.")
    cut = words_of_cut_text if is_cut else words_of_text
    lines = _lines(file)
    if form == "auto":
        lines, form = _recognised(lines)
    dialogues: list[Dialogue] = []
    pairs = 0
    for texts in _READERS[form](lines):
        utterances = (cut(text) for text in texts)
        dialogue = tuple(tuple(map(intern, words[:MOST_WORDS])) for words in utterances if words)
        if not dialogue:
            continue
        dialogues.append(dialogue)
        pairs += len(dialogue) - 1
        if pairs > MOST_PAIRS:
            raise LimitError(f"The corpus has more than the limit of {MOST_PAIRS:,} pairs.", limit="pairs")
    return dialogues


# --- forms ------------------------------------------------------------------------------------------------


def _lines(file: BinaryIO) -> Iterator[tuple[int, str]]:
    """The lines and their numbers; no line is read beyond the limit."""
    number = 0
    while line := file.readline(MOST_LINE_BYTES + 1):
        number += 1
        if len(line) > MOST_LINE_BYTES:
            raise LimitError(
                f"Line {number} of the corpus has more than the limit of {MOST_LINE_BYTES:,} bytes.", limit="corpus"
            )
        yield number, text_of_line(line, number, "the corpus")


def _recognised(lines: Iterator[tuple[int, str]]) -> tuple[Iterator[tuple[int, str]], Form]:
    """All lines, and the form of the first one with text."""
    first = next(((number, line) for number, line in lines if line.strip()), None)
    if first is None:
        raise QueryError("The corpus has no text.")

    def all_lines() -> Iterator[tuple[int, str]]:
        yield first
        yield from lines

    text = first[1].strip()
    # A lone bracket begins JSON over several lines, which is refused with that reason.
    if text in ("{", "[") or (text[0] in "{[" and text[-1] in "}]"):
        return all_lines(), "json"
    if _SEPARATOR in text.split():
        return all_lines(), "eou"
    return all_lines(), "pairs" if "\t" in text else "dialogues"


def _by_blank_lines(lines: Iterable[tuple[int, str]]) -> Iterator[list[str]]:
    dialogue: list[str] = []
    for _, line in lines:
        if line.strip():
            dialogue.append(line)
        elif dialogue:
            yield dialogue
            dialogue = []
    if dialogue:
        yield dialogue


def _by_separator(lines: Iterable[tuple[int, str]]) -> Iterator[list[str]]:
    for _, line in lines:
        yield line.split(_SEPARATOR)


def _by_tab(lines: Iterable[tuple[int, str]]) -> Iterator[list[str]]:
    for number, line in lines:
        if not line.strip():
            continue
        source, tab, response = line.partition("\t")
        if not tab:
            raise QueryError(f"Line {number} of the corpus has no tab between an input and its response.")
        if source.strip() and response.strip():
            yield [source, response]


def _by_json(lines: Iterable[tuple[int, str]]) -> Iterator[list[str]]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            read = json.loads(line)
        except (ValueError, RecursionError):
            raise QueryError(f"Line {number} of the corpus is not JSON; each line is a whole value.") from None
        texts = _texts_of(read)
        if texts is None:
            raise QueryError(
                f'Line {number} of the corpus has neither a "dialogue", a list of texts, nor an "input" with its'
                ' "response".'
            )
        yield texts


def _texts_of(read: Any) -> list[str] | None:
    """The utterances in a JSON value, None where there are none; of a pair with an empty side, []."""
    if isinstance(read, dict) and not any(name in read for name in _LISTS):
        both = [next((read[name] for name in names if name in read), None) for names in (_INPUTS, _RESPONSES)]
        pair = [text for text in both if isinstance(text, str)]
        if len(pair) < 2:
            return None
        return pair if all(text.strip() for text in pair) else []
    listed = next((read[name] for name in _LISTS if name in read), None) if isinstance(read, dict) else read
    if not isinstance(listed, list):
        return None
    items = [item.get("content", item.get("text")) if isinstance(item, dict) else item for item in listed]
    texts = [item for item in items if isinstance(item, str)]
    return texts if len(texts) == len(items) else None


_READERS: dict[Form, Callable[[Iterable[tuple[int, str]]], Iterator[list[str]]]] = {
    "dialogues": _by_blank_lines,
    "eou": _by_separator,
    "pairs": _by_tab,
    "json": _by_json,
}
