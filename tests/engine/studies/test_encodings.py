"""Encodings under a tiny model against every segmentation scored one by one, and samples against the tokenizer."""

from __future__ import annotations

import json
import math

import pytest

from relens import load_model
from relens.errors import LimitError, QueryError
from relens.query import Decoding
from relens.studies.encodings import PRESETS, EncodingSearch, EncodingsStudy, RankedEncoding
from relens.studies.encodings_findings import encodings_findings
from relens.studies.rows import done_units
from relens.studies.sampled_generation import Attempt, SampledGeneration
from relens.studies.study import Study, StudyContext, StudyRun
from tests.engine.oracle import Oracle, segmentations

TEXT = "the cat"
ONLY_TEXT = EncodingsStudy(text=TEXT, samples=0)
ONLY_SAMPLES = EncodingsStudy(text="", samples=120, sample_tokens=2)


@pytest.fixture(scope="module")
def tiny(tiny_model_folder):
    return load_model(str(tiny_model_folder), device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def rows(tiny):
    return list(StudyRun(ONLY_TEXT, StudyContext(tiny)))


def scores(model, text: str, before: tuple[int, ...] = ()) -> dict[tuple[int, ...], float]:
    """Every encoding with its log-probability, by a plain forward for each token."""
    oracle = Oracle(model)
    return {
        tokens: sum(float(oracle.row((*before, *tokens[:place]))[token]) for place, token in enumerate(tokens))
        for tokens in segmentations(model.tokenizer, text)
    }


def test_every_encoding_is_scored_in_order(tiny, rows):
    expected = scores(tiny, TEXT)
    findings = encodings_findings(rows, ONLY_TEXT)
    canonical = tuple(tiny.tokenizer.encode(TEXT))
    assert {encoding.tokens for encoding in findings.encodings} == set(expected)
    for encoding in findings.encodings:
        assert encoding.log_prob == pytest.approx(expected[encoding.tokens], abs=1e-3)
        assert sum(encoding.token_log_probs) == pytest.approx(encoding.log_prob, abs=1e-4)
        assert encoding.is_canonical == (encoding.tokens == canonical)
    log_probs = [encoding.log_prob for encoding in findings.encodings]
    assert log_probs == sorted(log_probs, reverse=True)
    total = sum(map(math.exp, expected.values()))
    assert (findings.search.encodings, findings.search.found) == (str(len(expected)), len(expected))
    assert findings.search.is_exhausted
    assert findings.share.value == pytest.approx(math.exp(expected[canonical]) / total, rel=1e-3)
    assert math.exp(findings.log_mass) == pytest.approx(total, rel=1e-3)
    likelier = sum(value > expected[canonical] + 1e-6 for value in expected.values())
    assert findings.canonical_rank == likelier + 1


def test_a_prefix_is_given(tiny):
    study = EncodingsStudy(text=" cat", prefix="the", samples=0)
    rows = list(StudyRun(study, StudyContext(tiny)))
    expected = scores(tiny, " cat", tuple(tiny.tokenizer.encode("the")))
    scored = {encoding.tokens: encoding.log_prob for encoding in RankedEncoding.all_in(rows)}
    assert scored == {tokens: pytest.approx(value, abs=1e-3) for tokens, value in expected.items()}


def test_bounds_hold_where_the_search_is_cut_short(tiny, rows):
    exact = encodings_findings(rows, ONLY_TEXT).share.value
    for matches in (1, 3, 7):
        study = EncodingsStudy(text=TEXT, samples=0, matches=matches)
        findings = encodings_findings(StudyRun(study, StudyContext(tiny)), study)
        assert (len(findings.encodings), findings.search.is_exhausted) == (matches, False)
        assert findings.share.low <= exact * (1 + 1e-6)
        assert exact <= findings.share.high * (1 + 1e-6)
        assert findings.canonical is not None


def test_text_is_a_literal_and_not_a_pattern(tiny):
    rows = list(StudyRun(EncodingsStudy(text="a.*", samples=0), StudyContext(tiny)))
    for encoding in RankedEncoding.all_in(rows):
        assert tiny.tokenizer.decode(encoding.tokens) == "a.*"


def test_samples_are_compared_with_the_tokenizer(tiny):
    rows = list(StudyRun(ONLY_SAMPLES, StudyContext(tiny)))
    findings = encodings_findings(rows, ONLY_SAMPLES)
    assert (findings.samples, done_units(rows)) == (120, {"samples"})
    # The same samples drawn again; those that are text to their last letter are judged by hand.
    attempts = []
    for batch in SampledGeneration(tiny, [("", 1)], 2, Decoding(), seed=0, batch=24):
        attempts += batch or []
        if len(attempts) >= 120:
            break
    whole = other = 0
    for attempt in attempts[:120]:
        text = tiny.tokenizer.decode(attempt.token_ids)
        if text and "\ufffd" not in text and tiny.tokenizer.decode(attempt.token_ids[-1:]).strip():
            whole += 1
            other += tiny.tokenizer.encode(text) != list(attempt.token_ids)
    cut = sum(1 for attempt in attempts[:120] if "\ufffd" in tiny.tokenizer.decode(attempt.token_ids))
    assert 20 < whole <= findings.compared <= whole + cut + 10
    # What was cut back to one whole token is canonical, unless BPE does not make that token.
    assert findings.other == other
    assert list(StudyRun(ONLY_SAMPLES, StudyContext(tiny))) == rows, "a seed gives the same samples"


def test_samples_that_differ_are_counted_and_shown(tiny, monkeypatch):
    encode = tiny.tokenizer.encode
    own, other = encode(" the cat"), [encode(letter)[0] for letter in " cat"]
    assert own != other
    assert encode(" cat") != other

    def batches(self):
        yield None
        yield [Attempt("", b"", len(tokens), tuple(tokens)) for tokens in (own, other, [])]

    monkeypatch.setattr(SampledGeneration, "__iter__", batches)
    study = EncodingsStudy(text="", samples=3)
    findings = encodings_findings(StudyRun(study, StudyContext(tiny)), study)
    assert (findings.samples, findings.compared, findings.other) == (3, 2, 1)
    assert findings.other_share.low < 0.5 < findings.other_share.high
    (example,) = findings.examples
    assert "".join(example.sampled) == "".join(example.own)
    assert len(example.sampled) > len(example.own)
    assert example.text == " cat"


def test_prompts_are_continued(tiny):
    study = EncodingsStudy(text="", samples=10, sample_tokens=3, prompts=("the cat", "a dog"))
    findings = encodings_findings(StudyRun(study, StudyContext(tiny)), study)
    assert findings.samples == 10
    assert {example.prompt for example in findings.examples} <= set(study.prompts)


def test_units_and_settings():
    assert [unit.key for unit in EncodingsStudy().units()] == ["probabilities", "samples"]
    assert [unit.key for unit in ONLY_TEXT.units()] == ["probabilities"]
    with pytest.raises(QueryError, match="neither a text"):
        EncodingsStudy(text="", samples=0).units()
    for wrong in ({"matches": 0}, {"samples": -1}, {"sample_tokens": 0}, {"temperature": 0.0}, {"seed": -1}):
        with pytest.raises(QueryError):
            EncodingsStudy(**wrong)
    for study in (*PRESETS.values(), ONLY_TEXT):
        assert Study.from_json(study.to_json()) == study


def test_a_text_that_is_too_long_is_refused(tiny):
    with pytest.raises(LimitError, match="201 characters"):
        list(StudyRun(EncodingsStudy(text="a" * 201, samples=0), StudyContext(tiny)))


def test_the_verdict(tiny, rows):
    verdict = ONLY_TEXT.verdict(rows)
    encodings = len(RankedEncoding.all_in(rows))
    assert f"the other {encodings - 1:,} share" in verdict[0]
    assert ONLY_TEXT.verdict([]) == ()
    batch = {"unit": "samples", "row": "batch", "samples": 101, "compared": 100, "other": 3, "tokens": 2400}
    verdict = EncodingsStudy(text="").verdict([batch])
    assert verdict[0].startswith("Of 100 texts that the model wrote from the beginning of a text, 3 are not")
    assert "3.0 %, or between 1.0 % and 8.5 %" in verdict[0], "Wilson's interval of 3 in 100"
    assert "3 % of GPT-2's samples and 2 % of GPT-2 XL's samples" in verdict[1]
    assert verdict[2].startswith("1 more had no text to compare: it ended")
    search = EncodingSearch(str(2**199), 0, found_mass=0.0, remaining_mass=1.0, expansions=0, ended="matches")
    assert "about 10^59 encodings" in ONLY_TEXT.verdict([search.to_json()])[0]


def test_rows_are_json(rows):
    assert json.loads(json.dumps(rows)) == rows
