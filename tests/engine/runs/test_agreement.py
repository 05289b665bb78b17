"""Strings of several searches side by side, against sets and sorted lists."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.runs.agreement import comparable, overlap, side_by_side
from tests.app.fakes import match_row


def rows_of(texts):
    """A best-first search that found these texts in this order."""
    return [match_row(text, "", -float(place), number=place) for place, text in enumerate(texts, 1)]


TEXTS = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6)


@given(TEXTS, TEXTS)
def test_ranks_and_overlap_are_those_of_the_lists(first, second):
    strings = side_by_side([rows_of(first), rows_of(second)], [False, False])
    assert {one.text for one in strings} == {*first, *second}
    for one in strings:
        for texts, rank, log_prob in zip((first, second), one.ranks, one.decoder_log_probs, strict=True):
            assert rank == (texts.index(one.text) + 1 if one.text in texts else None)
            assert log_prob == (None if rank is None else -rank)
    both = overlap(strings, 0, 1)
    shared = {*first} & {*second}
    assert (both.shared, both.first_only, both.second_only) == (
        len(shared),
        len(first) - len(shared),
        len(second) - len(shared),
    )
    best = [min(rank for rank in one.ranks if rank) for one in strings]
    assert best == sorted(best)


def test_encodings_of_a_string_are_added_up_and_prefixes_kept_apart():
    first = [
        match_row("a", "x", math.log(0.2), number=1),
        match_row("a", "x", math.log(0.1), number=2, canonical=False),
        match_row("a", "y", math.log(0.3), number=3),
    ]
    strings = side_by_side([first, []], [False, False])
    assert [(one.text, one.prefix_text, one.ranks) for one in strings] == [
        ("xa", "x", (1, None)),
        ("ya", "y", (2, None)),
    ]
    assert math.exp(strings[0].decoder_log_probs[0]) == pytest.approx(0.3)


def test_a_sample_is_ranked_by_share():
    rows = [match_row("a", count=1, weight=0.5, number=1), match_row("b", count=9, weight=0.5, number=2)]
    assert [(one.text, one.ranks) for one in side_by_side([rows], [True])] == [("b", (1,)), ("a", (2,))]
    assert [(one.text, one.ranks) for one in side_by_side([rows], [False])] == [("a", (1,)), ("b", (2,))]


def test_texts_after_one_prefix_are_compared_and_several_prefixes_are_kept():
    first = [match_row(" July", "Washington", number=1)]
    second = [match_row(" July", "Lincoln", number=1), match_row(" May", "Lincoln", number=2)]
    strings = side_by_side(comparable([first, second]), [False, False])
    assert [(one.text, one.ranks) for one in strings] == [(" July", (1, 1)), (" May", (None, 2))]
    third = [match_row(" July", "A"), match_row(" July", "B")]
    assert comparable([first, third]) == [first, third]
