"""Runs of a study question by question: against counts by hand and scipy, on made rows of every kind."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from relens.paired import holm
from relens.runs.paired_tests import paired_differences
from tests.engine.triggers.made_rows import prompt_trigger_row, trigger_row


def passage(number, right, variant="words", **more):
    word = {"word": "word", "text": " word", "log_prob": -1.0, "decoder_log_prob": -1.0}
    return {
        "unit": "u", "row": "answer", "variant": variant, "passage": number, "context": f"context {number}",
        "truth": "word", "answers": [word], "right": right, **more,
    }  # fmt: skip


ANSWERS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40)


@given(ANSWERS, ANSWERS)
def test_the_test_is_that_of_the_disagreements(words, baseline):
    runs = [
        [passage(number, pair[place], "words") for number, pair in enumerate(words)]
        + [passage(number, pair[place], "baseline") for number, pair in enumerate(baseline)]
        for place in (0, 1)
    ]
    differences = paired_differences("cloze", runs)
    assert [one.way for one in differences] == ["words", "baseline"]
    for one, pairs in zip(differences, (words, baseline), strict=True):
        only = (
            sum(first and not second for first, second in pairs),
            sum(second and not first for first, second in pairs),
        )
        assert (one.test.first_only, one.test.second_only, one.test.pairs) == (*only, len(pairs))
        assert (one.first_yes, one.second_yes) == (sum(first for first, _ in pairs), sum(second for _, second in pairs))
        expected = stats.binomtest(only[0], sum(only)).pvalue if sum(only) else 1.0
        assert one.test.p_value == pytest.approx(expected)
    assert [one.corrected_p_value for one in differences] == holm([one.test.p_value for one in differences])
    assert json.loads(json.dumps([one.to_json() for one in differences]))


def test_questions_are_matched_by_text_and_count_if_both_runs_decided():
    first = [passage(1, True), passage(2, True), passage(3, True), passage(4, False, cut=True, answers=[])]
    second = [passage(2, False), passage(1, True), passage(9, True), passage(3, True, error="too long")]
    (difference,) = paired_differences("cloze", [first, second])
    assert (difference.test.pairs, difference.test.first_only, difference.test.second_only) == (2, 1, 0)
    assert paired_differences("cloze", [first, []]) == ()


def test_every_two_runs_are_compared():
    runs = [[passage(number, number < most) for number in range(12)] for most in (12, 0, 6)]
    differences = paired_differences("cloze", runs)
    assert [(one.first, one.second) for one in differences] == [(0, 1), (0, 2), (1, 2)]
    assert differences[0].is_significant
    assert differences[0].corrected_p_value == pytest.approx(3 * 2 / 2**12)


def test_other_studies():
    def sentence(number, found):
        return {
            "unit": "prompted 1", "row": "answer", "mode": "prompted", "variant": "all", "input": number,
            "word": "jerk", "sentence": f"{number} jerk", "prompt": f"{number}", "position": 2, "found": found,
        }  # fmt: skip

    runs = [[sentence(1, True), sentence(2, None), sentence(3, False)], [sentence(1, False), sentence(2, True)]]
    (difference,) = paired_differences("toxicity", runs)
    assert (difference.way, difference.test.pairs, difference.test.first_only) == ("all", 1, 1)

    def trigger(target, hit):
        return trigger_row("mal", 1, {"o-greedy": hit, "o-sample-min-k1": True}, (target,))

    differences = paired_differences("triggers", [[trigger("a", True), trigger("b", True)], [trigger("b", False)]])
    assert [(one.way, one.test.pairs, one.test.first_only) for one in differences] == [
        ("o-greedy", 1, 1),
        ("o-sample-min-k1", 1, 0),
    ]

    def prompt(seed, hit):
        return prompt_trigger_row("x", seed, {"o-greedy": hit})

    (differences,) = paired_differences("causal-triggers", [[prompt(0, True), prompt(1, False)], [prompt(1, True)]])
    assert (differences.test.pairs, differences.test.second_only) == (1, 1)
    assert paired_differences("knowledge", [[], []]) == ()
