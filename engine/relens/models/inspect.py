"""The probability of each token of a text, its rank among all tokens, and the likeliest others.

For `The cat sat` with a begin-of-text token, one forward gives three distributions: after nothing, after `The`, and
after `The cat`. Reading the first at `The`, the second at ` cat` and the third at ` sat` explains where a match's score
comes from. This is one sequence and one forward, so it needs none of the machinery of a search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from relens.errors import ModelError
from relens.models.language_model import LanguageModel

ALTERNATIVES = 5


@dataclass(frozen=True)
class Alternative:
    """A token that might have come instead; log_prob in nats."""

    token_id: int
    text: str
    log_prob: float


@dataclass(frozen=True)
class TokenReading:
    """One token in its place.

    log_prob: in nats, under the model's own distribution; rank: 1 for the most likely token of the vocabulary.
    allowed: whether the decoding rule would let the token pass. top: the likeliest tokens in its place, best first.
    The first token of a text without begin-of-text follows nothing: log_prob, rank and allowed are None, top is empty.
    """

    token_id: int
    text: str
    log_prob: float | None
    rank: int | None
    allowed: bool | None
    top: tuple[Alternative, ...]


def inspect_tokens(
    model: LanguageModel,
    token_ids: Sequence[int],
    begin_of_text: bool,
    allowed: Callable[[torch.Tensor], torch.Tensor],
) -> tuple[TokenReading, ...]:
    """Read `token_ids` one by one.

    `allowed` is the decoding rule: from log-probabilities (n, vocabulary), float32, to bool (n, vocabulary).
    Raises `ModelError` for a token id that the model does not have, a text beyond its context, and a requested
    begin-of-text token that does not exist.
    """
    if not token_ids:
        return ()
    wrong = [token for token in token_ids if not 0 <= token < model.vocabulary_size]
    if wrong:
        raise ModelError(f"The model {model.name!r} has no token with the id {wrong[0]}.")
    log_probs = model.read(token_ids, begin_of_text)
    # Without begin-of-text the first token has no distribution; the rows are those of the tokens after it.
    first = len(token_ids) - len(log_probs)
    chosen = torch.tensor(token_ids[first:], dtype=torch.long, device=log_probs.device)[:, None]
    scores = log_probs.gather(1, chosen)
    ranks = (log_probs > scores).sum(1) + 1
    passes = allowed(log_probs).gather(1, chosen)[:, 0]
    best = log_probs.topk(min(ALTERNATIVES, log_probs.shape[1]), dim=1)
    text = model.tokenizer.token_text
    readings = [TokenReading(token, text(token), None, None, None, ()) for token in token_ids[:first]]
    rows = zip(
        token_ids[first:],
        scores[:, 0].tolist(),
        ranks.tolist(),
        passes.tolist(),
        best.indices.tolist(),
        best.values.tolist(),
        strict=True,
    )
    for token, score, rank, passed, others, other_scores in rows:
        top = tuple(
            Alternative(other, _text(model, other), value) for other, value in zip(others, other_scores, strict=True)
        )
        readings.append(TokenReading(token, text(token), score, rank, passed, top))
    return tuple(readings)


def _text(model: LanguageModel, token: int) -> str:
    """The token's text; a model may have more scores than its tokenizer has tokens."""
    return model.tokenizer.token_text(token) if token < model.tokenizer.size else ""
