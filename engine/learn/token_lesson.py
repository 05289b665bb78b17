"""The steps from bytes to tokens: shortcuts first, then the cuts that leave the tokenizer's own encodings.

All encodings (ReLM section 3.2 and appendix B). Every byte that is a token is an arc already. Then one token after the
other, in the order of their numbers, which is about that of how common they are: wherever its bytes can be walked, an
arc leads from the beginning of the walk to its end.

    0 --T--> 1 --h--> 2 --e--> 3      and he:  1 --he--> 3      and The:  0 --The--> 3

Canonical encodings. Of these paths the tokenizer takes one for each string; arcs that are on none of them are cut, and
why is told by the rule that forbids them (`engine.learn.cuts`). States may still have to be told apart by
their last token, so the automaton of canonical encodings is drawn by itself at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.language.counting import describe_count
from engine.learn.cuts import CutReasons, Reason
from engine.learn.drawing import TokenArc, token_arcs_graph, token_name
from engine.learn.listed_arcs import Examples, ListedArcs
from engine.learn.steps import ArcMark, Sizes, Step, Style
from engine.pictures.graphs import GraphArc, token_graph
from engine.tokens.automaton import TokenAutomaton
from engine.tokens.compiled import counted
from engine.tokens.tokenizer import Tokenizer

#: Tokens that get a step of their own, and rules that do; what comes after them is done at once.
MOST_TOKEN_STEPS, MOST_CUT_STEPS = 24, 16
#: Arcs, parallel ones as one, that a lesson draws without leaving any out.
MOST_DRAWN_ARCS = 400
#: Token arcs of which each gets its reason.
MOST_EXPLAINED_ARCS = 3_000


class TokenLesson:
    """The steps of both kinds of encodings of one language. In all encodings states are those of the byte automaton."""

    def __init__(self, everything: TokenAutomaton, canonical: TokenAutomaton, tokenizer: Tokenizer) -> None:
        self._automata = everything, canonical
        self._tokenizer = tokenizer
        self._all, self._canonical = ListedArcs.of(everything), ListedArcs.of(canonical)

    def steps(self) -> Iterator[Step]:
        """All of them."""
        known = self._all
        if known is None or len({(source, target) for source, _, target in known.arcs}) > MOST_DRAWN_ARCS:
            yield self._at_once("tokens", "All encodings", self._automata[0])
            yield self._at_once("canonical", "Canonical encodings", self._automata[1])
            return
        yield from self._shortcuts(known)
        is_small = len(known.arcs) <= MOST_EXPLAINED_ARCS and not self._automata[1].needs_confirmation
        if self._canonical is None or len(self._canonical.arcs) > MOST_DRAWN_ARCS or not is_small:
            yield self._at_once("canonical", "Canonical encodings", self._automata[1])
            return
        yield from self._cuts(known, self._canonical)

    # -- all encodings ---------------------------------------------------------------------------------------------

    def _shortcuts(self, known: ListedArcs) -> Iterator[Step]:
        spelled = self._tokenizer.vocabulary
        single = [arc for arc in known.arcs if len(spelled[arc[1]] or b"") == 1]
        longer: dict[int, list[TokenArc]] = {}
        for arc in sorted(set(known.arcs) - set(single), key=lambda arc: arc[1]):
            longer.setdefault(arc[1], []).append(arc)
        yield self._step(
            "tokens",
            "tokens-bytes",
            "Every byte that is a token",
            f"The model reads tokens, of which it knows {len(spelled):,}; the bytes among them are arcs already.",
            "Compare with the automaton before: the states are the same, and each arc now bears a token of the model.",
            single,
            known,
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
                "Follow the new arc, then the short ones beside it: they read the same text, so whatever string passes "
                "here can be spelled in more ways.",
                done,
                known,
                dict.fromkeys(new, "new"),
            )
        rest = [arc for arcs in longer.values() for arc in arcs]
        if rest:
            yield self._step(
                "tokens",
                "tokens-rest",
                f"All other shortcuts: {len(longer):,} tokens",
                f"The same is done with the {len(longer):,} other tokens of more than one byte that can be walked "
                "somewhere.",
                "Tokens between the same two states share an arc here. This is the automaton of all encodings.",
                [*done, *rest],
                known,
                dict.fromkeys(rest, "new"),
            )

    # -- canonical encodings ---------------------------------------------------------------------------------------

    def _cuts(self, known: ListedArcs, canonical: ListedArcs) -> Iterator[Step]:
        used = self._used_arcs()
        unused = [arc for arc in known.arcs if arc not in used]
        examples = Examples(known, self._tokenizer)
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
                known.arcs,
                known,
                {**dict.fromkeys(cut, "muted"), **dict.fromkeys(new, "cut")},
                notes,
                remaining=len(known.arcs) - len(cut) - len(new),
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
                "The details of each marked arc say which rule it was.",
                known.arcs,
                known,
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
            happened="What is left spells every string once, as the tokenizer does; states without a way in are gone.",
            look="Every path from the start to a match is the tokenizer's own way to write a string."
            + (" Some states are there twice: what may follow depends on the token before." if split else ""),
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
        known: ListedArcs,
        styles: dict[TokenArc, Style] | None = None,
        notes: dict[TokenArc, str] | None = None,
        remaining: int | None = None,
    ) -> Step:
        graph, place = token_arcs_graph(arcs, known.finals, known.numbers, self._tokenizer)
        shown = ListedArcs(tuple(arcs), known.finals, known.states, known.start)
        if remaining is not None:
            gone = styles or {}
            shown = ListedArcs(tuple(arc for arc in arcs if arc not in gone), known.finals, known.states, known.start)
        return Step(
            key=key,
            stage=stage,
            title=title,
            happened=happened,
            look=look,
            graph=graph,
            sizes=Sizes(known.states, len(arcs) if remaining is None else remaining, "", _counted(shown)),
            arcs=_marks(place, styles or {}, notes or {}),
        )

    def _at_once(self, stage: str, title: str, automaton: TokenAutomaton) -> Step:
        """One step with a picture that leaves things out, for what is too large to go through."""
        graph = token_graph(automaton, self._tokenizer)
        states, arcs = automaton.states, automaton.arc_count
        if states is None:
            states, arcs = counted(automaton)
        happened = (
            "Every token of the model that can be walked somewhere becomes an arc."
            if stage == "tokens"
            else "The tokenizer writes each string in one way; every other way to spell it is cut."
        )
        return Step(
            key=stage,
            stage=stage,
            title=title,
            happened=happened,
            look="There are too many arcs to go through one by one; the nearest to the start are drawn.",
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
    """Marks of drawn arcs; where several tokens share one, what holds for any of them is told, cuts only of all."""
    together: dict[GraphArc, list[TokenArc]] = {}
    for arc, drawn in place.items():
        together.setdefault(drawn, []).append(arc)
    marks = []
    for drawn, arcs in together.items():
        found = {styles.get(arc, "") for arc in arcs}
        style: Style = next((known for known in _STRONGEST_FIRST if known in found), "")
        if style in ("cut", "muted") and "" in found:  # what is left of the arc can still be taken
            style = ""
        texts = dict.fromkeys(notes[arc] for arc in arcs if arc in notes)
        note = " ".join(list(texts)[:3]) + (" …" if len(texts) > 3 else "")
        if style or note:
            marks.append(ArcMark(drawn.source, drawn.target, drawn.label, style, note))
    return tuple(marks)
