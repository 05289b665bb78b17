"""The decoding rule: which tokens a decoder may emit, and with what probability.

Under top-k 2 and next-token probabilities

    a .5   b .3   c .2          a decoder emits a with .5/.8 and b with .3/.8, and never c

so a rule is two numbers for each distribution: the log-probability a token must reach (here log .3), and the log of
the mass that is kept (here log .8), which renormalises what is left. The rule looks at the model's whole
distribution, never at the tokens that a query happens to allow. top-k and top-p are each judged on the whole
distribution after temperature and a token must pass both. (Where both are set, samplers that apply top-p to what
top-k left keep a few tokens fewer.) Tokens that tie with the last one kept are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from relens.query import Decoding

#: How many of the likeliest tokens are sorted before the whole distribution is: most nuclei are small.
NUCLEUS_GUESS = 512

#: Up to how many kept tokens are listed; where a rule keeps more, listing them is dearer than looking at all.
LONGEST_LIST = 4096


@dataclass(frozen=True, eq=False)
class Kept:
    """What a rule keeps of some distributions, (rows, vocabulary) in nats.

    threshold: (rows,) the log-probability that a token must reach, -inf where nothing is cut. log_mass: (rows,)
    float64, the log of the mass kept, 0 where nothing is cut. values, tokens: (rows, width) the likeliest tokens in
    descending order, every kept one among them; None where that would be a long list.
    """

    threshold: torch.Tensor
    log_mass: torch.Tensor
    values: torch.Tensor | None = None
    tokens: torch.Tensor | None = None


def tempered(log_probs: torch.Tensor, temperature: float) -> torch.Tensor:
    """log softmax(log_probs / temperature), shape (..., vocabulary), nats."""
    if temperature == 1.0:
        return log_probs
    return torch.log_softmax(log_probs / temperature, dim=-1)


def keep(log_probs: torch.Tensor, decoding: Decoding) -> Kept:
    """What top-k and top-p keep of distributions after temperature, (rows, vocabulary) in nats."""
    threshold = torch.full_like(log_probs[:, 0], -torch.inf)
    if decoding.top_k is None and decoding.top_p is None:
        return Kept(threshold, torch.zeros_like(threshold, dtype=torch.float64))
    listed = None
    if decoding.top_k is not None and decoding.top_k < log_probs.shape[1]:
        # One more than k: where it does not tie with the last token kept, the list is complete.
        listed = torch.topk(log_probs, decoding.top_k + 1, dim=1)
        threshold = listed.values[:, -2]
        if bool((listed.values[:, -1] == threshold).any()):
            listed = None
    if decoding.top_p is not None and decoding.top_p < 1.0:
        threshold = torch.maximum(threshold, _nucleus_threshold(log_probs, decoding.top_p))
    if listed is None:
        width = int((log_probs >= threshold[:, None]).sum(dim=1).max()) if len(log_probs) else 0
        if width > LONGEST_LIST:
            mass = _log_mass(log_probs, threshold)
            return Kept(threshold, torch.where(torch.isneginf(threshold), torch.zeros_like(mass), mass))
        listed = torch.topk(log_probs, width, dim=1)
    return Kept(threshold, _log_mass(listed.values, threshold), listed.values, listed.indices)


def _log_mass(log_probs: torch.Tensor, threshold: torch.Tensor) -> torch.Tensor:
    return torch.logsumexp(torch.where(log_probs >= threshold[:, None], log_probs, -torch.inf).double(), dim=1)


def _nucleus_threshold(log_probs: torch.Tensor, top_p: float) -> torch.Tensor:
    width = min(NUCLEUS_GUESS, log_probs.shape[1])
    while True:
        likeliest = torch.topk(log_probs, width, dim=1).values
        reached = likeliest.double().exp().cumsum(dim=1) >= top_p
        if width == log_probs.shape[1] or bool(reached[:, -1].all()):
            break
        width = min(width * 8, log_probs.shape[1])
    # The first token with which the sum reaches p is the last one kept. Rounding may leave a whole distribution
    # a hair under p: then everything is kept.
    last = torch.where(reached.any(dim=1), reached.double().argmax(dim=1), reached.shape[1] - 1)
    return likeliest.gather(1, last[:, None])[:, 0]


def allowed_tokens(log_probs: torch.Tensor, decoding: Decoding) -> torch.Tensor:
    """Which tokens the rule keeps: bool (rows, vocabulary), from the model's log-probabilities before temperature."""
    after = tempered(log_probs, decoding.temperature)
    return after >= keep(after, decoding).threshold[:, None]
