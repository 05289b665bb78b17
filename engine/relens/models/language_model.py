"""A loaded model: everything a search wants to know of it, and scorers on demand."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from relens.errors import ModelError
from relens.models.check import check_scoring
from relens.models.forward import Forward
from relens.models.recompute_scorer import RecomputeScorer
from relens.models.scoring import Scorer
from relens.models.tree_scorer import TreeScorer
from relens.tokens.tokenizer import Tokenizer

DEFAULT_POOL_BYTES = 1 << 30


class LanguageModel:
    """A causal language model with its tokenizer.

    name: as requested. fingerprint: 16 hexadecimal digits that change with the weights, the configuration or
    the tokenizer. context_length: most tokens of a text, a begin-of-text token included. vocabulary_size: columns of
    its scores, which may be more than the tokenizer has tokens. network: the torch module of transformers.
    fallback: whether texts are recomputed from their beginning at every step, because of `fallback_reason`.
    """

    def __init__(self, name: str, tokenizer: Tokenizer, network: torch.nn.Module, *, fingerprint: str) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.network = network
        self.fingerprint = fingerprint
        self._forward = Forward(network)
        self.device = self._forward.device
        self.dtype = self._forward.dtype
        self.vocabulary_size = self._forward.vocabulary_size
        self._verdict = check_scoring(self._forward)
        self.context_length = self._verdict.context_length
        self.fallback = self._verdict.shape is None
        self.fallback_reason = self._verdict.reason

    @property
    def begin_of_text(self) -> int | None:
        """Id of the token before every text, or None for a family trained without one."""
        return self.tokenizer.begin_of_text

    @property
    def end_of_text(self) -> int | None:
        """Id of the token after a finished text, or None."""
        return self.tokenizer.end_of_text

    def read(self, token_ids: Sequence[int], begin_of_text: bool) -> torch.Tensor:
        """Log-probabilities, nats, float32, in the place of each token of one text: (tokens, vocabulary_size).

        Without `begin_of_text` the first token has nothing before it, and its row is left out. One forward.
        Raises `ModelError` for a text beyond the context or a begin-of-text token that does not exist.
        """
        begin = [] if (token := self._begin(begin_of_text)) is None else [token]
        context = begin + list(token_ids)[:-1]
        if len(context) > self.context_length:
            raise ModelError(f"A text of {len(token_ids)} tokens is longer than the model {self.name!r} can hold.")
        if not context:
            return torch.empty((0, self.vocabulary_size), device=self.device)
        with torch.inference_mode():
            logits = self._forward.logits(torch.tensor([context], device=self.device))
            return torch.log_softmax(logits.float(), dim=-1)

    def scorer(self, begin_of_text: bool | None = None, pool_bytes: int = DEFAULT_POOL_BYTES) -> Scorer:
        """A scorer with an empty tree of its own.

        `begin_of_text` puts that token before every path (None: where the family has one); `pool_bytes` bounds the
        memory of the keys and values. Raises `ModelError` for a begin-of-text token that the model does not have.
        """
        token = self._begin(begin_of_text)
        if self._verdict.shape is None:
            return RecomputeScorer(self._forward, begin_of_text=token)
        return TreeScorer(
            self._forward,
            self._verdict.shape,
            begin_of_text=token,
            pool_bytes=pool_bytes,
            context_length=self.context_length,
        )

    def _begin(self, begin_of_text: bool | None) -> int | None:
        if begin_of_text and self.begin_of_text is None:
            raise ModelError(f"The model {self.name!r} was trained without a begin-of-text token.")
        return None if begin_of_text is False else self.begin_of_text
