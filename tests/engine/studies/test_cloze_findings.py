"""Findings of a cloze test on made rows: counted a second way, tested with scipy."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from relens.studies.cloze import VARIANTS, ClozeStudy
from relens.studies.cloze_findings import ClozeFindings


def answer_row(variant: str, passage: int, *words: str, truth: str = "dog", cut: bool = False, error: str = "") -> Any:
    return {
        "unit": "open 0",
        "row": "answer",
        "variant": variant,
        "passage": passage,
        "context": "The",
        "truth": truth,
        "answers": [{"word": word, "text": f" {word}", "log_prob": -1.0, "decoder_log_prob": -1.0} for word in words],
        "right": words[:1] == (truth,),
        "rank": words.index(truth) + 1 if truth in words else None,
        "expansions": 10,
        "cut": cut,
        "error": error,
    }


def findings_of(rows: list[Any]) -> ClozeFindings:
    return ClozeStudy().findings(rows)


def rows_of_counts(both: int, first: int, second: int, neither: int) -> list[Any]:
    outcomes = [(1, 1)] * both + [(1, 0)] * first + [(0, 1)] * second + [(0, 0)] * neither
    return [
        answer_row(variant, number, "dog" if outcome[place] else "cat", "mouse")
        for number, outcome in enumerate(outcomes)
        for place, variant in enumerate(["baseline", "words"])
    ]


counts = st.integers(0, 25)


@given(counts, counts, counts, counts)
def test_accuracy_and_comparison_are_scipys(both, first, second, neither):
    total = both + first + second + neither
    findings = findings_of(rows_of_counts(both, first, second, neither))
    if not total:
        assert findings.verdict == ("There is no result yet.",)
        return
    baseline, words = findings.variants
    interval = binomtest(both + first, total).proportion_ci(method="wilson")
    assert (baseline.passages, baseline.right, words.right) == (total, both + first, both + second)
    assert (baseline.accuracy.low, baseline.accuracy.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
    (comparison,) = findings.comparisons
    p_value = binomtest(first, first + second).pvalue if first + second else 1.0
    assert comparison.test.p_value == pytest.approx(p_value)
    assert comparison.corrected_p_value == comparison.test.p_value
    claims = [sentence for sentence in findings.verdict if "finds more than" in sentence]
    assert bool(claims) == (p_value < 0.05)
    if claims:
        better = "any word" if first > second else "words of the context"
        assert claims[0].startswith(f"“{better}”")


def test_a_difference_within_chance_is_not_claimed():
    findings = findings_of(rows_of_counts(5, 1, 4, 10))
    assert not any("finds more than" in sentence for sentence in findings.verdict)
    assert any("No two variants" in sentence for sentence in findings.verdict)
    assert "30 %" in findings.verdict[0]


def test_undecided_passages_are_neither_right_nor_compared():
    rows = [
        answer_row("terminated", 0, "dog"),
        answer_row("terminated", 1, cut=True),
        answer_row("terminated", 2, "cat", cut=True),
        answer_row("no_stop", 0, "dog"),
        answer_row("no_stop", 1, "dog"),
        answer_row("no_stop", 2, error="The context is too long."),
    ]
    findings = findings_of(rows)
    terminated, no_stop = findings.variants
    assert (terminated.passages, terminated.right, terminated.undecided) == (3, 1, 1)
    assert terminated.at_most == pytest.approx(2 / 3)
    assert (no_stop.passages, no_stop.right, no_stop.errors) == (2, 2, 1)
    assert findings.comparisons[0].test.pairs == 1
    assert "between 33 % and 67 %" in findings.verdict[0]
    assert findings.verdict[-1] == "1 passage has an error and is left out of at least one variant."


@pytest.mark.parametrize("word", ["1969", "café", "don't"])
def test_an_unanswerable_passage_is_no_failure_of_the_model(word):
    rows = [
        answer_row(variant, number, "dog" if number < 3 else "it", truth="dog" if number < 4 else word)
        for variant in ("baseline", "words")
        for number in range(6)
    ]
    findings = findings_of(rows)
    for result in findings.variants:
        assert (result.passages, result.right, result.unanswerable, result.errors) == (4, 3, 2, 0)
        assert (result.accuracy.value, result.strict_share) == (0.75, 0.5)
        assert [(each.word, each.count) for each in result.frequent] == [("dog", 3), ("it", 1)]
    assert findings.comparisons[0].test.pairs == 4
    assert [each.word for each in findings.truths] == ["dog"]
    assert "finds 3 of 4 last words (75 %" in findings.verdict[0]
    assert findings.verdict[-2:] == (
        f"2 passages end in a word that is not of plain letters alone (“{word}”). No answer can be such a word, so they"
        " are left out.",
        "Counted as not found, as in the paper, the shares would be 50 % with any word, 50 % with words of the"
        " context.",
    )


def test_the_verdict_on_unanswerable_passages_alone():
    findings = findings_of([answer_row("baseline", 0, "it", truth="1969")])
    assert findings.variants[0].passages == 0
    assert findings.verdict == (
        "1 passage ends in a word that is not of plain letters alone (“1969”). No answer can be such a word, so it is"
        " left out.",
    )


def test_p_values_are_corrected_for_the_number_of_comparisons():
    rows = [
        answer_row(variant, number, "dog" if variant == "words" or number < 4 else "cat")
        for variant in VARIANTS
        for number in range(11)
    ]
    findings = findings_of(rows)
    assert len(findings.comparisons) == 6
    by_pair = {(each.first, each.second): each for each in findings.comparisons}
    assert by_pair["baseline", "words"].test.p_value == pytest.approx(binomtest(0, 7).pvalue)
    assert by_pair["baseline", "words"].corrected_p_value == pytest.approx(6 * binomtest(0, 7).pvalue)
    assert not any("finds more" in sentence for sentence in findings.verdict)


def test_frequent_answers_and_truths():
    words = ["the"] * 5 + ["a"] * 3 + ["b", "c", "d", "e"]
    rows = [answer_row("baseline", number, word, "dog") for number, word in enumerate(words)]
    findings = findings_of(rows)
    (baseline,) = findings.variants
    assert [(each.word, each.count) for each in baseline.frequent] == [
        ("the", 5),
        ("a", 3),
        ("b", 1),
        ("c", 1),
        ("d", 1),
    ]
    assert baseline.frequent[0].share == pytest.approx(5 / 12)
    assert baseline.truth_listed == 12
    assert [(each.word, each.share) for each in findings.truths] == [("dog", 1.0)]
    assert any("67 % of the answers are “the”, “a”" in sentence for sentence in findings.verdict)


def test_a_repeated_chunk_counts_once():
    begin = {"unit": "open 0", "row": "begin"}
    rows = [begin, answer_row("baseline", 0, "cat"), begin, answer_row("baseline", 0, "dog")]
    (baseline,) = findings_of(rows).variants
    assert (baseline.passages, baseline.right) == (1, 1)


def test_passages_have_their_rows_by_variant():
    rows = [
        answer_row("words", 1, "cat", "dog"),
        answer_row("baseline", 1, "dog"),
        answer_row("terminated", 1, cut=True),
        answer_row("baseline", 0, "cow"),
    ]
    findings = findings_of(rows)
    words = [
        {variant: [answer.word for answer in row.answers] for variant, row in by_variant.items()}
        for by_variant in findings.passages
    ]
    assert words == [{"baseline": ["cow"]}, {"baseline": ["dog"], "words": ["cat", "dog"], "terminated": []}]
    assert [result.rows[-1].rank for result in findings.variants] == [1, 2, None]
    assert [result.undecided for result in findings.variants] == [0, 0, 1]


def test_no_rows_have_no_result():
    findings = findings_of([])
    assert (findings.variants, findings.comparisons, findings.truths) == ((), (), ())
    assert findings.verdict == ("There is no result yet.",)
