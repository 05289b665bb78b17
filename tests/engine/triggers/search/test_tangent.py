"""The bounds: never beyond what they bound, exact where it is known, and exact throughout when nothing is left out."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from relens.triggers.search.tangent import TangentBound

POSITIONS = 2


def drawn(seed: int, size: int, spread: float) -> tuple[nn.Linear, torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    output = nn.Linear(4, size).requires_grad_(False)
    output.weight.copy_(torch.randn(size, 4, generator=generator) * 2.0)
    output.bias.copy_(torch.randn(size, generator=generator))
    known = torch.randn(3, POSITIONS, 4, generator=generator)
    others = known[:, :, None] + spread * torch.randn(3, POSITIONS, 5, 4, generator=generator)
    return output, known, others, torch.randint(0, size, (3, POSITIONS), generator=generator)


def truth(output: nn.Linear, states: torch.Tensor, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Cost and lead of a word each in states (rows, count, hidden), from all logits, in float64."""
    logits = states.double() @ output.weight.double().T + output.bias.double()
    place = words[:, None, None].expand(-1, states.shape[1], 1)
    own = logits.gather(2, place)[:, :, 0]
    others = logits.scatter(2, place, -torch.inf)
    return torch.logsumexp(logits, dim=2) - own, own - others.amax(dim=2)


@given(st.integers(0, 10_000), st.integers(2, 40), st.floats(0.0, 4.0), st.integers(1, 45))
def test_cost_and_lead_are_bounded(seed, size, spread, exact):
    output, known, others, words = drawn(seed, size, spread)
    tangent = TangentBound.around(output, known, words, exact)
    for position in range(POSITIONS):
        costs, leads = tangent.at(position, others[:, position])
        true_costs, true_leads = truth(output, others[:, position], words[:, position])
        assert float(costs.min()) >= 0.0
        assert bool((costs <= true_costs + 1e-4).all())
        assert bool((leads >= true_leads - 1e-4).all())
        at_known, _ = tangent.at(position, known[:, position, None])
        assert torch.allclose(
            at_known.double(), truth(output, known[:, position, None], words[:, position])[0], atol=1e-4
        )
        if exact >= size - 1:
            assert torch.allclose(costs.double(), true_costs, atol=1e-4)
            assert torch.allclose(leads.double(), true_leads, atol=1e-4)


def test_it_is_close_nearby():
    """Half the distance leaves about a quarter of the error: what is left is of second order."""
    output, known, others, words = drawn(1, 40, 1.0)
    tangent = TangentBound.around(output, known, words, 5)
    errors = []
    for shrink in (0.1, 0.05):
        near = known[:, 0, None] + shrink * (others[:, 0] - known[:, 0, None])
        errors.append(float((truth(output, near, words[:, 0])[0] - tangent.at(0, near)[0]).mean()))
    assert 0 < errors[1] < 0.4 * errors[0]


def test_rows_are_taken_and_put_back():
    output, known, others, words = drawn(2, 40, 0.5)
    whole = TangentBound.around(output, known, words, 5)
    part = TangentBound.around(output, known[1:2], words[1:2], 5)
    mended = TangentBound.around(output, known.flip(0), words.flip(0), 5).take(torch.tensor([2, 0, 0]))
    mended.put(torch.tensor([1]), part)
    joined = TangentBound.joined([whole.take(slice(2)), whole.take(torch.tensor([2]))])
    for position in range(POSITIONS):
        expected = whole.at(position, others[:, position])[0]
        assert torch.allclose(joined.at(position, others[:, position])[0], expected, atol=1e-6)
        assert torch.allclose(mended.at(position, others[:, position])[0][:2], expected[:2], atol=1e-6)
