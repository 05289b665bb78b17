"""The best of a hundred words, with the same answer as trying each in full and a fraction of the work.

Inputs that differ at one place have much in common, and most of the hundred are far from being the best:

    how are you [at] the office      the encoder's states of "how are you" are those of the input as it is
                 a  bound 3.1        a lower bound on the objective of each word, from a few dozen logits instead of
                 my bound 3.5        all ten thousand (see `TangentBound`), which tells the hopeless ones apart
                 an bound 3.9
                 -> "a" in full: 3.4, so "my" and "an" cannot be better, and are not computed

The full softmax is by far the most of the work, and only those need it whose bound is below the best value known. They
take turns in the order of their bounds, two first, then four, eight, ..., so that the best value falls early.

The best value is as near to that of a plain evaluation as float32 is to itself, some millionths of a nat. Now and then
two words are as near to each other, or one to what the input has, and which of them wins decides how the search goes
on. Then those that may have won are evaluated plainly, and the answer is theirs.

For "io" the input's own cost is bounded in the same way. Up to the open place it is known exactly. What is left are the
steps of the LSTMs behind the open place, which every word needs. To leave off in the middle of a target, once the words
up to there cost too much, would spare a twentieth of them (measured with a trained model): it is not done.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from relens.triggers.losses import MOST_LOGITS, costs_and_leads
from relens.triggers.model.lstm import State, lstm_step
from relens.triggers.model.sentence_model import SentenceModel, as_sentence
from relens.triggers.model.seq2seq import Seq2Seq
from relens.triggers.objective import Objective
from relens.triggers.search.incumbents import IncumbentMaker, Incumbents, ReplyKnown, ScorerTables, SentenceKnown
from relens.triggers.search.scorer import TOLERANCE, Best, Scorer, best_of

#: Logits that stay exact in a bound. With four times as many hardly fewer words are computed in full.
EXACT_LOGITS = 64

#: Words that are tried at once.
MOST_WORDS = 2048

#: Nats that a bound may be off by rounding, by which a logit may seem to be ahead of another, and within which of each
#: other two words may have won.
ROUNDING, TIE, CLOSE = 1e-5, 1e-3, 4e-6

#: Words a row that are computed in full, turn by turn.
TURNS = (2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Reply:
    """The target as the words lead to it. bound: (rows, G). states: before each of its words, (rows, G, hidden)."""

    bound: torch.Tensor
    states: list[torch.Tensor]


@dataclass(frozen=True)
class Judged:
    """The inputs as sentences. bound: (rows, G), nats a word.

    states: before each word that comes after the open place, (rows, G, hidden); known: (rows, G), nats of all words up
    to it.
    """

    bound: torch.Tensor
    states: list[torch.Tensor]
    known: torch.Tensor


class FastScorer(Scorer):
    """See the module. The weights of the models must not change in its lifetime.

    tables: of these models, to be shared with other scorers; made where None. exact: see `EXACT_LOGITS`.
    """

    def __init__(
        self,
        seq2seq: Seq2Seq,
        sentence_model: SentenceModel,
        objective: Objective,
        tables: ScorerTables | None = None,
        exact: int = EXACT_LOGITS,
    ) -> None:
        super().__init__(seq2seq, sentence_model, objective)
        self._tables = tables or ScorerTables(seq2seq, sentence_model)
        self._incumbents = IncumbentMaker(seq2seq, sentence_model, self._tables, exact, objective.scores_inputs)

    @torch.no_grad()
    def best(
        self,
        source_ids: torch.Tensor,
        target_ids: torch.Tensor,
        values: torch.Tensor,
        place: int,
        words: torch.Tensor,
    ) -> Best:
        """See `Scorer.best`."""
        known = self._incumbents.known(source_ids, target_ids)
        rows = max(1, MOST_WORDS // words.shape[1])
        parts = []
        for first in range(0, len(source_ids), rows):
            part = slice(first, first + rows)
            parts.append(self._best_of_rows(known.take(part), values[part], place, words[part]))
        return Best(
            torch.cat([part.words for part in parts]),
            torch.cat([part.values for part in parts]),
            torch.cat([part.full for part in parts]),
        )

    def _best_of_rows(self, known: Incumbents, values: torch.Tensor, place: int, words: torch.Tensor) -> Best:
        objectives = torch.full(words.shape, torch.inf, dtype=values.dtype, device=values.device)
        limit, full = values - TOLERANCE, torch.zeros_like(words[:, 0])
        for first in range(0, words.shape[1], MOST_WORDS):
            part = words[:, first : first + MOST_WORDS]
            reply = self._reply(known.reply, known.source_ids, place, part)
            bound, judged = reply.bound, None
            if known.sentence is not None:
                judged = self._judged(known.sentence, known.source_ids, place, part)
                bound = bound + self.objective.of_input(judged.bound)
            order, last = bound.argsort(dim=1), 0
            for turn in (*TURNS, part.shape[1]):
                chosen = order[:, last : last + turn]
                row, column = (bound.gather(1, chosen) <= limit[:, None] + ROUNDING).nonzero(as_tuple=True)
                if not len(row):
                    break
                column, last = chosen[row, column], last + turn
                full += torch.bincount(row, minlength=len(full))
                value = self._exactly(reply, judged, known, place, row, column)
                objectives[row, first + column] = value
                limit = torch.minimum(limit, objectives.amin(dim=1))
        return self._decided(known, values, place, words, objectives, full)

    def _decided(
        self,
        known: Incumbents,
        values: torch.Tensor,
        place: int,
        words: torch.Tensor,
        objectives: torch.Tensor,
        full: torch.Tensor,
    ) -> Best:
        """The best of the objectives (rows, G); close ones are evaluated plainly."""
        least, limit = objectives.amin(dim=1, keepdim=True), values[:, None] - TOLERANCE
        may_win = (objectives <= least + CLOSE) & (least < limit + CLOSE)
        is_close = (may_win.sum(dim=1, keepdim=True) > 1) | (least > limit - CLOSE)
        row, column = (may_win & is_close).nonzero(as_tuple=True)
        if len(row):
            tried = known.source_ids[row]
            tried[:, place] = words[row, column]
            objectives = objectives.masked_fill(is_close, torch.inf)
            objectives[row, column] = self.values(tried, known.target_ids[row])
        return best_of(known.source_ids[:, place], values, words, objectives, full)

    # --- bounds -------------------------------------------------------------------------------------------

    def _reply(self, known: ReplyKnown, source_ids: torch.Tensor, place: int, words: torch.Tensor) -> Reply:
        """The target after each word."""
        read = self._read(known, source_ids, place, words)
        if self.seq2seq.query is None:
            states = self._written(known, read[-1])
        else:
            states = self._written_with_attention(known, place, torch.stack(read, dim=2))
        bounds = [known.tangents.at(position, state) for position, state in enumerate(states)]
        costs, leads = (torch.stack(of_all, dim=2) for of_all in zip(*bounds, strict=True))
        return Reply(self.objective.of_reply(costs, leads > -TIE), states)

    def _read(self, known: ReplyKnown, source_ids: torch.Tensor, place: int, words: torch.Tensor) -> list[torch.Tensor]:
        """The encoder's outputs after each word in the place, and after each id behind it, (rows, G, hidden)."""
        encoder = self._tables.encoder
        state = encoder.several(words, known.before(place))
        read = [state.output]
        for later in range(place + 1, source_ids.shape[1]):
            state = encoder.shared(source_ids[:, later], state)
            read.append(state.output)
        return read

    def _written(self, known: ReplyKnown, context: torch.Tensor) -> list[torch.Tensor]:
        """The decoder's outputs before each word of the target, (rows, G, hidden); the context is always the same."""
        weights = self._tables.decoder
        of_context, of_output = context @ weights.context.T, weights.output.T
        state, written = None, []
        for position in range(known.gates.shape[1]):
            gates = of_context.clone() if state is None else (state.output @ of_output).add_(of_context)
            state = _next(gates, known, position, state)
            written.append(state.output)
        return written

    def _written_with_attention(self, known: ReplyKnown, place: int, after: torch.Tensor) -> list[torch.Tensor]:
        """The same with a context for each step; after: (rows, G, later, hidden), the encoder's outputs from `place`.

        Those before it are the same for all words of a row, (rows, place, hidden).
        """
        rows, count, later, hidden = after.shape
        before, flat = known.outputs[:, 1 : place + 1], after.view(rows * count, later, hidden)
        weights, zeros = self._tables.decoder, torch.zeros_like(after[:, :, 0])
        state: State | None = None
        written = []
        for position in range(known.gates.shape[1]):
            output, cell = state or (zeros, zeros)
            embedded = known.embedded[:, position, None].expand(-1, count, -1)
            query = self.seq2seq.attention_query(output, cell, embedded)  # (rows, G, hidden)
            energies = torch.cat(
                [
                    torch.bmm(query, before.transpose(1, 2)),
                    torch.bmm(flat, query.view(rows * count, hidden, 1)).view(rows, count, later),
                ],
                dim=2,
            )
            shares = torch.softmax(energies, dim=2)
            context = torch.bmm(shares[:, :, place:].reshape(rows * count, 1, later), flat).view(rows, count, hidden)
            context.baddbmm_(shares[:, :, :place], before)
            if state is None:
                gates = context @ weights.context.T
            else:
                gates = torch.cat([context, output], dim=2) @ weights.context_and_output.T
            state = _next(gates, known, position, state)
            written.append(state.output)
        return written

    def _judged(self, known: SentenceKnown, source_ids: torch.Tensor, place: int, words: torch.Tensor) -> Judged:
        """Each input as a sentence; all words share the part before the open place."""
        model, output, length = self._tables.sentences, self.sentence_model.output, source_ids.shape[1]
        sentence, state = as_sentence(source_ids), known.before(place)
        own = torch.baddbmm(output.bias[words][:, :, None], output.weight[words], state.output[:, :, None])[:, :, 0]
        so_far = known.costs[:, :place].sum(dim=1)[:, None] + known.normalisers[:, place, None] - own
        state = model.several(words, state)
        later, total = [state.output], so_far.clone()
        for next_place in range(place + 1, length):
            total += known.tangents.at(next_place, state.output)[0]
            if next_place + 1 < length:
                state = model.shared(sentence[:, next_place + 1], state)
                later.append(state.output)
        return Judged(total / length, later, so_far)

    # --- in full ------------------------------------------------------------------------------------------

    def _exactly(
        self,
        reply: Reply,
        judged: Judged | None,
        known: Incumbents,
        place: int,
        row: torch.Tensor,
        column: torch.Tensor,
    ) -> torch.Tensor:
        """The objective of the words at (row, column), both int64 (chosen,)."""
        size, length = self.seq2seq.configuration.vocabulary_size, known.source_ids.shape[1]
        step = max(1, MOST_LOGITS // (size * max(len(reply.states), length)))
        parts = []
        for first in range(0, len(row), step):
            at = row[first : first + step], column[first : first + step]
            logits = self.seq2seq.output(torch.stack([states[at] for states in reply.states], dim=1))
            reply_costs = costs_and_leads(logits, known.target_ids[at[0], 1:])
            value = self.objective.of_reply(reply_costs.costs, reply_costs.leads > 0.0)
            if judged is not None:
                later_words = as_sentence(known.source_ids[at[0]])[:, place + 2 :]
                states = torch.stack([states[at] for states in judged.states], dim=1)
                later = costs_and_leads(self.sentence_model.output(states), later_words).costs
                value = value + self.objective.of_input((judged.known[at] + later.sum(dim=1)) / length)
            parts.append(value)
        return torch.cat(parts)


def _next(gates: torch.Tensor, known: ReplyKnown, position: int, state: State | None) -> State:
    """The decoder's state after a step whose gates (rows, G, 4 hidden) lack only the word before."""
    cell = gates.new_zeros(()) if state is None else state.cell
    return lstm_step(gates.add_(known.gates[:, position, None]), cell)
