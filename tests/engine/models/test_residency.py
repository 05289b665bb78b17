"""Slots against a dictionary that does the same one node at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from relens.models.residency import ABSENT, Residency

LIMIT = 12


class Slots(RuleBasedStateMachine):
    """A model of the table: when each resident node was last needed."""

    def __init__(self) -> None:
        super().__init__()
        self.residency = Residency(LIMIT)
        self.last_needed: dict[int, int] = {}
        self.slots: dict[int, int] = {}
        self.clock = 0

    @rule(needed=st.sets(st.integers(0, 3000), min_size=1, max_size=LIMIT))
    def place(self, needed: set[int]) -> None:
        self.clock += 1
        nodes = np.array(sorted(needed), np.int64)
        new = nodes[self.residency.slots(nodes) == ABSENT]
        assert set(new.tolist()) == needed - set(self.slots)
        given_slots = self.residency.place(nodes, new)
        lost = {node for node in self.slots if self.residency.slots(np.array([node]))[0] == ABSENT}
        assert not lost & needed
        assert len(lost) == max(0, len(self.slots) + len(new) - LIMIT)
        kept = set(self.slots) - needed - lost
        # No evicted node was needed later than a kept one.
        assert max((self.last_needed[node] for node in lost), default=0) <= min(
            (self.last_needed[node] for node in kept), default=self.clock
        )
        for node in lost:
            del self.slots[node]
        self.slots.update(zip(new.tolist(), given_slots.tolist(), strict=True))
        self.last_needed.update(dict.fromkeys(needed, self.clock))

    @rule(nodes=st.lists(st.integers(0, 3000), max_size=5, unique=True))
    def drop(self, nodes: list[int]) -> None:
        self.residency.drop(np.array(nodes, np.int64))
        for node in nodes:
            self.slots.pop(node, None)

    @invariant()
    def slots_agree(self) -> None:
        assert len(self.residency) == len(self.slots)
        assert self.residency.used <= LIMIT
        nodes = np.array(sorted(self.slots), np.int64)
        assert self.residency.slots(nodes).tolist() == [self.slots[node] for node in nodes.tolist()]
        assert len(set(self.slots.values())) == len(self.slots)
        assert all(0 <= slot < self.residency.used for slot in self.slots.values())


TestSlots = Slots.TestCase


@given(st.lists(st.integers(0, 100_000), min_size=1, unique=True))
def test_unknown_nodes_are_absent(nodes: list[int]) -> None:
    assert (Residency(4).slots(np.array(nodes, np.int64)) == ABSENT).all()
