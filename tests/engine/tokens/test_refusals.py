"""The reasons why tokens are not canonical, against BPE run by hand and the tokenizer's own cuts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.tokens.refusals import Refusals
from relens.tokens.token_lattice import token_lattice
from relens.tokens.tokenizer import BYTE_OF_CHARACTER, Tokenizer

pytestmark = pytest.mark.heavy

MERGE = re.compile(r"The merge of “(.*)” and “(.*)” into “(.*)”, number ([\d,]+) of", re.DOTALL)


def spelled(piece: str) -> bytes:
    return bytes(BYTE_OF_CHARACTER[character] for character in piece)


def merges_by_hand(tokenizer: Tokenizer, data: bytes) -> list[tuple[int, bytes, bytes, int]]:
    """(rank, left, right, border) of each merge in one pre-token, by looking at all neighbours every time."""
    ranks: dict[tuple[bytes, bytes], int] = {}
    for rank, merge in enumerate(tokenizer.configuration["model"]["merges"]):
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        ranks[spelled(left), spelled(right)] = rank
    symbols = [bytes([byte]) for byte in data]
    made = []
    while True:
        places = [place for place in range(len(symbols) - 1) if (symbols[place], symbols[place + 1]) in ranks]
        if not places:
            return made
        place = min(places, key=lambda place: (ranks[symbols[place], symbols[place + 1]], place))
        left, right = symbols[place : place + 2]
        made.append((ranks[left, right], left, right, sum(map(len, symbols[: place + 1]))))
        symbols[place : place + 2] = [left + right]


def shown(data: bytes) -> str:
    text = data.decode(errors="backslashreplace")
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def cuts_of(tokenizer: Tokenizer, text: str) -> list[int]:
    """The byte places of the library's own pre-tokens."""
    import tokenizers

    backend = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    ends = [end for _, (_, end) in backend.pre_tokenizer.pre_tokenize_str(text)]
    return sorted({0, *(len(text[:end].encode()) for end in ends)})


def check(tokenizer: Tokenizer, text: str) -> set[str]:
    lattice = token_lattice(text, tokenizer)
    refusals = Refusals(lattice, tokenizer)
    cuts = cuts_of(tokenizer, text)
    assert list(refusals.cuts) == cuts
    own = set(lattice.canonical_path)
    kinds = set()
    for arc in lattice.arcs:
        sentence = refusals.sentence(arc)
        assert (sentence == "") == (arc in own)
        crossed = [cut for cut in cuts if arc.source < cut < arc.target]
        assert sentence.startswith("It reaches over a boundary") == bool(crossed)
        kinds.add(sentence[:9])
        if named := MERGE.match(sentence):
            begin = max(cut for cut in cuts if cut <= arc.source)
            end = min(cut for cut in cuts if cut > arc.source)
            made = merges_by_hand(tokenizer, text.encode()[begin:end])
            first = next(merge for merge in made if begin + merge[3] in (arc.source, arc.target))
            assert int(named[4].replace(",", "")) == first[0] + 1
            assert (named[1], named[2]) == (shown(first[1]), shown(first[2]))
            assert ("left" if begin + first[3] == arc.source else "right") in sentence[named.end() :]
    return kinds


@pytest.mark.parametrize("text", ["The cat", "I'm  42 running.", "café\n\n\nx", "information"])
def test_the_first_merge_over_a_border_is_named(real, text):
    assert {"", "The merge"} <= check(real, text)


@given(text=st.text(st.sampled_from("aeothsd '\n1é,"), min_size=1, max_size=12))
def test_every_text(small, text):
    check(small, text)


def test_a_token_over_a_cut(trained):
    kinds = set().union(*(check(trained, text) for text in ("it's", "a  b", "ab.", "the people", "x\n\ny")))
    assert "" in kinds


def test_a_token_that_bpe_never_makes_is_refused_in_words(ignoring_merges):
    lattice = token_lattice("a catdog", ignoring_merges)
    refusals = Refusals(lattice, ignoring_merges)
    sentences = {arc: refusals.sentence(arc) for arc in lattice.arcs}
    assert {arc for arc, sentence in sentences.items() if not sentence} == set(lattice.canonical_path)
    assert any("is taken without any merges" in sentence for sentence in sentences.values())


def test_tokenizers_whose_merges_are_not_followed(other):
    for text in ("the cat", "The cat"):
        lattice = token_lattice(text, other)
        refusals = Refusals(lattice, other)
        own = set(lattice.canonical_path)
        assert all((refusals.sentence(arc) == "") == (arc in own) for arc in lattice.arcs)
