"""The steps from bytes to tokens: shortcuts first, then the cuts that leave the canonical encodings.

All encodings (ReLM section 3.2 and appendix B). Every byte that is a token is an arc already. Then come the other
tokens by number, the common ones first: wherever the bytes of a token can be walked, an arc leads from the beginning of
the walk to its end.

    0 --T--> 1 --h--> 2 --e--> 3      and he:  1 --he--> 3      and The:  0 --The--> 3

Canonical encodings. One path of each string is canonical; arcs on none of these are cut, each with the rule that
forbids it (`relens.learn.cuts`). A state may still need to be split by the token before it, so the automaton of
canonical encodings is drawn by itself at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from relens.language.counting import describe_count
from relens.learn.cuts import CutReasons, Reason
from relens.learn.drawing import TokenArc, token_arcs_graph, token_name
from relens.learn.listed_arcs import Examples, ListedArcs
from relens.learn.steps import ArcMark, Sizes, Step, Style
from relens.pictures.graphs import GraphArc, token_graph
from relens.tokens.automaton import TokenAutomaton
from relens.tokens.compiled import counted
from relens.tokens.tokenizer import Tokenizer

#: Tokens and rules that have steps of their own; the rest is one step.
MOST_TOKEN_STEPS, MOST_CUT_STEPS = 24, 16
#: Most arcs, parallel ones as one, of a full drawing.
MOST_DRAWN_ARCS = 400
#: Most token arcs with a reason each.
MOST_EXPLAINED_ARCS = 3_000


class TokenLesson:
    """The steps of both kinds of encodings of one language. In all encodings states are those of the byte automaton."""

    def __init__(self, everything: TokenAutomaton, canonical: TokenAutomaton, tokenizer: Tokenizer) -> None:
        self._automata = everything, canonical
        self._tokenizer = tokenizer
        self._all, self._canonical = ListedArcs.of(everything), ListedArcs.of(canonical)

    def steps(self) -> Iterator[Step]:
        """All of them."""
        listed = self._all
        if listed is None or len({(source, target) for source, _, target in listed.arcs}) > MOST_DRAWN_ARCS:
            yield self._at_once("tokens", "All encodings", self._automata[0])
            yield self._at_once("canonical", "Canonical encodings", self._automata[1])
            return
        yield from self._shortcuts(listed)
        is_small = len(listed.arcs) <= MOST_EXPLAINED_ARCS and not self._automata[1].needs_confirmation
        if self._canonical is None or len(self._canonical.arcs) > MOST_DRAWN_ARCS or not is_small:
            yield self._at_once("canonical", "Canonical encodings", self._automata[1])
            return
        yield from self._cuts(listed, self._canonical)

    # -- all encodings ---------------------------------------------------------------------------------------------

    def _shortcuts(self, listed: ListedArcs) -> Iterator[Step]:
        spelled = self._tokenizer.vocabulary
        single = [arc for arc in listed.arcs if len(spelled[arc[1]] or b"") == 1]
        longer: dict[int, list[TokenArc]] = {}
        for arc in sorted(set(listed.arcs) - set(single), key=lambda arc: arc[1]):
            longer.setdefault(arc[1], []).append(arc)
        yield self._step(
            "tokens",
            "tokens-bytes",
            "Every byte that is a token",
            f"The model reads tokens and has {len(spelled):,}; those of one byte are arcs already.",
            "Compare with the automaton before: the states are the same, and each arc now bears a token of the model.",
            single,
            listed,
        )
        done = list(single)
        one_by_one = list(longer)[:MOST_TOKEN_STEPS]
        for token in one_by_one:
            new = longer.pop(token)
            done += new
            places = "one place" if len(new) == 1 else f"{len(new)} places"
            name = token_name(token, self._tokenizer)
            length = len(spelled[token] or b"")
            yield self._step(
                "tokens",
                f"tokens-{token}",
                f"A shortcut for {name}",
                f"Token {token:,} spells {name}, and its {length} bytes can be walked from {places}: an arc takes them "
                "in one stride.",
                "The new arc and the short ones beside it read the same text, so each string that passes here has more "
                "encodings.",
                done,
                listed,
                dict.fromkeys(new, "new"),
            )
        rest = [arc for arcs in longer.values() for arc in arcs]
        if rest:
            yield self._step(
                "tokens",
                "tokens-rest",
                f"All other shortcuts: {len(longer):,} tokens",
                f"The {len(longer):,} other tokens of more than one byte that can be walked get their arcs in the same "
                "way.",
                "Tokens between the same two states share an arc here. This is the automaton of all encodings.",
                [*done, *rest],
                listed,
                dict.fromkeys(rest, "new"),
            )

    # -- canonical encodings ---------------------------------------------------------------------------------------

    def _cuts(self, listed: ListedArcs, canonical: ListedArcs) -> Iterator[Step]:
        used = self._used_arcs()
        unused = [arc for arc in listed.arcs if arc not in used]
        examples = Examples(listed, self._tokenizer)
        reasons = CutReasons(self._tokenizer)
        grouped: dict[Reason, list[TokenArc]] = {}
        for arc in unused:
            grouped.setdefault(reasons.reason(*examples.through(arc)), []).append(arc)
        order = sorted(grouped, key=lambda reason: (_KINDS.index(reason.kind), reason.rank, reason.sentence))
        cut: dict[TokenArc, Style] = {}
        notes: dict[TokenArc, str] = {}
        for number, reason in enumerate(order[:MOST_CUT_STEPS], start=1):
            new = grouped[reason]
            notes |= dict.fromkeys(new, reason.sentence)
            names = dict.fromkeys(token_name(token, self._tokenizer) for _, token, _ in new)
            few = ", ".join(list(names)[:5]) + (", …" if len(names) > 5 else "")
            yield self._step(
                "canonical",
                f"canonical-{number}",
                _CUT_TITLES[reason.kind],
                reason.sentence,
                f"So the tokenizer never writes {few} where the marked {'arc is' if len(new) == 1 else 'arcs are'}; "
                "arcs cut before are pale.",
                listed.arcs,
                listed,
                {**dict.fromkeys(cut, "muted"), **dict.fromkeys(new, "cut")},
                notes,
                remaining=len(listed.arcs) - len(cut) - len(new),
            )
            cut |= dict.fromkeys(new, "cut")
        if len(order) > MOST_CUT_STEPS:
            new = [arc for reason in order[MOST_CUT_STEPS:] for arc in grouped[reason]]
            notes |= {arc: reason.sentence for reason in order[MOST_CUT_STEPS:] for arc in grouped[reason]}
            yield self._step(
                "canonical",
                "canonical-rest",
                "All other cuts",
                f"{len(order) - MOST_CUT_STEPS:,} more rules of the tokenizer cut {len(new):,} more arcs.",
                "The details of each marked arc name its rule.",
                listed.arcs,
                listed,
                {**dict.fromkeys(cut, "muted"), **dict.fromkeys(new, "cut")},
                notes,
                remaining=len(used),
            )
        shown = canonical.renumbered()
        graph, place = token_arcs_graph(shown.arcs, shown.finals, shown.states, self._tokenizer)
        split = canonical.states > len({state for source, _, target in used for state in (source, target)})
        yield Step(
            key="canonical",
            stage="canonical",
            title="The automaton of canonical encodings",
            happened="The arcs left spell every string once, as the tokenizer does; states without a way in are gone.",
            look="Every path from the start to a match is the canonical encoding of a string."
            + (" Some states are there twice: the next token depends on the one before." if split else ""),
            graph=graph,
            sizes=Sizes(canonical.states, len(canonical.arcs), "", _counted(canonical)),
            arcs=tuple(
                ArcMark(arc.source, arc.target, arc.label, "canonical") for arc in dict.fromkeys(place.values())
            ),
        )

    def _used_arcs(self) -> set[TokenArc]:
        """The arcs of all encodings that some canonical encoding takes: both automata walked together."""
        everything, canonical = self._automata
        used: set[TokenArc] = set()
        seen = {(canonical.start, everything.start)}
        waiting = list(seen)
        while waiting:
            state, among_all = waiting.pop()
            tokens = canonical.arcs(state).tokens.tolist()
            for token, target in zip(tokens, canonical.destinations(state).tolist(), strict=True):
                ahead = target, everything.step(among_all, token)
                used.add((among_all, token, ahead[1]))
                if ahead not in seen:
                    seen.add(ahead)
                    waiting.append(ahead)
        return used

    # -- steps -----------------------------------------------------------------------------------------------------

    def _step(
        self,
        stage: str,
        key: str,
        title: str,
        happened: str,
        look: str,
        arcs: Sequence[TokenArc],
        listed: ListedArcs,
        styles: dict[TokenArc, Style] | None = None,
        notes: dict[TokenArc, str] | None = None,
        remaining: int | None = None,
    ) -> Step:
        graph, place = token_arcs_graph(arcs, listed.finals, listed.numbers, self._tokenizer)
        shown = ListedArcs(tuple(arcs), listed.finals, listed.states, listed.start)
        if remaining is not None:
            gone = styles or {}
            shown = ListedArcs(
                tuple(arc for arc in arcs if arc not in gone), listed.finals, listed.states, listed.start
            )
        return Step(
            key=key,
            stage=stage,
            title=title,
            happened=happened,
            look=look,
            graph=graph,
            sizes=Sizes(listed.states, len(arcs) if remaining is None else remaining, "", _counted(shown)),
            arcs=_marks(place, styles or {}, notes or {}),
        )

    def _at_once(self, stage: str, title: str, automaton: TokenAutomaton) -> Step:
        """One step with a partial picture, for an automaton that is too large for single steps."""
        graph = token_graph(automaton, self._tokenizer)
        states, arcs = automaton.states, automaton.arc_count
        if states is None:
            states, arcs = counted(automaton)
        happened = (
            "Every token of the model that can be walked becomes an arc."
            if stage == "tokens"
            else "Each string has one canonical encoding; all others are cut."
        )
        return Step(
            key=stage,
            stage=stage,
            title=title,
            happened=happened,
            look="There are too many arcs for single steps; the nearest to the start are drawn.",
            graph=graph,
            sizes=Sizes(states, arcs),
        )


_KINDS = ("boundary", "merge", "unmade", "other")
_STRONGEST_FIRST: tuple[Style, ...] = ("new", "cut", "muted")
_CUT_TITLES = {
    "boundary": "Cut: the text is divided there",
    "merge": "Cut: a merge takes the pieces",
    "unmade": "Cut: no merge makes this token",
    "other": "Cut: the tokenizer writes it otherwise",
}


def _counted(arcs: ListedArcs) -> str:
    return describe_count(arcs.encodings())


def _marks(
    place: dict[TokenArc, GraphArc], styles: dict[TokenArc, Style], notes: dict[TokenArc, str]
) -> tuple[ArcMark, ...]:
    """Marks of drawn arcs. Tokens that share one: it is new if any is, and cut only if all are."""
    together: dict[GraphArc, list[TokenArc]] = {}
    for arc, drawn in place.items():
        together.setdefault(drawn, []).append(arc)
    marks = []
    for drawn, arcs in together.items():
        own = {styles.get(arc, "") for arc in arcs}
        style: Style = next((each for each in _STRONGEST_FIRST if each in own), "")
        if style in ("cut", "muted") and "" in own:  # the rest of the arc can still be taken
            style = ""
        texts = dict.fromkeys(notes[arc] for arc in arcs if arc in notes)
        note = " ".join(list(texts)[:3]) + (" …" if len(texts) > 3 else "")
        if style or note:
            marks.append(ArcMark(drawn.source, drawn.target, drawn.label, style, note))
    return tuple(marks)
