"""Searching for triggers as a study: a target is a unit, and its rows have the course and the result of its searches.

    mal 1     the list, once       {"row": "list", "list": "mal", "targets": 20, "dropped": [...]}
              the target           {"row": "target", "list": "mal", "place": 1, "target": ["shut", "up"]}
              sweep by sweep       {"row": "sweep", "sweep": 1, "best": 3.6, "candidates": 4200, "accepted": 32, ...}
              the result           {"row": "trigger", "text": "how are you", "hits": {"o-greedy": false, ...}, ...}
    mal 2     ...

A search is for one hit type. The row of a trigger has the margins of all types for the best restart, and the restarts
that hit. Targets with unknown words are dropped, and listed with their list. The rows are in
`relens.triggers.search.rows`.

No language model is used. Source: He and Glass 2019, sections 4 and 5.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from relens.errors import LimitError, QueryError
from relens.setting import Setting
from relens.studies.resumed import rows_of_done_units
from relens.studies.rows import Rows, StudyRow
from relens.studies.study import Study, StudyContext, Unit
from relens.triggers.background import run_in_background
from relens.triggers.check import score, stored_score
from relens.triggers.hits import HIT_TYPES, HitType, Thresholds
from relens.triggers.model.model_list import check_listed_model, check_name
from relens.triggers.objective import EPSILON, INPUT_WEIGHT, Objective
from relens.triggers.search.rows import ListRow, SweepRow, TargetRow, TriggerRow
from relens.triggers.search.search_settings import PAPER, QUICK, SearchSettings
from relens.triggers.search.targets import FILE, OWN
from relens.triggers.shared_settings import (
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
    from relens.triggers.search.search_preparation import SearchPreparation
    from relens.triggers.search.trigger_search import SearchResult, Sweep

#: Characters of a target that was typed.
LONGEST_TYPED = 500


@dataclass(frozen=True)
class TriggerStudy(Study):
    """Searches for triggers of a dialogue model.

    model: its name. lists, count: `count` targets of each list (see `relens.triggers.search.targets`). targets: more of
    them, as text; file: a file of them, of which `count` are drawn too. normal: how the list "normal" is made.
    hit_type: of the search. epsilon, input_weight: see `relens.triggers.objective`.
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
            help="**normal**: replies of the model itself; shows that the search finds existing triggers. **mal**: "
            "mild insults, refusals and commands. **random**: frequent words in no order; a hit type that is reached "
            "for these is reached for anything.",
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
            "The condition for a hit. **Greedy**: the target is the reply of likeliest words. **Every word likely**: "
            "each word is at least as likely as a word of real replies on average (k = 2: half as likely). **And so is "
            "the input**: the trigger reads like a real sentence too.",
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
        """The objective of the searches."""
        return Objective(HitType.called(self.hit_type), thresholds, self.epsilon, self.input_weight, self.epsilon)

    def hit_types(self) -> tuple[HitType, ...]:
        """The hit types of each trigger's row, that of the search among them."""
        return tuple(dict.fromkeys((*HIT_TYPES, HitType.called(self.hit_type))))

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        """The rows of a target (see the module), none where its list is shorter. Raises what is wrong with both."""
        from relens.models.hardware import choose_device, use_physical_cores
        from relens.triggers.search.search_preparation import prepare_search
        from relens.triggers.search.targets import target_ids
        from relens.triggers.search.trigger_search import SearchResult, trigger_search

        name, _, number = unit.key.rpartition(" ")
        use_physical_cores(choose_device())
        preparation = yield from run_in_background(lambda: prepare_search(self))
        targets, place = preparation.lists[name], int(number)
        if place == 1:
            yield ListRow(name, len(targets.targets), targets.dropped)
        if place > len(targets.targets):
            return
        words = targets.targets[place - 1]
        ids = target_ids(preparation.model.vocabulary, words)
        target = TargetRow(name, place, words)
        yield target
        begun = time.perf_counter()
        objective = self.objective(preparation.model.thresholds)
        for event in trigger_search(preparation.model, [ids], objective, self.search):
            if event is None:
                yield None
                continue
            seconds = time.perf_counter() - begun
            if isinstance(event, SearchResult):
                yield self._trigger_row(preparation, target, ids, event, seconds)
            else:
                yield _sweep_row(preparation, target, event, seconds)

    def check_resumed(self, rows: Rows) -> None:
        """See `Study.check_resumed`."""
        done = TriggerRow.all_in(rows_of_done_units(rows))
        check_listed_model(self.model, (row.score.fingerprint for row in done))

    def _trigger_row(
        self, preparation: SearchPreparation, target: TargetRow, ids: list[int], result: SearchResult, seconds: float
    ) -> TriggerRow:
        model = preparation.model
        losses, costs = model.losses(ids)
        texts = [losses.prompt.text(row[:-1]) for row in result.inputs]
        scores = [score(losses, text, costs) for text in texts]
        searched = HitType.called(self.hit_type)
        return TriggerRow(
            target.list,
            target.place,
            target.target,
            stored_score(losses, costs, texts[result.best], model.thresholds, searched, model.fingerprint),
            seen=preparation.seen.how(ids),
            objective=result.values[result.best],
            restart=result.best,
            inputs=tuple(model.vocabulary.words_of(row) for row in result.inputs),
            objectives=result.values,
            sweeps=result.sweeps,
            restarts_that_hit={
                kind.name: tuple(place for place, one in enumerate(scores) if one.is_hit(kind, model.thresholds))
                for kind in self.hit_types()
            },
            candidates=result.candidates,
            full=result.full,
            gradients=result.gradients,
            model=self.model,
            seconds=seconds,
        )


#: Studies to begin with.
PRESETS: dict[str, TriggerStudy] = {
    "quick": TriggerStudy(model="chitchat-quick", search=QUICK),
    "likely inputs": TriggerStudy(model="chitchat-quick", hit_type="io-sample-min-k1", search=QUICK),
    "paper": TriggerStudy(model="chitchat-paper", count=500),
}


def _sweep_row(preparation: SearchPreparation, target: TargetRow, sweep: Sweep, seconds: float) -> SweepRow:
    return SweepRow(
        target.list,
        target.place,
        target.target,
        sweep=sweep.sweep,
        best=min(sweep.values),
        reply_before=sweep.reply_before,
        reply_value=sweep.reply_value,
        values=sweep.values,
        input=preparation.model.vocabulary.words_of(sweep.best),
        candidates=sweep.candidates,
        accepted=len(sweep.edits),
        searching=sweep.searching,
        seconds=seconds,
    )
