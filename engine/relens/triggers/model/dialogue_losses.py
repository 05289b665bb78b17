"""The losses of the dialogue model for a search: the cost of targets after inputs, and of inputs by themselves.

    trigger     <pad> <pad> how are you   + <eou>    read by the encoder; <eou> is no part of the trigger
    target      i am fine </s>                       costs 1.2  0.4  2.0  0.1, by the decoder
    input       how are you </s>                     costs 2.2  1.9  0.3  0.8, by the sentence model

Searches for several targets of one length go side by side, so each row may have a target of its own.
Source: He and Glass 2019, sections 2 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

import torch

from relens.triggers.losses import MOST_LOGITS, InputCosts, InputSlopes, ReplyLosses, TargetCosts, TriggerPrompt
from relens.triggers.model.batches import SOURCE_LENGTH, TARGET_LENGTH, source_row
from relens.triggers.model.sentence_model import SentenceModel, as_sentence
from relens.triggers.model.seq2seq import Seq2Seq
from relens.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE, FORBIDDEN, PAD, WordVocabulary


class DialoguePrompt(TriggerPrompt):
    """An input of `source_length` ids: the trigger, and `END_OF_UTTERANCE`. target: ids, `END` included."""

    token_name: Literal["word", "token"] = "word"
    ends, longest_reply = True, TARGET_LENGTH - 1

    def __init__(self, vocabulary: WordVocabulary, target: Sequence[int], source_length: int) -> None:
        self._vocabulary, self.target, self.free = vocabulary, tuple(target), source_length - 1
        self.allowed = tuple(number for number in range(len(vocabulary)) if number not in FORBIDDEN)

    def ids(self, trigger: Sequence[int]) -> tuple[int, ...]:
        """See `TriggerPrompt.ids`."""
        return (*trigger, END_OF_UTTERANCE)

    def text(self, trigger: Sequence[int]) -> str:
        """See `TriggerPrompt.text`; padding is no part of it."""
        return " ".join(self.tokens([number for number in trigger if number != PAD]))

    def survives(self, trigger: Sequence[int]) -> bool:
        """See `TriggerPrompt.survives`."""
        return self._vocabulary.ids(self.text(trigger).split()) == [number for number in trigger if number != PAD]

    def read(self, text: str) -> tuple[int, ...]:
        """See `TriggerPrompt.read`; words stand apart, and unknown words are `UNKNOWN`."""
        return tuple(source_row(self._vocabulary, text.split(), self.free + 1))

    def ids_of(self, text: str) -> tuple[int, ...]:
        """See `TriggerPrompt.ids_of`; all of it is the text, filled up to its length."""
        return self.read(text)

    def around(self, text: str) -> str:
        """See `TriggerPrompt.around`."""
        return ""

    def tokens(self, ids: Sequence[int]) -> tuple[str, ...]:
        """See `TriggerPrompt.tokens`."""
        return self._vocabulary.words_of(ids)

    def written(self, reply: Sequence[int]) -> str:
        """See `TriggerPrompt.written`."""
        return " ".join(self.tokens([number for number in reply if number != END]))


class DialogueLosses(ReplyLosses):
    """The costs of target_ids int64 (1, m + 1) or (rows, m + 1), which begin with `BEGIN`; see `Batch`.

    prompt: of a single target, for texts. ends_input: whether the encoder reads `END_OF_UTTERANCE` behind each trigger.
    The model is in evaluation mode.
    """

    prompt: DialoguePrompt
    end_ids = (END,)

    def __init__(
        self,
        seq2seq: Seq2Seq,
        target_ids: torch.Tensor,
        prompt: DialoguePrompt | None = None,
        *,
        ends_input: bool = True,
    ) -> None:
        self._seq2seq, self._target_ids, self._ends_input = seq2seq, target_ids, ends_input
        self.table = seq2seq.source_embedding.weight.detach()
        if prompt is not None:
            self.prompt = prompt

    @classmethod
    def of_prompt(cls, seq2seq: Seq2Seq, prompt: DialoguePrompt) -> Self:
        """The losses of the target of a prompt."""
        device = seq2seq.output.weight.device
        return cls(seq2seq, torch.tensor([[BEGIN, *prompt.target]], device=device), prompt)

    @property
    def rows_at_once(self) -> int:
        """See `ReplyLosses.rows_at_once`; the sentence model has logits for each id of an input."""
        positions = max(self._target_ids.shape[1] - 1, SOURCE_LENGTH)
        return max(1, MOST_LOGITS // (self.table.shape[0] * positions))

    def take(self, rows: slice) -> Self:
        """See `ReplyLosses.take`."""
        if len(self._target_ids) == 1:
            return self
        return type(self)(self._seq2seq, self._target_ids[rows], ends_input=self._ends_input)

    def of_embeddings(self, embeddings: torch.Tensor) -> TargetCosts:
        """See `ReplyLosses.of_embeddings`."""
        if self._ends_input:
            end = self.table[END_OF_UTTERANCE].expand(len(embeddings), 1, -1)
            embeddings = torch.cat([embeddings, end.to(embeddings.dtype)], dim=1)
        encoded = self._seq2seq.encode(embeddings=embeddings)
        return self._seq2seq.target_costs(encoded, self._target_ids.expand(len(embeddings), -1))

    @torch.no_grad()
    def after(self, ids: Sequence[int]) -> TargetCosts:
        """See `ReplyLosses.after`."""
        return self._seq2seq.target_costs(self._seq2seq.encode(self._source(ids)), self._target_ids)

    @torch.no_grad()
    def reply(self, ids: Sequence[int], most: int) -> tuple[int, ...]:
        """See `ReplyLosses.reply`."""
        (reply,) = self._seq2seq.greedy(self._seq2seq.encode(self._source(ids)), most)
        return tuple(reply)

    @torch.no_grad()
    def attention(self, ids: Sequence[int]) -> tuple[tuple[float, ...], ...] | None:
        """See `ReplyLosses.attention`; rounded to four digits, which is finer than a picture shows."""
        if self._seq2seq.query is None:
            return None
        (rows,) = self._seq2seq.attention_map(self._seq2seq.encode(self._source(ids)), self._target_ids).tolist()
        return tuple(tuple(round(weight, 4) for weight in row) for row in rows)

    def _source(self, ids: Sequence[int]) -> torch.Tensor:
        return torch.tensor([list(ids)], device=self.device)


class SentenceCosts(InputCosts):
    """The cost of inputs by the sentence model: all their ids, the end included (see `as_sentence`).

    prompt: for texts.
    """

    has_gradient = True

    def __init__(self, model: SentenceModel, prompt: DialoguePrompt | None = None) -> None:
        self._model, self._prompt = model, prompt
        self.table = model.embedding.weight.detach()

    @torch.no_grad()
    def mean_costs(self, triggers: torch.Tensor) -> torch.Tensor:
        """See `InputCosts.mean_costs`."""
        step = max(1, MOST_LOGITS // (self.table.shape[0] * (triggers.shape[1] + 1)))
        parts = torch.split(triggers, step)
        return torch.cat([-self._model.input_log_probs(_sources(some)).mean(dim=1) for some in parts])

    @torch.enable_grad()
    def slopes(self, triggers: torch.Tensor) -> InputSlopes:
        """See `InputCosts.slopes`."""
        sentence_ids = as_sentence(_sources(triggers))
        read = self.table[sentence_ids[:, :-1]].requires_grad_(True)
        states = self._model.states(embeddings=read)
        logits = self._model.output(states)
        own = logits.gather(2, sentence_ids[:, 1:, None])[:, :, 0]
        mean = (torch.logsumexp(logits, dim=2) - own).mean(dim=1)
        (gradient,) = torch.autograd.grad(mean.sum(), read)
        # A word is read one place later than it is predicted.
        return InputSlopes(mean.detach(), gradient[:, 1:], states.detach()[:, :-1], self, states.shape[1])

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """See `InputCosts.logits`."""
        logits: torch.Tensor = self._model.output(states)
        return logits

    def read(self, text: str) -> list[int]:
        """See `InputCosts.read`."""
        assert self._prompt is not None
        return list(self._prompt.read(text))

    @torch.no_grad()
    def text_costs(self, read: Sequence[int]) -> list[float]:
        """See `InputCosts.text_costs`."""
        source_ids = torch.tensor([list(read)], device=self.table.device)
        costs: list[float] = (-self._model.input_log_probs(source_ids)[0]).tolist()
        return costs

    def tokens(self, read: Sequence[int]) -> tuple[str, ...]:
        """See `InputCosts.tokens`."""
        assert self._prompt is not None
        return self._prompt.tokens(read)


def _sources(triggers: torch.Tensor) -> torch.Tensor:
    """int64 (rows, free + 1): triggers with `END_OF_UTTERANCE`."""
    return torch.cat([triggers, torch.full_like(triggers[:, :1], END_OF_UTTERANCE)], dim=1)
