"""One small search, written down round by round, to be looked at afterwards.

    The + ` (cat|dog)`

    begin   open    The
    ask     The     back: " dog" 2.1, " cat" 3.0, " c" 4.4, ...    cut by top-k 40: " do", rank 213
            open    "The dog" 2.1, "The cat" 3.0, ...
    show    "The dog" 2.1: nothing that is open is cheaper
    ask     ...

A cost is a negative log-probability in nats, so the cheapest is the likeliest. Each row tells one round of the search:
what the model was asked and answered, what the decoding rule cut, what stays open, which matches were shown, and which
were found and have to wait, and for what. States have the numbers of the drawn automaton, which is the first row. The
search is a real one (`engine.traversal.recording`), with one difference: how many nodes go into a forward is a setting
here and not measured, so that the same search always has the same rounds.

Source: ReLM section 3.3; the automaton of the first example is that of Figures 2 and 12.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from engine.language.syntax import parse_regex
from engine.query import Boundary, Decoding, Encoding, Limits, Query, ShortestPath
from engine.setting import Setting, declared
from engine.studies.rows import ROW, Row, rows_of
from engine.studies.study import Study, StudyContext, Unit

if TYPE_CHECKING:
    from engine.query_execution import QueryExecution
    from engine.tokens.compiled import CompiledQuery
    from engine.traversal.recording import Asked, Emitted, Made, Round
    from engine.traversal.shortest_path import FrontierEntry, ShortestPathSearch

#: What rows tell: the automaton, one round, and how it ended.
AUTOMATON, ROUND, END = "automaton", "round", "end"
#: What a round was: how things stood at first, a forward, or matches that were shown.
BEGINNING, ASK, SHOW = "begin", "ask", "show"

MOST_TOKENS = 64
#: Entries of the frontier, and children of a node, that a row tells; of the rest their number.
TOLD_OPEN, TOLD_CHILDREN = 12, 12
#: Matches that wait are looked for among so many of the cheapest entries.
_LOOKED_AT = 400


@dataclass(frozen=True)
class ReplayStudy(Study):
    """A best-first search of a small query."""

    kind: ClassVar[str] = "replay"
    title: ClassVar[str] = "Search replay"
    question: ClassVar[str] = "How does the search find the likeliest strings, and when may it be sure of one?"

    prefix: Annotated[
        str,
        Setting(
            "Prefix",
            "What the model is given to go on from. A regular expression too; no rule cuts anything in it.",
            is_regex=True,
        ),
    ] = "The"
    pattern: Annotated[
        str,
        Setting(
            "Pattern",
            "The form of the answer, a regular expression. A small one makes a search that can be followed.",
            is_regex=True,
        ),
    ] = " ((cat)|(dog))"
    encoding: Annotated[
        Encoding,
        Setting(
            "Encoding",
            "**All**: every way to spell a string in tokens is a path of its own. **Canonical**: only the way the "
            "tokenizer itself would; one path for each string, and a smaller automaton.",
        ),
    ] = Encoding.ALL
    prefix_encoding: Annotated[Encoding, declared(Query, "prefix_encoding").setting] = Encoding.CANONICAL
    boundary: Annotated[Boundary, declared(Query, "boundary").setting] = Boundary.TOKEN
    top_k: Annotated[
        int | None,
        Setting(
            "Top-k",
            "The decoder takes only the k likeliest of all tokens at each step; the others, and everything below them, "
            "are cut. Empty: nothing is cut.",
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
            "What the order of matches goes by: how likely prefix and pattern are together, or the pattern given its "
            "prefix.",
            choices={"joint": "Prefix and pattern", "conditional": "Pattern alone"},
        ),
    ] = "joint"
    matches: Annotated[int, Setting("Matches", "The search ends when so many are shown.", least=1, most=20)] = 10
    expansions: Annotated[
        int,
        Setting("Paths at most", "It ends at the latest when the model was asked about so many.", least=1, most=300),
    ] = 100
    batch: Annotated[
        int,
        Setting(
            "Paths to a forward",
            "With 1 the search is Dijkstra's: the cheapest path alone. With more it also opens the next ones ahead of "
            "need; the order of the matches is the same.",
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
        """The decoding rule in words, "" where nothing is cut."""
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

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[Row | None]:
        """See `Study.carry_out`: the automaton, a row for each round, the end."""
        from engine.pictures.graphs import numbered_token_graph  # here, so that describing a study does without torch
        from engine.query_execution import QueryExecution, begins
        from engine.tokens.compiled import compile_query
        from engine.traversal.recording import Recorder
        from engine.traversal.shortest_path import ShortestPathSearch

        query = self.query
        compiled = compile_query(query, context.model.tokenizer, Limits(), context.compiler)
        graph, numbers = numbered_token_graph(compiled.automaton, compiled.tokenizer)
        yield {ROW: AUTOMATON, "graph": graph.to_json(), "rule": self.rule, "strings": compiled.sizes.strings}

        execution = QueryExecution(context.model, compiled, ShortestPath(self.rank), Limits(matches=self.matches))
        scorer = context.model.scorer(begin_of_text=begins(context.model, query))
        search = next(execution.beginnings())(scorer)
        assert isinstance(search, ShortestPathSearch)  # that is what the traversal asks for
        recorder = Recorder(search, self.batch, shown=_LOOKED_AT)
        teller = _Teller(compiled, execution, search, numbers)
        yield teller.row(recorder.begin(), scorer.counts.forwards)
        ended = ""
        while not ended:
            if context.stop():
                return
            yield teller.row(recorder.step(execution.wanted), scorer.counts.forwards)
            if execution.wanted == 0:
                ended = "exhausted" if recorder.finished else "matches"
            elif recorder.finished:
                ended = "exhausted"
            elif search.expansions >= self.expansions:
                ended = "expansions"
        # To know that nothing is left takes every path; to know the matches, those that are no dearer.
        needed = search.opened_with_rank(-teller.last_cost) if execution.matches else 0
        yield {
            ROW: END,
            "ended": ended,
            "matches": execution.matches,
            "forwards": scorer.counts.forwards,
            "tokens_computed": scorer.counts.tokens_computed,
            "expansions": search.expansions,
            "needed": search.expansions if ended == "exhausted" else needed,
        }

    def verdict(self, rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
        """What happened, in words."""
        return _verdict(list(rows))


class _Teller:
    """Rounds as rows: tokens as text, states by their numbers in the picture."""

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

    def row(self, entry: Round, forwards: int) -> Row:
        """One round; the first is how things stand before anything was asked."""
        kind = ASK if entry.asked else SHOW
        row = {
            ROW: ROUND,
            "round": self._rounds,
            "kind": kind if self._rounds else BEGINNING,
            "shown": [self._shown(item) for item in entry.emitted],
            "asked": [self._asked(item) for item in entry.asked],
            "made": [self._made(item) for item in entry.made],
            "frontier": [self._open(item) for item in entry.frontier[:TOLD_OPEN]],
            "open": entry.account.frontier,
            "next_cost": entry.frontier[0].cost if entry.frontier else None,
            "waiting": self._waiting(entry),
            "forwards": forwards,
            "expansions": entry.account.expansions,
            "found_mass": entry.account.found_mass,
            "remaining_mass": entry.account.remaining_mass,
        }
        self._rounds += 1
        return row

    def _shown(self, item: Emitted) -> dict[str, Any]:
        self._place += 1
        self.last_cost = item.cost
        match = self._execution.describe(item.found, 0.0)
        return {
            "place": self._place,
            "node": item.node,
            "text": match.text,
            "path": self._path(item.node),
            "state": self._number(item.state),
            "cost": item.cost,
            "prefix_log_prob": match.prefix_log_prob,
            "decoder_log_prob": match.decoder_log_prob,
            "is_canonical": match.is_canonical,
        }

    def _asked(self, item: Asked) -> dict[str, Any]:
        children = item.children
        told = zip(
            children.tokens.tolist(),
            children.log_probs.tolist(),
            children.decoder_log_probs.tolist(),
            children.in_prefix.tolist(),
            strict=True,
        )
        return {
            "node": item.node,
            "path": self._path(item.node),
            "state": self._number(item.state),
            "cost": item.cost,
            "why": item.why,
            "legal": item.legal,
            "children": [
                {"token": self._token(token), "log_prob": own, "decoder_log_prob": decoder, "in_prefix": given}
                for token, own, decoder, given in list(told)[:TOLD_CHILDREN]
            ],
            "children_count": len(children.tokens),
            "more": children.more,
            "cut": [{"token": self._token(cut.token), "rank": cut.rank, "log_prob": cut.log_prob} for cut in item.cut],
            "cut_count": item.cut_count,
        }

    def _made(self, item: Made) -> dict[str, Any]:
        return {
            "node": item.node,
            "parent": item.parent,
            "token": self._token(item.token),
            "state": self._number(item.state),
            "cost": item.cost,
            "in_prefix": item.in_prefix,
            "is_match": item.is_match,
        }

    def _open(self, item: FrontierEntry) -> dict[str, Any]:
        token = None if item.token is None else self._token(item.token)
        return {
            "kind": item.kind,
            "node": item.node,
            "token": token,
            "path": [*self._path(item.node), *([] if token is None else [token])],
            "state": self._number(item.state),
            "cost": item.cost,
            "behind": item.behind,
        }

    def _waiting(self, entry: Round) -> list[dict[str, Any]]:
        """The matches that are found and not shown, each with the cheapest open path that could still beat it."""
        rival = next((item for item in entry.frontier if item.kind != "match"), None)
        return [
            {
                "node": item.node,
                "path": self._path(item.node),
                "cost": item.cost,
                "rival": self._open(rival) if rival is not None and rival.cost < item.cost else None,
            }
            for item in entry.frontier
            if item.kind == "match"
        ]

    def _path(self, node: int) -> list[str]:
        return [self._token(token) for token in self._tree.path(node)]

    def _token(self, token: int) -> str:
        from engine.pictures.labels import token_label

        return token_label(token, self._compiled.tokenizer)

    def _number(self, state: int) -> int | None:
        return self._numbers.get(state)


def _verdict(rows: list[Mapping[str, Any]]) -> tuple[str, ...]:
    rounds, ends = rows_of(rows, ROUND), rows_of(rows, END)
    if not rounds or not ends:
        return ("The search has not ended yet.",)
    end, last = ends[-1], rounds[-1]
    matches, forwards, expansions, needed = (end[name] for name in ("matches", "forwards", "expansions", "needed"))
    ahead = expansions - needed
    sentences = [
        f"The search showed {_count(matches, 'match', 'matches')} after {_count(forwards, 'forward')} of the model, in "
        f"which it asked about {_count(expansions, 'path')}."
    ]
    if matches:
        if ahead:
            sentences.append(
                f"Of these paths no exact search could have left out {needed:,}; the other {ahead:,} were opened ahead,"
                " because more paths in one forward cost hardly more."
            )
        else:
            sentences.append("No exact search could have left out any of these paths.")
    sentences.append(_why_it_stopped(end, last))
    cut = sum(asked["cut_count"] for row in rounds for asked in row["asked"])
    rule = next((row["rule"] for row in rows_of(rows, AUTOMATON)), "")
    if rule:
        sentences.append(
            f"The decoding rule, {rule}, cut {_count(cut, 'token')} that the automaton allows, and everything below."
        )
    return tuple(sentences)


def _why_it_stopped(end: Mapping[str, Any], last: Mapping[str, Any]) -> str:
    if end["ended"] == "exhausted":
        if not end["matches"]:
            return "Nothing was left open: under this rule the model cannot write any string of the query."
        return "It could stop because nothing was left open: these are all the matches there are."
    if end["ended"] == "expansions":
        return "It stopped at its limit of paths to ask about; what is still open may hold further matches."
    if last["next_cost"] is None:
        return "It stopped with the number of matches that it was asked for."
    return (
        "It could stop at the number of matches that it was asked for, because the cheapest open path costs"
        f" {last['next_cost']:.2f}: whatever comes from there is no likelier than what was shown."
    )


def _count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


#: Searches to begin with.
PRESETS: dict[str, ReplayStudy] = {
    "cat or dog": ReplayStudy(),
    "only the tokenizer's own spelling": ReplayStudy(encoding=Encoding.CANONICAL),
    "with a rule": ReplayStudy(pattern=" ((cat)|(dog)|(world)|(first))", top_k=40),
    "an open class": ReplayStudy(prefix="My name is", pattern=" [A-Z][a-z]+", top_k=20, matches=8),
}
