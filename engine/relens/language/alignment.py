"""The fewest edits that turn one string into another, and which of them where there is a choice.

`sitting` comes from `kitten` by three edits, and there is only one way to do it. But `aab` comes from `ab` by an
insertion before, or after, the first a, and somebody who reads two results wants to see the same case treated alike.

So one alignment is canonical: what both strings begin with, and then what they end with, is left alone; and what
remains is undone from its end, a deletion first where one leads back along a cheapest way, then a substitution, then an
insertion, then a character that stays. It is the alignment of rapidfuzz's `Levenshtein.editops`, whenever all
kinds of edit are allowed, and it holds also when some are not: exchanging an edit with a character that stays, so that
the edit comes later, writes the same characters.

With at most d edits an alignment strays at most d from the diagonal, so this takes time (length x d).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

Operation = Literal["insertion", "deletion", "substitution"]


class Step(NamedTuple):
    """An edit between `source[source_position]` and `target[target_position]`; an insertion stands before the former,
    a deletion before the latter."""

    operation: Operation
    source_position: int
    target_position: int


class EditRules(NamedTuple):
    """Which edits are allowed; `writable` says of a character whether an edit may write it."""

    insertions: bool
    deletions: bool
    substitutions: bool
    writable: Callable[[str], bool]


def align(source: str, target: str, distance: int, rules: EditRules) -> list[Step] | None:
    """The canonical edits from `source` to `target` in the order of their places; None if more than `distance`."""
    begin = _common_length(source, target)
    end = _common_length(source[begin:][::-1], target[begin:][::-1])
    middle, written = source[begin : len(source) - end], target[begin : len(target) - end]
    costs = _costs(middle, written, distance, rules)
    if (len(middle), len(written)) not in costs:
        return None
    steps = []
    row, column = len(middle), len(written)
    while row or column:
        cost = costs[row, column]
        operation = _last_operation(middle, written, row, column, costs, rules)
        row -= operation != "insertion"
        column -= operation != "deletion"
        if operation is not None:
            steps.append(Step(operation, begin + row, begin + column))
            assert costs[row, column] == cost - 1
    return steps[::-1]


def _costs(source: str, target: str, distance: int, rules: EditRules) -> dict[tuple[int, int], int]:
    """The fewest edits from source[:row] to target[:column], where they are at most `distance`."""
    costs = {(0, 0): 0}
    writable = [rules.writable(character) for character in target]
    for row in range(len(source) + 1):
        for column in range(max(0, row - distance), min(len(target), row + distance) + 1):
            options = [costs[row, column]] if (row, column) in costs else []
            if row and column and (before := costs.get((row - 1, column - 1))) is not None:
                if source[row - 1] == target[column - 1]:
                    options.append(before)
                elif rules.substitutions and writable[column - 1]:
                    options.append(before + 1)
            if row and rules.deletions and (before := costs.get((row - 1, column))) is not None:
                options.append(before + 1)
            if column and rules.insertions and writable[column - 1]:
                before = costs.get((row, column - 1))
                options += [before + 1] if before is not None else []
            if options and min(options) <= distance:
                costs[row, column] = min(options)
    return costs


def _last_operation(
    source: str, target: str, row: int, column: int, costs: dict[tuple[int, int], int], rules: EditRules
) -> Operation | None:
    """The preferred last step of a cheapest way to (row, column); None for a character that stays."""
    before = costs[row, column] - 1
    if row and rules.deletions and costs.get((row - 1, column)) == before:
        return "deletion"
    writable = column > 0 and rules.writable(target[column - 1])
    differs = row > 0 and column > 0 and source[row - 1] != target[column - 1]
    if differs and writable and rules.substitutions and costs.get((row - 1, column - 1)) == before:
        return "substitution"
    if writable and rules.insertions and costs.get((row, column - 1)) == before:
        return "insertion"
    return None


def _common_length(left: str, right: str) -> int:
    """How many characters two strings begin with in common."""
    length = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        length += 1
    return length
