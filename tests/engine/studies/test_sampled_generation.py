"""Sampling with a cache is sampling without one, under the rule, and the same for the same seed."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
import torch

from relens.errors import ModelError
from relens.models.loading import load_model
from relens.query import Decoding
from relens.statistics import goodness_of_fit
from relens.studies.sampled_generation import FIRST_BATCH, SampledGeneration
from relens.traversal.decoding import allowed_tokens


@pytest.fixture(scope="module")
def model(tiny_model_folder):
    return load_model(str(tiny_model_folder), device="cpu")


def attempts(sampler, count):
    drawn = []
    for batch in sampler:
        drawn += batch or []
        if len(drawn) >= count:
            return drawn[:count]
    raise AssertionError


def sampler(model, new_tokens, top_k=5, **settings):
    return SampledGeneration(model, [("The cat", 1)], new_tokens, Decoding(top_k=top_k), longest_batch=0.1, **settings)


def log_probs_after(model, tokens):
    """The model's log-probabilities of what comes after some tokens, without any cache."""
    with torch.inference_mode():
        return torch.log_softmax(model.network(torch.tensor([tokens])).logits[0, -1].float(), dim=-1)


def test_first_tokens_come_as_often_as_the_rule_says(model):
    tokens = [model.begin_of_text, *model.tokenizer.encode("The cat")]
    log_probs = log_probs_after(model, tokens)
    kept = torch.where(allowed_tokens(log_probs[None], Decoding(top_k=5))[0], log_probs.exp(), 0.0)
    expected: Counter[bytes] = Counter()
    for token in kept.nonzero()[:, 0].tolist():
        expected[model.tokenizer.vocabulary[token] or b""] += float(kept[token])
    seen = Counter(attempt.continuation for attempt in attempts(sampler(model, 1, most=64), 2000))
    assert set(seen) <= set(expected)
    fit = goodness_of_fit([seen[text] for text in expected], list(expected.values()))
    assert fit.p_value > 1e-6


def test_every_token_of_a_longer_sample_is_one_the_rule_allows(model):
    """With top-k 1 there is one sample: what arg max says, each time without a cache."""
    tokens = [model.begin_of_text, *model.tokenizer.encode("The cat")]
    spelled = []
    for _ in range(12):
        best = int(log_probs_after(model, tokens + spelled).argmax())
        spelled.append(best)
        if best == model.end_of_text:
            break
    text = [token for token in spelled if model.tokenizer.vocabulary[token] is not None]
    for attempt in attempts(sampler(model, 12, top_k=1), 8):
        assert attempt.continuation == model.tokenizer.decode_bytes(text, continues=True)
        assert attempt.tokens == len(spelled)


def test_without_a_cache_the_samples_are_the_same(model, monkeypatch):
    with_cache = attempts(sampler(model, 6, seed=3, most=4), 8)
    network = model.network

    class Forgetful(torch.nn.Module):
        config = network.config

        def __init__(self):
            super().__init__()
            self.inner = network

        def forward(self, input_ids, use_cache=False):
            return self.inner(input_ids=input_ids, use_cache=False)

    monkeypatch.setattr(model, "network", Forgetful())
    assert attempts(sampler(model, 6, seed=3, most=4), 8) == with_cache


def test_attempts_depend_on_the_seed(model):
    first, again, other = (attempts(sampler(model, 4, seed=seed, most=4), 12) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_prompts_are_drawn_by_their_chances(model):
    prompts = [("The cat", 3), ("The dog", 0)]
    drawn = attempts(SampledGeneration(model, prompts, 1, Decoding(top_k=5), longest_batch=0.1), 40)
    assert {attempt.prefix for attempt in drawn} == {"The cat"}


def test_prompts_of_several_lengths_come_as_often_as_they_should(model):
    prompts = [("The cat", 2), ("The dog", 1), ("George Washington was born", 3), ("a", 2)]
    assert len({len(model.tokenizer.encode(text)) for text, _ in prompts}) > 2
    drawn = attempts(SampledGeneration(model, prompts, 1, Decoding(top_k=5), longest_batch=0.1, most=2), 600)
    seen = Counter(attempt.prefix for attempt in drawn)
    # The rows of a batch share their length, so pairs are no independent draws: half as many count.
    fit = goodness_of_fit([seen[text] // 2 for text, _ in prompts], [chance for _, chance in prompts])
    assert fit.p_value > 1e-6


def test_a_batch_can_be_left_between_two_forwards(model):
    run = iter(sampler(model, 5, top_k=300))
    assert list(islice(run, 4)) == [None] * 4
    assert len(next(run) or []) == FIRST_BATCH


def test_attempts_longer_than_the_context_are_refused(model):
    with pytest.raises(ModelError, match="more than the model"):
        sampler(model, 128)


def test_batches_grow_while_that_is_quicker_and_short(model):
    run = SampledGeneration(model, [("The cat", 1)], 1, Decoding(top_k=5), longest_batch=1e-9)
    sizes = [len(batch) for batch in islice((batch for batch in run if batch), 3)]
    assert sizes == [FIRST_BATCH] * 3
    run = SampledGeneration(model, [("The cat", 1)], 1, Decoding(top_k=5), longest_batch=60.0, most=20)
    sizes = [len(batch) for batch in islice((batch for batch in run if batch), 6)]
    assert max(sizes) <= 20
    assert sizes[:2] == [FIRST_BATCH, 2 * FIRST_BATCH]
