"""Texts in prompts checked: the scores of a search, those of the network itself, and bad settings."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import tokenizers
import torch

from relens.errors import LimitError, ModelError, QueryError, RelensError
from relens.studies.rows import rows_of
from relens.studies.study import Study, StudyContext, StudyRun
from relens.triggers.causal.check_study import MOST_TEXTS, PRESETS, CheckedText, PromptCheckStudy
from relens.triggers.causal.template import Template
from relens.triggers.hits import HitType, Thresholds
from tests.engine.triggers.causal.test_causal_study import STUDY

CHECK = PromptCheckStudy(template=STUDY.template, hit_type=STUDY.hit_type, ends=STUDY.ends, thresholds=STUDY.thresholds)


def scores(model, *texts, **more):
    study = replace(CHECK, texts=texts, **more)
    rows = list(StudyRun(study, StudyContext(model)))
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    return rows_of(rows, "score"), study.verdict(rows)


@pytest.fixture(scope="module")
def triggers(chat_model):
    return rows_of(list(StudyRun(STUDY, StudyContext(chat_model))), "trigger")


def test_the_triggers_of_a_search_are_verified(triggers, chat_model):
    stored = [CheckedText(row["text"], row["target"], tuple(row["token_log_probs"])) for row in triggers]
    found, verdict = scores(chat_model, *stored, fingerprint=chat_model.fingerprint)
    same = ("text", "input_ids", "input_tokens", "target_tokens", "prompt", "reply_ids", "hits", "searched")
    for row, again in zip(triggers, found, strict=True):
        assert {name: again[name] for name in same} == {name: row[name] for name in same}
        assert again["token_log_probs"] == pytest.approx(row["token_log_probs"], abs=1e-5)
        assert again["input_log_probs"] == pytest.approx(row["input_log_probs"], abs=1e-5)
    assert verdict[0].startswith(f"Verified: scored anew in float32, {len(triggers)} of {len(triggers)}")
    reached = sum(row["hits"]["o-sample-min-k5"] for row in triggers)
    assert verdict[1].startswith(f"Of {len(triggers)} texts, {reached} reach")
    assert len(verdict) == 2


def test_wrong_numbers_are_not_verified(triggers, chat_model):
    row = triggers[0]
    wrong = CheckedText(row["text"], row["target"], (*row["token_log_probs"][:-1], row["token_log_probs"][-1] + 0.5))
    _, verdict = scores(chat_model, wrong, fingerprint="another")
    assert verdict[0].startswith("Not verified")
    assert "0.5 nats" in verdict[0]
    assert "another one" in verdict[2]


@pytest.mark.parametrize("text", ["the cat", "on the mat the cat", "x", "the cat sat on the log and more of it"])
def test_any_text_is_scored_as_the_network_reads_it(chat_model, text):
    (row,), verdict = scores(chat_model, CheckedText(text, STUDY.targets[0]))
    assert len(verdict) == 1
    assert verdict[0].startswith("Of 1 text, ")
    assert CHECK.verdict([]) == ()
    tokenizer = chat_model.tokenizer
    target = [*tokenizer.encode(STUDY.targets[0], continues=True), tokenizer.end_of_text]
    assert row["target_tokens"] == [tokenizer.token_text(token) for token in target]
    plain = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    prompt = plain.encode(row["prompt"], add_special_tokens=False).ids
    with torch.inference_mode():
        logits = chat_model.network(torch.tensor([[*prompt, *target]])).logits[0, len(prompt) - 1 : -1]
    expected = torch.log_softmax(logits.float(), dim=1).gather(1, torch.tensor(target)[:, None])[:, 0]
    assert row["token_log_probs"] == pytest.approx(expected.tolist(), abs=1e-4)
    assert row["hits"]["o-greedy"] == (logits.argmax(dim=1).tolist() == target)
    assert row["difference"] is None
    assert len(row["input_log_probs"]) <= len(row["input_tokens"])
    assert "".join(row["input_tokens"]).replace("␣", " ").strip() == text


def test_an_encoder_decoder_and_a_judge_have_names(tiny):
    with pytest.raises(RelensError):
        scores(tiny, CheckedText("x", "y"), encoder_decoder="nobody/knows", template=Template("{}", "plain"))
    with pytest.raises(RelensError):
        scores(tiny, CheckedText("x", "y"), judge="nobody/knows", template=Template("{}", "plain"))


@pytest.mark.parametrize(
    ("texts", "error", "sentence"),
    [
        ((), QueryError, "nothing to check"),
        ((CheckedText("", "x"),), QueryError, "The text of line 1 is empty"),
        ((CheckedText("x", "y"), CheckedText("x", " ")), QueryError, "The target of line 2 is empty"),
        ((CheckedText("x" * 5_000, "y"),), LimitError, "The text of line 1 has more than 4,000"),
        ((CheckedText("x", "y"),) * (MOST_TEXTS + 1), QueryError, "“Texts” must have at most 500, not 501"),
    ],
)
def test_bad_settings_are_a_sentence(texts, error, sentence):
    with pytest.raises(error, match=sentence):
        replace(CHECK, texts=texts).units()


def test_a_text_that_the_model_does_not_hold(tiny):
    with pytest.raises(ModelError, match="the model holds"):
        scores(tiny, CheckedText("the cat sat on the mat " * 100, "the log"), template=Template("{}", "plain"))


def test_a_chat_format_that_cuts_a_text_is_an_error(chat_model, monkeypatch):
    from relens.triggers.causal.template import Frame

    monkeypatch.setattr(Frame, "is_kept", lambda frame, text: text == text.strip())
    with pytest.raises(QueryError, match="chat format changes this text"):
        scores(chat_model, CheckedText(" the cat", "the log"))


def test_a_study_survives_json_and_is_in_the_catalogue():
    study = replace(CHECK, texts=(CheckedText("a", "b", (-1.0,)),), hit_type=HitType("io", "avg"))
    assert Study.from_json(json.loads(json.dumps(study.to_json()))) == study
    assert replace(study, thresholds=Thresholds(-1.0, -2.0)) != study
    assert all(preset.units() for preset in PRESETS.values())
