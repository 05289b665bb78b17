"""Ids of prompts, and triggers that are what the tokenizer makes of their text."""

from __future__ import annotations

import random

import pytest
import tokenizers

from relens.errors import LimitError, ModelError, QueryError
from relens.triggers.causal.prompts import Prompt, allowed_tokens
from relens.triggers.causal.template import Template, make_frame
from tests.engine.triggers.causal.conftest import make_prompt


@pytest.mark.parametrize("text", ["{}", "the cat{} sat", "the {}", "{}sat", "a\n{}\nb"])
@pytest.mark.parametrize("form", ["chat", "plain"])
def test_survivors_are_the_tokens_of_a_tokenizer_of_the_hub(tiny, text, form):
    from tests.engine.triggers.causal.conftest import CHAT

    prompt = Prompt(make_frame(Template(text, form), CHAT), tiny.tokenizer, " log", 3)
    plain = tokenizers.Tokenizer.from_str(tiny.tokenizer.to_json())
    rng, survivors = random.Random(1), 0
    for _ in range(300):
        trigger = [rng.choice(prompt.allowed) for _ in range(3)]
        encoded = plain.encode(prompt.frame.around(tiny.tokenizer.decode(trigger, True)), add_special_tokens=False).ids
        begin = [] if form == "chat" else [tiny.begin_of_text]
        assert prompt.survives(trigger) == ([*begin, *encoded] == list(prompt.ids(trigger)))
        survivors += prompt.survives(trigger)
    assert 0 < survivors < 300


def test_two_tokens_that_are_one_do_not_survive(tiny):
    prompt = make_prompt(tiny, free=2)
    whole = tiny.tokenizer.encode(" dog")
    parts = [token for letters in (" d", "og") for token in tiny.tokenizer.encode(letters)]
    assert len(whole) == 1
    assert not make_prompt(tiny, free=len(parts)).survives(parts)
    assert prompt.survives([*whole, *tiny.tokenizer.encode(" cat")])


def test_the_name_of_a_special_token_does_not_survive(tiny):
    spelled = tiny.tokenizer.encode("<|endoftext|>", continues=True)
    assert len(spelled) > 1
    assert tiny.tokenizer.is_canonical(spelled)
    assert not make_prompt(tiny, free=len(spelled)).survives(spelled)


def test_allowed_tokens_are_printable_and_not_special(tiny):
    allowed = allowed_tokens(tiny.tokenizer, True)
    for token in range(tiny.tokenizer.size):
        text = tiny.tokenizer.decode([token], continues=True)
        is_text = text.isascii() and text.isprintable() and token not in tiny.tokenizer.special_tokens
        if token in allowed:
            assert is_text
            assert tiny.tokenizer.encode(text, continues=True) == [token]
        elif is_text:
            assert tiny.tokenizer.encode(text, continues=True) != [token] or not text
    assert 100 < len(allowed) < tiny.tokenizer.size


def test_the_target_ends_as_the_setting_says(tiny):
    prompt = make_prompt(tiny, target=" the log")
    assert prompt.target == (*tiny.tokenizer.encode(" the log"), tiny.end_of_text)
    going_on = Prompt(prompt.frame, tiny.tokenizer, " the log", 3, ends=False)
    assert going_on.target == prompt.target[:-1]


def test_limits_and_errors(tiny):
    frame = make_frame(Template("{}", "plain"))
    for free in (0, 65):
        with pytest.raises(LimitError, match="free tokens"):
            Prompt(frame, tiny.tokenizer, "a", free)
    with pytest.raises(QueryError, match="at least one token"):
        Prompt(frame, tiny.tokenizer, "", 3)
    with pytest.raises(LimitError, match="more than 64"):
        Prompt(frame, tiny.tokenizer, "a b " * 40, 3)
    with pytest.raises(LimitError, match="4,096 characters"):
        Prompt(frame, tiny.tokenizer, "a" * 5000, 3)
    endless = type(tiny.tokenizer)(tiny.tokenizer.configuration, name="endless")
    with pytest.raises(ModelError, match="no token that ends"):
        Prompt(frame, endless, "a", 3)
