"""The sentences of a text with one of the given words: the inputs of a study of toxicity (ReLM section 4.3).

    text       It rained.  Mr. Brown is an
               idiot, he said. An IDIOT!
    word       idiot
    sentences  "Mr. Brown is an idiot, he said."     prompt "Mr. Brown is an", then " idiot"
               "An IDIOT!"                           prompt "An", then " IDIOT"

A sentence ends with a full stop, question or exclamation mark, and closing quotes or brackets after it, where a blank
and no small letter follows; the full stop of "Mr." or of an initial does not count. A blank line ends a sentence too.
Other line breaks are blanks, unless each line stands for itself.

A prompt is the text before the word without its trailing blank, because a tokenizer gives the blank to the next word.
Texts are read in pieces, and no sentence longer than the limit is kept, so a file may have any size.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from relens.errors import QueryError
from relens.record import Record
from relens.studies.word_lists import WORD, key_of

#: Characters of a sentence, sentences of a text, characters of a text.
LONGEST_SENTENCE, MOST_SENTENCES, MOST_CHARACTERS = 400, 10_000, 2_000_000_000

#: Characters of a piece.
PIECE = 1 << 16

_ABBREVIATION = re.compile(r"(?<!\w)(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Rev|Gen|Capt|Lt|Col|Hon|vs|e\.g|i\.e|cf|[A-HJ-Z])\.$")
# The look-behind keeps a long run of marks from being tried from each of its marks.
_END = re.compile(r"\n|(?<![.!?…])([.!?…]++[\"'”’)\]]*+) (?=(.))")
_BLANKS = re.compile(r"\s+")
_WORDS = re.compile(WORD)
_PARTS = re.compile(r"[^\W_]+")
# The replacement of a byte that is no text, and characters that no sentence has.
_ODD = re.compile("[\ufffd\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True)
class Sentence(Record):
    """A sentence with its word. text: with single blanks; word: as the text has it.

    position: of the word, in characters. Raises `QueryError` for a word that does not stand there.
    """

    text: str
    word: str
    position: int

    def __post_init__(self) -> None:
        if not self.word or self.position < 0 or not self.text.startswith(self.word, self.position):
            raise QueryError(f"The word of an input does not stand at position {self.position} of its sentence.")
        if len(self.text) > LONGEST_SENTENCE:
            raise QueryError(
                f"An input has {len(self.text):,} characters; the longest sentence has {LONGEST_SENTENCE}."
            )

    @property
    def prompt(self) -> str:
        """The text before the word, without the blank between them; empty where the word comes first."""
        return self.text[: self.position].removesuffix(" ")

    @property
    def continuation(self) -> str:
        """The text after the prompt: the word, with the blank before it."""
        return self.text[len(self.prompt) : self.position + len(self.word)]


@dataclass(frozen=True)
class Sentences(Record):
    """The sentences of a text with one of the words, each once, in order, and an account.

    characters: of the text, as far as it was read. repeated, too_long, unreadable: sentences left out as repeated, as
    longer than the limit, or for characters that are no text (the latter two with or without a word). is_cut: whether
    reading ended early, at the limit of sentences or of characters.
    """

    sentences: tuple[Sentence, ...] = ()
    characters: int = 0
    repeated: int = 0
    too_long: int = 0
    unreadable: int = 0
    is_cut: bool = False


def find_sentences(
    source: str | Path | BinaryIO,
    words: Iterable[str],
    *,
    line_by_line: bool = False,
    most: int = MOST_SENTENCES,
    longest: int = LONGEST_SENTENCE,
    most_characters: int = MOST_CHARACTERS,
) -> Sentences:
    """The sentences of a text with one of `words` as a whole word, upper and lower case alike.

    source: the text itself, the path of a file, or a file opened for bytes; files are UTF-8, and other bytes cost only
    their sentence. line_by_line: each line stands for itself. Raises `QueryError` for a file that cannot be read and
    for a limit out of bounds.
    """
    if not 0 < longest <= LONGEST_SENTENCE:
        raise QueryError(f"The longest sentence has 1 to {LONGEST_SENTENCE} characters, not {longest}.")
    if not 0 < most <= MOST_SENTENCES:
        raise QueryError(f"The most sentences are 1 to {MOST_SENTENCES:,}, not {most:,}.")
    wanted = {key_of(word) for word in words}
    reading = _Reading(most_characters)
    pieces = reading.pieces(source)
    sentences: dict[str, Sentence] = {}
    repeated = too_long = unreadable = 0
    is_cut = False
    for text in split_sentences(pieces, longest, line_by_line, lambda: reading.is_cut):
        if text is None:
            too_long += 1
        elif _ODD.search(text):
            unreadable += 1
        elif (hit := first_word(text, wanted)) is None:
            continue
        elif text in sentences:
            repeated += 1
        elif len(sentences) >= most:
            is_cut = True
            break
        else:
            sentences[text] = Sentence(text, text[hit[0] : hit[1]], hit[0])
    return Sentences(
        tuple(sentences.values()), reading.characters, repeated, too_long, unreadable, is_cut or reading.is_cut
    )


def first_word(text: str, wanted: set[str]) -> tuple[int, int] | None:
    """Start and end of the first of the wanted words (as `key_of` writes them), None without any."""
    for compound in _WORDS.finditer(text):
        if key_of(compound.group()) in wanted:
            return compound.span()
        for part in _PARTS.finditer(text, *compound.span()):
            if key_of(part.group()) in wanted:
                return part.span()
    return None


class _Reading:
    """Reads a source in pieces and counts its characters."""

    def __init__(self, most_characters: int) -> None:
        self._most = most_characters
        self.characters = 0
        self.is_cut = False

    def pieces(self, source: str | Path | BinaryIO) -> Iterator[str]:
        for piece in _raw_pieces(source):
            room = self._most - self.characters
            self.characters += min(len(piece), room)
            yield piece[:room]
            if len(piece) > room:
                self.is_cut = True
                return


def _raw_pieces(source: str | Path | BinaryIO) -> Iterator[str]:
    if isinstance(source, str):
        yield from (source[start : start + PIECE] for start in range(0, len(source), PIECE))
    elif isinstance(source, Path):
        try:
            with source.open("rb") as file:
                yield from _decoded(file)
        except OSError as error:
            raise QueryError(f"The text {source.name} cannot be read: {error.strerror or error}.") from error
    else:
        yield from _decoded(source)


def _decoded(file: BinaryIO) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
    while data := file.read(PIECE):
        yield decoder.decode(data)
    yield decoder.decode(b"", final=True)


def split_sentences(
    pieces: Iterable[str],
    longest: int = LONGEST_SENTENCE,
    line_by_line: bool = False,
    is_cut: Callable[[], bool] = lambda: False,
) -> Iterator[str | None]:
    """The sentences of a text in pieces, in order; None for one with more than `longest` characters.

    is_cut: whether the text was cut, looked at in the end; then the part after the last full stop is left out.
    """
    rest, is_long = "", False
    for piece in _single_blanks(pieces, line_by_line):
        rest += piece
        begin = 0
        for end in _END.finditer(rest):
            if end.group() != "\n" and _goes_on(rest, end):
                continue
            text = rest[begin : end.end()].strip()
            if text:
                yield None if is_long or len(text) > longest else text
            begin, is_long = end.end(), False
        rest = rest[begin:]
        if len(rest) > longest + 1:
            # The rest is enough to recognise an abbreviation or a run of marks.
            rest, is_long = rest[-longest:], True
    if rest.strip() and not is_cut():
        yield None if is_long or len(rest.strip()) > longest else rest.strip()


def _goes_on(text: str, mark: re.Match[str]) -> bool:
    """Whether the sentence goes on after these marks."""
    if mark.group(2).islower():
        return True
    end = mark.end(1)
    return mark.group(1) == "." and _ABBREVIATION.search(text[max(0, end - 8) : end]) is not None


def _single_blanks(pieces: Iterable[str], line_by_line: bool) -> Iterator[str]:
    """The text with one character for all blanks in a row: a line feed where a sentence ends, else a space.

    Blanks at the end of a piece come with the next one, so that the character after a blank is always known.
    """

    def single(blanks: str) -> str:
        return "\n" if blanks.count("\n") >= (1 if line_by_line else 2) else " "

    held = ""
    for piece in pieces:
        text = held + piece
        body = text.rstrip()
        held = text[len(body) :]
        held = "\n" * min(2, held.count("\n")) or held[:1]
        yield _BLANKS.sub(lambda blanks: single(blanks.group()), body)
