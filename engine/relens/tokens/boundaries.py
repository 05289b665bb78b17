r"""Where a pre-tokenizer cuts: an automaton over character classes that guesses every cut, and guesses right.

A byte-level BPE tokenizer first cuts the text into pre-tokens and merges inside each. GPT-2 cuts

    "I'm  42"   ->   I | 'm | ␣ | ␣42

The second space goes with 42 and the first stays alone because `\s+(?!\S)` comes before `\s+`: whether there is a cut
after a space depends on what follows. So the boundary automaton is nondeterministic: at each character it may guess
"the pre-token ends here" or not, and it dies where a guess turns out wrong. It is unambiguous: for every text exactly
one run survives, the one that cuts where the tokenizer does.

A state (thread, H, promise) holds the thread of the regular expression that this run says will win; the set H of
threads the engine prefers to it, of which none may come to a match; and whether the last cut promised that what
follows satisfies a look-ahead. On a cut the run starts again, and keeps H: a preferred, longer match of the old
pre-token must still not succeed. States are then merged by bisimulation: 24 are left for GPT-2.

Pre-tokenizers in a row (SmolLM2: single digits, then GPT-2's) are a product: the second runs inside each piece of the
first, must end where the piece ends, and starts again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from relens.tokens.character_sets import CODE_POINTS, Edges, contains
from relens.tokens.pretokenizer_regex import MATCH, MATCH_IF_AHEAD, PriorityRegex

State = TypeVar("State")
Successors = tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True, eq=False)
class BoundaryAutomaton:
    """An unambiguous automaton over character classes; state 0 is the start, which counts as a boundary.

    class_edges, class_ids: a character belongs to class_ids[i] where class_edges[i] is the greatest edge not above it.
    successors[state][class]: the states that may follow. boundary: (states,), whether a pre-token ends at the state.
    final: (states,), whether the text may end there.
    """

    class_edges: npt.NDArray[np.int64]
    class_ids: npt.NDArray[np.int64]
    successors: Successors
    boundary: npt.NDArray[np.bool_]
    final: npt.NDArray[np.bool_]

    @property
    def classes(self) -> int:
        """Number of character classes."""
        return int(self.class_ids.max()) + 1

    def character_class(self, character: str) -> int:
        """The class of one character."""
        return int(self.class_ids[np.searchsorted(self.class_edges, ord(character), side="right") - 1])

    def pieces(self, text: str) -> list[str]:
        """The pre-tokens of `text`: the cuts of the one surviving run."""
        layers: list[dict[int, int]] = [{0: -1}]
        for character in text:
            number = self.character_class(character)
            layers.append({after: state for state in layers[-1] for after in self.successors[state][number]})
        (state,) = (state for state in layers[-1] if self.final[state])
        cuts = []
        for end in range(len(text), 0, -1):
            if self.boundary[state]:
                cuts.append(end)
            state = layers[end][state]
        cuts.reverse()
        return [text[begin:end] for begin, end in zip([0, *cuts], cuts, strict=False)]


def whole_text() -> BoundaryAutomaton:
    """No cut but the end: the whole text is one pre-token."""
    inside, end = 1, 2
    return BoundaryAutomaton(
        class_edges=np.array([0]),
        class_ids=np.array([0]),
        successors=(((inside, end),), ((inside, end),), ((),)),
        boundary=np.array([True, False, True]),
        final=np.array([True, False, True]),
    )


#: The winning thread (None at a boundary), the threads preferred to it, and whether a look-ahead was promised.
Run = tuple[int | None, frozenset[int], bool]


def from_regex(regex: PriorityRegex) -> BoundaryAutomaton:
    """The boundary automaton of a text that is cut into successive matches of `regex`."""
    sets = [*regex.sets, *([] if regex.refused_ahead is None else [regex.refused_ahead])]
    class_edges, class_ids, member = _classes(sets)
    refused = member[-1] if regex.refused_ahead is not None else np.zeros(member.shape[1], np.bool_)

    def preferred(threads: frozenset[int], number: int) -> frozenset[int] | None:
        """The preferred threads after a character; None if one comes to a match, and so beats this run."""
        alive: set[int] = set()
        for thread in threads:
            if thread == MATCH_IF_AHEAD:
                if not refused[number]:
                    return None
            elif member[thread, number]:
                if MATCH in regex.after[thread]:
                    return None
                alive.update(regex.after[thread])
        return frozenset(alive)

    def follow(state: Run, number: int) -> list[Run]:
        thread, threads, promised = state
        if promised and refused[number]:
            return []
        alive = preferred(threads, number)
        if alive is None:
            return []
        successors: list[Run] = []
        above = set(alive)
        for begin in regex.first if thread is None else [thread]:
            if not member[begin, number]:
                continue
            for after in regex.after[begin]:
                if after == MATCH:
                    successors.append((None, frozenset(above), False))
                    return successors  # everything after this is less preferred than a match
                successors.append(
                    (None, frozenset(above), True) if after == MATCH_IF_AHEAD else (after, frozenset(above), False)
                )
                above.add(after)
        return successors

    start: Run = (None, frozenset(), False)
    return _numbered(
        start,
        follow,
        lambda state: state[0] is None,
        lambda state: state[0] is None and MATCH_IF_AHEAD not in state[1],
        class_edges,
        class_ids,
    )


def compose(first: BoundaryAutomaton, second: BoundaryAutomaton) -> BoundaryAutomaton:
    """`second` cuts each piece of `first`."""
    class_edges = np.union1d(first.class_edges, second.class_edges)
    pairs = np.stack(
        [item.class_ids[np.searchsorted(item.class_edges, class_edges, side="right") - 1] for item in (first, second)]
    )
    both, class_ids = np.unique(pairs, axis=1, return_inverse=True)

    def follow(state: tuple[int, int], number: int) -> list[tuple[int, int]]:
        outer, inner = state
        successors = []
        for next_outer in first.successors[outer][both[0, number]]:
            for next_inner in second.successors[inner][both[1, number]]:
                if not first.boundary[next_outer]:
                    successors.append((next_outer, next_inner))
                elif second.final[next_inner]:
                    successors.append((next_outer, 0))  # the piece ends: the second starts again
        return successors

    return _numbered(
        (0, 0),
        follow,
        lambda state: bool(first.boundary[state[0]] or second.boundary[state[1]]),
        lambda state: bool(first.final[state[0]] and second.final[state[1]]),
        class_edges,
        class_ids.ravel(),
    )


def _classes(sets: Sequence[Edges]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The coarsest classes that respect all sets: edges, class of each stretch, and (sets, classes) membership."""
    edges = np.unique(np.concatenate([[0], *sets]))
    edges = edges[edges < CODE_POINTS]
    member = np.stack([contains(item, edges) for item in sets])
    columns, class_ids = np.unique(member, axis=1, return_inverse=True)
    return edges, class_ids.ravel().astype(np.int64), columns


def _numbered(
    start: State,
    follow: Callable[[State, int], Sequence[State]],
    is_boundary: Callable[[State], bool],
    is_final: Callable[[State], bool],
    class_edges: npt.NDArray[np.int64],
    class_ids: npt.NDArray[np.int64],
) -> BoundaryAutomaton:
    """Explore from `start`, drop what cannot end, and merge what behaves alike."""
    numbers: dict[State, int] = {start: 0}
    todo = deque([start])
    table: list[list[list[int]]] = []
    classes = int(class_ids.max()) + 1
    while todo:
        state = todo.popleft()
        row = []
        for number in range(classes):
            targets = follow(state, number)
            for target in targets:
                if target not in numbers:
                    numbers[target] = len(numbers)
                    todo.append(target)
            row.append([numbers[target] for target in targets])
        table.append(row)
    boundary = [is_boundary(state) for state in numbers]
    final = [is_final(state) for state in numbers]
    return _reduced(table, boundary, final, class_edges, class_ids)


def _reduced(
    table: list[list[list[int]]],
    boundary: list[bool],
    final: list[bool],
    class_edges: npt.NDArray[np.int64],
    class_ids: npt.NDArray[np.int64],
) -> BoundaryAutomaton:
    alive = list(final)
    is_growing = True
    while is_growing:
        is_growing = False
        for state, row in enumerate(table):
            if not alive[state] and any(alive[target] for targets in row for target in targets):
                alive[state] = is_growing = True
    block = [(boundary[state], final[state]) for state in range(len(table))]
    blocks = 0
    kinds: dict[Any, int] = {}
    while True:
        numbers: list[int] = []
        kinds = {}
        for state, row in enumerate(table):
            signature = (
                block[state],
                tuple(frozenset(block[target] for target in targets if alive[target]) for targets in row),
            )
            numbers.append(kinds.setdefault(signature, len(kinds)))
        block = numbers  # type: ignore[assignment]
        if len(kinds) == blocks:
            break
        blocks = len(kinds)
    # Block 0 is the block of the start, since blocks are numbered as they are met.
    kept = sorted({number for state, number in enumerate(numbers) if alive[state]})
    new = {number: index for index, number in enumerate(kept)}
    example = {number: state for state, number in reversed(list(enumerate(numbers)))}
    return BoundaryAutomaton(
        class_edges=class_edges,
        class_ids=class_ids,
        successors=tuple(
            tuple(
                tuple(sorted({new[numbers[target]] for target in targets if alive[target]}))
                for targets in table[example[number]]
            )
            for number in kept
        ),
        boundary=np.array([boundary[example[number]] for number in kept]),
        final=np.array([final[example[number]] for number in kept]),
    )
