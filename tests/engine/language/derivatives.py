"""Minimal byte automata made a second way: derivatives of the syntax tree instead of OpenFst (Brzozowski, 1964).

Slow and small: an expression is a nested tuple, reading a byte gives another expression, equal expressions are one
state. Partition refinement (Moore, 1956) then makes it minimal.
"""

from __future__ import annotations

import numpy as np

from relens.language.syntax import parse_regex
from relens.language.tree import Alternation, Characters, Concatenation, Group, Node, Repetition
from relens.language.utf8 import byte_sequences

NOTHING, EMPTY = ("none",), ("empty",)


def minimal_table(pattern: str) -> tuple[np.ndarray, np.ndarray]:
    """Transitions (states, 256) and final states, numbered breadth first as ByteAutomaton is."""
    start = expression(parse_regex(pattern))
    numbers, rows = {start: 0}, []
    order = [start]
    for state in order:
        row = [derivative(state, byte) for byte in range(256)]
        for following in dict.fromkeys(row):
            if following not in numbers:
                numbers[following] = len(order)
                order.append(following)
        rows.append([numbers[following] for following in row])
    table, final = np.array(rows), np.array([nullable(state) for state in order])
    part = final.astype(int)
    while True:
        signatures = np.column_stack([part, part[table]])
        _, finer = np.unique(signatures, axis=0, return_inverse=True)
        if finer.max() == part.max() and len(set(finer.tolist())) == len(set(part.tolist())):
            break
        part = finer.ravel()
    return canonical(table, final, part)


def canonical(table: np.ndarray, final: np.ndarray, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    live = final.copy()
    while (grown := live | live[table].any(axis=1)).tolist() != live.tolist():
        live = grown
    representative = {int(block): state for state, block in reversed(list(enumerate(part.tolist())))}
    numbers = {int(part[0]): 0}
    order = [int(part[0])]
    rows = []
    for block in order:
        row = []
        for destination in table[representative[block]].tolist():
            target = int(part[destination])
            if not live[destination]:
                row.append(-1)
                continue
            if target not in numbers:
                numbers[target] = len(order)
                order.append(target)
            row.append(numbers[target])
        rows.append(row)
    return np.array(rows), np.array([bool(final[representative[block]]) for block in order])


def expression(node: Node) -> tuple:
    match node:
        case Characters(ranges=ranges):
            shapes = [shape for low, high in ranges for shape in byte_sequences(low, high)]
            return either(*(after(*(("bytes", low, high) for low, high in shape)) for shape in shapes))
        case Concatenation(items=items):
            return after(*map(expression, items))
        case Alternation(branches=branches):
            return either(*map(expression, branches))
        case Repetition(item=item, minimum=minimum, maximum=maximum):
            one = expression(item)
            tail = star(one) if maximum is None else after(*[either(one, EMPTY)] * (maximum - minimum))
            return after(*[one] * minimum, tail)
        case Group(item=item):
            return expression(item)
    return EMPTY


def after(*items: tuple) -> tuple:
    result = EMPTY
    for item in reversed(items):
        result = join(item, result)
    return result


def join(first: tuple, second: tuple) -> tuple:
    if NOTHING in (first, second):
        return NOTHING
    if first == EMPTY:
        return second
    if second == EMPTY:
        return first
    if first[0] == "then":
        return join(first[1], join(first[2], second))
    return ("then", first, second)


def either(*items: tuple) -> tuple:
    flat = frozenset(inner for item in items for inner in (item[1] if item[0] == "or" else [item])) - {NOTHING}
    if not flat:
        return NOTHING
    return next(iter(flat)) if len(flat) == 1 else ("or", flat)


def star(item: tuple) -> tuple:
    return EMPTY if item in (NOTHING, EMPTY) else item if item[0] == "star" else ("star", item)


def nullable(item: tuple) -> bool:
    match item[0]:
        case "empty" | "star":
            return True
        case "or":
            return any(map(nullable, item[1]))
        case "then":
            return nullable(item[1]) and nullable(item[2])
    return False


def derivative(item: tuple, byte: int) -> tuple:
    match item[0]:
        case "bytes":
            return EMPTY if item[1] <= byte <= item[2] else NOTHING
        case "or":
            return either(*(derivative(inner, byte) for inner in item[1]))
        case "star":
            return join(derivative(item[1], byte), item)
        case "then":
            first = join(derivative(item[1], byte), item[2])
            return either(first, derivative(item[2], byte)) if nullable(item[1]) else first
    return NOTHING
