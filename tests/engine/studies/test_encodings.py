"""Encodings under a tiny model against every segmentation scored one by one, and samples against the tokenizer."""

from __future__ import annotations

import json
import math

import pytest

from engine import load_model
from engine.errors import LimitError, QueryError
from engine.query import Decoding
from engine.studies.encodings import PRESETS, EncodingsStudy
from engine.studies.encodings_findings import encodings_findings, encodings_verdict
from engine.studies.rows import done_units, rows_of
from engine.studies.sampled_generation import Attempt, SampledGeneration
from engine.studies.study import Study, StudyContext, StudyRun
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
    found = rows_of(rows, "encoding")
    assert {tuple(row["tokens"]) for row in found} == set(expected)
    for row in found:
        assert row["log_prob"] == pytest.approx(expected[tuple(row["tokens"])], abs=1e-3)
        assert sum(row["token_log_probs"]) == pytest.approx(row["log_prob"], abs=1e-4)
        assert row["is_canonical"] == (row["tokens"] == tiny.tokenizer.encode(TEXT))
    ranks = [row["log_prob"] for row in found]
    assert ranks == sorted(ranks, reverse=True)
    findings = encodings_findings(rows)
    total = sum(map(math.exp, expected.values()))
    own = math.exp(expected[tuple(tiny.tokenizer.encode(TEXT))])
    assert (findings.encodings, findings.found, findings.is_exact) == (len(expected), len(expected), True)
    assert findings.share.value == pytest.approx(own / total, rel=1e-3)
    assert math.exp(findings.log_mass) == pytest.approx(total, rel=1e-3)
    likelier = sum(value > math.log(own) + 1e-6 for value in expected.values())
    assert findings.own_rank == likelier + 1


def test_a_prefix_is_given(tiny):
    study = EncodingsStudy(text=" cat", prefix="the", samples=0)
    rows = list(StudyRun(study, StudyContext(tiny)))
    expected = scores(tiny, " cat", tuple(tiny.tokenizer.encode("the")))
    found = {tuple(row["tokens"]): row["log_prob"] for row in rows_of(rows, "encoding")}
    assert found == {tokens: pytest.approx(value, abs=1e-3) for tokens, value in expected.items()}


def test_bounds_hold_where_the_search_is_cut_short(tiny, rows):
    exact = encodings_findings(rows).share.value
    for matches in (1, 3, 7):
        cut = list(StudyRun(EncodingsStudy(text=TEXT, samples=0, matches=matches), StudyContext(tiny)))
        findings = encodings_findings(cut)
        assert (findings.found, findings.is_exact) == (matches, False)
        assert findings.share.low <= exact * (1 + 1e-6)
        assert exact <= findings.share.high * (1 + 1e-6)
        assert findings.own_log_prob is not None


def test_text_is_a_literal_and_not_a_pattern(tiny):
    rows = list(StudyRun(EncodingsStudy(text="a.*", samples=0), StudyContext(tiny)))
    for row in rows_of(rows, "encoding"):
        assert tiny.tokenizer.decode(row["tokens"]) == "a.*"


def test_samples_are_compared_with_the_tokenizer(tiny):
    rows = list(StudyRun(ONLY_SAMPLES, StudyContext(tiny)))
    findings = encodings_findings(rows)
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
    rows = list(StudyRun(EncodingsStudy(text="", samples=3), StudyContext(tiny)))
    findings = encodings_findings(rows)
    assert (findings.samples, findings.compared, findings.other) == (3, 2, 1)
    assert findings.other_share.low < 0.5 < findings.other_share.high
    (example,) = rows_of(rows, "example")
    assert "".join(example["sampled"]) == "".join(example["own"])
    assert len(example["sampled"]) > len(example["own"])
    assert example["text"] == " cat"


def test_prompts_are_continued(tiny):
    study = EncodingsStudy(text="", samples=10, sample_tokens=3, prompts=("the cat", "a dog"))
    rows = list(StudyRun(study, StudyContext(tiny)))
    assert encodings_findings(rows).samples == 10
    assert {row["prompt"] for row in rows_of(rows, "example")} <= set(study.prompts)


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
    findings = encodings_findings(rows)
    assert f"the other {findings.encodings - 1:,} share" in verdict[0]
    assert ONLY_TEXT.verdict([]) == ()
    batch = {"unit": "samples", "row": "batch", "samples": 101, "compared": 100, "other": 3, "tokens": 2400}
    said = EncodingsStudy(text="").verdict([batch])
    assert said[0].startswith("Of 100 texts that the model wrote from the beginning of a text, 3 are not")
    assert "3.0 %, or between 1.0 % and 8.5 %" in said[0], "Wilson's interval of 3 in 100"
    assert "3 % of GPT-2's samples and 2 % of GPT-2 XL's samples" in said[1]
    assert said[2].startswith("1 more had no text to compare: it ended")
    many = encodings_findings([{"unit": "p", "row": "all", "encodings": str(2**199), "ended": "matches"}])
    assert "about 10^59 encodings" in encodings_verdict(many, ONLY_TEXT)[0]


def test_rows_are_json(rows):
    assert json.loads(json.dumps(rows)) == rows
