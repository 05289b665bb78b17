"""The findings of a search for triggers, in numbers and in sentences.

               o-greedy     o-sample-min-k1    o-sample-avg-k1  ...
    normal     14 of 20     19 of 20           20 of 20          shares with Wilson's interval
    mal         0 of 20      1 of 20           11 of 20
    random      0 of 20      0 of 20            0 of 20

"normal" shows that the search finds existing triggers, "random" that the hit type rules something out. The numbers of
"mal" need both for comparison.

Source: He and Glass 2019, section 5.3, tables 3 and 11.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from relens.counted import counted
from relens.paired import proportion
from relens.percent import percent
from relens.statistics import Estimate
from relens.studies.rows import Rows
from relens.triggers.hits import HitType
from relens.triggers.search.rows import ListRow, SweepRow, TriggerRow
from relens.triggers.search.trigger_study import TriggerStudy

#: The targets of a list in a sentence: one of them, and several.
_LISTS = {
    "normal": ("reply that the model gives anyway", "replies that the model gives anyway"),
    "mal": ("reply that it should never give", "replies that it should never give"),
    "random": ("sequence of words in no order", "sequences of words in no order"),
    "own": ("target of your own", "targets of your own"),
    "file": ("target of your file", "targets of your file"),
}

#: Hit types of which the verdict always has the number of hits.
_ALWAYS_SHOWN = ("o-greedy", "o-sample-min-k1", "o-sample-avg-k1")

#: Phrases of the list "mal"; where more targets of it are searched, some are forms of the same phrase for certain.
_PROTOTYPES = 200


@dataclass(frozen=True)
class HitCell:
    """The targets of a list that were reached by a hit type, as counts and as a share.

    hits: by the best restart; hits_of_any: by at least one; share: of `hits`, with Wilson's interval.
    """

    target_list: str
    hit_type: str
    targets: int
    hits: int
    hits_of_any: int
    share: Estimate


@dataclass(frozen=True)
class TriggerFindings:
    """hit_type: that of the study, by its name. sweeps: those of each target, in their order.

    cells: list by list, with the lists and the hit types as they first come.
    """

    hit_type: str
    lists: tuple[ListRow, ...]
    sweeps: tuple[tuple[SweepRow, ...], ...]
    triggers: tuple[TriggerRow, ...]
    cells: tuple[HitCell, ...]

    @property
    def by_list(self) -> dict[str, list[TriggerRow]]:
        """The triggers of each list."""
        return _by_list(self.triggers)

    @property
    def verdict(self) -> tuple[str, ...]:
        """The targets of each list that were reached, and the comparison of the lists."""
        return tuple(_sentences(self)) if self.triggers else ()


def trigger_findings(rows: Rows, study: TriggerStudy) -> TriggerFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    rows = list(rows)
    triggers = tuple(TriggerRow.all_in(rows))
    sweeps: dict[str, list[SweepRow]] = {}
    for sweep in SweepRow.all_in(rows):
        sweeps.setdefault(sweep.unit, []).append(sweep)
    return TriggerFindings(
        hit_type=study.hit_type,
        lists=tuple(ListRow.all_in(rows)),
        sweeps=tuple(map(tuple, sweeps.values())),
        triggers=triggers,
        cells=tuple(_cells(triggers)),
    )


def left_out(dropped: Mapping[str, int]) -> list[str]:
    """A sentence for each list with dropped targets. dropped: their number, by list."""
    return [
        f"Left out of the list {name!r}, for unknown words or too many of them: {count:,}."
        for name, count in dropped.items()
        if count
    ]


def _by_list(triggers: Iterable[TriggerRow]) -> dict[str, list[TriggerRow]]:
    by_list: dict[str, list[TriggerRow]] = {}
    for row in triggers:
        by_list.setdefault(row.list, []).append(row)
    return by_list


def _cells(triggers: Iterable[TriggerRow]) -> Iterator[HitCell]:
    for name, own in _by_list(triggers).items():
        for hit_type in dict.fromkeys(kind for row in own for kind in row.score.margins):
            hits = sum(row.score.is_hit(hit_type) for row in own)
            of_any = sum(bool(row.restarts_that_hit.get(hit_type)) for row in own)
            yield HitCell(name, hit_type, len(own), hits, of_any, proportion(hits, len(own)))


def _sentences(findings: TriggerFindings) -> Iterator[str]:
    hit_type, by_list = findings.hit_type, findings.by_list
    for name in by_list:
        yield _reached([cell for cell in findings.cells if cell.target_list == name], hit_type)
    yield from left_out({row.list: len(row.dropped) for row in findings.lists})
    if len(by_list.get("mal", ())) > _PROTOTYPES:
        yield (
            "The list 'mal' has several forms of each phrase, and an input for one often reaches another: its intervals"
            " are narrower than they should be."
        )
    hits = {name: [row for row in own if row.score.is_hit(hit_type)] for name, own in by_list.items()}
    yield from _seen(hits)
    if 2 * len(hits.get("normal", ())) < len(by_list.get("normal", ())):
        yield (
            "Even of the replies that the model gives anyway most were missed, so a target that was not reached may"
            " well have a trigger."
        )
    noise = hits.get("random", ())
    # A random sequence of a single word may be a real reply.
    if any(not row.seen for row in noise):
        yield "Words in no order were reached too, so this hit type is easy for this model, and hits prove little."
    elif noise:
        yield "The words in no order that were reached stand, by chance, in the replies of the training text."
    rule = HitType.called(hit_type).rule
    if rule != "greedy":
        likely = "every word of the target is" if rule == "min" else "the words of the target are, on average,"
        yield f"A hit by sampling is a claim about a probability: {likely} likely enough. No reply was sampled."


def _reached(cells: Iterable[HitCell], hit_type: str) -> str:
    by_type = {cell.hit_type: cell for cell in cells}
    cell = by_type[hit_type]
    others = [f"{name} for {by_type[name].hits}" for name in _ALWAYS_SHOWN if name in by_type and name != hit_type]
    return (
        f"For {cell.hits} of {counted(cell.targets, *_LISTS.get(cell.target_list, ('target',)))}"
        f" (list {cell.target_list!r}) an input reaches {hit_type}: {percent(cell.share.value)}"
        f" ({percent(cell.share.low)} to {percent(cell.share.high)} with 95 % confidence). The same inputs reach"
        f" {' and '.join(others)}."
    )


def _seen(hits: Mapping[str, list[TriggerRow]]) -> Iterator[str]:
    """The share of new targets among the reached ones; those of "normal" are replies of the model anyway."""
    for name, own in hits.items():
        if name != "normal" and own:
            new = sum(not row.seen for row in own)
            stand = "stands" if new == 1 else "stand"
            yield f"{new} of {len(own)} reached targets of the list {name!r} {stand} nowhere in the training replies."
