"""Costs in batches, with shared keys and values, against the network alone; greedy replies against generate."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from relens.errors import ModelError
from relens.triggers.causal.losses import CausalLosses
from relens.triggers.causal.prompts import Prompt
from relens.triggers.causal.template import Template, make_frame
from tests.engine.triggers.causal.conftest import make_prompt


def random_triggers(prompt: Prompt, rows: int, seed: int = 0) -> torch.Tensor:
    places = torch.randint(len(prompt.allowed), (rows, prompt.free), generator=torch.Generator().manual_seed(seed))
    return torch.tensor(prompt.allowed)[places]


def plain_log_probs(model, prompt, trigger) -> torch.Tensor:
    """(m, vocabulary), by one forward of the network."""
    ids = torch.tensor([[*prompt.before, *trigger, *prompt.after, *prompt.target]])
    with torch.inference_mode():
        logits = model.network(ids).logits[0, -len(prompt.target) - 1 : -1]
    return torch.log_softmax(logits.float(), dim=1)


@pytest.mark.parametrize("text", ["the cat{} sat on", "{}"])
def test_a_batch_is_its_rows_one_by_one(model, text):
    prompt = make_prompt(model, text)
    losses = CausalLosses(model, prompt)
    triggers = random_triggers(prompt, 70)
    found = losses.of_triggers(triggers)
    assert found.costs.shape == (70, len(prompt.target))
    for row in (0, 1, 63, 64, 69):
        log_probs = plain_log_probs(model, prompt, triggers[row].tolist())
        own = log_probs.gather(1, torch.tensor(prompt.target)[:, None])[:, 0]
        others = log_probs.scatter(1, torch.tensor(prompt.target)[:, None], -torch.inf).amax(dim=1)
        assert torch.allclose(found.costs[row], -own, atol=2e-4)
        assert torch.allclose(found.leads[row], own - others, atol=2e-4)
        plainly = losses.plainly(triggers[row].tolist())
        assert torch.allclose(plainly.costs[0], -own, atol=1e-5)
        assert torch.allclose(plainly.leads[0], own - others, atol=1e-5)


def test_held_tokens_change_no_costs(model):
    prompt = make_prompt(model)
    losses = CausalLosses(model, prompt)
    triggers = random_triggers(prompt, 6)
    # Forwards as a sweep goes, then back, then with another trigger.
    for row, held in [(0, 0), (0, 1), (0, 3), (0, 4), (0, 2), (1, 2), (1, 5), (2, 0)]:
        triggers[:, :held] = triggers[row, :held]
        expected = CausalLosses(model, prompt).of_triggers(triggers)
        losses.hold(triggers[row].tolist(), held)
        assert losses.held == held
        found = losses.of_triggers(triggers)
        assert torch.allclose(found.costs, expected.costs, atol=2e-4)
        assert torch.allclose(found.leads, expected.leads, atol=2e-4)


def test_a_prompt_without_anything_before_the_slot(chat_model):
    """Llama of transformers has no begin-of-text token here where the family has none."""
    tokenizer = type(chat_model.tokenizer)(chat_model.tokenizer.configuration, name="bare", end_of_text=0)
    prompt = Prompt(make_frame(Template("{}", "plain")), tokenizer, " log", 4)
    assert prompt.before == prompt.after == ()
    losses = CausalLosses(chat_model, prompt)
    triggers = random_triggers(prompt, 3)
    found = losses.of_triggers(triggers)
    for row in range(3):
        assert torch.allclose(found.costs[row], losses.plainly(triggers[row].tolist()).costs[0], atol=2e-4)


def test_the_greedy_reply_is_that_of_generate(model):
    prompt = make_prompt(model)
    losses = CausalLosses(model, prompt)
    for trigger in random_triggers(prompt, 5, seed=3).tolist():
        ids = torch.tensor([prompt.ids(trigger)])
        written = model.network.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False, pad_token_id=0
        )[0, ids.shape[1] :]
        assert list(losses.greedy(trigger, 12)) == written.tolist()


def test_the_whole_network_is_used_where_its_halves_differ(tiny):
    from relens.triggers.causal.split_network import SplitNetwork

    class Capped(torch.nn.Module):
        """A network that does something to its logits behind the output layer."""

        def __init__(self) -> None:
            super().__init__()
            self.inner = tiny.network
            self.config = tiny.network.config

        def __getattr__(self, name: str):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(super().__getattr__("inner"), name)

        def forward(self, *arguments, **named):
            output = self.inner(*arguments, **named)
            output.logits = torch.tanh(output.logits / 3.0) * 3.0
            return output

    model = type(tiny)("capped", tiny.tokenizer, Capped(), fingerprint="")
    prompt = make_prompt(model)
    losses = CausalLosses(model, prompt, SplitNetwork(model))
    (trigger,) = random_triggers(prompt, 1).tolist()
    own = plain_log_probs(model, prompt, trigger).gather(1, torch.tensor(prompt.target)[:, None])[:, 0]
    assert torch.allclose(losses.of_triggers(torch.tensor([trigger])).costs[0], -own, atol=2e-4)
    with_halves = CausalLosses(tiny, prompt).of_triggers(torch.tensor([trigger]))
    assert not torch.allclose(with_halves.costs[0], -own, atol=1e-2)


def test_a_prompt_beyond_the_context_is_refused(tiny):
    with pytest.raises(ModelError, match="the model holds 128"):
        CausalLosses(tiny, make_prompt(tiny, "a b " * 60 + "{}"))


def test_costs_are_nats(tiny):
    found = CausalLosses(tiny, make_prompt(tiny)).of_triggers(random_triggers(make_prompt(tiny), 2))
    assert dataclasses.is_dataclass(found)
    assert (found.costs > 0.0).all()
