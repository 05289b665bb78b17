"""Languages, strings and slow truths that the tests of this room share."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from relens.language.automaton import ByteAutomaton
from relens.language.compile import compile_regex
from relens.query import Encoding
from relens.tokens.automaton import TokenAutomaton
from relens.tokens.tokenizer import Tokenizer

#: Finite languages that touch what tokenizers find hard: white space, contractions, digits, characters of many bytes.
FINITE = {
    "literal": r"cat|dog",
    "the": r"The ((cat)|(dog))",
    "bias": r"The ((man)|(woman)) was trained in ((art)|(science)|(computer science)|(information systems)|(math))",
    "date": r"(May|June) [0-9]{1,2}, 17[0-9]",
    "white space": r"[ \n]{0,4}a?[ \n]{0,2}b?",
    "contractions": r"[ !]?'(s|t|r|re|ve|l|ll|d|m)[a-s]?'?[sr]?e?",
    "punctuation": r"[-=.*\n ]{0,4}",
    "digits": r"[a0 ,.]{0,5}",
    "characters": r"(é|日|٣|ß| |'|s){0,3}",
    "lines": r"\n{0,7}(A|'s| \n)?",
    "repeated letters": r"[aoe]{0,6}",
    "carriage returns": r"[\r\n\t x]{0,4}",
}

OPEN = {
    "letters": r"[a-z]+",
    "blanks": r"[ \na']+",
    "words": r"([a-e]| |\n|'s)*",
    "characters": r"(é|日|٣| )+x",
}


def language(pattern: str) -> ByteAutomaton:
    return compile_regex(pattern)


def strings(automaton: ByteAutomaton) -> Iterator[bytes]:
    """Every string of a finite language."""
    stack = [(0, b"")]
    while stack:
        state, spelled = stack.pop()
        if automaton.final[state]:
            yield spelled
        for byte in np.flatnonzero(automaton.transitions[state] >= 0).tolist():
            stack.append((int(automaton.transitions[state, byte]), spelled + bytes([byte])))


def encodable(tokenizer: Tokenizer, data: bytes, continues: bool = False) -> bool:
    """Whether the tokenizer's encoding spells the string; it drops bytes that have no token."""
    text = data.decode()
    return tokenizer.decode_bytes(tokenizer.encode(text, continues), continues) == data


def encodings(tokenizer: Tokenizer, automaton: ByteAutomaton, continues: bool = False) -> set[tuple[int, ...]]:
    """What the tokenizer makes of every string of a finite language."""
    return {
        tuple(tokenizer.encode(data.decode(), continues))
        for data in strings(automaton)
        if encodable(tokenizer, data, continues)
    }


@functools.lru_cache(maxsize=4)
def ids_by_spelling(token_bytes: tuple[bytes | None, ...]) -> dict[bytes, list[int]]:
    spelled: dict[bytes, list[int]] = {}
    for token, item in enumerate(token_bytes):
        if item:
            spelled.setdefault(item, []).append(token)
    return spelled


def segmentations(token_bytes: Iterable[bytes | None], data: bytes) -> list[tuple[int, ...]]:
    """Every way to spell `data`, by trying every token at every place."""
    spelled = ids_by_spelling(tuple(token_bytes))

    def rest(begin: int) -> Iterator[tuple[int, ...]]:
        if begin == len(data):
            yield ()
        for end in range(begin + 1, len(data) + 1):
            for token in spelled.get(data[begin:end], ()):
                for tail in rest(end):
                    yield (token, *tail)

    return list(rest(0))


@functools.lru_cache(maxsize=512)
def spellings(
    tokenizer: Tokenizer, texts: frozenset[bytes], encoding: Encoding, continues: bool = False
) -> set[tuple[int, ...]]:
    """Every encoding of every string, by enumeration."""
    encodings: set[tuple[int, ...]] = set()
    for data in texts:
        if encoding is Encoding.CANONICAL:
            encodings.add(tuple(tokenizer.encode(data.decode(), continues)))
        else:
            spelled = [data] if continues or not tokenizer.drops_first_space else [b" " + data]
            if spelled[0] != data and not data.startswith(b" "):
                spelled.append(data)
            encodings.update(path for item in spelled for path in segmentations(tokenizer.vocabulary.token_bytes, item))
    return {path for path in encodings if tokenizer.decode_bytes(path, continues) in texts}


def marks(automaton: TokenAutomaton, path: Sequence[int]) -> list[bool]:
    """Which arcs of a path are prefix arcs."""
    in_prefix_arcs, state = [], automaton.start
    for token in path:
        tokens, in_prefix = automaton.arcs(state)
        in_prefix_arcs.append(bool(in_prefix[tokens.searchsorted(token)]))
        state = automaton.step(state, token)
    return in_prefix_arcs


def random_segmentation(
    spelled: dict[bytes, int], data: bytes, source: random.Random, longest: int = 10
) -> list[int] | None:
    """One way to spell `data` at random, or None where the dice lead nowhere."""
    tokens, begin = [], 0
    while begin < len(data):
        ends = [end for end in range(begin + 1, min(len(data), begin + longest) + 1) if data[begin:end] in spelled]
        if not ends:
            return None
        end = source.choice(ends)
        tokens.append(spelled[data[begin:end]])
        begin = end
    return tokens


PROSE = """Congress shall make no law respecting an establishment of religion, or prohibiting the free exercise thereof;
or abridging the freedom of speech, or of the press; or the right of the people peaceably to assemble, and to petition
the Government for a redress of grievances. It's what they'd said, isn't it? "We'll see," she wrote on July 4, 1776."""

CODE = """def walk(self, node: int = 0) -> list[int]:\n    \"\"\"Depth first.\"\"\"\n\tif node >= len(self.nodes):
        return []\n\n    for child in self.children[node]:   # breadth\n        yield from self.walk(child)\r\n
#include <stdio.h>\nint main(void){ printf("%d\\n", 0x1F & ~3); return 0; }\n{"key": [1, 2.50, null], "x": "\\u00e9"}"""

UNICODE = (
    "Größe naïve Ελληνικά Русский язык 日本語テキスト 한국어 العربية עברית हिन्दी ไทย"
    " 😀👩‍👩‍👧 ½ Ⅷ ٣٤ é \u00a0\u3000\u200b ſt"
)

HOSTILE = [
    *"  \n\n\r\t'''sStTrReEvVmMlLdDabXYZ0123.,!?-_#%/",
    *(
        "é",
        "ß",
        "日",
        "٣",
        "²",
        "\u00a0",
        "\u3000",
        "\u200b",
        "\u0301",
        "😀",
        "\x85",
        "Ⅷ",
        "ſ",
        "\x1c",
        "一",
        "\x00",
        "\x04",
    ),
    *("the", " of", " and", "ing", "====", "    ", "<|endoftext|>", "<|im_start|>", "'ll", "\n\n\n", "\U00040000"),
]


def random_string(kind: str, source: random.Random) -> str:
    """A string of one kind: prose, code, white space, digits, Unicode, hostile."""
    if kind in ("prose", "code", "unicode"):
        text = {"prose": PROSE, "code": CODE, "unicode": UNICODE}[kind]
        begin = source.randrange(len(text))
        return text[begin : begin + source.randint(1, 40)]
    pieces: Iterable[str] = {"white space": " \n\t\r a.", "digits": "0123456789.,- $", "hostile": HOSTILE}[kind]
    return "".join(source.choice(list(pieces)) for _ in range(source.randint(1, 12)))


KINDS = ("prose", "code", "white space", "digits", "unicode", "hostile")
