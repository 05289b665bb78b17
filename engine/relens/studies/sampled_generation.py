"""Plain sampling, the baseline of the memorization study: continue a prompt by n tokens.

From `https://www.` a model under top-k 40 writes, with n = 4,

    b bc .co .uk          an address            bit .ly / 3          half of one
    b bc .co .uk          the same again        you can find         none

The best n is unknown beforehand: a small n cuts addresses short, a large n computes tokens behind them. The work is
that of `generate()` of transformers: the whole prompt for every row of a batch, then one token at a time from the
key/value cache. The decoding rule is the engine's own, the same as in a search.

Batch sizes double while that gives more attempts a second and a batch stays short.
Source: ReLM section 4.1, "we compare to the official Transformer's generation example".
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from relens.errors import ModelError, QueryError
from relens.models.batching import CEILINGS, WORTHWHILE
from relens.models.forward import Forward
from relens.models.language_model import LanguageModel
from relens.query import Decoding
from relens.traversal.decoding import keep, tempered

#: The size of a first batch.
FIRST_BATCH = 8

#: The expected time of a batch of twice the size over that of the last one.
GROWTH = 1.3


@dataclass(frozen=True)
class Attempt:
    """One sample. continuation: the bytes after `prefix`, up to the first token that is not text.

    tokens: the number of draws up to an end-of-text token, included. token_ids: the tokens of the continuation.
    """

    prefix: str
    continuation: bytes
    tokens: int
    token_ids: tuple[int, ...] = ()


class SampledGeneration:
    """Attempts of `new_tokens` tokens, in batches.

    prefixes: prompts with their relative probabilities; each attempt continues one. longest_batch: expected seconds of
    a batch after the first, at most. most: the largest batch size. batch: the size of every batch, None for the
    quickest. seconds_model: within the network so far. Attempts depend on the seed and the batch sizes alone.

    Raises `QueryError` without a prompt, `ModelError` where prompt and attempt do not fit the model.
    """

    def __init__(
        self,
        model: LanguageModel,
        prefixes: Sequence[tuple[str, int]],
        new_tokens: int,
        decoding: Decoding,
        *,
        seed: int = 0,
        longest_batch: float = 2.0,
        most: int | None = None,
        batch: int | None = None,
    ) -> None:
        self._model = model
        self._forward = Forward(model.network)
        self._new_tokens = new_tokens
        self._decoding = decoding
        self._random = random.Random(seed)
        self._generator = torch.Generator(model.device).manual_seed(seed)
        ceiling = min(most or 1 << 30, CEILINGS.get(model.device.type, CEILINGS["cpu"]))
        self._sizes = _BatchSizes(ceiling, longest_batch, batch)
        self._texts = [text for text, _ in prefixes]
        self._chances = [chance for _, chance in prefixes]
        begin = [] if model.begin_of_text is None else [model.begin_of_text]
        self._prompts = {text: begin + model.tokenizer.encode(text) for text in self._texts}
        self.seconds_model = 0.0
        self.forwards = 0
        if not all(self._prompts.values()):
            raise QueryError("Without a prefix there is nothing to continue: this model has no begin-of-text token.")
        if max(map(len, self._prompts.values())) + new_tokens > model.context_length:
            raise ModelError(f"A prompt and {new_tokens} tokens are more than the model {model.name!r} can hold.")

    def __iter__(self) -> Iterator[list[Attempt] | None]:
        """Batch after batch, for ever, with None between two forwards of one batch."""
        while True:
            size = self._sizes.next
            texts = self._draw_prompts(size)
            seconds = 0.0
            begun = time.perf_counter()
            rows: list[list[int]] = [[] for _ in range(size)]
            for drawn in self._drawn([self._prompts[text] for text in texts]):
                for row, token in zip(rows, drawn, strict=True):
                    row.append(token)
                seconds += time.perf_counter() - begun
                if len(rows[0]) < self._new_tokens:
                    yield None
                begun = time.perf_counter()  # the time of the caller is not the batch's
            self._sizes.observe(size, seconds)
            yield [self._attempt(text, row) for text, row in zip(texts, rows, strict=True)]

    def _draw_prompts(self, size: int) -> list[str]:
        """Prompts of one length in tokens, so that a batch needs no padding, each with its own probability.

        The first is drawn from all prompts, the others from those of its length. So in every row each length has its
        probability, and so has each prompt of that length.
        """
        first = self._random.choices(self._texts, self._chances)[0]
        length = len(self._prompts[first])
        alike = [number for number, text in enumerate(self._texts) if len(self._prompts[text]) == length]
        numbers = self._random.choices(alike, [self._chances[number] for number in alike], k=size - 1)
        return [first, *(self._texts[number] for number in numbers)]

    def _drawn(self, prompts: list[list[int]]) -> Iterator[list[int]]:
        """The next token of each row, `new_tokens` times or until all rows have ended."""
        ids = torch.tensor(prompts, device=self._model.device)
        step, cache = ids, None
        ended = torch.zeros(len(prompts), dtype=torch.bool, device=self._model.device)
        for _ in range(self._new_tokens):
            begun = time.perf_counter()
            logits, cache = self._logits(ids, step, cache)
            self._forward.synchronize()
            self.seconds_model += time.perf_counter() - begun
            self.forwards += 1
            step = self._choose(logits)
            ids = torch.cat([ids, step], dim=1)
            if self._model.end_of_text is not None:
                ended |= step[:, 0] == self._model.end_of_text
            yield step[:, 0].tolist()
            if bool(ended.all()):
                return

    def _logits(self, ids: torch.Tensor, step: torch.Tensor, cache: object) -> tuple[torch.Tensor, object]:
        """Logits after each row, (rows, vocabulary), and the cache; without a cache, from the beginning."""
        if cache is None and step is not ids:
            return self._forward.last_logits(ids), None
        given = {} if cache is None else {"past_key_values": cache}
        output = self._forward(step, use_cache=True, **given)
        return output.logits[:, -1], getattr(output, "past_key_values", None)

    def _choose(self, logits: torch.Tensor) -> torch.Tensor:
        """One token a row under the decoding rule, (rows, 1)."""
        with torch.inference_mode():
            log_probs = tempered(torch.log_softmax(logits.float(), dim=-1), self._decoding.temperature)
            kept = keep(log_probs, self._decoding)
            values, tokens = (log_probs, None) if kept.values is None else (kept.values, kept.tokens)
            allowed = torch.where(values >= kept.threshold[:, None], values, -torch.inf)
            places = torch.multinomial(torch.softmax(allowed, dim=-1), 1, generator=self._generator)
            return places if tokens is None else tokens.gather(1, places)

    def _attempt(self, text: str, row: list[int]) -> Attempt:
        end_of_text = self._model.end_of_text
        if end_of_text in row:
            row = row[: row.index(end_of_text) + 1]
        spelled = self._model.tokenizer.vocabulary.token_bytes
        ends = (place for place, token in enumerate(row) if token >= len(spelled) or spelled[token] is None)
        end = next(ends, len(row))
        spelled_by_row = self._model.tokenizer.decode_bytes(row[:end], continues=True)
        return Attempt(text, spelled_by_row, len(row), tuple(row[:end]))


class _BatchSizes:
    """Powers of two, doubled while that gives more attempts a second."""

    def __init__(self, most: int, longest: float, always: int | None = None) -> None:
        self.next = always or min(FIRST_BATCH, most)
        self._most, self._longest = most, longest
        self._best_rate = 0.0
        self._settled = always is not None

    def observe(self, size: int, seconds: float) -> None:
        rate = size / max(seconds, 1e-9)
        if self._settled:
            return
        if rate < self._best_rate * WORTHWHILE:
            self.next, self._settled = max(1, size // 2), True
            return
        self._best_rate = rate
        if size * 2 > self._most or seconds * GROWTH > self._longest:
            self._settled = True
        else:
            self.next = size * 2
