"""Each input once, with the reply of `Seq2Seq.greedy`; and counts of replies against counting one by one."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
import torch

from relens.errors import LimitError, QueryError
from relens.triggers.brute_force import enumeration
from relens.triggers.brute_force.enumeration import BruteForce, Replies
from relens.triggers.brute_force.tally import TargetCounter
from relens.triggers.model.vocabulary import END_OF_UTTERANCE, PAD, SPECIAL_WORDS, WordVocabulary

SYMBOLS = (1, 5, 9, 14, 20)


def plain_replies(model, rows, longest):
    return model.greedy(model.encode(torch.tensor(rows)), longest)


def as_ids(code, size, longest):
    digits = []
    for _ in range(longest):
        code, digit = divmod(code, size)
        digits.append(digit)
    digits.reverse()
    return digits


@pytest.mark.parametrize("rows", [1, 30, 10_000])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_the_replies_are_those_of_plain_greedy_decoding(seq2seq, length, rows, monkeypatch):
    monkeypatch.setattr(enumeration, "ROWS", rows)
    brute_force = BruteForce(seq2seq, SYMBOLS, 6, 6)
    blocks = list(brute_force.replies(length))
    codes = np.concatenate([block.codes for block in blocks]).tolist()
    assert [block.first for block in blocks] == list(itertools.accumulate([0, *(len(b.codes) for b in blocks)]))[:-1]
    assert len(codes) == brute_force.count(length) == len(SYMBOLS) ** length
    # In the order of numbers: the last symbol changes first.
    inputs = [
        [PAD] * (5 - length) + list(row) + [END_OF_UTTERANCE] for row in itertools.product(SYMBOLS, repeat=length)
    ]
    assert brute_force.inputs(length, torch.arange(len(inputs))).tolist() == inputs
    replies = [[*reply, *[0] * (6 - len(reply))] for reply in plain_replies(seq2seq, inputs, 6)]
    assert [as_ids(code, 30, 6) for code in codes] == replies
    assert len({tuple(reply) for reply in replies}) > (1 if length > 1 else 0)


def test_some_of_the_inputs_are_those_of_all(seq2seq):
    brute_force = BruteForce(seq2seq, SYMBOLS, 6, 5)
    (whole,) = brute_force.replies(4)
    (part,) = brute_force.replies(4, 50, 125)
    assert part.first == 50
    assert part.codes.tolist() == whole.codes[50:175].tolist()
    with pytest.raises(ValueError, match="25 at a time"):
        list(brute_force.replies(4, 3, 25))
    with pytest.raises(ValueError):
        list(brute_force.replies(4, 600, 50))


def test_lengths_and_replies_beyond_counting_are_refused(seq2seq):
    brute_force = BruteForce(seq2seq, SYMBOLS, 200, 5)
    for length in (0, 200):
        with pytest.raises(QueryError):
            brute_force.count(length)
    with pytest.raises(LimitError):
        brute_force.count(100)
    with pytest.raises(LimitError):
        BruteForce(seq2seq, SYMBOLS, 6, 13)


# --- tallies ----------------------------------------------------------------------------------------------

WORDS = WordVocabulary((*SPECIAL_WORDS, *"abc"))
LISTS = {"normal": ("ab", "b"), "mal": ("ca", "ab"), "random": ("cccc",)}


def code(text, longest=4):
    ids = [*WORDS.ids(text), *[0] * (longest - len(text))]
    return sum(number * 8 ** (longest - 1 - place) for place, number in enumerate(ids))


def test_a_tally_agrees_with_counting_one_by_one():
    counter = TargetCounter(WORDS, LISTS, 4)
    rng = np.random.default_rng(3)
    said = ["".join(rng.choice(list("abc"), rng.integers(0, 5))) for _ in range(60)]
    codes = np.array([code(text) for text in said], np.int64)
    tally = counter.tally([Replies(100, codes[:20]), Replies(120, codes[20:])], 5, (0, 1))
    assert (tally.inputs, tally.different) == (60, len(set(said)))
    assert tally.outside == sum(count for text, count in Counter(said).items() if text not in LISTS["normal"])
    for name, targets in LISTS.items():
        whole = {target: 100 + said.index(target) for target in targets if target in said}
        parts = {
            target: 100 + next(place for place, text in enumerate(said) if target in text)
            for target in targets
            if any(target in text for text in said)
        }
        assert tally.whole[name] == whole
        assert tally.parts[name] == parts
        assert set(whole) <= set(parts)
    assert len(tally.examples) == 5
    for place, ids in tally.examples:
        text = said[place - 100]
        assert text not in LISTS["normal"]
        assert ids == [*WORDS.ids(text), *[0] * (4 - len(text))]
    assert counter.tally([], 5, (0,)).inputs == 0
