"""The shared key/value tree against transformers computing every path from its beginning."""

from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.errors import ModelError
from relens.models.check import check_scoring
from relens.models.laws import assert_batch_equals_single, assert_forgetting_is_harmless
from relens.models.pool import SlotShape
from relens.models.scoring import ROOT
from relens.models.tree_scorer import TreeScorer
from tests.engine.models.tiny import BEGIN, CONTEXT, VOCABULARY, forward, grow, oracle

TREES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, VOCABULARY - 1)), min_size=1, max_size=40)
PLAIN = ["gpt2", "llama", "qwen2", "mistral"]
TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 0.3}


@cache
def slot_shape(name: str, dtype: torch.dtype) -> SlotShape:
    shape = check_scoring(forward(name, dtype)).shape
    assert shape is not None
    return shape


def scorer(
    name: str = "llama",
    *,
    slots: int = 4096,
    begin: int | None = BEGIN,
    dtype: torch.dtype = torch.float32,
    mask_entries: int = 1 << 20,
) -> TreeScorer:
    shape = slot_shape(name, dtype)
    return TreeScorer(
        forward(name, dtype), shape, begin_of_text=begin, pool_bytes=slots * shape.bytes, mask_entries=mask_entries
    )


def assert_right(
    scores: torch.Tensor,
    name: str,
    subject: TreeScorer,
    nodes: list[int],
    begin: int | None,
    dtype: torch.dtype = torch.float32,
) -> None:
    difference = (scores - oracle(name, subject, nodes, begin, dtype)).abs().max()
    assert float(difference) <= TOLERANCE[dtype]


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("begin", [None, BEGIN])
@settings(max_examples=15, deadline=None)
@given(steps=TREES, data=st.data())
def test_every_node_of_random_trees_in_random_calls(
    name: str, begin: int | None, steps: list[tuple[int, int]], data: st.DataObject
) -> None:
    subject = scorer(name, begin=begin)
    nodes = grow(subject.tree, steps)
    for _ in range(3):
        chosen = data.draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=12))
        assert_right(subject.log_probs(chosen), name, subject, chosen, begin)


@pytest.mark.parametrize("name", PLAIN)
def test_bfloat16(name: str) -> None:
    subject = scorer(name, dtype=torch.bfloat16)
    nodes = grow(subject.tree, [(number % 4, number * 7 % VOCABULARY) for number in range(40)])
    for start in range(0, 40, 10):
        chosen = nodes[start : start + 10]
        assert_right(subject.log_probs(chosen), name, subject, chosen, BEGIN, torch.bfloat16)


@settings(max_examples=15, deadline=None)
@given(TREES)
def test_the_laws_of_a_scorer(steps: list[tuple[int, int]]) -> None:
    subject = scorer()
    nodes = grow(subject.tree, steps)
    assert_batch_equals_single(subject, [*nodes[::3], ROOT, nodes[0]], 1e-4)
    assert_forgetting_is_harmless(subject, nodes[::2], 1e-4)


@settings(max_examples=15, deadline=None)
@given(TREES, st.integers(0, 20))
def test_a_small_pool_evicts_and_stays_right(steps: list[tuple[int, int]], spare: int) -> None:
    probe = scorer()
    grow(probe.tree, steps)
    longest = int(probe.tree.depths.max()) + 1
    subject = scorer(slots=longest + spare)
    nodes = grow(subject.tree, steps)
    for chosen in (nodes[::2], nodes[1::2] or nodes, nodes):
        assert_right(subject.log_probs(chosen), "llama", subject, chosen, BEGIN)
    assert subject.resident_tokens <= longest + spare


@settings(max_examples=15, deadline=None)
@given(TREES, st.integers(1, 400))
def test_masks_in_chunks_give_the_same(steps: list[tuple[int, int]], mask_entries: int) -> None:
    subject = scorer(mask_entries=mask_entries)
    nodes = grow(subject.tree, steps)
    assert_right(subject.log_probs(nodes), "llama", subject, nodes, BEGIN)


def test_a_chain_is_one_forward_and_one_computation_a_token() -> None:
    subject = scorer()
    chain = grow(subject.tree, [(0, token) for token in range(20)])
    subject.log_probs([chain[-1]])
    assert (subject.counts.forwards, subject.counts.tokens_computed) == (1, 21)
    child = subject.tree.add(chain[-1], 5)
    subject.log_probs([child])
    assert (subject.counts.forwards, subject.counts.tokens_computed) == (2, 22)


def test_brothers_share_their_prefix() -> None:
    subject = scorer(begin=None)
    stem = grow(subject.tree, [(0, token) for token in range(10)])[-1]
    brothers = [subject.tree.add(stem, token) for token in range(30)]
    subject.log_probs(brothers)
    assert (subject.counts.forwards, subject.counts.tokens_computed) == (1, 40)
    assert subject.counts.seconds > 0.0


def test_asking_again_computes_the_node_and_nothing_above_it() -> None:
    subject = scorer()
    chain = grow(subject.tree, [(0, token) for token in range(10)])
    first = subject.log_probs([chain[-1]])
    second = subject.log_probs([chain[-1]])
    assert torch.allclose(first, second, atol=1e-4)
    assert subject.counts.tokens_computed == 12


def test_release_frees_memory_for_others() -> None:
    subject = scorer(slots=16)
    stem = grow(subject.tree, [(0, token) for token in range(5)])[-1]
    for token in range(40):
        leaf = subject.tree.add(stem, token)
        subject.log_probs([leaf])
        subject.release([leaf])
    # Begin-of-text, the stem and one leaf at a time: nothing was ever evicted and computed again.
    assert subject.counts.tokens_computed == 6 + 40
    assert subject.resident_tokens == 6


def test_released_parents_are_computed_again_when_needed() -> None:
    subject = scorer()
    chain = grow(subject.tree, [(0, token) for token in range(8)])
    subject.log_probs([chain[-1]])
    subject.release(chain[2:6])
    child = subject.tree.add(chain[-1], 9)
    assert_right(subject.log_probs([child]), "llama", subject, [child], BEGIN)


def test_no_nodes_no_rows() -> None:
    assert scorer().log_probs([]).shape == (0, VOCABULARY)


def test_the_root_needs_a_begin_of_text_token() -> None:
    assert scorer().scores_root
    assert_right(scorer().log_probs([ROOT]), "llama", scorer(), [ROOT], BEGIN)
    without = scorer(begin=None)
    assert not without.scores_root
    with pytest.raises(ModelError, match="no distribution at the start"):
        without.log_probs([ROOT])


@pytest.mark.parametrize(("begin", "length"), [(None, CONTEXT), (BEGIN, CONTEXT - 1)])
def test_the_context_is_used_to_its_end_and_no_further(begin: int | None, length: int) -> None:
    subject = scorer("gpt2", begin=begin)
    assert subject.context_length == length
    chain = grow(subject.tree, [(0, token % VOCABULARY) for token in range(length + 1)])
    assert_right(subject.log_probs([chain[-2]]), "gpt2", subject, [chain[-2]], begin)
    with pytest.raises(ModelError, match=f"{length + 1} tokens is longer than the model's context of {length}"):
        subject.log_probs([chain[-1]])


def test_a_path_that_does_not_fit_in_the_pool_is_refused() -> None:
    subject = scorer(slots=4)
    chain = grow(subject.tree, [(0, token) for token in range(6)])
    with pytest.raises(ModelError, match="does not fit in the key/value pool"):
        subject.log_probs([chain[-1]])
    assert_right(subject.log_probs([chain[1]]), "llama", subject, [chain[1]], BEGIN)


def test_a_forward_that_fails_leaves_nothing_half_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = scorer()
    nodes = grow(subject.tree, [(1, token) for token in range(12)])
    subject.log_probs(nodes[:4])

    def fail(*arguments: object, **keywords: object) -> torch.Tensor:
        raise ModelError("out of memory")

    with monkeypatch.context() as patch:
        patch.setattr(forward("llama", torch.float32), "logits", fail)
        with pytest.raises(ModelError):
            subject.log_probs(nodes)
    # The child leans on its ancestors' keys, which the failed forward was to compute.
    child = subject.tree.add(nodes[-1], 7)
    assert_right(subject.log_probs([child]), "llama", subject, [child], BEGIN)


def test_growing_the_pool_keeps_its_contents() -> None:
    subject = scorer()
    stems = grow(subject.tree, [(20, token % VOCABULARY) for token in range(200)])
    subject.log_probs(stems)
    more = [subject.tree.add(stem, 1) for stem in stems]
    subject.log_probs(more)
    assert subject.counts.tokens_computed == 401
    children = [subject.tree.add(stem, 2) for stem in stems[:5] + more[:5]]
    assert_right(subject.log_probs(children), "llama", subject, children, BEGIN)
    assert subject.counts.tokens_computed == 411
