from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import QueryError
from relens.statistics import Estimate
from relens.traversal.results import Match
from relens.traversal.summaries import (
    GroupResult,
    StringResult,
    by_group,
    by_string,
    group_names,
    noncanonical_share,
)
from tests.engine.weighted_share import weighted_share


def match(text: str, weight: float, *, tokens: tuple[int, ...] = (1,), canonical: bool = True, **values) -> Match:
    fields = {
        "text": text,
        "prefix_text": "The",
        "token_ids": tokens,
        "prefix_tokens": 1,
        "prefix_log_prob": -1.0,
        "log_prob": math.log(weight) if weight else -5.0,
        "decoder_log_prob": math.log(weight) if weight else -5.0,
        "token_log_probs": (),
        "token_decoder_log_probs": (),
        "is_canonical": canonical,
        "seconds": 0.0,
        "weight": weight,
    }
    return Match(**(fields | values))


MATCHES = [
    match("The man was art", 0.4, tokens=(1, 2), groups={"who": "man", "what": "art"}),
    match("The woman was art", 0.4, tokens=(4, 2), groups={"who": "woman", "what": "art"}),
    match("The man was art", 0.1, tokens=(1, 5, 6), canonical=False, groups={"who": "man", "what": "art"}),
    match("The man was math", 0.1, tokens=(1, 3), groups={"who": "man", "what": "math"}),
]


def test_strings_by_hand():
    first, second, third = by_string(MATCHES)
    assert first == StringResult(
        text="The man was art",
        prefix_text="The",
        groups={"who": "man", "what": "art"},
        encodings=2,
        canonical_share=pytest.approx(0.8),
        probability=pytest.approx(0.5),
        share=pytest.approx(0.5),
        low=pytest.approx(0.5),
        high=pytest.approx(0.5),
        count=2,
    )
    assert (second.text, second.share, second.canonical_share) == ("The woman was art", pytest.approx(0.4), 1.0)
    assert (third.text, third.share) == ("The man was math", pytest.approx(0.1))
    assert by_string([]) == []


def test_rows_and_matches_are_the_same():
    rows = [match.to_json() | {"number": number} for number, match in enumerate(MATCHES, 1)]
    assert by_string(rows) == by_string(MATCHES)
    assert by_group(rows, ["who"]) == by_group(MATCHES, ["who"])
    assert by_string(iter(rows), draws=4) == by_string(MATCHES, draws=4)
    assert StringResult.from_json(by_string(rows)[0].to_json()) == by_string(rows)[0]
    assert GroupResult.from_json(by_group(rows, ["who"])[0].to_json()) == by_group(rows, ["who"])[0]


def test_one_text_with_two_prefixes_is_two_results():
    split = match("The man was art", 0.2, tokens=(1, 2), prefix_text="The m")
    assert [result.prefix_text for result in by_string([*MATCHES, split])] == ["The", "The", "The m", "The"]


def test_groups_by_hand():
    assert group_names(MATCHES) == ("who", "what")
    joint = {(result.values["who"], result.values["what"]): result for result in by_group(MATCHES, ["who", "what"])}
    assert {key: result.share for key, result in joint.items()} == {
        ("man", "art"): pytest.approx(0.5),
        ("woman", "art"): pytest.approx(0.4),
        ("man", "math"): pytest.approx(0.1),
    }
    assert (joint["man", "art"].encodings, joint["man", "art"].strings, joint["man", "art"].count) == (2, 1, 2)
    assert joint["man", "art"].effective_samples is None
    conditional = {
        (result.values["who"], result.values["what"]): result.share
        for result in by_group(MATCHES, ["who", "what"], given=["who"])
    }
    assert conditional == {
        ("man", "art"): pytest.approx(5 / 6),
        ("man", "math"): pytest.approx(1 / 6),
        ("woman", "art"): pytest.approx(1),
    }
    (both,) = by_group(MATCHES, [])
    assert (both.values, both.share, both.strings, both.encodings) == ({}, 1.0, 3, 4)
    with pytest.raises(QueryError, match="who"):
        by_group(MATCHES, ["what"], given=["who"])


def test_an_unknown_group_is_a_value():
    unclear = match("The mn was art", 0.5, tokens=(9,), groups={"who": None, "what": "art"})
    shares = {result.values["who"]: result.share for result in by_group([*MATCHES, unclear], ["who"])}
    assert shares == {"man": pytest.approx(0.4), None: pytest.approx(1 / 3), "woman": pytest.approx(0.4 / 1.5)}
    assert by_group([match("x", 1.0)], ["who"])[0].values == {"who": None}


def test_noncanonical_share():
    assert noncanonical_share(MATCHES) == Estimate.exact(pytest.approx(0.1))
    assert noncanonical_share(MATCHES[:1]) == Estimate.exact(0.0)
    assert noncanonical_share([]) == Estimate.exact(0.0)
    sampled = noncanonical_share([match("a", 0.5, count=30), match("a", 0.25, count=20, canonical=False)], draws=50)
    assert sampled == weighted_share([0.5, 0.25], [30, 20], [False, True])
    assert sampled.value == pytest.approx(5 / 20)


def test_a_sample_has_intervals():
    drawn = [
        match("The man was art", 0.4, count=30, groups={"who": "man"}),
        match("The woman was art", 0.2, count=20, groups={"who": "woman"}),
    ]
    man, woman = by_group(drawn, ["who"], draws=60)
    expected = weighted_share([0.4, 0.2], [30, 20], [True, False])
    assert (man.share, man.low, man.high) == pytest.approx((expected.value, expected.low, expected.high))
    assert man.effective_samples == pytest.approx(expected.effective_samples)
    assert (man.count, woman.count) == (30, 20)
    assert man.share == pytest.approx(12 / 16)
    first, _ = by_string(drawn, draws=60)
    assert (first.share, first.low, first.high) == pytest.approx((man.share, man.low, man.high))
    # Among the women, all are women, and with 20 draws one may be nearly sure.
    given_who = by_group(drawn, ["who"], given=["who"], draws=60)
    assert [result.share for result in given_who] == [1.0, 1.0]
    assert 0.8 < given_who[1].low < given_who[1].high == 1.0


def test_matches_that_extend_others_count_for_nothing():
    longer = match("The man was artful", 0.0, tokens=(1, 2, 8), count=1)
    assert by_string([*MATCHES, longer])[-1].share == 0.0
    assert by_string([longer])[0].share == 0.0
    assert by_string([longer])[0].canonical_share == 1.0
    assert by_group([longer], ["who"])[0].share == 0.0


_matches = st.lists(
    st.builds(
        match,
        text=st.sampled_from(["a", "b", "ab"]),
        weight=st.floats(1e-9, 1.0),
        tokens=st.lists(st.integers(0, 2), min_size=1, max_size=3).map(tuple),
        canonical=st.booleans(),
        count=st.integers(1, 20),
        groups=st.fixed_dictionaries({"x": st.sampled_from(["1", "2", None]), "y": st.sampled_from(["", "3"])}),
    ),
    min_size=1,
    max_size=12,
)


@given(matches=_matches, draws=st.sampled_from([None, 1000]))
def test_shares_sum_to_one(matches: list[Match], draws: int | None):
    assert sum(result.share for result in by_string(matches, draws)) == pytest.approx(1)
    assert sum(result.share for result in by_group(matches, ["x", "y"], draws=draws)) == pytest.approx(1)
    given_x: dict[str | None, float] = {}
    for result in by_group(matches, ["x", "y"], given=["x"], draws=draws):
        given_x[result.values["x"]] = given_x.get(result.values["x"], 0.0) + result.share
    assert all(total == pytest.approx(1) for total in given_x.values())
    for result in [*by_string(matches, draws), *by_group(matches, ["y"], draws=draws)]:
        assert 0.0 <= result.low <= result.share <= result.high <= 1.0
        assert draws is not None or result.low == result.high
    assert sum(result.count for result in by_string(matches, draws)) == sum(result.count for result in matches)
    shares = [result.share for result in by_string(matches, draws)]
    assert shares == sorted(shares, reverse=True)


@given(matches=_matches, draws=st.sampled_from([None, 1000]), data=st.data())
def test_a_row_may_be_cut_in_two(matches: list[Match], draws: int | None, data):
    place = data.draw(st.integers(0, len(matches) - 1))
    row = matches[place].to_json()
    taken = data.draw(st.integers(0, row["count"]))
    cut = [match.to_json() for match in matches]
    cut[place : place + 1] = [row | {"count": taken}, row | {"count": row["count"] - taken}]
    for whole, parts in [
        (by_string(matches, draws), by_string(cut, draws)),
        (by_group(matches, ["x", "y"], ["y"], draws), by_group(cut, ["x", "y"], ["y"], draws)),
    ]:
        # Equal shares may change places by a rounding.
        for one, other in zip(*(sorted(map(_figures, results)) for results in (whole, parts)), strict=True):
            assert one[0] == other[0]
            assert one[1:] == pytest.approx(other[1:])


def _figures(result: StringResult | GroupResult) -> tuple:
    name = (result.text,) if isinstance(result, StringResult) else (repr(result.values),)
    more = (result.probability,) if isinstance(result, StringResult) else (result.effective_samples or 0.0,)
    return (*name, result.count, result.encodings, result.share, result.low, result.high, *more)
