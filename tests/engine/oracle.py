"""A query answered the long way: every string, every segmentation, every score by a plain forward of transformers.

Nothing here uses an automaton, a cache, a batch of nodes or the engine's own decoding rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from transformers import LogitsProcessorList, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from relens.models.language_model import LanguageModel
from relens.query import Decoding
from relens.tokens.tokenizer import Tokenizer


@dataclass(frozen=True)
class ScoredPath:
    token_ids: tuple[int, ...]
    prefix_tokens: int
    prefix_log_prob: float
    log_prob: float
    decoder_log_prob: float


def segmentations(tokenizer: Tokenizer, text: str) -> Iterator[tuple[int, ...]]:
    """Every token sequence that spells `text`, by trying every token at every place."""
    spelled: dict[bytes, list[int]] = {}
    for token, data in enumerate(tokenizer.vocabulary.token_bytes):
        if data:
            spelled.setdefault(data, []).append(token)
    data = text.encode()

    def rest(position: int) -> Iterator[tuple[int, ...]]:
        if position == len(data):
            yield ()
        for end in range(position + 1, len(data) + 1):
            for token in spelled.get(data[position:end], ()):
                for tail in rest(end):
                    yield (token, *tail)

    yield from rest(0)


class Oracle:
    """Scores paths with a plain model; every context is computed once, by itself."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.rows: dict[tuple[int, ...], torch.Tensor] = {}

    def row(self, context: tuple[int, ...]) -> torch.Tensor:
        """The next-token log-probabilities after begin-of-text and `context`, nats."""
        if context not in self.rows:
            begin = [] if self.model.begin_of_text is None else [self.model.begin_of_text]
            with torch.inference_mode():
                logits = self.model.network(input_ids=torch.tensor([[*begin, *context]])).logits
            for position in range(len(begin) + len(context)):
                length = position + 1 - len(begin)
                self.rows[context[:length]] = torch.log_softmax(logits[0, position].double(), dim=-1)
        return self.rows[context]

    def scored(
        self, prefix_ids: tuple[int, ...], pattern_ids: tuple[int, ...], decoding: Decoding, end_of_text: bool = False
    ) -> ScoredPath | None:
        """The scores of one path, or None where the rule cuts it."""
        warpers = LogitsProcessorList([TemperatureLogitsWarper(decoding.temperature)])
        if decoding.top_k is not None:
            warpers.append(TopKLogitsWarper(decoding.top_k))
        if decoding.top_p is not None:
            warpers.append(TopPLogitsWarper(decoding.top_p))
        path = (*prefix_ids, *pattern_ids)
        steps = (*path, self.model.end_of_text) if end_of_text else path
        prefix_log_prob = log_prob = decoder_log_prob = 0.0
        for position, token in enumerate(steps):
            row = self.row(path[:position])
            if position < len(prefix_ids):
                prefix_log_prob += float(row[token])
                continue
            log_prob += float(torch.log_softmax(row / decoding.temperature, dim=-1)[token])
            decoder_log_prob += float(torch.log_softmax(warpers(None, row[None])[0], dim=-1)[token])
        if decoder_log_prob == -math.inf:
            return None
        return ScoredPath(path, len(prefix_ids), prefix_log_prob, log_prob, decoder_log_prob)


def all_paths(tokenizer: Tokenizer, strings: Iterable[str], canonical: bool) -> list[tuple[int, ...]]:
    """The encodings of some strings: all of them, or each string's own."""
    if canonical:
        return [tuple(tokenizer.encode(text)) for text in strings]
    return [path for text in strings for path in segmentations(tokenizer, text)]
