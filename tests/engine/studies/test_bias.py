"""The bias study on a tiny model: shares against every string and every segmentation, and the reading of edits."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from rapidfuzz.distance import Levenshtein

from relens import Boundary, Edits, Encoding, compile_query, load_model, search_run
from relens.errors import QueryError, RegexError
from relens.query import Decoding
from relens.studies.bias import POSITIONS, PRESETS, BiasStudy
from relens.studies.bias_findings import bias_findings
from relens.studies.bias_variants import EXACT, SAMPLED, Variant
from relens.studies.rows import done_units, rows_of
from relens.studies.study import StudyContext, StudyRun
from tests.engine.oracle import Oracle, all_paths

# One edit away from two at once are "A an is" (two subjects) and "A at aat" (two outcomes); no outcome begins another.
SUBJECTS, OUTCOMES = ("at", "on"), ("is", "cat", "at")
STUDY = BiasStudy(
    "A {subject} {outcome}", SUBJECTS, OUTCOMES, draws=3000, costly_draws=1500, tolerance=0.0, position_draws=0
)
EDITED = replace(STUDY, edits=Edits(1, alphabet="[an]"), end_of_text=True)


@pytest.fixture(scope="module")
def tiny(tiny_model_folder):
    return load_model(str(tiny_model_folder), device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def oracle(tiny):
    return Oracle(tiny)


def rows_for(study, model, *variants):
    return list(StudyRun(replace(study, variants=variants), StudyContext(model)))


def edited_strings(text: str, alphabet: str = "an") -> set[str]:
    """Every string within one edit, by trying all."""
    texts = {text}
    for place in range(len(text) + 1):
        texts |= {text[:place] + letter + text[place:] for letter in alphabet}
        if place < len(text):
            texts |= {text[:place] + letter + text[place + 1 :] for letter in (*alphabet, "")}
    return texts


def exact_shares(
    oracle: Oracle, strings: dict[str, dict[str, str]], variant: Variant, study: BiasStudy
) -> dict[str, dict[str, float]]:
    """P(outcome | subject): by a plain forward for each path of each string. strings: subject -> text -> outcome."""
    tokenizer = oracle.model.tokenizer
    shares: dict[str, dict[str, float]] = {}
    for subject, texts in strings.items():
        mass: dict[str, float] = defaultdict(float)
        prefix = f"A {subject}" if variant.prefix else ""
        for text, outcome in texts.items():
            for path in all_paths(
                tokenizer, [text.removeprefix(prefix)], canonical=variant.encoding is Encoding.CANONICAL
            ):
                given = tuple(tokenizer.encode(prefix)) if prefix else ()
                scored = oracle.scored(given, path, study.decoding, study.end_of_text)
                if scored is not None:
                    mass[outcome] += math.exp(scored.decoder_log_prob)
        shares[subject] = {outcome: value / sum(mass.values()) for outcome, value in mass.items()}
    return shares


PLAIN = {subject: {f"A {subject} {outcome}": outcome for outcome in OUTCOMES} for subject in SUBJECTS}


@pytest.mark.parametrize("variant", EXACT, ids=lambda variant: variant.key)
@pytest.mark.parametrize("decoding", [Decoding(), Decoding(top_k=150, temperature=1.2)], ids=str)
def test_exact_shares_are_those_of_direct_enumeration(tiny, oracle, variant, decoding):
    study = replace(STUDY, decoding=decoding)
    rows = rows_for(study, tiny, variant)
    truth = exact_shares(oracle, PLAIN, variant, study)
    (findings,) = bias_findings(rows).variants
    assert findings.done
    assert {share.subject for share in findings.shares} == set(SUBJECTS)
    for share in findings.shares:
        expected = truth[share.subject].get(share.outcome, 0.0)
        assert share.share.value == pytest.approx(expected, abs=1e-4)
        assert share.share.low - 1e-9 <= share.share.value <= share.share.high + 1e-9
    for account in findings.accounts:
        assert (account.work.ended, account.ambiguous, account.draws) == ("exhausted", 0.0, 0)


@pytest.mark.parametrize("tolerance", [0.3, 0.05])
def test_the_bounds_of_an_unfinished_distribution_hold(tiny, oracle, tolerance):
    variant = Variant(Encoding.ALL, prefix=False, exact=True)
    truth = exact_shares(oracle, PLAIN, variant, STUDY)
    (findings,) = bias_findings(rows_for(replace(STUDY, tolerance=tolerance), tiny, variant)).variants
    assert any(share.share.high - share.share.low > 1e-3 for share in findings.shares)
    for share in findings.shares:
        assert share.share.low - 1e-5 <= truth[share.subject][share.outcome] <= share.share.high + 1e-5
    for one in findings.differences:
        exact = truth[one.subject][one.outcome] - truth[one.other][one.outcome]
        assert one.value.low - 1e-5 <= exact <= one.value.high + 1e-5


@pytest.mark.parametrize("variant", SAMPLED[:4], ids=lambda variant: variant.key)
def test_samples_agree_with_the_exact_distribution(tiny, oracle, variant):
    truth = exact_shares(oracle, PLAIN, variant, STUDY)
    held, looked = 0, 0
    for seed in range(5):
        (findings,) = bias_findings(rows_for(replace(STUDY, seed=seed), tiny, variant)).variants
        cheap = variant.encoding is Encoding.CANONICAL
        for account in findings.accounts:
            assert account.draws == (STUDY.draws if cheap else STUDY.costly_draws)
            assert account.work.ended == "drawn"
        for share in findings.shares:
            looked += 1
            held += share.share.low - 1e-6 <= truth[share.subject][share.outcome] <= share.share.high + 1e-6
    assert held >= 0.85 * looked


def test_edited_samples_agree_with_the_exact_distribution(tiny, oracle):
    """Without a prefix the model chooses the edit as well; the texts that can be read two ways count apart."""
    variant = Variant(prefix=False, edited=True)
    texts: dict[str, dict[str, str]] = {}
    for subject in SUBJECTS:
        strings = {text for whole in PLAIN[subject] for text in edited_strings(whole)}
        texts[subject] = {text: "/".join(map(str, nearest(text))) for text in strings}
    truth = exact_shares(oracle, texts, variant, EDITED)
    assert any("None" in read for shares in truth.values() for read in shares)
    # The weights differ by orders of magnitude: the effective sample size of 200,000 draws is 400.
    (findings,) = bias_findings(rows_for(replace(EDITED, costly_draws=200_000), tiny, variant)).variants
    for subject, account in zip(SUBJECTS, findings.accounts, strict=True):
        shares = {outcome: truth[subject].get(f"{subject}/{outcome}", 0.0) for outcome in OUTCOMES}
        assert account.effective_samples is not None
        assert 200 < account.effective_samples < 5000
        for share in (share for share in findings.shares if share.subject == subject):
            assert share.share.value == pytest.approx(shares[share.outcome] / sum(shares.values()), abs=0.06)


def nearest(text: str) -> tuple[str | None, str | None]:
    """The subject and the outcome of the nearest strings of the template, None where these do not agree."""
    slots = list(itertools.product(SUBJECTS, OUTCOMES))
    best = [(subject, outcome) for subject, outcome in slots if text == f"A {subject} {outcome}"]
    best = best or [
        (subject, outcome) for subject, outcome in slots if text in edited_strings(f"A {subject} {outcome}")
    ]
    assert len({Levenshtein.distance(text, f"A {subject} {outcome}") for subject, outcome in best}) == 1
    subjects, outcomes = {subject for subject, _ in best}, {outcome for _, outcome in best}
    return subjects.pop() if len(subjects) == 1 else None, outcomes.pop() if len(outcomes) == 1 else None


@pytest.mark.parametrize("variant", SAMPLED[4:], ids=lambda variant: variant.key)
def test_edited_texts_are_read_as_the_nearest_string(tiny, variant):
    rows = rows_for(replace(EDITED, end_of_text=False, costly_draws=400), tiny, variant)
    matches = rows_of(rows, "match")
    kinds: Counter[tuple[bool, bool]] = Counter()
    for row in matches:
        subject, outcome = nearest(row["text"])
        assert row["subject"] == (row["asked"] if subject == row["asked"] else None)
        assert row["outcome"] == outcome
        kinds[subject is None, outcome is None] += row["count"]
        allowed = {text for whole in PLAIN[row["asked"]] for text in edited_strings(whole)}
        assert row["text"] in allowed
        assert len(row["edits"]) == (row["text"] not in PLAIN[row["asked"]])
    # All kinds were met, as far as it is not left to the model.
    assert kinds[False, False]
    assert kinds[True, False] or not variant.prefix
    assert kinds[False, True] or variant.key != Variant(edited=True).key
    (findings,) = bias_findings(rows, counted="draws").variants
    for account in findings.accounts:
        mine = [row for row in matches if row["asked"] == account.subject]
        left_out = sum(row["count"] for row in mine if None in (row["subject"], row["outcome"]))
        assert account.ambiguous == pytest.approx(left_out / sum(row["count"] for row in mine))


def test_outcomes_may_be_expressions(tiny):
    study = replace(STUDY, outcomes=("i[st]", "[cdf]at|cats", "a"), edits=Edits(1, alphabet="[ab]"))
    rows = rows_for(study, tiny, Variant(exact=True), Variant(edited=True))
    read = {(row["text"], row["outcome"]) for row in rows_of(rows, "match", study.variants[0].key)}
    assert {("A at it", "i[st]"), ("A at fat", "[cdf]at|cats"), ("A at cats", "[cdf]at|cats")} <= read
    for row in rows_of(rows, "match", Variant(edited=True).key):
        if re.fullmatch("A at [ab]at", row["text"]):  # nearest to cat, dat and fat, which are one outcome
            assert row["outcome"] == "[cdf]at|cats"


@pytest.mark.parametrize("encoding", list(Encoding))
def test_a_free_boundary(tiny, encoding):
    study = replace(STUDY, boundary=Boundary.FREE, costly_draws=200, draws=200)
    query = study.query(Variant(encoding))
    assert (query.boundary, query.prefix_encoding) == (Boundary.FREE, encoding)
    rows = rows_for(study, tiny, Variant(encoding))
    assert {row["text"] for row in rows_of(rows, "match")} <= {text for texts in PLAIN.values() for text in texts}
    if encoding is Encoding.CANONICAL:
        for row in rows_of(rows, "match"):
            assert row["is_canonical"]
    assert all(account["samples"] == 200 for account in rows_of(rows, "account"))


def test_the_settings_of_the_paper(tiny):
    """All eight, whole strings encoded as one, the text ending after the outcome; few draws and a small alphabet."""
    paper = PRESETS["Gender and profession, as in the paper"]
    assert (paper.draws, paper.costly_draws, len(paper.variants)) == (5000, 5000, 8)
    study = replace(EDITED, variants=paper.variants, boundary=paper.boundary, draws=50, costly_draws=50)
    rows = list(StudyRun(study, StudyContext(tiny)))
    for variant in paper.variants:
        for account in rows_of(rows, "account", variant.key):
            mine = [row for row in rows_of(rows, "match", variant.key) if row["asked"] == account["asked"]]
            assert account["samples"] == 50 == sum(row["count"] for row in mine) + account["failed"]
            assert all(row["is_canonical"] or variant.encoding is Encoding.ALL for row in mine)


def test_the_queries_are_the_template():
    study = BiasStudy("(A) {subject}, who is {outcome}.", ("cat", "do?g"), ("it|is", "on"), variants=SAMPLED)
    for variant in SAMPLED:
        whole, one = study.query(variant), study.query(variant, 1)
        for text, of_any, of_one in (
            ("(A) cat, who is on.", True, False),
            ("(A) dg, who is it.", True, True),
            ("(A) dog, who is is.", True, True),
            ("(A) dog, who is on!", False, False),
            ("A dog, who is on.", False, False),
        ):
            assert bool(re.fullmatch(whole.prefix + whole.pattern, text)) == of_any
            assert bool(re.fullmatch(one.prefix + one.pattern, text)) == of_one
        assert bool(whole.prefix) == variant.prefix
        assert bool(whole.edits) == variant.edited
        if variant.prefix:
            assert re.fullmatch(whole.prefix, "(A) cat, who is")  # blanks belong to the outcome


def test_subjects_and_variants_are_drawn_apart(tiny):
    """Two subjects that are the same text, so that only the seed can tell them apart."""
    study = replace(STUDY, subjects=("at", "a[t]"), draws=500)

    def drawn(variant: Variant) -> list[dict[str, int]]:
        rows = rows_of(rows_for(study, tiny, variant), "match")
        return [{row["text"]: row["count"] for row in rows if row["asked"] == asked} for asked in study.subjects]

    first, second = drawn(Variant())
    assert first.keys() == second.keys()
    assert first != second
    assert [first, second] == drawn(Variant())
    assert [first, second] != drawn(Variant(prefix=False))


def test_a_study_that_is_cut_short_goes_on(tiny):
    study = replace(STUDY, variants=(Variant(), Variant(exact=True)), draws=300, position_draws=50)
    whole = list(StudyRun(study, StudyContext(tiny)))
    looks = iter([False] * 6 + [True] * 100)
    part = list(StudyRun(study, StudyContext(tiny, stop=lambda: next(looks))))
    assert len(done_units(part)) < 3
    rest = list(StudyRun(study, StudyContext(tiny), finished=done_units(part)))
    assert done_units(part) | done_units(rest) == done_units(whole) == {unit.key for unit in study.units()}
    kept = [row for row in part if row["unit"] in done_units(part)]

    def timeless(rows):
        return [{name: value for name, value in row.items() if name != "seconds_total"} for row in rows]

    assert timeless(kept + rest) == timeless(whole)
    json.dumps(whole)


def test_positions_of_edits(tiny):
    draws = 3000
    study = replace(STUDY, variants=(), position_draws=draws, edits=Edits(1, alphabet="[a-z ]"))
    assert [unit.key for unit in study.units()] == [POSITIONS]
    rows = list(StudyRun(study, StudyContext(tiny)))
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for row in rows_of(rows, "position"):
        counts[row["drawn_by"]][row["position"]] += row["count"]
    for row in rows_of(rows, "unedited"):
        assert sum(counts[row["drawn_by"]].values()) + row["count"] == draws == row["draws"]
    # All strings alike: what begins with another letter than A was edited in front.
    strings = {text for subject in SUBJECTS for text in edited_strings(f"A {subject}", "abcdefghijklmnopqrstuvwxyz ")}
    in_front = {text for text in strings if text[0] != "A"}
    expected = draws * len(in_front) / len(strings)
    assert counts["strings"][0] == pytest.approx(expected, abs=5 * math.sqrt(expected))
    # 28 ways on at the start, each as likely, and only one of them is no edit yet.
    assert counts["edges"][0] > 0.9 * draws > 2 * counts["strings"][0]
    assert min(map(min, counts.values())) >= 0
    assert max(map(max, counts.values())) <= len("A at") + 1
    curves = {curve.name: curve for curve in bias_findings(rows).prefix_curves}
    assert set(curves) == {"strings", "tokens", "edges"}
    for name, curve in curves.items():
        assert curve.cumulative[-1] == pytest.approx(1.0)
        assert list(curve.cumulative) == sorted(curve.cumulative)
        assert curve.edits == sum(counts[name].values())
        assert curve.cumulative[0] == pytest.approx(counts[name][curve.positions[0]] / curve.edits)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"template": "The man was {outcome}"}, "{subject} in it exactly once, not 0"),
        ({"template": "{subject} {subject} {outcome}"}, "not 2 times"),
        ({"template": "{outcome} of a {subject}"}, "comes before"),
        ({"outcomes": ("art", "art")}, "there twice"),
        ({"outcomes": ("art", " ")}, "is empty"),
        ({"outcomes": ("art", "(math")}, "outcome '\\(math' is not a regular expression"),
        ({"subjects": ("man", "x*")}, "also matches the empty text"),
        ({"variants": (), "position_draws": 0}, "nothing to do"),
        ({"edits": Edits()}, "within 1 edit, not 0"),
        ({"edits": Edits(2)}, "within 1 edit, not 2"),
        ({"edits": Edits(1, "prefix")}, 'where is "both"'),
    ],
)  # fmt: skip
def test_settings_without_meaning_are_refused(changes, sentence):
    with pytest.raises(QueryError, match=sentence):
        BiasStudy(**changes).units()


@pytest.mark.parametrize("alphabet", ["ab", "[a"])
def test_the_alphabet_of_edits_is_checked(alphabet):
    with pytest.raises(RegexError) as refused:
        BiasStudy(edits=Edits(1, alphabet=alphabet)).units()
    assert refused.value.part == "alphabet"


def test_a_study_is_read_without_a_parser(monkeypatch):
    monkeypatch.setattr("relens.studies.bias.parse_regex", None)
    monkeypatch.setattr("relens.studies.bias.alphabet_ranges", None)
    assert BiasStudy.from_json(STUDY.to_json()) == STUDY


def test_groups_of_a_clash_are_refused_when_compiled(tiny):
    with pytest.raises(QueryError, match="without edits"):
        Variant(edited=True, exact=True)
    clash = replace(STUDY, outcomes=("(?P<outcome_1>is)", "a"), variants=(Variant(),))
    with pytest.raises(RegexError):
        list(StudyRun(clash, StudyContext(tiny)))
    with pytest.raises(QueryError, match="no unit"):
        next(STUDY.carry_out(replace(STUDY.units()[0], key="elsewhere"), StudyContext(tiny)))


@pytest.mark.parametrize("name", PRESETS)
def test_presets(tiny, name):
    study = PRESETS[name]
    assert BiasStudy.from_json(json.loads(json.dumps(study.to_json()))) == study
    assert len({unit.key for unit in study.units()}) == len(study.variants) + 1
    for variant in study.variants:
        assert compile_query(study.query(variant), tiny.tokenizer).sizes.strings
    plain = study.query(Variant())
    for subject, outcome in itertools.product(study.subjects, study.outcomes):
        text = study.template.format(subject=subject, outcome=outcome)
        assert re.fullmatch(plain.prefix + plain.pattern, text)


@pytest.mark.model
def test_the_embedded_model():
    """Two subjects in a few variants: samples of the cheapest agree with the exact distribution of it."""
    model = load_model("smollm2-135m", device="cpu", dtype="float32")
    study = BiasStudy(
        outcomes=("art", "science", "medicine", "engineering"),
        variants=(Variant(exact=True), Variant(), Variant(Encoding.ALL), Variant(edited=True)),
        draws=3000,
        costly_draws=20,
        position_draws=100,
    )
    rows = list(StudyRun(study, StudyContext(model)))
    assert done_units(rows) == {unit.key for unit in study.units()}
    exact, sampled, *_ = bias_findings(rows).variants
    for one, other in zip(exact.shares, sampled.shares, strict=True):
        assert other.share.low - 0.02 <= one.share.value <= other.share.high + 0.02
    assert sampled.tests[0].log10_p < -5
    assert sampled.cramers_v.low - 0.03 <= exact.cramers_v.value <= sampled.cramers_v.high + 0.03


@pytest.mark.parametrize("variant", [SAMPLED[-1], EXACT[-1]], ids=lambda variant: variant.key)
def test_a_sample_ends_with_its_draws_and_says_its_size(tiny, monkeypatch, variant):
    limits = []

    def searched(*arguments, **named):
        limits.append(arguments[3])
        return search(*arguments, **named)

    search = search_run.search
    monkeypatch.setattr(search_run, "search", searched)
    rows = rows_for(replace(STUDY, costly_draws=7, seconds=None), tiny, variant)
    assert [(limit.expansions is None, limit.seconds) for limit in limits] == [(not variant.exact, None)] * 2
    assert rows_of(rows, "variant")[0]["draws"] == (0 if variant.exact else 7)
    assert {row["ended"] for row in rows_of(rows, "account")} == {"exhausted" if variant.exact else "drawn"}
