"""Which tokens are worth trying? To first order, by one gradient for the whole vocabulary.

Were the token at a place a mixture of tokens, its embedding would be the mixture of theirs, and the objective L would
change with the share of token v at the rate

    dL/dx_v  =  E_v . dL/de          E_v: the embedding of v, e: the one that is read at that place

which is one backward pass and one product with the table of embeddings. The rate is right for a small share and a rough
guess for a whole token; the guess gets better when the gradients of several triggers are averaged that differ at the
place in question only ("averaged gradients": Jones et al. 2023, "Automatically Auditing Large Language Models via
Discrete Optimization", section 3). Sources: He and Glass 2019, Algorithm 1; HotFlip, Ebrahimi et al. 2018.
"""

from __future__ import annotations

import torch

from engine.triggers.causal.input_scores import InputScores
from engine.triggers.causal.losses import ReplyLosses
from engine.triggers.objective import Objective


def slopes(
    losses: ReplyLosses,
    objective: Objective,
    triggers: torch.Tensor,
    inputs: InputScores | None = None,
    place: int | None = None,
) -> torch.Tensor:
    """dL/dx at `place`, or at all that are not held, (rows, places, vocabulary), for triggers int64 (rows, free).

    What counts of each token (see `Objective.word_weights`) is held fixed. inputs: for hit types "io", whose part is
    left out where the judge has no gradient.
    """
    asked = slice(losses.held, None) if place is None else slice(place, place + 1)
    open_places = triggers[:, losses.held :].to(losses.device)
    with torch.enable_grad():
        embeddings = torch.nn.functional.embedding(open_places, losses.table).requires_grad_(True)
        found = losses.of_embeddings(embeddings)
        weights = objective.word_weights(found.costs.detach(), found.leads > 0.0)
        (gradient,) = torch.autograd.grad((weights * found.costs).sum(), embeddings)
    if place is not None:
        gradient = gradient[:, place - losses.held, None]
    rates = gradient.float() @ losses.exact_table.T
    if objective.scores_inputs and inputs is not None and inputs.has_gradient:
        of_inputs, mean = inputs.slopes(triggers)
        rates = rates + objective.input_weights(mean)[:, None, None] * of_inputs[:, asked]
    return rates
