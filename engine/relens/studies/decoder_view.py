"""The arcs of a small token automaton that a decoder can take: the probability of each, and whether the rule keeps it.

    The ((cat)|(dog))   top-k 40      start   The  4.1e-4  kept      T  2.3e-3  kept      Th  7.0e-6  cut
                                      The     ␣cat 1.9e-4  cut  ...

The paths of the automaton are walked from the start, the likeliest first. Each takes one forward of the model, which
scores all legal next tokens. A decoder never gets below a token that is cut, so no path goes on there. With many paths
only the likeliest are walked, and the others are counted. Source: ReLM section 3.3 and Figure 3.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar

from relens.errors import LimitError, ModelError
from relens.language.isolation import default_compiler
from relens.query import Decoding, Edits, Encoding, Limits, Query
from relens.record import Record
from relens.setting import Setting
from relens.studies.rows import Rows, StudyRow
from relens.studies.study import Study, StudyContext, Unit
from relens.tokens.encoded import token_automaton

if TYPE_CHECKING:
    from relens.tokens.automaton import TokenAutomaton

#: Paths walked at most, and token arcs of the automaton.
MOST_PATHS, MOST_ARCS = 400, 3_000

#: The states from and to which an arc leads.
Ends = tuple[int, int]


@dataclass(frozen=True)
class DecoderArc(Record):
    """A legal token after a path, and the state it leads to. kept: whether the decoding rule allows it.

    log_prob: nats; None for a first token without anything before it.
    """

    token: int
    target: int
    log_prob: float | None
    kept: bool


@dataclass(frozen=True)
class WalkedPath(StudyRow):
    """A path, the state it leads to, and all tokens that may come next. path: its place among the likeliest, from 0."""

    row_name: ClassVar[str] = "path"
    path: int
    tokens: tuple[int, ...]
    text: str
    state: int
    final: bool
    log_prob: float
    arcs: tuple[DecoderArc, ...]


@dataclass(frozen=True)
class OpenPaths(StudyRow):
    """The end of the walk. paths: how many were left open."""

    row_name: ClassVar[str] = "left"
    paths: int


@dataclass(frozen=True)
class DecoderStudy(Study):
    """The arcs of the automaton of `pattern` that the decoder can take."""

    kind: ClassVar[str] = "decoder"
    title: ClassVar[str] = "Decoder view"
    question: ClassVar[str] = "Which arcs of an automaton can a decoder take?"

    pattern: Annotated[str, Setting("Pattern", "The regular expression of the automaton.", fewest=1, is_regex=True)] = (
        "The ((cat)|(dog))"
    )
    encoding: Annotated[Encoding, Setting("Encoding", "Which token sequences count.")] = Encoding.ALL
    edits: Annotated[bool, Setting("Within one edit", "Strings one edit away from the pattern count too.")] = False
    decoding: Decoding = field(default_factory=lambda: Decoding(top_k=40))
    paths: Annotated[int, Setting("Paths", "How many paths are walked at most.", least=1, most=MOST_PATHS)] = 60

    def plan(self) -> Iterator[Unit]:
        """One unit."""
        yield Unit("automaton", "the paths of the automaton")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        """A row for each path, the likeliest first, and one for the paths that are left open."""
        automaton = self._automaton(context)
        # Entries: minus the log-probability of the path, a number to settle ties, the path and the state it leads to.
        frontier: list[tuple[float, int, tuple[int, ...], int]] = [(0.0, 0, (), automaton.start)]
        pushed = 1
        for number in range(self.paths):
            if not frontier or context.stop():
                break
            cost, _, tokens, state = heapq.heappop(frontier)
            arcs = self._arcs(tokens, state, automaton, context)
            text, is_final = context.model.tokenizer.decode(tokens), automaton.is_final(state)
            yield WalkedPath(number, tokens, text, state, is_final, -cost, arcs)
            for arc in arcs:
                if arc.kept:
                    heapq.heappush(frontier, (cost - (arc.log_prob or 0.0), pushed, (*tokens, arc.token), arc.target))
                    pushed += 1
        yield OpenPaths(len(frontier))

    def _automaton(self, context: StudyContext) -> TokenAutomaton:
        query = Query(self.pattern, encoding=self.encoding, edits=Edits(1) if self.edits else Edits())
        language = (context.compiler or default_compiler())(query, Limits())
        automaton = token_automaton(language.pattern, context.model.tokenizer, self.encoding, Limits())
        arcs = automaton.arc_count
        if arcs is None or arcs > MOST_ARCS:
            size = "too many arcs to list" if arcs is None else f"{arcs:,} arcs"
            raise LimitError(f"The automaton has {size}; this view takes at most {MOST_ARCS:,}.", limit="token_arcs")
        return automaton

    def _arcs(
        self, tokens: tuple[int, ...], state: int, automaton: TokenAutomaton, context: StudyContext
    ) -> tuple[DecoderArc, ...]:
        from relens.traversal.decoding import allowed_tokens  # here, so that describing the study does without torch

        model = context.model
        legal = automaton.arcs(state).tokens.tolist()
        targets = automaton.destinations(state).tolist()
        log_probs: list[float | None] = [None] * len(legal)
        kept = [True] * len(legal)
        begins = model.begin_of_text is not None
        if legal and (tokens or begins):  # without anything before it a first token has no distribution
            if len(tokens) + begins > model.context_length:
                raise ModelError(f"A path of {len(tokens)} tokens is longer than the model {model.name!r} can hold.")
            # The scores of the last place do not depend on the token in it: any will do.
            after = model.read([*tokens, legal[0]], begins)[-1:]
            kept = allowed_tokens(after, self.decoding)[0, legal].tolist()
            log_probs = after[0, legal].tolist()
        return tuple(map(DecoderArc, legal, targets, log_probs, kept))


@dataclass(frozen=True)
class DecoderFindings:
    """paths: how many were walked. kept: the best log-probability of each arc that the decoder can take, in nats,
    -inf where it has none; cut: of those that the rule cuts. encodings: final paths; likeliest: the text of the first.
    open_paths: None until the walk has ended.
    """

    paths: int
    kept: Mapping[Ends, float]
    cut: Mapping[Ends, float]
    encodings: int
    likeliest: str
    open_paths: int | None
    verdict: tuple[str, ...] = ()  # sentences depend on the drawn graph (`relens_dashboard.learn.decoder_marks`)

    @property
    def is_complete(self) -> bool:
        """Whether every path was walked."""
        return self.open_paths == 0


def decoder_findings(rows: Rows, study: DecoderStudy) -> DecoderFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    rows = list(rows)
    paths = WalkedPath.all_in(rows)
    kept: dict[Ends, float] = {}
    cut: dict[Ends, float] = {}
    for path in paths:
        for arc in path.arcs:
            best, ends = kept if arc.kept else cut, (path.state, arc.target)
            best[ends] = max(best.get(ends, -math.inf), -math.inf if arc.log_prob is None else arc.log_prob)
    final = [path.text for path in paths if path.final]
    left = OpenPaths.all_in(rows)
    return DecoderFindings(
        paths=len(paths),
        kept=kept,
        cut={ends: score for ends, score in cut.items() if ends not in kept},
        encodings=len(final),
        likeliest=final[0] if final else "",
        open_paths=left[0].paths if left else None,
    )


#: Studies to begin with.
PRESETS: dict[str, DecoderStudy] = {"a cat or a dog": DecoderStudy()}
