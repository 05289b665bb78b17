"""Many searches, one model: every forward is filled with what all of them need.

A search alone needs few nodes at a time: the first forward of a query is one node, the next two. A hundred
queries side by side need a hundred. So a round goes through the searches that are under way, each in its turn gathers
some nodes until the forward is full, the model runs once, and each gets its own rows back:

    search 1   nodes a, b          forward: a b c d e        1 <- rows 0, 1
    search 2   node c                                        2 <- row 2
    search 3   nodes d, e                                    3 <- rows 3, 4

The next round begins with the search behind the last one served, so that nobody waits for ever. Searches begin only as
there is room for them, since the keys and values of every text under way are held, and attention in one forward looks
at all that are held. What searches have in common, such as the beginnings of their prefixes, is computed once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from relens.errors import RelensError
from relens.models.scoring import Scorer
from relens.models.shared_scorer import ScorerView, SharedScorer
from relens.query import Decoding
from relens.traversal.search import Search, TokenMatch
from relens.traversal.selection import select_children

#: No more searches are begun while those under way hold so many tokens: attention in a forward looks at all of them.
MOST_HELD_TOKENS = 2048

Key = TypeVar("Key", bound=Hashable)


class BatchSize(Protocol):
    """How many nodes to give to the model at once."""

    @property
    def size(self) -> int:
        """The size to use now."""

    def observe(self, size: int, seconds: float) -> None:
        """A forward of `size` tokens took `seconds`."""


#: Makes a search for the scorer it is given; raises what the search raises.
Beginning = Callable[[Scorer], Search]


class Round(NamedTuple, Generic[Key]):
    """One round's matches, each with the key of its search; searches that ended; searches that cannot begin."""

    matches: list[tuple[Key, TokenMatch]]
    ended: list[tuple[Key, Search]]
    refused: list[tuple[Key, RelensError]]


class _UnderWay(NamedTuple, Generic[Key]):
    key: Key
    search: Search
    view: ScorerView


class Scheduler(Generic[Key]):
    """Drives searches, each begun when there is room for it.

    beginnings: the searches with a key each, in the order in which to begin them; several may have the same key.
    """

    def __init__(self, beginnings: Iterable[tuple[Key, Beginning]], scorer: Scorer, batch: BatchSize) -> None:
        self._shared = SharedScorer(scorer)
        self._batch = batch
        self._beginnings: Iterator[tuple[Key, Beginning]] = iter(beginnings)
        self._next: tuple[Key, Beginning] | None = next(self._beginnings, None)
        self._under_way: deque[_UnderWay[Key]] = deque()
        self._dropped: set[Key] = set()
        self._refused: list[tuple[Key, RelensError]] = []
        self._begin_more()

    @property
    def finished(self) -> bool:
        """Whether no search is left."""
        return not self._under_way and self._next is None and not self._refused

    def searches(self, key: Key) -> list[Search]:
        """The searches of that key that are under way."""
        return [item.search for item in self._under_way if item.key == key]

    def take_refused(self) -> list[tuple[Key, RelensError]]:
        """The searches that could not begin; each is reported once, here or in a round."""
        refused, self._refused = self._refused, []
        return refused

    def drop(self, key: Key) -> None:
        """Give up the searches of that key, begun or not."""
        self._dropped.add(key)
        for item in [item for item in self._under_way if item.key == key]:
            self._under_way.remove(item)
            item.view.close()
        self._skip_dropped()

    def step(self, matches_left: Callable[[Key], int | None]) -> Round[Key]:
        """One round: at most one forward. matches_left: how many more matches a key may have, None for any number.

        A search with matches ready needs no distribution in this round; if all have, there is no forward.
        """
        self._begin_more()
        matches: list[tuple[Key, TokenMatch]] = []
        served: list[_UnderWay[Key]] = []
        in_forward = 0
        room = self._batch.size
        share = max(1, room // max(1, len(self._under_way)))
        for _ in range(len(self._under_way)):
            if in_forward >= room:
                break
            item = self._under_way.popleft()
            self._under_way.append(item)
            more = matches_left(item.key)
            if more is not None:
                more -= sum(key == item.key for key, _ in matches)
            if more is None or more > 0:
                matches += [(item.key, match) for match in item.search.gather(share, more)]
            if item.search.pending:
                served.append(item)
                in_forward += len(item.search.pending)
        if served:
            self._forward(served)
        result = Round(matches, self._take_ended(), self.take_refused())
        if self._under_way and not served and not any(result):
            # A bug of ours must not become an endless loop.
            raise RuntimeError("A search neither needs a distribution, nor has a match, nor ends.")
        return result

    def _begin_more(self) -> None:
        while (
            self._next is not None
            and len(self._under_way) < self._batch.size
            and (not self._under_way or self._shared.held_tokens < MOST_HELD_TOKENS)
        ):
            key, begin = self._next
            self._next = next(self._beginnings, None)
            self._skip_dropped()
            view = self._shared.view()
            try:
                self._under_way.append(_UnderWay(key, begin(view), view))
            except RelensError as error:
                self._refused.append((key, error))

    def _skip_dropped(self) -> None:
        while self._next is not None and self._next[0] in self._dropped:
            self._next = next(self._beginnings, None)

    def _forward(self, served: list[_UnderWay[Key]]) -> None:
        """One forward for all pending nodes, each place once, and to each search what was selected for it."""
        scorer = self._shared.scorer
        pending = [item.view.places(item.search.pending) for item in served]
        nodes, rows = np.unique(np.concatenate(pending), return_inverse=True)
        computed, seconds = scorer.counts.tokens_computed, scorer.counts.seconds
        log_probs = scorer.log_probs(nodes.tolist())
        self._batch.observe(scorer.counts.tokens_computed - computed, scorer.counts.seconds - seconds)
        ends = np.cumsum([len(part) for part in pending])
        groups: dict[tuple[Decoding, bool], list[tuple[Search, npt.NDArray[np.intp]]]] = {}
        for item, own in zip(served, np.split(rows, ends[:-1]), strict=True):
            groups.setdefault((item.search.decoding, item.search.joint), []).append((item.search, own))
        for (decoding, joint), members in groups.items():
            # All at once, because a rule costs as much for one distribution as for ten.
            _hand_out(log_probs, members, decoding, joint)

    def _take_ended(self) -> list[tuple[Key, Search]]:
        ended = [item for item in self._under_way if item.search.ended]
        for item in ended:
            self._under_way.remove(item)
            item.view.close()
        return [(item.key, item.search) for item in ended]


def _hand_out(
    log_probs: torch.Tensor, members: list[tuple[Search, npt.NDArray[np.intp]]], decoding: Decoding, joint: bool
) -> None:
    """Select for searches with the same rule, each with the rows of its pending nodes, and let them receive it."""
    rows = np.concatenate([own for _, own in members]).tolist()
    requests = [request for search, _ in members for request in search.requests()]
    requests = [replace(request, row=row) for request, row in zip(requests, rows, strict=True)]
    selected = select_children(log_probs, requests, decoding, joint=joint)
    first = 0
    for search, own in members:
        search.receive(selected[first : first + len(own)])
        first += len(own)
