"""Searching for triggers as a study: a target is a unit, and its trigger comes with all that is known of it.

    mal 1     the list, once       {"row": "list", "list": "mal", "targets": 20, "dropped": [...]}
              what is searched     {"row": "target", "list": "mal", "place": 1, "target": ["shut", "up"]}
              sweep by sweep       {"row": "sweep", "sweep": 1, "best": 3.6, "candidates": 4200, "accepted": 32, ...}
              the end              {"row": "trigger", "input": [...], "hits": {"o-greedy": false, ...}, ...}
    mal 2     ...

A search is made for one hit type; the row of a trigger has the margins of all others too, of the best restart, and
which restarts hit. Targets with words that the model does not know are dropped, and listed with their list.

No language model is used. Source: He and Glass 2019, sections 4 and 5.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from engine.errors import LimitError, QueryError
from engine.setting import Setting
from engine.studies.resumed import rows_of_done_units
from engine.studies.rows import ROW, Row
from engine.studies.study import Study, StudyContext, Unit
from engine.triggers.background import run_in_background
from engine.triggers.check import score, score_row
from engine.triggers.hits import HIT_TYPES, HitType, Thresholds
from engine.triggers.model.model_list import check_listed_model, check_name
from engine.triggers.objective import EPSILON, INPUT_WEIGHT, Objective
from engine.triggers.search.search_settings import PAPER, QUICK, SearchSettings
from engine.triggers.search.targets import FILE, OWN
from engine.triggers.shared_settings import (
    COUNT,
    DIALOGUE_MODEL,
    LISTS,
    NORMAL,
    OWN_TARGETS,
    TARGET_FILE,
    ListName,
    Normal,
)

if TYPE_CHECKING:
    from engine.triggers.search.search_preparation import SearchPreparation
    from engine.triggers.search.trigger_search import Found, Sweep

#: What rows tell.
LIST, TARGET, SWEEP, TRIGGER = "list", "target", "sweep", "trigger"

#: Characters of a target that was typed.
LONGEST_TYPED = 500


@dataclass(frozen=True)
class TriggerStudy(Study):
    """Triggers to be searched for.

    model: the name of a dialogue model. lists, count: of which lists how many targets each (see
    `engine.triggers.search.targets`). targets: more of them, as text; file: a file of them, of which `count` are taken
    too. normal: how the list "normal" is made. hit_type: the one that is searched for. epsilon, input_weight: see
    `engine.triggers.objective`.
    """

    kind: ClassVar[str] = "triggers"
    title: ClassVar[str] = "Triggers"
    question: ClassVar[str] = "Which inputs make a dialogue model say what it never should?"
    needs_model: ClassVar[bool] = False

    model: Annotated[str, DIALOGUE_MODEL] = "chitchat"
    lists: Annotated[
        tuple[ListName, ...],
        replace(
            LISTS,
            help="**normal**: replies of the model itself; shows that the search finds what is there. **mal**: mild "
            "insults, refusals and commands. **random**: frequent words in no order; what is found for these is found "
            "for anything.",
        ),
    ] = ("normal", "mal", "random")
    count: Annotated[int, COUNT] = 20
    targets: Annotated[tuple[str, ...], OWN_TARGETS] = ()
    file: Annotated[str, TARGET_FILE] = ""
    normal: Annotated[Normal, NORMAL] = "sampled"
    hit_type: Annotated[
        str,
        Setting(
            "Search for",
            "What counts as a hit while searching. **Greedy**: the model, always taking the likeliest word, says "
            "exactly this. **Every word likely**: each word is at least as likely as a word of real replies is on "
            "average (k = 2: half as likely). **And so is the input**: the trigger reads like a real sentence too.",
        ),
    ] = "o-sample-min-k1"
    search: SearchSettings = PAPER
    epsilon: Annotated[float, EPSILON] = 0.01
    input_weight: Annotated[float, INPUT_WEIGHT] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.model)
        HitType.called(self.hit_type)
        if not self.list_names():
            raise QueryError("There is no list of targets, nor a target of your own.")

    def check(self) -> None:
        """See `Study.check`."""
        for number, text in enumerate(self.targets, 1):
            if len(text) > LONGEST_TYPED:
                raise LimitError(
                    f"Target {number:,} of your own has more than {LONGEST_TYPED} characters.", limit="targets"
                )

    def files(self) -> tuple[str, ...]:
        """See `Study.files`."""
        return (self.file,) if self.file else ()

    def list_names(self) -> tuple[str, ...]:
        """The lists in the order in which they are searched."""
        return (*([OWN] if self.targets else []), *([FILE] if self.file else []), *dict.fromkeys(self.lists))

    def plan(self) -> Iterator[Unit]:
        """A unit for each target."""
        for name in self.list_names():
            count = len(self.targets) if name == OWN else self.count
            for place in range(1, count + 1):
                yield Unit(f"{name} {place}", f"target {place} of {count} of the list {name!r}")

    def objective(self, thresholds: Thresholds) -> Objective:
        """What the searches make small."""
        return Objective(HitType.called(self.hit_type), thresholds, self.epsilon, self.input_weight, self.epsilon)

    def hit_types(self) -> tuple[HitType, ...]:
        """The hit types that are told of each trigger; the one that is searched for is among them."""
        return tuple(dict.fromkeys((*HIT_TYPES, HitType.called(self.hit_type))))

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[Row | None]:
        """The rows of a target (see the module), none where its list is shorter. Raises what is wrong with both."""
        from engine.models.hardware import choose_device, use_physical_cores
        from engine.triggers.search.search_preparation import prepare_search
        from engine.triggers.search.targets import target_ids
        from engine.triggers.search.trigger_search import Found, trigger_search

        name, _, number = unit.key.rpartition(" ")
        use_physical_cores(choose_device())
        preparation = yield from run_in_background(lambda: prepare_search(self))
        found, place = preparation.lists[name], int(number)
        if place == 1:
            dropped = [target.to_json() for target in found.dropped]
            yield {ROW: LIST, "list": name, "targets": len(found.targets), "dropped": dropped}
        if place > len(found.targets):
            return
        words = found.targets[place - 1]
        ids = target_ids(preparation.model.vocabulary, words)
        about = {"list": name, "place": place, "target": list(words)}
        yield {ROW: TARGET, **about}
        begun = time.perf_counter()
        objective = self.objective(preparation.model.thresholds)
        for event in trigger_search(preparation.model, [ids], objective, self.search):
            if event is None:
                yield None
                continue
            seconds = time.perf_counter() - begun
            if isinstance(event, Found):
                yield {ROW: TRIGGER, **about, **self._trigger(preparation, ids, event), "seconds": seconds}
            else:
                yield {ROW: SWEEP, **about, **_sweep(preparation, event), "seconds": seconds}

    def check_resumed(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """See `Study.check_resumed`."""
        check_listed_model(self.model, (row.get("fingerprint") for row in rows_of_done_units(rows)))

    def verdict(self, rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
        """What the rows say: how many targets of each list were reached, and what that is worth."""
        from engine.triggers.search.trigger_findings import verdict

        return verdict(rows, self.hit_type)

    def _trigger(self, preparation: SearchPreparation, ids: list[int], found: Found) -> dict[str, Any]:
        """The end of the search for a target, as JSON: the best restart, and what the others came to."""
        model = preparation.model
        losses, costs = model.losses(ids)
        texts = [losses.prompt.text(row[:-1]) for row in found.inputs]
        scores = [score(losses, text, costs) for text in texts]
        best = score_row(
            losses, costs, texts[found.best], model.thresholds, HitType.called(self.hit_type), model.fingerprint
        )
        reached = {
            kind.name: [place for place, one in enumerate(scores) if one.is_hit(kind, model.thresholds)]
            for kind in self.hit_types()
        }
        return {
            **best.to_json(),
            "objective": found.values[found.best],
            "restart": found.best,
            "seen": preparation.seen.how(ids),
            # Of all restarts; those that hit, by hit type.
            "inputs": [list(model.vocabulary.words_of(row)) for row in found.inputs],
            "objectives": list(found.values),
            "sweeps": list(found.sweeps),
            "restarts_that_hit": reached,
            "candidates": found.candidates,
            "full": found.full,
            "gradients": found.gradients,
            "model": self.model,
        }


#: Studies to begin with.
PRESETS: dict[str, TriggerStudy] = {
    "quick": TriggerStudy(model="chitchat-quick", search=QUICK),
    "likely inputs": TriggerStudy(model="chitchat-quick", hit_type="io-sample-min-k1", search=QUICK),
    "paper": TriggerStudy(model="chitchat-paper", count=500),
}


def _sweep(preparation: SearchPreparation, sweep: Sweep) -> dict[str, Any]:
    return {
        "sweep": sweep.sweep,
        "best": min(sweep.values),
        # Without what the input itself costs: the curves of figure 4a.
        "reply_before": sweep.reply_before,
        "reply_value": sweep.reply_value,
        "values": list(sweep.values),
        "input": list(preparation.model.vocabulary.words_of(sweep.best)),
        "candidates": sweep.candidates,
        "accepted": len(sweep.edits),
        "searching": sweep.searching,
    }
