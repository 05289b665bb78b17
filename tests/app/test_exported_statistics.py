"""Every statistic that is shown, computed again by scipy from nothing but the file that a person can take away.

A tiny model carries each study out; its rows are exported as CSV and Parquet, read back with pandas, and counted anew.
"""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from relens.models.loading import load_model
from relens.query import Decoding
from relens.studies.bias import BiasStudy
from relens.studies.bias_findings import bias_findings
from relens.studies.bias_variants import Variant
from relens.studies.cloze import ClozeStudy
from relens.studies.memorization import MemorizationStudy
from relens.studies.memorization_findings import memorization_findings
from relens.studies.rows import rows_of
from relens.studies.sentences import find_sentences
from relens.studies.study import StudyContext, StudyRun
from relens.studies.toxicity import VARIANTS, ToxicityStudy
from relens.studies.validators import OnList
from relens_dashboard.study_files import study_file
from relens_dashboard.study_views import study_views

BIAS = BiasStudy(
    "A {subject} {outcome}",
    ("at", "on"),
    ("is", "cat", "at"),
    variants=(Variant(), Variant(exact=True), Variant(prefix=False)),
    draws=3000,
    tolerance=0.0,
    position_draws=0,
)
CONTEXTS = [f"The {animal} saw the {thing} and the" for animal in ("cat", "dog", "man") for thing in "abcde"]
CLOZE = ClozeStudy(
    tuple(f"{context} end" for context in CONTEXTS),
    variants=("baseline", "words", "terminated"),
    top_k=None,
    answers=2,
    expansions=60,
)
_SECRETS = ("The cat ab", "The cat cd", "The dog sat", "The bird sat")
MEMORIZATION = MemorizationStudy(
    prefix="The (cat|dog)",
    pattern="s? (sat|[a-d]{1,2})",
    decoding=Decoding(),
    seconds=1.0,
    max_tokens=16,
    new_tokens=(4,),
    validator=OnList(_SECRETS),
)
_WORDS = ("mat", "sat", "dog")
TOXICITY = ToxicityStudy(
    inputs=find_sentences("The cat sat on the mat. Dogs (sat) too! So the cats call the dog. Mat.", _WORDS).sentences,
    words=_WORDS,
    decoding=Decoding(top_k=330),
    most_matches=30,
    unprompted_expansions=600,
)


@pytest.fixture(scope="module")
def context(tiny_model_folder):
    return StudyContext(load_model(str(tiny_model_folder), device="cpu", dtype="float32"))


@pytest.fixture(scope="module")
def rows_by_study(context):
    studies = (BIAS, _answerable(context), MEMORIZATION, TOXICITY)
    return {study.kind: list(StudyRun(study, context)) for study in studies}


def _answerable(context):
    """Passages that end, two of three, with a word that the model says; it would not find any other."""
    said = {row["passage"]: row["answers"][0]["word"] for row in rows_of(StudyRun(CLOZE, context), "answer", "open 0")
            if row["variant"] == "baseline"}  # fmt: skip
    endings = [said[number] if number % 3 else "end" for number in range(len(CONTEXTS))]
    return replace(CLOZE, passages=tuple(f"{context} {word}" for context, word in zip(CONTEXTS, endings, strict=True)))


@pytest.fixture(params=["csv", "parquet"])
def exported(request, rows_by_study):
    """A function that gives the rows of a study and, of its file, those that tell one thing."""

    def read(kind, told):
        rows = rows_by_study[kind]
        data = io.BytesIO(study_file(rows, request.param))
        frame = pd.read_parquet(data) if request.param == "parquet" else pd.read_csv(data)
        return rows, frame[frame["row"] == told]

    return read


def is_true(column: pd.Series) -> pd.Series:
    """A column of truths, however the file spells them."""
    return column.map(lambda value: str(value).lower() in ("true", "1", "1.0"))


def effective_table(matches: pd.DataFrame, subjects, outcomes) -> np.ndarray:
    """Shares of the weight, times Kish's number of effective draws, for each subject."""
    table = np.zeros((len(subjects), len(outcomes)))
    for place, subject in enumerate(subjects):
        own = matches[(matches["asked"] == subject) & matches["subject"].notna() & matches["outcome"].notna()]
        weight = own["count"] * own["weight"]
        effective = weight.sum() ** 2 / (own["count"] * own["weight"] ** 2).sum()
        for column, outcome in enumerate(outcomes):
            table[place, column] = weight[own["outcome"] == outcome].sum() / weight.sum() * effective
    return table


def holm(p_values: list[float]) -> list[float]:
    """Holm's correction as in any textbook."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected, largest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, (len(p_values) - rank) * p_values[place])
        corrected[place] = min(1.0, largest)
    return corrected


def test_bias_contingency(exported):
    rows, matches = exported("bias", "match")
    sampled = [found for found in bias_findings(rows).variants if not found.setup.exact]
    assert len(sampled) == 2
    for found in sampled:
        own = matches[matches["unit"] == found.setup.unit]
        table = effective_table(own, BIAS.subjects, BIAS.outcomes)
        by_name = {test.name: test for test in found.tests}
        for name, option in (("chi-squared", None), ("G", "log-likelihood")):
            test = by_name[name]
            together = list(test.pooled)
            joined = np.column_stack(
                [np.delete(table, together, axis=1), table[:, together].sum(1)][: 1 + bool(together)]
            )
            expected = stats.chi2_contingency(joined, correction=False, lambda_=option)
            assert (expected.expected_freq >= 5).all() or joined.shape[1] < 3
            assert (test.statistic, test.degrees_of_freedom) == (pytest.approx(expected.statistic), expected.dof)
            assert test.log10_p == pytest.approx(stats.chi2.logsf(expected.statistic, expected.dof) / math.log(10))
        counts = [own[own["asked"] == subject].groupby("outcome")["count"].sum() for subject in BIAS.subjects]
        observed, awaited = (np.array([drawn.get(outcome, 0.0) for outcome in BIAS.outcomes]) for drawn in counts)
        observed, awaited = observed[awaited > 0], awaited[awaited > 0]
        paper = stats.chisquare(observed, awaited / awaited.sum() * observed.sum())
        assert by_name["paper"].statistic == pytest.approx(paper.statistic)
        assert by_name["paper"].log10_p == pytest.approx(math.log10(paper.pvalue), abs=1e-6)


def test_bias_effect_size_and_residuals(exported):
    rows, matches = exported("bias", "match")
    for found in bias_findings(rows).variants:
        if found.setup.exact:
            continue
        table = effective_table(matches[matches["unit"] == found.setup.unit], BIAS.subjects, BIAS.outcomes)
        total, (groups, outcomes) = table.sum(), table.shape
        squared = stats.chi2_contingency(table, correction=False).statistic / total
        corrected = max(0.0, squared - (groups - 1) * (outcomes - 1) / (total - 1))
        sizes = [size - (size - 1) ** 2 / (total - 1) for size in (groups, outcomes)]
        assert found.cramers_v.value == pytest.approx(math.sqrt(corrected / (min(sizes) - 1)))
        assert found.cramers_v.low <= found.cramers_v.value <= found.cramers_v.high

        expected = stats.contingency.expected_freq(table)
        spread = np.sqrt(
            expected * (1 - table.sum(1, keepdims=True) / total) * (1 - table.sum(0, keepdims=True) / total)
        )
        values = (table - expected) / spread
        corrected_p = holm([2 * stats.norm.sf(abs(value)) for value in values[0]])
        for cell in found.residuals:
            assert cell.residual == pytest.approx(values[cell.group, cell.outcome])
            assert 10**cell.log10_p == pytest.approx(2 * stats.norm.sf(abs(values[cell.group, cell.outcome])))
            assert 10**cell.log10_p_holm == pytest.approx(corrected_p[cell.outcome])


def test_bias_shares_and_what_the_page_shows_of_them(exported):
    rows, matches = exported("bias", "match")
    (exact,) = [found for found in bias_findings(rows).variants if found.setup.exact]
    own = matches[matches["unit"] == exact.setup.unit]
    drawn = []
    for subject in BIAS.subjects:
        of_subject = own[own["asked"] == subject]
        drawn += [
            of_subject[of_subject["outcome"] == outcome]["weight"].sum() / of_subject["weight"].sum()
            for outcome in BIAS.outcomes
        ]
    assert [share.share.value for share in exact.shares] == pytest.approx(drawn)
    figure = study_views()["bias"].figures(bias_findings(rows), BIAS)[0].chart.figure
    shown = sorted(float(value) for trace in figure.data for value in trace.x)
    assert all(any(math.isclose(value, other, rel_tol=1e-6) for other in shown) for value in drawn)


def test_cloze_accuracy_and_comparisons(exported):
    rows, answers = exported("cloze", "answer")
    findings = CLOZE.findings(rows)
    answers = answers[answers["error"].fillna("") == ""]
    right = answers.assign(right=is_true(answers["right"]), cut=is_true(answers["cut"]))
    right["undecided"] = right["cut"] & right["answers"].map(lambda told: json.loads(told) == [])
    for result in findings.variants:
        own = right[right["variant"] == result.variant]
        interval = stats.binomtest(int(own["right"].sum()), len(own)).proportion_ci(method="wilson")
        assert (result.passages, result.right) == (len(own), own["right"].sum())
        assert result.undecided == own["undecided"].sum()
        assert result.accuracy.value == pytest.approx(own["right"].mean())
        assert (result.accuracy.low, result.accuracy.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
    p_values = []
    for comparison in findings.comparisons:
        pair = [right[(right["variant"] == name) & ~right["undecided"]].set_index("passage")["right"]
                for name in (comparison.first, comparison.second)]  # fmt: skip
        both = pd.concat(pair, axis=1, keys=["first", "second"]).dropna()
        only = [
            int((both["first"] & ~both["second"].astype(bool)).sum()),
            int((both["second"] & ~both["first"].astype(bool)).sum()),
        ]
        test = comparison.test
        assert (test.pairs, test.first_only, test.second_only) == (len(both), *only)
        p_values.append(stats.binomtest(only[0], sum(only)).pvalue if sum(only) else 1.0)
        assert test.p_value == pytest.approx(p_values[-1])
    assert [comparison.corrected_p_value for comparison in findings.comparisons] == pytest.approx(holm(p_values))
    assert any(p < 1.0 for p in p_values)  # else nothing was compared


def test_memorization_recall_and_rates(exported):
    rows, matches = exported("memorization", "match")
    _, summaries = exported("memorization", "summary")
    findings = memorization_findings(rows)
    assert findings.search.tally.new_valid > 0
    for method in findings.methods:
        own = matches[(matches["unit"] == method.unit) & is_true(matches["valid"])]
        assert set(own["text"]) <= set(_SECRETS)
        assert len(own) == own["text"].nunique() == method.tally.new_valid
        assert method.recall == pytest.approx(len(own) / len(_SECRETS))
        seconds = float(summaries[summaries["unit"] == method.unit]["seconds"].iloc[0])
        assert method.valid_a_second == pytest.approx(len(own) / seconds)
        for place, examined in enumerate(sorted(own["matches"].astype(int)), 1):
            assert method.recall_curve.at(examined) == pytest.approx(place / len(_SECRETS))


def counted_by_way(answers: pd.DataFrame) -> dict[str, pd.Series]:
    """Of each variant whether it found something on an input, its own or what a narrower one found."""
    own = {key: answers[answers["variant"] == key].set_index("input")["found"] for key in answers["variant"].unique()}
    return {
        key: pd.concat(
            [own[other] for other in own if set(other.split(", ")) <= {*key.split(", "), *wide(key)}], axis=1
        ).any(axis=1)
        for key in own
    }


def wide(key: str) -> list[str]:
    """What else the name of a narrower variant may have in it."""
    return ["canonical"] if "all" in key.split(", ") else []


def test_toxicity_shares(exported):
    rows, answers = exported("toxicity", "answer")
    findings = TOXICITY.findings(rows)
    assert findings.prompted
    assert findings.unprompted
    answers = answers[answers["ended"] != "no prompt"].assign(found=is_true(answers["found"]))
    for mode, successes in (("prompted", findings.prompted), ("unprompted", findings.unprompted)):
        found_by = counted_by_way(answers[answers["mode"] == mode])
        for success in successes:
            own = found_by[success.variant.key]
            interval = stats.binomtest(int(own.sum()), len(own)).proportion_ci(method="wilson")
            assert (success.found, success.inputs) == (own.sum(), len(own))
            assert (success.rate.low, success.rate.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
            if success.gained is not None:
                assert success.gained == (own & ~found_by[VARIANTS[mode][0].key]).sum()
    test = findings.edits_and_encodings.test
    assert test is not None
    found_by = counted_by_way(answers[answers["mode"] == "prompted"])
    ways = [found_by[key] for key in ("canonical, edits", "all")]
    only = [int((ways[0] & ~ways[1]).sum()), int((ways[1] & ~ways[0]).sum())]
    assert sorted((test.first_only, test.second_only)) == sorted(only)
    assert test.p_value == pytest.approx(stats.binomtest(only[0], sum(only)).pvalue if sum(only) else 1.0)


def test_toxicity_kinds(exported):
    rows, matches = exported("toxicity", "match")
    own = matches[(matches["mode"] == "unprompted") & (matches["variant"] == VARIANTS["unprompted"][-1].key)]
    for kind in TOXICITY.findings(rows).kinds:
        of_kind = (is_true(own["is_edited"]) == kind.is_edited) & (is_true(own["is_canonical"]) == kind.is_canonical)
        assert (kind.matches, kind.share) == (of_kind.sum(), pytest.approx(of_kind.mean()))
    assert len(own)
