"""The steps over characters: tree, nondeterministic, deterministic, minimal, within one edit; and the split into bytes.

Each operation is a small module (`thompson`, `subset`, `minimisation`, `one_edit`) whose result records its steps; here
these become sentences and pictures. The last automaton is the one that the engine's faster construction makes; tests
compare the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from relens.language.automaton import ByteAutomaton
from relens.language.characters import Ranges
from relens.language.tree import Node
from relens.language.utf8 import LAST_ASCII
from relens.learn.automata import SILENT, CharacterAutomaton
from relens.learn.drawing import EPSILON, byte_graph, character_graph, label_of, tree_graph
from relens.learn.minimisation import NOWHERE, Minimised, minimised
from relens.learn.one_edit import arcs_of_originals, with_one_edit
from relens.learn.steps import ArcMark, Sizes, StateMark, Step
from relens.learn.subset import Determinized, determinized
from relens.learn.thompson import thompson
from relens.pictures.graphs import Graph

#: States and rounds that have steps of their own; the rest is one step.
MOST_SUBSET_STEPS, MOST_ROUNDS = 16, 8
#: Members of a set that are named.
_NAMED_MEMBERS = 5


@dataclass(frozen=True)
class CharacterLesson:
    """The steps of an expression over characters. strings: how many it has, in words.

    alphabet: the characters that an edit may write, None for a lesson without edits; edited_strings: as strings, with
    edits.
    """

    tree: Node
    strings: str
    alphabet: Ranges | None = None
    edited_strings: str = ""

    def steps(self) -> Iterator[Step]:
        """All of them. Raises `LimitError` where the next one would be too large."""
        yield self._tree_step()
        nondeterministic = thompson(self.tree)
        yield self._thompson_step(nondeterministic)
        deterministic = determinized(nondeterministic)
        yield from self._subset_steps(deterministic)
        smallest = minimised(deterministic.automaton)
        yield from self._minimal_steps(deterministic.automaton, smallest)
        if self.alphabet is not None:
            yield from self._edit_steps(smallest.automaton, self.alphabet)

    def _tree_step(self) -> Step:
        graph, states = tree_graph(self.tree)
        return Step(
            key="tree",
            stage="tree",
            title="The expression as a tree",
            happened="The expression was parsed: each node of the tree is an operation on the nodes to its right.",
            look="Read it from the left: · puts its parts one after the other, | takes one of its branches, and the "
            "leaves are characters.",
            graph=graph,
            sizes=Sizes(graph.shown_states, len(graph.arcs)),
            states=states,
        )

    def _thompson_step(self, automaton: CharacterAutomaton) -> Step:
        silent = [arc for arc in automaton.arcs if arc.characters == SILENT]
        return Step(
            key="nfa",
            stage="nfa",
            title="A nondeterministic automaton",
            happened="Each node became a small automaton with one way in and one way out, joined as in the tree "
            "(Thompson's construction).",
            look="An arc marked ε reads nothing: where several leave a state, the text does not say which to take."
            if silent
            else "Each state has one way on here, so no arc is marked ε (reads nothing).",
            graph=character_graph(automaton),
            sizes=self._sizes(automaton),
            arcs=tuple(ArcMark(arc.source, arc.target, EPSILON, "current", "Reads nothing.") for arc in silent),
        )

    # -- subset construction -----------------------------------------------------------------------------------------

    def _subset_steps(self, subsets: Determinized) -> Iterator[Step]:
        automaton = subsets.automaton
        shown = min(automaton.states, MOST_SUBSET_STEPS)
        for turn in range(shown):
            yield self._subset_step(subsets, turn)
        if shown < automaton.states:
            new = [arc for arc in automaton.arcs if arc.source >= shown]
            yield Step(
                key="subset-rest",
                stage="subset",
                title=f"The other {automaton.states - shown} states",
                happened=f"The remaining {automaton.states - shown} states got their arcs in the same way.",
                look="No state has two arcs for one character: the next character always says which arc to take.",
                graph=character_graph(automaton),
                sizes=self._sizes(automaton),
                states=_members(subsets, automaton.states),
                arcs=tuple(ArcMark(arc.source, arc.target, label_of(arc.characters), "new") for arc in new),
            )

    def _subset_step(self, subsets: Determinized, turn: int) -> Step:
        """The step in which the state `turn` gets its arcs."""
        whole = subsets.automaton
        arcs = tuple(arc for arc in whole.arcs if arc.source <= turn)
        known = 1 + max((max(arc.source, arc.target) for arc in arcs), default=0)
        part = CharacterAutomaton(known, frozenset(state for state in whole.finals if state < known), arcs)
        before = 1 + max((arc.target for arc in arcs if arc.source < turn), default=0)
        new = [arc for arc in arcs if arc.source == turn]
        members = subsets.members[turn]
        names = ", ".join(map(str, members[:_NAMED_MEMBERS])) + (", …" if len(members) > _NAMED_MEMBERS else "")
        kinds = len(new)
        ways = "No character leads on" if not kinds else f"{kinds} {'way leads' if kinds == 1 else 'ways lead'} on"
        met = list(range(before, known))
        is_last = turn == whole.states - 1
        look = (
            f"{ways}; the set is new, so it becomes state {met[0]}."
            if len(met) == 1
            else f"{ways}, to the new states {met[0]} {'and' if len(met) == 2 else 'to'} {met[-1]}."
            if met
            else f"{ways}, to states that are there already."
            if new
            else f"{ways} from here."
        )
        marks = {mark.state: mark for mark in _members(subsets, known)}
        for state in met:
            marks[state] = StateMark(state, "new", note=marks[state].note)
        marks[turn] = StateMark(turn, "current", note=marks[turn].note)
        return Step(
            key=f"subset-{turn}",
            stage="subset",
            title="A deterministic automaton" if is_last else f"The arcs of state {turn}",
            happened=(
                f"State {turn} stands for "
                + (f"the state {names}" if len(members) == 1 else f"the {len(members)} states {names}")
                + " of the nondeterministic automaton: all states that one text can lead to."
            ),
            look=look + (" No state is left, and no state has two arcs for one character." if is_last else ""),
            graph=character_graph(part),
            sizes=self._sizes(part) if is_last else Sizes(part.states, len(part.arcs)),
            states=tuple(marks.values()),
            arcs=tuple(ArcMark(arc.source, arc.target, label_of(arc.characters), "new") for arc in new),
        )

    # -- minimisation --------------------------------------------------------------------------------------------------

    def _minimal_steps(self, automaton: CharacterAutomaton, minimal: Minimised) -> Iterator[Step]:
        rounds = minimal.rounds[:MOST_ROUNDS]
        graph = character_graph(automaton)
        for number, groups in enumerate(rounds):
            before = minimal.rounds[number - 1] if number else (0,) * automaton.states
            yield self._round_step(graph, number, groups, before, is_last=number == len(minimal.rounds) - 1)
        smallest = minimal.automaton
        merged = [(state, members) for state, members in enumerate(minimal.merged) if len(members) > 1]
        gone = automaton.states - smallest.states
        yield Step(
            key="minimal",
            stage="minimal",
            title="The minimal automaton",
            happened=f"States from which the same texts match became one: {gone} fewer than before."
            if gone
            else "From every two states different texts match, so the automaton was minimal already.",
            look="The marked states are the merged ones; their details name the states they were."
            if merged
            else "This is the smallest deterministic automaton of these strings.",
            graph=character_graph(smallest),
            sizes=self._sizes(smallest),
            states=tuple(
                StateMark(state, "new", note="Was the states " + ", ".join(map(str, members)) + ".")
                for state, members in merged
            ),
        )

    def _round_step(
        self, graph: Graph, number: int, groups: tuple[int, ...], before: tuple[int, ...], *, is_last: bool
    ) -> Step:
        count = len(set(groups) - {NOWHERE})
        # New: the members of a group that broke off an older one.
        oldest: dict[int, int] = {}
        for state, group in enumerate(groups):
            oldest.setdefault(before[state], group)
        broken = {state for state, group in enumerate(groups) if group != oldest[before[state]]}
        letters = {state: _group_name(group) for state, group in enumerate(groups)}
        return Step(
            key=f"minimal-{number}",
            stage="minimal",
            title="Which states are alike?" if not number else f"Round {number}: groups fall apart",
            happened="At first only one thing separates states: whether a match may end in them."
            if not number
            else "States of one group differ if a character leads them into different groups, or leads only some on.",
            look=(
                f"There {'is 1 group' if count == 1 else f'are {count} groups'}; a state bears the letter of its group."
                + (" Another round would find no difference." if is_last else "")
            ),
            graph=graph,
            sizes=Sizes(graph.shown_states, len(graph.arcs)),
            states=tuple(
                StateMark(
                    state,
                    "new" if number and state in broken else "",
                    letter,
                    f"In group {letter}." if letter else "No match can be reached from here.",
                )
                for state, letter in letters.items()
            ),
        )

    # -- edits -----------------------------------------------------------------------------------------------------

    def _edit_steps(self, original: CharacterAutomaton, alphabet: Ranges) -> Iterator[Step]:
        floors = with_one_edit(original, alphabet)
        states = original.states
        up = [arc for arc in floors.arcs if arc.source < states <= arc.target]
        yield Step(
            key="edits-floors",
            stage="edits",
            title="A second floor for edited strings",
            happened="There are two copies of the automaton, and each arc from the first to the second is an edit: it "
            "leaves a character out (ε), replaces it, or puts one in.",
            look=f"The {len(up)} marked arcs lead up, and none leads down: a string has at most one edit.",
            graph=character_graph(floors),
            sizes=Sizes(floors.states, len(floors.arcs), self.edited_strings),
            states=tuple(
                StateMark(
                    state,
                    name=f"{state % states}′" if state >= states else "",
                    note=f"State {state % states}, after an edit." if state >= states else "",
                )
                for state in range(floors.states)
            ),
            arcs=tuple(ArcMark(arc.source, arc.target, label_of(arc.characters), "new") for arc in up),
        )
        edited = minimised(determinized(floors).automaton).automaton
        old = arcs_of_originals(edited, original)
        new = [arc for arc in edited.arcs if (arc.source, arc.target) not in old]
        yield Step(
            key="edits",
            stage="edits",
            title="All strings within one edit",
            happened=f"Subset construction and minimisation again: {edited.states} states where there were {states}.",
            look=f"The unedited strings go along the plain arcs; the {len(new)} marked arcs come from edits.",
            graph=character_graph(edited),
            sizes=Sizes(edited.states, len(edited.arcs), self.edited_strings),
            arcs=tuple(ArcMark(arc.source, arc.target, label_of(arc.characters), "new") for arc in new),
        )

    def _sizes(self, automaton: CharacterAutomaton) -> Sizes:
        return Sizes(automaton.states, len(automaton.arcs), self.strings)


def byte_step(automaton: ByteAutomaton, strings: str) -> Step | None:
    """The split of characters into bytes; None where every character is a byte already."""
    if not (automaton.transitions[:, LAST_ASCII + 1 :] >= 0).any():
        return None
    graph = byte_graph(automaton)
    inside = [state for state in range(automaton.states) if (automaton.transitions[state, 0x80:0xC0] >= 0).any()]
    long = [arc for arc in graph.arcs if (automaton.transitions[arc.source, LAST_ASCII + 1 :] == arc.target).any()]
    return Step(
        key="bytes",
        stage="bytes",
        title="Characters become bytes",
        happened="Tokens are made of bytes, and a character outside ASCII is a sequence of two to four (UTF-8).",
        look=f"The {len(inside)} marked {'state lies' if len(inside) == 1 else 'states lie'} inside a character; bytes "
        "that are no character by themselves are written in hexadecimal.",
        graph=graph,
        sizes=Sizes(automaton.states, len(graph.arcs), strings),
        states=tuple(StateMark(state, "new", note="Inside a character.") for state in inside),
        arcs=tuple(ArcMark(arc.source, arc.target, arc.label, "new") for arc in long),
    )


def _members(subsets: Determinized, known: int) -> tuple[StateMark, ...]:
    return tuple(
        StateMark(state, note="Stands for {" + ", ".join(map(str, subsets.members[state])) + "}.")
        for state in range(known)
    )


def _group_name(group: int) -> str:
    """A, B, ..., Z, AA, AB, ...; nothing for no group."""
    name = ""
    while group >= 0:
        group, letter = divmod(group, 26)
        name = chr(ord("A") + letter) + name
        group -= 1
    return name
