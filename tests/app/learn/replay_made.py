"""A recorded search written by hand: The + ` (cat|dog)` under top-k, three states, one match held back by an open path.

0 --The--> 1 --␣cat, ␣dog--> 3        1 --␣c--> 2 --at--> 3
"""

from __future__ import annotations

from typing import Any

from relens.pictures.graphs import Graph, GraphArc

GRAPH = Graph(
    0,
    (3,),
    4,
    (
        GraphArc(0, 1, "The", 1, True),
        GraphArc(1, 3, "␣cat, ␣dog", 2, False),
        GraphArc(1, 2, "␣c", 1, False),
        GraphArc(2, 3, "at", 1, False),
    ),
    (),
    4,
    5,
    "",
)


def entry(kind: str, node: int, path: list[str], state: int, cost: float, token: str | None = None) -> dict[str, Any]:
    return {"kind": kind, "node": node, "token": token, "path": path, "state": state, "cost": cost, "behind": 0}


def made(node: int, parent: int, token: str, state: int, cost: float | None, **more: Any) -> dict[str, Any]:
    return {
        "node": node,
        "parent": parent,
        "token": token,
        "state": state,
        "cost": cost,
        "in_prefix": False,
        "is_match": False,
    } | more


def expanded(node: int, path: list[str], state: int, cost: float | None, why: str, **more: Any) -> dict[str, Any]:
    return {
        "node": node,
        "path": path,
        "state": state,
        "cost": cost,
        "why": why,
        "legal": 3,
        "children": [],
        "children_count": 0,
        "more": False,
        "cut": [],
        "cut_count": 0,
    } | more


def child(token: str, log_prob: float) -> dict[str, Any]:
    return {"token": token, "log_prob": log_prob, "decoder_log_prob": log_prob, "in_prefix": False}


def round_row(number: int, kind: str, **more: Any) -> dict[str, Any]:
    row = {
        "unit": "search",
        "row": "round",
        "round": number,
        "kind": kind,
        "shown": [],
        "asked": [],
        "made": [],
        "frontier": [],
        "open": 0,
        "next_cost": None,
        "waiting": [],
        "forwards": 0,
        "expansions": 0,
        "found_mass": 0.0,
        "remaining_mass": 1.0,
    } | more
    row["open"] = row["open"] or len(row["frontier"])
    if row["frontier"]:
        row["next_cost"] = row["frontier"][0]["cost"]
    return row


def shown(place: int, node: int, text: str, path: list[str], cost: float) -> dict[str, Any]:
    return {
        "place": place,
        "node": node,
        "text": text,
        "path": path,
        "state": 3,
        "cost": cost,
        "prefix_log_prob": -1.0,
        "decoder_log_prob": 1.0 - cost,
        "is_canonical": True,
    }


def replay_rows() -> list[dict[str, Any]]:
    """Begin; expand The; expand `The ␣c` while `The ␣cat` waits for it; show; end."""
    the, cat, letter = ["The"], ["The", "␣cat"], ["The", "␣c"]
    return [
        {"unit": "search", "row": "begin"},
        {"unit": "search", "row": "automaton", "graph": GRAPH.to_json(), "rule": "top-k 40", "strings": 2},
        round_row(
            0, "begin", made=[made(1, 0, "The", 1, 1.0, in_prefix=True)], frontier=[entry("node", 1, the, 1, 1.0)]
        ),
        round_row(
            1,
            "ask",
            asked=[
                expanded(
                    1,
                    the,
                    1,
                    1.0,
                    "cheapest",
                    children=[child("␣c", -0.5), child("␣cat", -2.0)],
                    children_count=2,
                    cut=[{"token": "␣dog", "rank": 213, "log_prob": -7.0}],
                    cut_count=1,
                )
            ],
            made=[made(2, 1, "␣cat", 3, 3.0, is_match=True), made(3, 1, "␣c", 2, 1.5)],
            frontier=[entry("node", 3, letter, 2, 1.5), entry("match", 2, cat, 3, 3.0)],
            waiting=[{"node": 2, "path": cat, "cost": 3.0, "rival": entry("node", 3, letter, 2, 1.5)}],
            forwards=1,
            expansions=1,
        ),
        round_row(
            2,
            "ask",
            asked=[
                expanded(
                    3, letter, 2, 1.5, "cheapest", cut=[{"token": "at", "rank": 41, "log_prob": -9.0}], cut_count=1
                )
            ],
            frontier=[entry("match", 2, cat, 3, 3.0)],
            waiting=[{"node": 2, "path": cat, "cost": 3.0, "rival": None}],
            forwards=2,
            expansions=2,
        ),
        round_row(
            3,
            "show",
            shown=[shown(1, 2, "The cat", cat, 3.0)],
            forwards=2,
            expansions=2,
            found_mass=0.1,
            remaining_mass=0.0,
        ),
        {
            "unit": "search",
            "row": "end",
            "ended": "exhausted",
            "matches": 1,
            "forwards": 2,
            "tokens_computed": 2,
            "expansions": 2,
            "needed": 2,
        },
        {"unit": "search", "row": "done"},
    ]
