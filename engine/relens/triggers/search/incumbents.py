"""The states and bounds of the present inputs, kept while other words are tried in them.

    how are you [at] the office        states of the encoder before each place: the words in front of an open place are
                                       the same in all that is tried there
        -> "shut up </s>"              bounds around the decoder's states before each word of the target

A search changes few of its inputs: in the first sweep about every third place gets another word, in the later ones
hardly any. So all of this is kept, and made anew only for the rows that have changed. With tangents that is safe: a
bound around any state is a bound (`relens.triggers.search.tangent`), only a looser one around a state that is far away.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from relens.triggers.losses import MOST_LOGITS
from relens.triggers.model.lstm import State, WordSteps
from relens.triggers.model.sentence_model import SentenceModel, as_sentence
from relens.triggers.model.seq2seq import Seq2Seq
from relens.triggers.row_batch import RowBatch
from relens.triggers.search.tangent import TangentBound


class ScorerTables:
    """Functions of the weights alone, which must not change: the two models' steps, and the decoder's gates."""

    @torch.no_grad()
    def __init__(self, seq2seq: Seq2Seq, sentence_model: SentenceModel) -> None:
        self.encoder = WordSteps(seq2seq.encoder, seq2seq.source_embedding)
        self.sentences = WordSteps(sentence_model.lstm, sentence_model.embedding)
        self.decoder = seq2seq.gate_weights()


@dataclass
class ReplyKnown(RowBatch):
    """Of the encoder and the decoder.

    outputs, cells: (rows, n, hidden), the encoder's state before each place. embedded: (rows, m, embedding), what the
    decoder reads before each word of the target; gates: (rows, m, 4 hidden), its part of the gates.
    """

    outputs: torch.Tensor
    cells: torch.Tensor
    embedded: torch.Tensor
    gates: torch.Tensor
    tangents: TangentBound

    def before(self, place: int) -> State:
        """The encoder's state there."""
        return State(self.outputs[:, place], self.cells[:, place])


@dataclass
class SentenceKnown(RowBatch):
    """Of the model of sentences, which predicts n words: those of the input, and its end.

    outputs, cells: (rows, n, hidden), its state before each; costs, normalisers: (rows, n), the cost of each, and
    the logsumexp there.
    """

    outputs: torch.Tensor
    cells: torch.Tensor
    costs: torch.Tensor
    normalisers: torch.Tensor
    tangents: TangentBound

    def before(self, place: int) -> State:
        """The state from which the word there is predicted."""
        return State(self.outputs[:, place], self.cells[:, place])


@dataclass
class Incumbents(RowBatch):
    """See the module. source_ids: int64 (rows, n); target_ids: int64 (rows, m + 1). sentence: where inputs count."""

    source_ids: torch.Tensor
    target_ids: torch.Tensor
    reply: ReplyKnown
    sentence: SentenceKnown | None

    def fits(self, source_ids: torch.Tensor, target_ids: torch.Tensor) -> bool:
        """Whether rows of these shapes can be among its own."""
        return self.source_ids.shape[1:] == source_ids.shape[1:] and self.target_ids.shape[1:] == target_ids.shape[1:]

    def places_of(self, source_ids: torch.Tensor, target_ids: torch.Tensor) -> torch.Tensor:
        """int64 (rows,): where each row stands among its own, -1 where it does not."""
        same = (source_ids[:, None] == self.source_ids).all(dim=2) & (target_ids[:, None] == self.target_ids).all(dim=2)
        known, place = same.max(dim=1)
        return torch.where(known, place, -1)


class IncumbentMaker:
    """Makes `Incumbents`, and keeps the last ones. exact: of the tangents; scores_inputs: whether inputs count."""

    def __init__(
        self, seq2seq: Seq2Seq, sentence_model: SentenceModel, tables: ScorerTables, exact: int, scores_inputs: bool
    ) -> None:
        self._seq2seq, self._sentence_model, self._tables = seq2seq, sentence_model, tables
        self._exact, self._scores_inputs = exact, scores_inputs
        self._kept: Incumbents | None = None

    def known(self, source_ids: torch.Tensor, target_ids: torch.Tensor) -> Incumbents:
        """Of inputs int64 (rows, n) and targets int64 (rows, m + 1)."""
        kept = self._kept
        if kept is None or not kept.fits(source_ids, target_ids):
            self._kept = kept = self._made(source_ids, target_ids)
            return kept
        places = kept.places_of(source_ids, target_ids)
        new = (places < 0).nonzero()[:, 0]
        # Most often the rows are those of before, and some of them have changed: then nothing has to be moved.
        stay = torch.arange(len(places), device=places.device)
        if len(places) != len(kept.source_ids) or bool(((places >= 0) & (places != stay)).any()):
            kept = kept.take(places.clamp_min(0))
        if len(new):
            kept.put(new, self._made(source_ids[new], target_ids[new]))
        self._kept = kept
        return kept

    def _made(self, source_ids: torch.Tensor, target_ids: torch.Tensor) -> Incumbents:
        size, length = self._seq2seq.configuration.vocabulary_size, source_ids.shape[1]
        step = max(1, MOST_LOGITS // (size * max(length, target_ids.shape[1])))
        parts = [
            self._made_at_once(source_ids[first : first + step], target_ids[first : first + step])
            for first in range(0, len(source_ids), step)
        ]
        return Incumbents.joined(parts)

    def _made_at_once(self, source_ids: torch.Tensor, target_ids: torch.Tensor) -> Incumbents:
        sentence = self._of_sentence(source_ids) if self._scores_inputs else None
        return Incumbents(source_ids.clone(), target_ids.clone(), self._of_reply(source_ids, target_ids), sentence)

    def _of_reply(self, source_ids: torch.Tensor, target_ids: torch.Tensor) -> ReplyKnown:
        model, tables = self._seq2seq, self._tables
        outputs, cells = _states(tables.encoder, source_ids[:, :-1])
        embedded = model.target_embedding(target_ids[:, :-1])
        gates = tables.decoder.of_words(embedded)
        written = model.decoder_states(model.encode(source_ids), target_ids[:, :-1])
        tangents = TangentBound.around(model.output, written, target_ids[:, 1:], self._exact)
        return ReplyKnown(outputs, cells, embedded, gates, tangents)

    def _of_sentence(self, source_ids: torch.Tensor) -> SentenceKnown:
        output, sentence = self._sentence_model.output, as_sentence(source_ids)
        outputs, cells = (of_all[:, 1:] for of_all in _states(self._tables.sentences, sentence[:, :-1]))
        logits, words = output(outputs), sentence[:, 1:]
        normalisers = torch.logsumexp(logits, dim=2)
        costs = normalisers - logits.gather(2, words[:, :, None])[:, :, 0]
        tangents = TangentBound.around(output, outputs, words, self._exact)
        return SentenceKnown(outputs, cells, costs, normalisers, tangents)


def _states(steps: WordSteps, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs and cells (rows, words + 1, hidden): at first, and after each of the words int64 (rows, words)."""
    states = [steps.start(len(words))]
    for place in range(words.shape[1]):
        states.append(steps.step(words[:, place], states[-1]))
    outputs, cells = zip(*states, strict=True)
    return torch.stack(outputs, dim=1), torch.stack(cells, dim=1)
