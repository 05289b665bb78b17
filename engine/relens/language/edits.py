r"""All strings within one or two edits of a language (Vladimir Levenshtein, 1965).

The automaton of `cat` stands on floor 0 and once more on floor 1, for when an edit has been made:

    floor 0    0 --c--> 1 --a--> 2 --t--> 3
    floor 1    0'--c--> 1'--a--> 2'--t--> 3'           final: 3 and 3'

    1 --ε--> 2'                                        the a deleted: on as if it had been read
    1 --any character of the alphabet--> 1w --ε--> 2'  the a replaced
                                         1w --ε--> 1'  something inserted before it

The state 1w, "something was written", serves insertion and all substitutions alike. So each state has one arc a
character of the alphabet, and not one for every character that it might replace: what the marker does in Gorman and
Sproat's factored edit transducer ("Finite-State Text Processing", 2021, and `pynini.lib.edit_transducer`). The
composition of the two is written down directly, silent steps are removed, and the automaton is made deterministic and
minimal (ReLM section 3.4).

Edits are of characters, and so all this happens before the split into bytes: é becomes a by one edit, where of bytes it
would take two. It happens on classes of characters that neither the expression nor the alphabet tells apart. An
automaton within k edits of the 20 strings of a template then has two dozen labels, not the hundred of printable ASCII.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from relens.language.automaton import ByteAutomaton
from relens.language.character_classes import CharacterArcs, spelled
from relens.language.characters import Ranges
from relens.language.deterministic import automaton_of_arcs, check_working_arcs
from relens.language.openfst import Arcs, minimal
from relens.language.tree import Node
from relens.language.utf8 import LAST_ASCII
from relens.query import Edits, Limits

Integers = npt.NDArray[np.int64]


class EditedLanguage:
    """The languages within 1, 2, ... edits of an expression, made from one minimal automaton over characters."""

    def __init__(self, tree: Node, edits: Edits, alphabet: Ranges, limits: Limits, subject: str) -> None:
        """`tree` must be one that compiles within `limits` itself. subject: what is compiled, for messages.

        Raises `LimitError`.
        """
        self._edits, self._limits, self._subject = edits, limits, subject
        characters = CharacterArcs(tree, alphabet, subject)
        self._classes, self._written = characters.classes, characters.extra
        self._unedited = minimal(characters.arcs, limits.automaton_states, subject)

    def within(self, distance: int) -> ByteAutomaton:
        """The minimal automaton of all strings that at most `distance` edits make. Raises `LimitError`."""
        subject = f"{self._subject} within {distance} {'edit' if distance == 1 else 'edits'}"
        edited = minimal(self._floors(distance, subject), self._limits.automaton_states, subject)
        arcs = spelled(edited, self._classes, subject)
        is_ascii = not (arcs.highs > LAST_ASCII).any()
        return automaton_of_arcs(arcs, self._limits, subject, is_deterministic=is_ascii)

    def _floors(self, distance: int, subject: str) -> Arcs:
        """The automaton drawn above: state q on floor f is f * states + q.

        Behind all floors come, in the same order, the states for "something was written".
        """
        unedited, edits = self._unedited, self._edits
        states, alphabet = len(unedited.final), len(self._written)
        writes = edits.insertions or edits.substitutions
        check_working_arcs((distance + 1) * (len(unedited.labels) + writes * states * alphabet), subject)
        every = np.arange(states)
        before, after = np.divmod(np.unique(unedited.sources * states + unedited.destinations), states)
        columns: list[tuple[Integers, Integers, Integers]] = []

        def silent(sources: Integers, destinations: Integers) -> None:
            columns.append((sources, np.zeros(len(sources), np.int64), destinations))

        for floor in range(distance + 1):
            here, above = floor * states, (floor + 1) * states
            columns.append((unedited.sources + here, unedited.labels, unedited.destinations + here))
            if floor == distance:
                break
            written = (distance + 1) * states + here
            if edits.deletions:
                silent(before + here, after + above)
            if writes:
                from_each, to_each = np.repeat(every + here, alphabet), np.repeat(every + written, alphabet)
                columns.append((from_each, np.tile(self._written + 1, states), to_each))
            if edits.substitutions:
                silent(before + written, after + above)
            if edits.insertions:
                silent(every + written, every + above)
        sources, labels, destinations = map(np.concatenate, zip(*columns, strict=True))
        final = np.concatenate([np.tile(unedited.final, distance + 1), np.zeros(distance * states, np.bool_)])
        return Arcs(sources, labels, destinations, final, unedited.start)
