"""One small search, recorded round by round, to be stepped through afterwards.

    The + ` (cat|dog)`

    begin   open    The
    ask     The     children: " dog" 2.1, " cat" 3.0, " c" 4.4, ...    cut by top-k 40: " do", rank 213
            open    "The dog" 2.1, "The cat" 3.0, ...
    show    "The dog" 2.1: no open path is cheaper
    ask     ...

A cost is a negative log-probability in nats, so the cheapest path is the likeliest. Each row is one round: the paths
that the model expanded, their children, the tokens that the decoding rule cut, the open paths, the matches shown, and
the matches that wait, with the path that holds each back (`relens.studies.replay_rows`). The search is a real one
(`relens.traversal.recording`), with one difference: the number of paths to a forward is a setting and not measured, so
that a search always has the same rounds.

Source: ReLM section 3.3; the automaton of the first example is that of Figures 2 and 12.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from relens.language.syntax import parse_regex
from relens.query import Boundary, Decoding, Encoding, Limits, Query, ShortestPath
from relens.setting import Setting, declared
from relens.studies.replay_rows import (
    ChildToken,
    CutToken,
    ExpandedPath,
    OpenPath,
    Path,
    SearchAutomaton,
    SearchEnd,
    SearchRound,
    ShownMatch,
    TreeNode,
    WaitingMatch,
)
from relens.studies.rows import StudyRow
from relens.studies.study import Study, StudyContext, Unit

if TYPE_CHECKING:
    from relens.query_execution import QueryExecution
    from relens.tokens.compiled import CompiledQuery
    from relens.traversal.recording import Emitted, Expansion, Made, Round
    from relens.traversal.shortest_path import FrontierEntry, ShortestPathSearch

MOST_TOKENS = 64
#: Open paths, and children of a path, that a row lists; it has the number of all.
_LISTED = 12
#: Entries of the frontier, the cheapest, among which a row looks for waiting matches.
_MOST_FRONTIER = 400


@dataclass(frozen=True)
class ReplayStudy(Study):
    """A best-first search of a small query."""

    kind: ClassVar[str] = "replay"
    title: ClassVar[str] = "Search replay"
    question: ClassVar[str] = "How does the search find the likeliest strings, and when is a match final?"

    prefix: Annotated[
        str,
        Setting(
            "Prefix",
            "The text that the model continues, a regular expression too. No rule cuts its tokens.",
            is_regex=True,
        ),
    ] = "The"
    pattern: Annotated[
        str,
        Setting(
            "Pattern",
            "The form of the answer, a regular expression. A small one makes a short search.",
            is_regex=True,
        ),
    ] = " ((cat)|(dog))"
    encoding: Annotated[
        Encoding,
        Setting(
            "Encoding",
            "**All**: every encoding of a string is a path of its own. **Canonical**: only the tokenizer's encoding: "
            "one path for each string, and a smaller automaton.",
        ),
    ] = Encoding.ALL
    prefix_encoding: Annotated[Encoding, declared(Query, "prefix_encoding").setting] = Encoding.CANONICAL
    boundary: Annotated[Boundary, declared(Query, "boundary").setting] = Boundary.TOKEN
    top_k: Annotated[
        int | None,
        Setting(
            "Top-k",
            "The decoder takes only the k likeliest of all tokens at each step; the others, and all paths below them, "
            "are cut. Empty: no cuts.",
            least=1,
            empty="no rule",
        ),
    ] = None
    top_p: Annotated[float | None, declared(Decoding, "top_p").setting] = None
    temperature: Annotated[float, declared(Decoding, "temperature").setting] = 1.0
    rank: Annotated[
        Literal["joint", "conditional"],
        Setting(
            "Cost of",
            "The probability that orders the matches: of prefix and pattern together, or of the pattern given its "
            "prefix.",
            choices={"joint": "Prefix and pattern", "conditional": "Pattern alone"},
        ),
    ] = "joint"
    matches: Annotated[int, Setting("Matches", "The search ends after so many matches.", least=1, most=20)] = 10
    expansions: Annotated[
        int,
        Setting("Paths at most", "The search ends after so many expanded paths.", least=1, most=300),
    ] = 100
    batch: Annotated[
        int,
        Setting(
            "Paths to a forward",
            "With 1 the search is Dijkstra's: the cheapest path alone. With more it also expands the next ones ahead "
            "of need; the order of the matches is the same.",
            least=1,
            most=64,
        ),
    ] = 8

    @property
    def query(self) -> Query:
        """The query that is searched. Raises `QueryError` for settings that do not go together."""
        return Query(
            self.pattern,
            prefix=self.prefix,
            encoding=self.encoding,
            prefix_encoding=self.prefix_encoding,
            boundary=self.boundary,
            decoding=Decoding(self.top_k, self.top_p, self.temperature),
            max_tokens=MOST_TOKENS,
        )

    @property
    def rule(self) -> str:
        """The decoding rule in words, "" for none."""
        parts = [f"top-k {self.top_k}"] if self.top_k is not None else []
        return " and ".join(parts + ([f"top-p {self.top_p:g}"] if self.top_p is not None else []))

    def check(self) -> None:
        """Raise `RegexError` for a malformed pattern and `QueryError` as `query` does."""
        query = self.query
        parse_regex(query.prefix, Limits(), "prefix")
        parse_regex(query.pattern, Limits(), "pattern")

    def plan(self) -> Iterator[Unit]:
        """The one search."""
        yield Unit("search", "the search")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        """See `Study.carry_out`: the automaton, a row for each round, the end."""
        from relens.pictures.graphs import numbered_token_graph  # here, so that describing a study does without torch
        from relens.query_execution import QueryExecution, begins
        from relens.tokens.compiled import compile_query
        from relens.traversal.recording import Recorder
        from relens.traversal.shortest_path import ShortestPathSearch

        query = self.query
        compiled = compile_query(query, context.model.tokenizer, Limits(), context.compiler)
        graph, numbers = numbered_token_graph(compiled.automaton, compiled.tokenizer)
        yield SearchAutomaton(graph, self.rule, compiled.sizes.strings)

        execution = QueryExecution(context.model, compiled, ShortestPath(self.rank), Limits(matches=self.matches))
        scorer = context.model.scorer(begin_of_text=begins(context.model, query))
        search = next(execution.beginnings())(scorer)
        assert isinstance(search, ShortestPathSearch)  # as the traversal demands
        recorder = Recorder(search, self.batch, shown=_MOST_FRONTIER)
        recording = _Recording(compiled, execution, search, numbers)
        yield recording.row(recorder.begin(), scorer.counts.forwards)
        ended = ""
        while not ended:
            if context.stop():
                return
            yield recording.row(recorder.step(execution.matches_left), scorer.counts.forwards)
            if execution.matches_left == 0:
                ended = "exhausted" if recorder.finished else "matches"
            elif recorder.finished:
                ended = "exhausted"
            elif search.expansions >= self.expansions:
                ended = "expansions"
        # An exhausted search needs every path; one that ends at its matches, those that cost no more than the last.
        needed = search.opened_with_rank(-recording.last_cost) if execution.matches else 0
        yield SearchEnd(
            ended=ended,
            matches=execution.matches,
            forwards=scorer.counts.forwards,
            tokens_computed=scorer.counts.tokens_computed,
            expansions=search.expansions,
            needed=search.expansions if ended == "exhausted" else needed,
        )


class _Recording:
    """Rounds as rows: tokens as labels, states by their numbers in the graph."""

    def __init__(
        self, compiled: CompiledQuery, execution: QueryExecution, search: ShortestPathSearch, numbers: Mapping[int, int]
    ) -> None:
        self.last_cost = 0.0
        self._compiled = compiled
        self._execution = execution
        self._search = search
        self._numbers = numbers
        self._tree = search.scorer.tree
        self._rounds = 0
        self._place = 0

    def row(self, entry: Round, forwards: int) -> SearchRound:
        """One round; the first is the search before its first forward."""
        row = SearchRound(
            round=self._rounds,
            kind=("ask" if entry.expansions else "show") if self._rounds else "begin",
            shown=tuple(map(self._shown, entry.emitted)),
            asked=tuple(map(self._expanded, entry.expansions)),
            made=tuple(map(self._node, entry.made)),
            frontier=tuple(map(self._open, entry.frontier[:_LISTED])),
            open=entry.account.frontier,
            next_cost=entry.frontier[0].cost if entry.frontier else None,
            waiting=tuple(self._waiting(entry)),
            forwards=forwards,
            expansions=entry.account.expansions,
            found_mass=entry.account.found_mass,
            remaining_mass=entry.account.remaining_mass,
        )
        self._rounds += 1
        return row

    def _shown(self, item: Emitted) -> ShownMatch:
        self._place += 1
        self.last_cost = item.cost
        match = self._execution.describe(item.match, 0.0)
        return ShownMatch(
            place=self._place,
            node=item.node,
            text=match.text,
            path=self._path(item.node),
            state=self._number(item.state),
            cost=item.cost,
            prefix_log_prob=match.prefix_log_prob,
            decoder_log_prob=match.decoder_log_prob,
            is_canonical=match.is_canonical,
        )

    def _expanded(self, item: Expansion) -> ExpandedPath:
        children = item.children
        columns = (
            map(self._token, children.tokens[:_LISTED].tolist()),
            children.log_probs[:_LISTED].tolist(),
            children.decoder_log_probs[:_LISTED].tolist(),
            children.in_prefix[:_LISTED].tolist(),
        )
        return ExpandedPath(
            node=item.node,
            path=self._path(item.node),
            state=self._number(item.state),
            cost=item.cost,
            why=item.why,
            legal=item.legal,
            children=tuple(map(ChildToken, *columns)),
            children_count=len(children.tokens),
            more=children.more,
            cut=tuple(CutToken(self._token(cut.token), cut.rank, cut.log_prob) for cut in item.cut),
            cut_count=item.cut_count,
        )

    def _node(self, item: Made) -> TreeNode:
        return TreeNode(
            node=item.node,
            parent=item.parent,
            token=self._token(item.token),
            state=self._number(item.state),
            cost=item.cost,
            in_prefix=item.in_prefix,
            is_match=item.is_match,
        )

    def _open(self, item: FrontierEntry) -> OpenPath:
        token = None if item.token is None else self._token(item.token)
        path = self._path(item.node) if token is None else (*self._path(item.node), token)
        return OpenPath(item.kind, item.node, token, path, self._number(item.state), item.cost, item.behind)

    def _waiting(self, entry: Round) -> Iterator[WaitingMatch]:
        """The matches that are not shown yet, each with the cheapest open path that may lead to a cheaper one."""
        rival = next((item for item in entry.frontier if item.kind != "match"), None)
        for item in entry.frontier:
            if item.kind == "match":
                held_back = self._open(rival) if rival is not None and rival.cost < item.cost else None
                yield WaitingMatch(item.node, self._path(item.node), item.cost, held_back)

    def _path(self, node: int) -> Path:
        return tuple(map(self._token, self._tree.path(node)))

    def _token(self, token: int) -> str:
        from relens.pictures.labels import token_label

        return token_label(token, self._compiled.tokenizer)

    def _number(self, state: int) -> int | None:
        return self._numbers.get(state)


#: Searches to begin with.
PRESETS: dict[str, ReplayStudy] = {
    "cat or dog": ReplayStudy(),
    "only the tokenizer's own spelling": ReplayStudy(encoding=Encoding.CANONICAL),
    "with a rule": ReplayStudy(pattern=" ((cat)|(dog)|(world)|(first))", top_k=40),
    "an open class": ReplayStudy(prefix="My name is", pattern=" [A-Z][a-z]+", top_k=20, matches=8),
}
