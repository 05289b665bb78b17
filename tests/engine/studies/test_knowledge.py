"""One fact asked in three ways of a tiny model, against plain forwards of the network."""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import replace

import pytest
import torch

from relens import load_model
from relens.errors import QueryError, RegexError
from relens.studies import knowledge
from relens.studies.knowledge import PRESETS, KnowledgeStudy
from relens.studies.rows import done_units, rows_of
from relens.studies.study import StudyContext, StudyRun

STUDY = KnowledgeStudy(
    prompt="George Washington was born on",
    truth="July 9",
    distractors=("July 4", "the log"),
    pattern="(July|the) ([1-9]|log|mat)",
    continuation=7,
)


@pytest.fixture(scope="module")
def tiny(tiny_model_folder):
    return load_model(str(tiny_model_folder), device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def rows(tiny):
    return list(StudyRun(STUDY, StudyContext(tiny)))


def log_prob(model, answer: str) -> float:
    """Of the answer after the prompt, by one forward."""
    begin = [] if model.begin_of_text is None else [model.begin_of_text]
    context = begin + model.tokenizer.encode(STUDY.prompt)
    own = model.tokenizer.encode(f" {answer}")
    with torch.inference_mode():
        scores = torch.log_softmax(model.network(torch.tensor([context + own])).logits[0].float(), dim=-1)
    return sum(float(scores[len(context) - 1 + place, token]) for place, token in enumerate(own))


def test_choices_are_scored_exactly(tiny, rows):
    choices = rows_of(rows, "choice", "choices")
    scores = {answer: log_prob(tiny, answer) for answer in (STUDY.truth, *STUDY.distractors)}
    total = sum(map(math.exp, scores.values()))
    assert [row["text"] for row in choices] == list(scores)
    for row in choices:
        assert row["log_prob"] == pytest.approx(scores[row["text"]], abs=1e-4)
        assert row["share"] == pytest.approx(math.exp(scores[row["text"]]) / total, rel=1e-3)
        assert row["is_truth"] == (row["text"] == STUDY.truth)


def test_the_free_response_is_greedy_as_far_as_it_is_text(tiny):
    lengths = []
    for prompt in ("The cat", "The dog sat on the", "see", "trained in", "call", "write to cat.dog", "and the", "J"):
        study = KnowledgeStudy(prompt=prompt, continuation=5)
        (row,) = rows_of(list(StudyRun(study, StudyContext(tiny), finished={"choices", "structured"})), "continuation")
        text = ([] if tiny.begin_of_text is None else [tiny.begin_of_text]) + tiny.tokenizer.encode(prompt)
        written: list[int] = []
        best = ""
        for _ in range(study.continuation):
            with torch.inference_mode():
                token = int(tiny.network(torch.tensor([text])).logits[0, -1].argmax())
            if token == tiny.end_of_text:
                break
            written.append(token)
            text.append(token)
            # Random weights write bytes that are no UTF-8; a match ends with a whole character.
            with contextlib.suppress(UnicodeDecodeError):
                best = tiny.tokenizer.decode_bytes(written).decode()
                length = len(written)
        assert row["text"] == best
        assert row["tokens"] == (length if best else 0)
        lengths.append(row["tokens"])
    assert max(lengths) >= 3


def test_the_truth_ranks_where_all_answers_put_it(tiny, rows):
    answers = [f"{first} {second}" for first in ("July", "the") for second in [*"123456789", "log", "mat"]]
    order = sorted(answers, key=lambda answer: -log_prob(tiny, answer))
    matches = rows_of(rows, "match", "structured")
    assert [row["text"] for row in matches] == order[: len(matches)]
    (ranking,) = rows_of(rows, "ranking")
    assert ranking["rank"] == order.index(STUDY.truth) + 1
    assert ranking["answers"] == len(answers)
    assert ranking["log_prob"] == pytest.approx(log_prob(tiny, STUDY.truth), abs=1e-4)
    assert [row["rank"] for row in matches if row["is_truth"]] == [ranking["rank"]]


def test_a_truth_beyond_the_limit_still_has_its_probability(tiny):
    answers = [f"{first} {second}" for first in ("July", "the") for second in [*"123456789", "log", "mat"]]
    last = min(answers, key=lambda answer: log_prob(tiny, answer))
    study = KnowledgeStudy(prompt=STUDY.prompt, truth=last, distractors=("x",), pattern=STUDY.pattern, matches=3)
    rows = list(StudyRun(study, StudyContext(tiny), finished={"choices", "free"}))
    (ranking,) = rows_of(rows, "ranking")
    assert (ranking["rank"], ranking["matches"], ranking["ended"]) == (None, 3, "matches")
    assert ranking["log_prob"] == pytest.approx(log_prob(tiny, last), abs=1e-4)
    findings = study.findings(rows)
    assert (findings.ranking.rank, findings.rank_at_least) == (None, 4)
    assert "at least 3 are likelier" in findings.verdict[0]


def test_rows_are_json_and_findings_come_from_them(rows):
    assert json.loads(json.dumps(rows)) == rows
    assert done_units(rows) == {"choices", "free", "structured"}
    findings = STUDY.findings(rows)
    assert STUDY.verdict(rows) == findings.verdict
    choices = {row["text"]: row["share"] for row in rows_of(rows, "choice")}
    assert findings.chosen.text == max(choices, key=choices.__getitem__)
    assert findings.true_choice.share == choices[STUDY.truth]
    assert findings.ranking.rank == findings.rank_at_least == rows_of(rows, "ranking")[0]["rank"]
    assert len(findings.verdict) >= 3
    assert STUDY.verdict([]) == ("There is no result yet.",)


def verdict(chosen: str, rank: int | None, has_truth: bool, matches: int = 9) -> str:
    rows = [
        {"unit": "choices", "row": "choice", "text": text, "is_truth": text == "a", "log_prob": -1.0,
         "share": 0.7 if text == chosen else 0.3}
        for text in ("a", "b")
    ] + [
        {"unit": "free", "row": "continuation", "text": " a", "tokens": 1, "has_truth": has_truth},
        {"unit": "structured", "row": "match", "rank": 1, "text": "best", "is_truth": rank == 1, "log_prob": -1.0},
        {"unit": "structured", "row": "ranking", "rank": rank, "matches": matches, "answers": 1000,
         "log_prob": math.log(0.25)},
    ]  # fmt: skip
    return " ".join(STUDY.findings(rows).verdict)


def test_verdicts_say_no_more_than_the_rows():
    known = verdict("a", 1, True)
    assert "prefers the right one; the right one has 70.0 %" in known
    assert "the most likely; its probability is 0.25" in known
    assert "has the right answer in it" in known
    assert "picks the answer when it is shown" not in known
    shown = verdict("a", 4, False)
    assert "in place 4" in shown
    assert "picks the answer when it is shown" in shown
    unknown = verdict("b", None, False)
    assert "“b”, which is wrong" in unknown
    assert "at least 9 are likelier" in unknown
    assert "picks the answer" not in unknown


def test_a_search_that_found_nothing_says_nothing_of_the_place():
    nothing = verdict("a", None, False, matches=0)
    assert "the search found none, so the place of the right one is not known" in nothing
    assert "its probability is 0.25" in nothing
    assert "likelier" not in nothing
    assert "picks the answer when it is shown" not in nothing
    assert "picks the answer when it is shown" in verdict("a", None, False, matches=1)


@pytest.mark.parametrize("looks", [0, 2, 5])
def test_a_stop_leaves_units_undone(tiny, rows, looks):
    left = iter([False] * looks)
    run = StudyRun(STUDY, StudyContext(tiny, stop=lambda: next(left, True)))
    found = list(run)
    assert run.progress.ended == "stopped"
    assert len(done_units(found)) < 3
    assert all(row in rows for row in found)


@pytest.mark.parametrize(
    "settings",
    [
        {"prompt": "It is "},
        {"prompt": ""},
        {"truth": ""},
        {"truth": " x"},
        {"distractors": ()},
        {"distractors": ("February 22, 1732",)},
        {"distractors": ("",)},
        {"continuation": 0},
        {"continuation": 10_000},
        {"matches": 0},
        {"expansions": 0},
    ],
)
def test_settings_without_meaning_are_refused(settings):
    with pytest.raises(QueryError):
        KnowledgeStudy(**settings)


def test_a_pattern_is_checked_as_it_was_written():
    with pytest.raises(RegexError) as caught:
        KnowledgeStudy(pattern="ab)|(c").units()
    assert caught.value.position == 2


def test_a_truth_outside_the_pattern_is_told(tiny):
    study = KnowledgeStudy(truth="Monday", distractors=("Tuesday",), pattern="(July|the) [1-9]")
    with pytest.raises(QueryError, match="'Monday'"):
        list(StudyRun(study, StudyContext(tiny), finished={"choices", "free"}))
    with pytest.raises(QueryError, match="'Canberra City', is not among the answers"):
        replace(PRESETS["capital"], truth="Canberra City").units()


def test_a_truth_of_which_a_form_cannot_tell_is_left_to_the_run(tiny, monkeypatch):
    study = KnowledgeStudy(truth="Monday", distractors=("Tuesday",), pattern="(July|the) [1-9]")
    monkeypatch.setattr(knowledge, "fully_matches", lambda tree, text: None)
    assert study.units()
    with pytest.raises(QueryError, match="'Monday'"):
        list(StudyRun(study, StudyContext(tiny), finished={"choices", "free"}))


def test_presets_are_questions_with_their_truth_in_the_pattern():
    import re

    assert list(PRESETS) == ["birth date", "capital", "year"]
    for study in PRESETS.values():
        assert study.units()
        for answer in (study.truth, *study.distractors):
            assert re.fullmatch(study.pattern, answer)
        assert KnowledgeStudy.from_json(json.loads(json.dumps(study.to_json()))) == study


@pytest.mark.model
def test_smollm_knows_the_capital_of_australia():
    model = load_model("smollm2-135m")
    rows = list(StudyRun(PRESETS["capital"], StudyContext(model)))
    findings = PRESETS["capital"].findings(rows)
    assert findings.ranking.rank is not None
    assert findings.ranking.rank <= 3
    assert findings.continuation.has_truth
