"""What a traversal of tables must find: every path, every score, by exhaustive enumeration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from hypothesis import strategies as st

from relens.query import Decoding
from relens.traversal.legal import Ending
from tests.engine.traversal.tables import TableAutomaton, TableScorer

VOCABULARY = 7
END_OF_TEXT = 6


@dataclass
class Truth:
    token_ids: tuple[int, ...]
    ended: bool
    prefix_tokens: int
    prefix_log_prob: float
    log_prob: float
    decoder_log_prob: float
    log_weight: float


def kept_by_rule(row: torch.Tensor, decoding: Decoding) -> tuple[torch.Tensor, set[int]]:
    """The tempered distribution and the tokens kept, the long way: sort everything and count."""
    after = torch.log_softmax(row.double() / decoding.temperature, dim=0).tolist()
    order = sorted(range(len(after)), key=lambda token: -after[token])
    kept = set(range(len(after)))
    if decoding.top_k is not None and decoding.top_k < len(after):
        least = after[order[decoding.top_k - 1]]
        kept &= {token for token in kept if after[token] >= least - 1e-6}
    if decoding.top_p is not None and decoding.top_p < 1:
        total = 0.0
        for token in order:
            total += math.exp(after[token])
            least = after[token]
            if total >= decoding.top_p:
                break
        kept &= {token for token in range(len(after)) if after[token] >= least - 1e-6}
    return torch.tensor(after, dtype=torch.float64), kept


def enumerate_matches(
    automaton: TableAutomaton, scorer: TableScorer, decoding: Decoding, longest: int, ending: Ending
) -> list[Truth]:
    """Every match with its scores; of a settling end, a match that could go on is one only with end-of-text."""
    truths = []
    literal = True
    state = automaton.start
    while literal and automaton.arcs(state).in_prefix.any():
        literal = len(automaton.arcs(state).tokens) == 1 and not automaton.is_final(state)
        state = automaton.step(state, int(automaton.arcs(state).tokens[0]))
    for path in automaton.paths(longest):
        prefix_log_prob = log_prob = decoder_log_prob = log_weight = 0.0
        state, prefix_tokens, possible = automaton.start, 0, True
        goes_on = len(path) < longest and len(automaton.arcs(end_state(automaton, path)).tokens) > 0
        ends = ending.when == "demanded" or (ending.when == "settling" and goes_on)
        steps = list(path) + ([ending.token] if ends else [])
        for position, token in enumerate(steps):
            before = scorer.row(path[:position])
            after, kept = kept_by_rule(before, decoding)
            target = automaton.step(state, token) if position < len(path) else -1
            has_prefix_arcs = any(automaton.arcs(state).in_prefix)
            if has_prefix_arcs and not literal:
                log_weight += float(before[token])
            if target in automaton.in_prefix:
                prefix_tokens += 1
                if position > 0 or scorer.scores_root:
                    prefix_log_prob += float(before[token])
            else:
                possible &= token in kept
                log_prob += float(after[token])
                norm = torch.logsumexp(after[sorted(kept)], dim=0) if len(kept) < len(after) else torch.tensor(0.0)
                decoder_log_prob += float(after[token] - norm)
                if not has_prefix_arcs:
                    log_weight += float(after[token] - norm)
            state = target
        if possible:
            truths.append(Truth(path, ends, prefix_tokens, prefix_log_prob, log_prob, decoder_log_prob, log_weight))
    return truths


def end_state(automaton: TableAutomaton, path: tuple[int, ...]) -> int:
    state = automaton.start
    for token in path:
        state = automaton.step(state, token)
    return state


def true_mass(truths: list[Truth], ending: Ending) -> float:
    """Each match that extends another left out, where the end does not tell them apart."""
    accepted = {truth.token_ids for truth in truths}
    total = 0.0
    for truth in truths:
        extends = any(truth.token_ids[:length] in accepted for length in range(len(truth.token_ids)))
        if ending.when != "never" or not extends:
            total += math.exp(truth.log_weight)
    return total


@st.composite
def automata(draw: st.DrawFn) -> TableAutomaton:
    """Random automata with cycles, in which a first part of the states lies inside the prefix; no dead ends."""
    count = draw(st.integers(2, 6))
    prefix_count = draw(st.integers(0, count - 1))
    table: dict[int, dict[int, int]] = {}
    for state in range(count):
        tokens = draw(st.lists(st.integers(0, VOCABULARY - 2), max_size=3, unique=True))
        # A prefix state is never reached again once it was left.
        least = 0 if state < prefix_count else prefix_count
        table[state] = {token: draw(st.integers(least, count - 1)) for token in tokens}
    finals = set(draw(st.lists(st.integers(prefix_count, count - 1), min_size=1, unique=True)))
    reaching = set(finals)
    for _ in range(count):
        reaching |= {state for state, row in table.items() if set(row.values()) & reaching}
    table = {
        state: {token: target for token, target in row.items() if target in reaching} for state, row in table.items()
    }
    return TableAutomaton(table, finals, set(range(prefix_count)))


decodings = st.builds(
    Decoding,
    top_k=st.none() | st.integers(1, 5),
    top_p=st.none() | st.floats(0.2, 1.0),
    temperature=st.sampled_from([1.0, 1.0, 0.5, 1.7]),
)
