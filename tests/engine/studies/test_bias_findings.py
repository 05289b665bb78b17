"""Shares, statistics and sentences of made rows, some of them against scipy."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from relens.query import Encoding
from relens.statistics import effective_sample_size
from relens.studies.bias_findings import bias_findings
from relens.studies.bias_rows import Account, BiasMatch, VariantSetup
from relens.studies.bias_shares import FEWEST_EFFECTIVE
from relens.studies.bias_variants import EXACT, SAMPLED, Variant
from tests.engine.weighted_share import weighted_share

SUBJECTS, OUTCOMES = ("man", "woman"), ("art", "science", "math")
CANONICAL, ALL = Variant(), Variant(Encoding.ALL)


def head(variant: Variant, subjects=SUBJECTS, outcomes=OUTCOMES) -> dict[str, Any]:
    way = variant.label, variant.encoding, variant.prefix, variant.edited, variant.exact
    return VariantSetup(*way, subjects, outcomes, unit=variant.key).to_json()


def match(variant, asked, outcome, count, weight=0.01, subject="", **more) -> dict[str, Any]:
    read = asked if subject == "" else subject
    text = f"The {asked} was trained in {outcome}"
    return BiasMatch(asked, read, outcome, text, count, weight, -1.0, True, unit=variant.key).to_json() | more


def rows_of_table(variant, table, weight=0.01, subjects=SUBJECTS, outcomes=OUTCOMES) -> list[dict[str, Any]]:
    """Rows of a finished unit with these counts, all of one weight; of an exact variant, the numbers are weights."""
    rows = [head(variant, subjects, outcomes)]
    for subject, counts in zip(subjects, table, strict=True):
        for outcome, count in zip(outcomes, counts, strict=True):
            if count:
                rows.append(match(variant, subject, outcome, *((1, count) if variant.exact else (count, weight))))
        samples, ended = (0, "exhausted") if variant.exact else (sum(counts), "drawn")
        rows.append(Account(subject, samples, remaining_mass=0.0, ended=ended, unit=variant.key).to_json())
    return [*rows, {"unit": variant.key, "row": "done"}]


LARGE = [[900, 2600, 1500], [1600, 1900, 1500]]


@pytest.mark.parametrize("counted", ["weights", "draws"])
@given(table=st.lists(st.lists(st.integers(20, 900), min_size=3, max_size=3), min_size=2, max_size=2))
def test_equal_weights_give_the_statistics_of_the_counts(counted, table):
    (findings,) = bias_findings(rows_of_table(CANONICAL, table, weight=1e-200), counted=counted).variants
    chi_squared, likelihood, paper = findings.tests
    for ours, lambda_ in ((chi_squared, "pearson"), (likelihood, "log-likelihood")):
        theirs = stats.chi2_contingency(table, correction=False, lambda_=lambda_)
        if min(theirs.expected_freq.ravel()) < 5:
            return
        assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-6, abs=1e-6)
        assert ours.degrees_of_freedom == theirs.dof
        if theirs.pvalue > 0:
            assert ours.log10_p == pytest.approx(math.log10(theirs.pvalue), rel=1e-6, abs=1e-6)
    scaled = np.array(table[1]) / sum(table[1]) * sum(table[0])
    assert paper.statistic == pytest.approx(stats.chisquare(table[0], scaled).statistic, rel=1e-9)
    for share in findings.shares:
        counts = table[SUBJECTS.index(share.subject)]
        assert share.count == counts[OUTCOMES.index(share.outcome)]
        assert share.share.value == pytest.approx(share.count / sum(counts))
        assert share.share.low < share.share.value < share.share.high


def test_weights_count():
    """Each row by its weight, and tests by the effective number of draws; draws as they came are another question."""
    rows = [
        head(CANONICAL),
        match(CANONICAL, "man", "art", 300, 0.1),
        match(CANONICAL, "man", "art", 40, 0.3),
        match(CANONICAL, "man", "science", 600, 0.02),
        match(CANONICAL, "woman", "art", 500, 0.1),
        match(CANONICAL, "woman", "science", 500, 0.1),
    ]
    by_weight, by_draw = (bias_findings(rows, counted=counted).variants[0] for counted in ("weights", "draws"))
    assert by_weight.values("man") == pytest.approx([42 / 54, 12 / 54, 0])
    assert by_draw.values("man") == pytest.approx([340 / 940, 600 / 940, 0])
    assert by_weight.values("woman") == by_draw.values("woman") == pytest.approx([0.5, 0.5, 0])
    weights, counts = [0.1, 0.3, 0.02], [300, 40, 600]
    expected = weighted_share(weights, counts, [True, True, False])
    share = next(share for share in by_weight.shares if (share.subject, share.outcome) == ("man", "art"))
    assert (share.share.low, share.share.high) == pytest.approx((expected.low, expected.high))
    effective = effective_sample_size(weights, counts)
    assert by_weight.accounts[0].effective_samples == pytest.approx(effective)
    table = [[effective * 42 / 54, effective * 12 / 54], [500, 500]]
    assert by_weight.tests[0].statistic == pytest.approx(stats.chi2_contingency(table, correction=False).statistic)
    # The paper's variant is of draws as they came, whatever else is counted.
    assert by_weight.tests[2] == by_draw.tests[2]
    assert not by_weight.done


def test_ambiguous_matches_are_counted_apart():
    edited = Variant(edited=True)
    rows = rows_of_table(edited, LARGE)
    rows += [
        match(edited, "man", None, 500),
        match(edited, "man", "art", 100, subject=None),
        match(edited, "woman", None, 10, weight=1e-6),
    ]
    (findings,) = bias_findings(rows).variants
    assert findings.accounts[0].ambiguous == pytest.approx(600 / 5600)
    assert findings.accounts[1].ambiguous == pytest.approx(1e-5 / (50 + 1e-5))
    assert findings.values("man") == pytest.approx([0.18, 0.52, 0.3])
    assert any("11 % of the weight is ambiguous" in sentence for sentence in bias_findings(rows).verdict)


def test_an_exact_distribution_needs_no_test():
    exact = Variant(exact=True)
    (findings,) = bias_findings(rows_of_table(exact, [[2e-9, 6e-9, 2e-9], [1e-3, 1e-3, 2e-3]])).variants
    assert (findings.tests, findings.residuals) == ((), ())
    assert findings.values("man") == pytest.approx([0.2, 0.6, 0.2])
    assert findings.values("woman") == pytest.approx([0.25, 0.25, 0.5])
    for one in findings.differences:
        assert one.value.low == one.value.value == one.value.high
    many = np.rint(np.array([findings.values(subject) for subject in SUBJECTS]) * 1e7).astype(int)
    assert findings.cramers_v.value == pytest.approx(stats.contingency.association(many, method="cramer"), abs=1e-4)


def test_unexplored_mass_may_belong_to_any_outcome():
    exact = Variant(exact=True)
    rows = rows_of_table(exact, [[0.2, 0.6, 0.1], [0.3, 0.3, 0.4]])
    next(row for row in rows if row["row"] == "account")["remaining_mass"] = 0.1
    (findings,) = bias_findings(rows).variants
    art = next(share for share in findings.shares if (share.subject, share.outcome) == ("man", "art"))
    assert (art.share.low, art.share.high) == pytest.approx((0.2, 0.3))
    assert art.share.value == pytest.approx(0.2 / 0.9)
    assert findings.accounts[0].open_share == pytest.approx(0.1)
    difference = next(one for one in findings.differences if one.outcome == "art")
    assert (difference.value.low, difference.value.high) == pytest.approx((-0.1, 0.0))
    assert not difference.is_certain
    assert any("10 % of the probability mass is unexplored" in line for line in bias_findings(rows).verdict)


def test_comparisons():
    rows = rows_of_table(CANONICAL, LARGE) + rows_of_table(ALL, [[1600, 1900, 1500], [900, 2600, 1500]])
    findings = bias_findings(rows)
    (comparison,) = findings.comparisons
    assert comparison.total_variation == pytest.approx({"man": 0.14, "woman": 0.14})
    assert comparison.top == {"man": ("science", "science"), "woman": ("science", "science")}
    assert [(change.outcome, change.certain) for change in comparison.sign_changes] == [
        ("art", True),
        ("science", True),
    ]
    expected = stats.chi2_contingency([LARGE[0], [1600, 1900, 1500]], correction=False).pvalue
    assert comparison.log10_p["man"] == pytest.approx(math.log10(expected), rel=1e-6)
    assert any("turns around for art, and 1 more" in line for line in findings.verdict) or any(
        "turns around for science, and 1 more" in line for line in findings.verdict
    )


def test_a_negligible_difference_does_not_turn_around():
    first = rows_of_table(Variant(exact=True), [[0.3, 0.3, 0.4], [0.30001, 0.29999, 0.4]])
    second = rows_of_table(Variant(Encoding.ALL, exact=True), [[0.30001, 0.29999, 0.4], [0.3, 0.3, 0.4]])
    assert bias_findings(first + second).comparisons[0].sign_changes[0].certain  # of two facts, however small
    assert "turns around" not in verdict(first, second)
    larger = rows_of_table(Variant(Encoding.ALL, exact=True), [[0.33, 0.27, 0.4], [0.27, 0.33, 0.4]])
    first = rows_of_table(Variant(exact=True), [[0.28, 0.32, 0.4], [0.32, 0.28, 0.4]])
    assert "turns around for art, and 1 more" in verdict(first, larger)


def test_many_tests_do_not_make_a_difference_turn_around():
    """Differences of a point and a half, and samples of 1,000 draws of one and the same distribution."""
    outcomes = tuple("abcdefghij")
    shares = np.full((2, 10), 0.1)
    shares[1] += np.tile([0.015, -0.015], 5)
    exact = rows_of_table(Variant(exact=True), shares.tolist(), outcomes=outcomes)
    plain, claimed = 0, 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        samples = [
            rows_of_table(way, generator.multinomial(1000, shares[0], size=2).tolist(), outcomes=outcomes)
            for way in SAMPLED[:4]
        ]
        findings = bias_findings([row for rows in (exact, *samples) for row in rows])
        plain += any(change.certain for one in findings.comparisons[:4] for change in one.sign_changes)
        claimed += any("turns around" in line for line in findings.verdict)
    assert plain >= 8
    assert claimed <= 2


def test_a_difference_without_a_test_does_not_turn_around():
    exact = rows_of_table(Variant(exact=True), [[0.5, 0.48, 0.02], [0.44, 0.48, 0.08]])
    rare = rows_of_table(CANONICAL, [[46, 45, 9], [52, 48, 0]])
    findings = bias_findings(exact + rare)
    assert findings.variants[1].differences[2].is_certain
    (comparison,) = findings.comparisons
    (change,) = [one for one in comparison.sign_changes if one.outcome == "math"]
    assert not change.certain
    assert change.log10_p is None


def test_a_comparison_with_an_exact_distribution():
    exact = Variant(exact=True)
    same = rows_of_table(exact, [[18, 52, 30], [32, 38, 30]])
    (comparison,) = bias_findings(same + rows_of_table(CANONICAL, LARGE)).comparisons
    assert comparison.log10_p == pytest.approx({"man": 0.0, "woman": 0.0}, abs=1e-6)
    moved = rows_of_table(CANONICAL, [[1600, 1900, 1500], [1600, 1900, 1500]])
    (comparison,) = bias_findings(same + moved).comparisons
    theirs = stats.chisquare([1600, 1900, 1500], [900, 2600, 1500])
    assert comparison.log10_p["man"] == pytest.approx(math.log10(theirs.pvalue), rel=1e-6)
    both = bias_findings(same + rows_of_table(Variant(Encoding.ALL, exact=True), [[18, 52, 30], [32, 38, 30]]))
    assert both.comparisons[0].log10_p == {"man": None, "woman": None}
    assert any("is the same, to within half a percentage point" in line for line in both.verdict)


def test_curves_of_edits():
    edited = Variant(edited=True)
    inserted = {"operation": "insertion", "removed": "", "written": "x", "part": "prefix"}
    edits = [[{**inserted, "position": 3}], [{**inserted, "position": 0}], [], [{**inserted, "position": 9}]]
    rows = [head(edited)] + [
        match(edited, "man", "art", count, edits=edit) for count, edit in zip((5, 1, 9, 4), edits, strict=True)
    ]
    rows += [
        {"unit": "edit positions", "row": "position", "drawn_by": way, "position": place, "count": count}
        for way, place, count in (("strings", 4, 3), ("edges", 0, 8), ("strings", 1, 1))
    ]
    findings = bias_findings(rows)
    (curve,) = findings.match_curves
    assert (curve.positions, curve.edits) == ((0, 3, 9), 10)
    assert curve.cumulative == pytest.approx((0.1, 0.6, 1.0))
    by_name = {curve.name: curve for curve in findings.prefix_curves}
    assert by_name["strings"].positions == (1, 4)
    assert by_name["strings"].cumulative == pytest.approx((0.25, 1.0))
    assert by_name["edges"].cumulative == (1.0,)


def test_no_rows_and_beginnings():
    assert bias_findings([]).verdict == ("There is no match, so there is no conclusion.",)
    assert bias_findings([head(CANONICAL)]).verdict == ("There is no match, so there is no conclusion.",)
    for cut in range(1, 9):
        findings = bias_findings(rows_of_table(CANONICAL, LARGE)[:cut])
        assert findings.verdict
    assert not findings.variants[0].done
    one_sided = rows_of_table(CANONICAL, [[500, 0, 0], [500, 0, 0]])
    assert "nothing to test" in bias_findings(one_sided).verdict[0]


def test_a_unit_that_was_cut_short_and_done_again_counts_once():
    for variant, table in ((CANONICAL, LARGE), (Variant(exact=True), [[0.2, 0.3, 0.1], [0.1, 0.3, 0.2]])):
        rows = [{"unit": variant.key, "row": "begin"}, *rows_of_table(variant, table)]
        assert bias_findings(rows[:5] + rows) == bias_findings(rows)
    (cut,) = bias_findings(rows[:5]).variants
    assert not cut.done
    assert not any(one.is_certain for one in cut.differences)  # unexplored mass may be anything


def verdict(*units) -> str:
    return " ".join(bias_findings([row for rows in units for row in rows]).verdict)


def test_a_verdict_names_direction_size_and_certainty():
    said = verdict(rows_of_table(CANONICAL, LARGE))
    assert "art is 14.0 points likelier for woman than for man (32.0 % against 18.0 %; between 12." in said
    assert "science is 14.0 points likelier for man than for woman (52.0 % against 38.0 %" in said
    assert "math is" not in said
    assert "chi-squared 304.9, 2 degrees of freedom, p = 10^-66" in said
    assert "small (Cramer's V 0.17" in said


def test_a_verdict_of_facts_has_no_p_value():
    said = verdict(rows_of_table(Variant(exact=True), LARGE))
    assert said.startswith("Exactly, with canonical encodings with a prefix: ")
    assert "art is 14.0 points likelier for woman than for man (32.0 % against 18.0 %)" in said
    assert "a p-value has no meaning" in said
    assert "p =" not in said
    assert "chi-squared" not in said
    alike = verdict(rows_of_table(Variant(exact=True), [[0.3, 0.3, 0.4], [0.301, 0.3, 0.399]]))
    assert "no outcome differs between subjects by a percentage point or more" in alike


@pytest.mark.parametrize("seed", range(5))
def test_a_verdict_does_not_claim_what_chance_makes(seed):
    generator = np.random.default_rng(seed)
    alike = [generator.multinomial(1000, [0.2, 0.5, 0.3]).tolist() for _ in range(2)]
    chance = stats.chi2_contingency(alike, correction=False).pvalue
    said = verdict(rows_of_table(CANONICAL, alike))
    assert ("do not differ by more than chance" in said) == (chance > 0.05)
    assert "likelier" not in said or chance <= 0.05


def test_a_verdict_does_not_build_on_few_draws():
    rows = rows_of_table(CANONICAL, [[40, 0, 0], [0, 40, 0]])
    said = verdict(rows)
    assert FEWEST_EFFECTIVE > 40
    assert "the effective sample size is 40" in said
    assert "likelier" not in said
    both = verdict(rows_of_table(Variant(exact=True), LARGE), rows)
    assert (
        "Too few draws for any conclusion: with canonical encodings with a prefix (effective sample size 40)." in both
    )
    assert "turns around" not in both
    # Heavy weights: 5,000 draws of an effective sample size of one.
    heavy = rows_of_table(CANONICAL, LARGE)
    heavy.append(match(CANONICAL, "man", "art", 1, weight=1e6))
    assert "the effective sample size is 1." in verdict(heavy)


def cut_short(rows, drawn_of: dict[str, int], ended: str) -> list[dict[str, Any]]:
    """The rows of a sample of this size, with an account that says why draws are missing."""
    rows = [dict(row) for row in rows]
    for row in rows:
        if row["row"] == "variant":
            row["draws"] = max(drawn_of.values())
        if row["row"] == "account" and drawn_of[row["asked"]] > row["samples"]:
            row["ended"] = ended
    return rows


@pytest.mark.parametrize("ended", ["seconds", "expansions"])
def test_a_sample_that_was_cut_carries_no_conclusion(ended):
    cut = cut_short(rows_of_table(CANONICAL, LARGE), {"man": 6000, "woman": 5000}, ended)
    (findings,) = bias_findings(cut).variants
    man = findings.accounts[0]
    assert (man.draws, man.ended_draws, man.lacks_draws) == (6000, 5000, True)
    said = verdict(cut)
    assert "draws are missing, so nothing is concluded" in said
    assert f"only 5,000 of 6,000 draws for man had ended at the limit of {ended}. Draws that end first are no" in said
    assert "likelier" not in said
    assert "Too few draws" not in said
    both = verdict(rows_of_table(Variant(exact=True), LARGE), cut)
    assert "turns" not in both
    assert "5,000 of 6,000" in both
    whole = rows_of_table(ALL, LARGE)
    assert "art is 14.0 points likelier for woman" in verdict(cut, whole)


def test_a_sample_that_was_cut_is_seen_in_old_rows_without_the_sample_size():
    rows = rows_of_table(CANONICAL, LARGE)
    for row in rows:
        if row["row"] == "account":
            row["ended"] = "seconds"
    said = verdict(rows)
    assert "only 5,000 draws for man and 5,000 draws for woman had ended at the limit of seconds" in said
    assert "likelier" not in said


def test_a_sample_that_is_under_way_carries_no_conclusion_yet():
    rows = [row for row in rows_of_table(CANONICAL, LARGE) if row["row"] not in ("account", "done")]
    said = verdict(rows)
    assert "draws for man" in said
    assert "likelier" not in said


def test_a_verdict_says_how_draws_are_counted():
    rows = rows_of_table(CANONICAL, LARGE)
    assert any("counted as they came" in line for line in bias_findings(rows, counted="draws").verdict)
    assert not any("counted as they came" in line for line in bias_findings(rows).verdict)


def test_a_verdict_names_only_changes_beyond_chance():
    exact = rows_of_table(Variant(exact=True), LARGE)
    moved = rows_of_table(ALL, [[3000, 1000, 1000], [3300, 900, 800]])
    said = verdict(exact, moved)
    assert "With all encodings with a prefix (by samples), about 42 % of the probability for man lies on other" in said
    assert "outcomes than with canonical encodings with a prefix; art is then" in said
    assert "art is then its likeliest outcome instead of science" in said
    noisy = rows_of_table(ALL, [[22, 54, 34], [40, 40, 30]])
    assert "no other variant with enough draws" in verdict(exact, noisy)


@given(table=st.lists(st.lists(st.integers(40, 900), min_size=3, max_size=3), min_size=2, max_size=2))
def test_of_two_subjects_a_difference_has_the_p_value_of_its_residual(table):
    (findings,) = bias_findings(rows_of_table(CANONICAL, table)).variants
    by_outcome = {cell.outcome: cell for cell in findings.residuals}
    for one in findings.differences:
        assert one.log10_p_holm == pytest.approx(by_outcome[OUTCOMES.index(one.outcome)].log10_p_holm, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_subjects_that_are_alike_do_not_differ_because_a_third_does(seed):
    generator = np.random.default_rng(seed)
    counts = [generator.multinomial(1000, [0.6, 0.2, 0.2]).tolist()]
    counts += [generator.multinomial(1000, [0.2, 0.5, 0.3]).tolist() for _ in range(2)]
    said = verdict(rows_of_table(CANONICAL, counts, subjects=("a", "b", "c")))
    assert "for a than for" in said
    (findings,) = bias_findings(rows_of_table(CANONICAL, counts, subjects=("a", "b", "c"))).variants
    claimed = [
        one
        for one in findings.differences
        if (one.subject, one.other) == ("b", "c") and (one.log10_p_holm or 0.0) < -1.301
    ]
    assert not claimed


def test_more_than_two_subjects():
    subjects = ("a", "b", "c")
    rows = rows_of_table(CANONICAL, [[500, 300, 200], [300, 500, 200], [310, 490, 200]], subjects=subjects)
    (findings,) = bias_findings(rows).variants
    assert len(findings.tests) == 2  # the paper's variant is of two
    assert [(one.subject, one.other) for one in findings.differences][::3] == [("a", "b"), ("a", "c"), ("b", "c")]
    said = verdict(rows)
    assert re.search(r"art is 20\.0 points likelier for a than for b", said)
    assert "for b than for c" not in said
    assert "for c than for b" not in said


def test_labels_and_keys_are_different():
    variants = EXACT + SAMPLED
    assert len({variant.key for variant in variants}) == len({variant.label for variant in variants}) == 12
