"""Selection by rows and by masks agree with each other and with plain sorting; the rule agrees with transformers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from relens.query import Decoding
from relens.traversal import decoding as decoding_module
from relens.traversal.decoding import allowed_tokens, keep
from relens.traversal.selection import Request, select_children


def random_rows(seed: int, rows: int, vocabulary: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, vocabulary, generator=generator) * 3
    return torch.log_softmax((logits * 4).round() / 4, dim=1)  # with ties


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 60), st.sampled_from([0.3, 0.9, 0.999]), st.sampled_from([0.5, 1.0, 2.0]))
def test_each_rule_is_the_samplers_rule(seed, top_k, top_p, temperature):
    rows = random_rows(seed, 3, 700)
    scaled = TemperatureLogitsWarper(temperature)(None, rows)
    by_k = torch.isfinite(TopKLogitsWarper(top_k)(None, scaled))
    assert torch.equal(allowed_tokens(rows, Decoding(top_k=top_k, temperature=temperature)), by_k)
    # transformers breaks ties at the edge of the nucleus by position; every token strictly above the edge agrees.
    by_p = torch.isfinite(TopPLogitsWarper(top_p)(None, scaled))
    ours = allowed_tokens(rows, Decoding(top_p=top_p, temperature=temperature))
    assert bool((ours | ~by_p).all())
    edge = torch.where(ours, scaled, torch.inf).min(dim=1, keepdim=True).values
    assert bool((~ours | by_p | (scaled == edge)).all())


@pytest.mark.parametrize("decoding", [Decoding(top_k=5), Decoding(top_p=0.6), Decoding(top_k=30, top_p=0.9)], ids=str)
@pytest.mark.parametrize("longest", [1, 4096])
def test_kept_tokens(decoding, longest, monkeypatch):
    monkeypatch.setattr("relens.traversal.decoding.LONGEST_LIST", longest)
    rows = random_rows(1, 4, 50)
    kept = keep(rows, decoding)
    allowed = allowed_tokens(rows, decoding)
    mass = torch.where(allowed, rows.exp(), 0.0).sum(dim=1)
    assert torch.allclose(kept.log_mass.exp().float(), mass, atol=1e-6)
    assert kept.tokens is not None or longest == 1
    if kept.tokens is not None:
        listed = torch.zeros_like(allowed).scatter_(1, kept.tokens, kept.values >= kept.threshold[:, None])
        assert torch.equal(listed, allowed)


def test_no_rule_keeps_everything():
    kept = keep(random_rows(1, 4, 50), Decoding())
    assert kept.log_mass.tolist() == [0.0] * 4
    assert torch.isneginf(kept.threshold).all()


@st.composite
def requests(draw: st.DrawFn) -> Request:
    tokens = np.array(sorted(draw(st.sets(st.integers(0, 59), max_size=40))), np.int32)
    in_prefix = np.array(draw(st.lists(st.booleans(), min_size=len(tokens), max_size=len(tokens))), np.bool_)
    if draw(st.booleans()):
        in_prefix[:] = False
    had = None
    if len(tokens) and draw(st.booleans()):
        had = np.array(draw(st.lists(st.sampled_from(tokens.tolist()), unique=True)), np.int32)
    return Request(tokens, in_prefix, draw(st.integers(1, 12)), had)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(requests(), min_size=1, max_size=4),
    st.integers(0, 100),
    st.booleans(),
    st.sampled_from([Decoding(), Decoding(top_k=9), Decoding(top_p=0.8, temperature=1.5), Decoding(top_k=1)]),
)
def test_all_ways_agree_with_sorting(placed, seed, joint, decoding):
    rows = random_rows(seed, len(placed), 60)
    after = torch.log_softmax(rows / decoding.temperature, dim=1)
    allowed = allowed_tokens(rows, decoding)
    placed = [replace(request, row=row) for row, request in enumerate(placed)]
    by_list = select_children(rows, placed, decoding, joint=joint)
    longest = decoding_module.LONGEST_LIST
    decoding_module.LONGEST_LIST = 0
    try:
        by_row = select_children(rows, placed, decoding, joint=joint, dense=False)
        by_mask = select_children(rows, placed, decoding, joint=joint, dense=True)
    finally:
        decoding_module.LONGEST_LIST = longest
    for row, (request, *ways) in enumerate(zip(placed, by_list, by_row, by_mask, strict=True)):
        expected = {}
        mass = 0.0
        norm = float(torch.logsumexp(after[row][allowed[row]], dim=0)) if not allowed[row].all() else 0.0
        has_prefix = bool(request.in_prefix.any())
        for token, given_arc in zip(request.tokens.tolist(), request.in_prefix.tolist(), strict=True):
            if given_arc:
                step = float(rows[row, token]) if joint else 0.0
                mass += float(rows[row, token].exp())
            elif allowed[row, token]:
                step = float(after[row, token]) - norm
                mass += float(rows[row, token].exp()) if has_prefix else np.exp(step)
            else:
                continue
            if request.had is None or token not in request.had:
                expected[token] = step
        steps = sorted(expected.values(), reverse=True)[: request.size]
        for children in ways:
            assert [expected[token] for token in children.tokens.tolist()] == pytest.approx(steps, abs=1e-5)
            assert children.more == (len(expected) > request.size)
            assert children.mass == pytest.approx(mass, abs=1e-5)
            given_tokens = set(request.tokens[request.in_prefix].tolist())
            assert children.in_prefix.tolist() == [token in given_tokens for token in children.tokens.tolist()]
            plain = [
                float(rows[row, token] if token in given_tokens else after[row, token])
                for token in children.tokens.tolist()
            ]
            assert children.log_probs.tolist() == pytest.approx(plain, abs=1e-6)
