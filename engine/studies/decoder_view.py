"""What a decoder can take of a small token automaton: each legal token's probability, and whether the rule cuts it.

    The ((cat)|(dog))   top-k 40      start   The  4.1e-4  kept      T  2.3e-3  kept      Th  7.0e-6  cut
                                      The     ␣cat 1.9e-4  cut  ...

The paths of the automaton are walked from the start, the likeliest first, and the model is asked once a path, about all
tokens that may come next. Below a token that is cut nothing is asked, because the decoder never gets there. With many
paths only the likeliest are walked, and it is said how many are left. Source: ReLM section 3.3 and Figure 3.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from engine.errors import LimitError, ModelError
from engine.language.isolation import default_compiler
from engine.language.language import Language
from engine.query import Decoding, Edits, Encoding, Limits, Query
from engine.setting import Setting
from engine.studies.rows import ROW, Row
from engine.studies.study import Study, StudyContext, Unit
from engine.tokens.encoded import token_automaton

if TYPE_CHECKING:
    from engine.tokens.automaton import TokenAutomaton

#: What rows tell: a `path` that was walked, and at last `left`, how many were not.
PATH, LEFT = "path", "left"
#: Paths asked at most, and token arcs of the automaton.
MOST_PATHS, MOST_ARCS = 400, 3_000


@dataclass(frozen=True)
class DecoderStudy(Study):
    """What the decoder can take of `pattern`."""

    kind: ClassVar[str] = "decoder"
    title: ClassVar[str] = "Decoder view"
    question: ClassVar[str] = "Which arcs of an automaton can a decoder take?"

    pattern: Annotated[str, Setting("Pattern", "Its automaton is looked at.", fewest=1, is_regex=True)] = (
        "The ((cat)|(dog))"
    )
    encoding: Annotated[Encoding, Setting("Encoding", "Which token sequences count.")] = Encoding.ALL
    edits: Annotated[bool, Setting("Within one edit", "Strings one edit away from the pattern count too.")] = False
    decoding: Decoding = field(default_factory=lambda: Decoding(top_k=40))
    paths: Annotated[int, Setting("Paths", "How many paths are followed at most.", least=1, most=MOST_PATHS)] = 60

    def plan(self) -> Iterator[Unit]:
        """All in one."""
        yield Unit("automaton", "the paths of the automaton")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[Row | None]:
        """A row for each path: its tokens, the state it leads to, and all tokens that may come next."""
        automaton = self._automaton(context)
        # Entries: minus the log-probability of the path, a number to settle ties, the path and the state it leads to.
        frontier: list[tuple[float, int, tuple[int, ...], int]] = [(0.0, 0, (), automaton.start)]
        pushed = 1
        for number in range(self.paths):
            if not frontier or context.stop():
                break
            cost, _, tokens, state = heapq.heappop(frontier)
            row = self._path(number, tokens, state, -cost, automaton, context)
            yield row
            for arc in row["arcs"]:
                if arc["kept"]:
                    ahead = (cost - (arc["log_prob"] or 0.0), pushed, (*tokens, arc["token"]), arc["target"])
                    heapq.heappush(frontier, ahead)
                    pushed += 1
        yield {ROW: LEFT, "paths": len(frontier)}

    def _automaton(self, context: StudyContext) -> TokenAutomaton:
        query = Query(self.pattern, encoding=self.encoding, edits=Edits(1) if self.edits else Edits())
        language = _compiled(query, context)
        automaton = token_automaton(language.pattern, context.model.tokenizer, self.encoding, Limits())
        arcs = automaton.arc_count
        if arcs is None or arcs > MOST_ARCS:
            size = "too many arcs to list" if arcs is None else f"{arcs:,} arcs"
            raise LimitError(f"The automaton has {size}; this view takes at most {MOST_ARCS:,}.", limit="token_arcs")
        return automaton

    def _path(
        self,
        number: int,
        tokens: tuple[int, ...],
        state: int,
        log_prob: float,
        automaton: TokenAutomaton,
        context: StudyContext,
    ) -> Row:
        from engine.traversal.decoding import allowed_tokens  # here, so that describing the study does without torch

        model = context.model
        legal = automaton.arcs(state).tokens.tolist()
        targets = automaton.destinations(state).tolist()
        scores: list[tuple[float | None, bool]] = [(None, True)] * len(legal)
        begins = model.begin_of_text is not None
        if legal and (tokens or begins):  # without anything before it a first token has no distribution
            if len(tokens) + begins > model.context_length:
                raise ModelError(f"A path of {len(tokens)} tokens is longer than the model {model.name!r} can hold.")
            # What stands in the last place is read, not given: any token will do there.
            after = model.read([*tokens, legal[0]], begins)[-1:]
            kept = allowed_tokens(after, self.decoding)[0, legal].tolist()
            scores = list(zip(after[0, legal].tolist(), kept, strict=True))
        arcs: list[dict[str, Any]] = [
            {"token": token, "target": target, "log_prob": score, "kept": kept}
            for token, target, (score, kept) in zip(legal, targets, scores, strict=True)
        ]
        return {
            ROW: PATH,
            "path": number,
            "tokens": list(tokens),
            "text": model.tokenizer.decode(tokens),
            "state": state,
            "final": automaton.is_final(state),
            "log_prob": log_prob,
            "arcs": arcs,
        }


def _compiled(query: Query, context: StudyContext) -> Language:
    return (context.compiler or default_compiler())(query, Limits())


#: Studies to begin with.
PRESETS: dict[str, DecoderStudy] = {"a cat or a dog": DecoderStudy()}
