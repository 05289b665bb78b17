"""Curves, throughput and sentences of made rows, and of the rows of a run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.models.loading import load_model
from relens.query import Decoding
from relens.studies.memorization import SEARCH, MemorizationStudy
from relens.studies.memorization_findings import memorization_findings
from relens.studies.memorization_rows import Batch, MethodSetup, NewMatch, Summary, Tally
from relens.studies.study import StudyContext, StudyRun


def method(unit, batches, *, known=None, done=True, seconds=None, validator="of_form"):
    """Rows of one method: `batches` are lists of (text or None, valid), one a second."""
    rows = [MethodSetup(unit, known=known, device="cpu", validator=validator)]
    seen: set[str] = set()
    total = Tally()
    for second, batch in enumerate(batches, start=1):
        tally = Tally()
        for text, valid in batch:
            is_new = text is not None and text not in seen
            tally += Tally(1, int(text is not None), int(valid), int(is_new), int(is_new and valid), 4)
            if is_new:
                seen.add(text)
                so_far = total + tally
                rows.append(NewMatch(text, float(second), valid, 4, so_far.attempts, so_far.matches))
        rows.append(Batch(**tally.to_json(), seconds=float(second)))
        total += tally
    if done:
        end = float(seconds or len(batches))
        rows.append(Summary(**total.to_json(), seconds=end, ended="seconds", seconds_model=len(batches) / 2))
    return [row.to_json() | {"unit": unit} for row in rows]


def verdict(rows):
    return memorization_findings(rows).verdict


SEARCHED = method(SEARCH, [[(f"s{second}.{number}", number != 0) for number in range(5)] for second in range(4)])
SHORT = method("sampled 1", [[(None, False)] * 10] * 4)
LONG = method("sampled 16", [[(f"t{second}.{n % 2}", True) for n in range(4)] for second in range(4)])


def test_each_method_is_counted_and_compared_with_the_best_n():
    findings = memorization_findings(SEARCHED + SHORT + LONG)
    search, short, long = findings.methods
    assert (search.valid_a_second, long.valid_a_second, short.valid_a_second) == (4.0, 2.0, 0.0)
    assert [findings.ratio(method) for method in findings.methods] == [2.0, 0.0, 1.0]
    assert [method.tally.duplicate_share for method in findings.methods] == [0.0, None, 0.5]
    assert [method.tally.completion_rate for method in findings.methods] == [1.0, 0.0, 1.0]
    assert (search.tally.tokens_an_attempt, search.setup.device, search.device_use) == (4.0, "cpu", 0.5)
    assert (findings.search, findings.sampled, findings.best_sampled) == (search, (short, long), long)
    assert memorization_findings(SEARCHED + SHORT).best_sampled is None


def test_the_verdict_says_the_ratio_and_what_was_repeated():
    text = " ".join(verdict(SEARCHED + SHORT + LONG))
    assert "found 20 strings, of which 16 (80 %) are valid." in text
    assert "2 times as many different valid strings a second as the best of sampling (sampled 16): 4 against 2." in text
    assert "50 % of the matches repeat an earlier one" in text
    assert "unfinished" not in text


def test_a_match_without_validation_is_not_called_valid():
    search = method(SEARCH, [[(f"s{second}.{number}", True) for number in range(5)] for second in range(4)])
    long = [dict(row) for row in LONG]
    for rows in (search, long):
        rows[0]["validator"] = "unchecked"
    text = " ".join(verdict(search + long))
    assert "found 20 different matches. Nothing was checked: every match counts, memorized or made up." in text
    assert "2.5 times as many different matches a second" in text
    nothing = method("sampled 1", [[(None, False)]], validator="unchecked")
    few = method("sampled 2", [[("a", True)]], validator="unchecked")
    sentences = [
        text,
        *verdict(search + nothing),
        *verdict(search + few),
        *verdict(method(SEARCH, [[]], validator="unchecked")),
    ]
    assert "Sampling found no match in 1 attempts, so there is no ratio." in sentences
    assert not any("valid" in sentence for sentence in sentences)


def test_old_rows_without_a_validator_have_strings_that_count():
    searched = method(SEARCH, [[("a", True), ("b", True), ("c", False)]] * 2, validator="")
    (sentence,) = verdict(searched)
    assert "the search found 3 strings, of which 2 (67 %) count; 3 more" in sentence
    assert "valid" in verdict(method(SEARCH, [[("a", True)]], known=3, validator=""))[0]  # known: it was a list


def test_a_few_in_a_thousand_are_not_called_none():
    rows = method(SEARCH, [[(f"s{number}", number < 4) for number in range(1000)]])
    assert "of which 4 (0.4 %) are valid" in verdict(rows)[0]


def test_a_slower_search_is_called_slower():
    slow = method(SEARCH, [[("a", True)], [("b", True)], [("c", True)], [("d", True)], [("e", True)]], seconds=10)
    assert "only 0.25 times as many" in " ".join(verdict(slow + LONG))


def test_the_verdict_claims_only_what_was_counted():
    assert verdict([]) == ("There is no measurement yet.",)
    assert "found no match" in verdict(method(SEARCH, [[]]))[0]
    assert "so there is no ratio" in " ".join(verdict(SEARCHED + SHORT))
    few = method("sampled 2", [[("a", True)], [("b", True)]])
    assert "too few to say" in " ".join(verdict(SEARCHED + few))
    assert "Still unfinished, so that the figures may change: sampled 16." in verdict(
        SEARCHED + method("sampled 16", [[("a", True)]] * 4, done=False)
    )


def test_rows_before_a_method_began_again_do_not_count():
    cut = [{"unit": "sampled 16", "row": "begin"}, *LONG[:-1]]
    again = memorization_findings([*cut, {"unit": "sampled 16", "row": "begin"}, *LONG])
    assert again == memorization_findings(LONG)
    assert memorization_findings(cut).methods[0].tally == again.methods[0].tally


def test_curves_rise_at_each_valid_string_and_end_with_the_method():
    search, _, long = (method.valid_curve for method in memorization_findings(SEARCHED + SHORT + LONG).methods)
    assert [search.at(second) for second in (0.0, 0.5, 1.0, 2.5, 4.0, 9.0)] == [0, 0, 4, 8, 16, 16]
    assert (long.places[-1], long.values[-1]) == (4.0, 8)


def test_recall_counts_the_matches_that_had_to_be_looked_at():
    rows = method(SEARCH, [[("a", False), ("b", True), ("b", True)], [("c", False), ("d", True)]], known=4)
    (method_findings,) = memorization_findings(rows).methods
    curve = method_findings.recall_curve
    assert [curve.at(examined) for examined in range(6)] == [0.0, 0.0, 0.25, 0.25, 0.25, 0.5]
    assert curve.places[-1] == 5
    assert method_findings.recall == 0.5
    assert "Shortest path: 2 of 4 known values (50 %), the last of them as match 5 of 5." in verdict(rows)
    nothing = method("sampled 1", [[("x", False)]], known=4)
    assert verdict(rows + nothing)[-1] == "Sampled 1: 0 of 4 known values among 1 examined matches."
    assert memorization_findings(SEARCHED).search.recall_curve is None


@given(st.lists(st.lists(st.tuples(st.none() | st.sampled_from("abcd"), st.booleans()), max_size=6), max_size=5))
def test_rows_of_any_moment_have_findings(batches):
    valid = {"a", "c"}
    rows = method("sampled 1", [[(text, text in valid) for text, _ in batch] for batch in batches], known=2, done=False)
    for length in range(len(rows) + 1):
        part = rows[:length]
        findings = memorization_findings(part)
        assert findings.verdict
        for sampled in findings.methods:
            assert findings.ratio(sampled) in (None, 1.0)
            for curve in (sampled.valid_curve, sampled.recall_curve):
                assert list(curve.places) == sorted(curve.places)
                assert list(curve.values) == sorted(curve.values)
            strings = {row["text"] for row in part if row["row"] == "match" and row["valid"]}
            assert sampled.valid_curve.values[-1] == len(strings)
            assert all(0.0 <= share <= 1.0 for share in sampled.recall_curve.values)


@pytest.fixture(scope="module")
def rows(tiny_model_folder):
    study = MemorizationStudy(
        prefix="The cat", pattern="[a-z ]+", decoding=Decoding(), seconds=0.3, max_tokens=32, new_tokens=(1, 8)
    )
    context = StudyContext(load_model(str(tiny_model_folder), device="cpu"))
    # The search may take its time on a busy machine, and ends with its matches.
    searched = list(StudyRun(replace(study, seconds=30.0, matches=50, new_tokens=()), context))
    return searched + list(StudyRun(study, context, finished={SEARCH}))


def test_rows_of_a_real_run_are_read(rows):
    findings = memorization_findings(rows)
    search = findings.search
    assert search.summary.ended == "matches"
    assert search.tally.new_valid == search.valid_curve.values[-1] > 0
    assert 0.0 < search.device_use <= 1.0
    assert [method.label for method in findings.sampled] == ["sampled, 1 token", "sampled, 8 tokens"]
    assert MemorizationStudy().verdict(rows) == findings.verdict
    assert findings.verdict[0].startswith("In ")
    kinds = {kind.row_name: kind for kind in (MethodSetup, NewMatch, Batch, Summary)}
    stored = [row for row in rows if row["row"] in kinds]
    assert [kinds[row["row"]].read(row).to_json() for row in stored] == stored
