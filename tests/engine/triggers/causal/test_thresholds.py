"""Thresholds are mean log-probabilities of pairs, by plain forwards."""

from __future__ import annotations

import pytest
import torch

from relens.errors import QueryError
from relens.triggers.background import to_the_end
from relens.triggers.causal.input_scores import InputScores
from relens.triggers.causal.prompts import Prompt
from relens.triggers.causal.split_network import SplitNetwork
from relens.triggers.causal.template import Template, make_frame
from relens.triggers.causal.thresholds import measure_thresholds, written

PAIRS = [("the cat sat", " on the log"), ("and the dog", " was trained in art")]


@pytest.mark.parametrize("ends", [True, False])
def test_thresholds_are_means_over_tokens(tiny, ends):
    prompt = Prompt(make_frame(Template("say {} now", "plain")), tiny.tokenizer, "a", 3, ends=ends)
    inputs = InputScores(tiny, prompt, SplitNetwork(tiny))
    found = to_the_end(measure_thresholds(tiny, prompt, inputs, [*PAIRS, ("long " * 200, "no")]))
    replies, messages = [], []
    for message, reply in PAIRS:
        before = tiny.tokenizer.encode(f"say {message} now")
        own = tiny.tokenizer.encode(reply) + ([tiny.end_of_text] if ends else [])
        log_probs = tiny.read([*before, *own], begin_of_text=True)[len(before) :]
        replies += log_probs.gather(1, torch.tensor(own)[:, None])[:, 0].tolist()
        ids = tiny.tokenizer.encode(message)
        messages += tiny.read(ids, begin_of_text=True).gather(1, torch.tensor(ids)[:, None])[:, 0].tolist()
    assert found.out == pytest.approx(sum(replies) / len(replies), abs=1e-4)
    assert found.into == pytest.approx(sum(messages) / len(messages), abs=1e-4)


def test_without_pairs_there_are_no_thresholds(tiny):
    prompt = Prompt(make_frame(Template("{}", "plain")), tiny.tokenizer, "a", 3)
    with pytest.raises(QueryError, match="no pairs"):
        to_the_end(measure_thresholds(tiny, prompt, InputScores(tiny, prompt, SplitNetwork(tiny)), []))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("i do n't go .", "i don't go."),
        ("he 's here , is n't he ?", "he's here, isn't he?"),
        ("hello", "hello"),
        ("", ""),
    ],
)
def test_words_are_joined_as_people_write_them(words, text):
    assert written(words.split()) == text
