"""Search effort: the same targets with shorter and longer shortlists, and with fewer and more restarts.

    target       G     restart    1       2       3       4       5
    i do n't    10     objective  2.61    0.02    0.02    2.61    1.90      reached from the 2nd restart on
    i do n't    30     objective  0.02    0.03    2.61    0.02    0.02      reached from the 1st on

A restart depends on nothing but the target, its own number and the seed. So the first r of five restarts are a search
with r restarts, and one search has the results of all r up to the most; only another G is another search. Searches do
not stop at the first hit, for that would leave the other restarts unfinished.

A row also has the losses sweep by sweep. Figures 4a and 4b are in `relens.triggers.search.ablation_findings`. No
language model is used.

Source: He and Glass 2019, appendix D.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from relens.setting import Setting
from relens.studies.resumed import rows_of_done_units
from relens.studies.rows import Rows, StudyRow
from relens.studies.study import Study, StudyContext, Unit
from relens.triggers.background import run_in_background
from relens.triggers.check import score
from relens.triggers.hits import HitType
from relens.triggers.model.model_list import check_listed_model
from relens.triggers.objective import EPSILON, INPUT_WEIGHT
from relens.triggers.search.rows import ListRow, SearchRow
from relens.triggers.search.search_settings import (
    METHOD,
    RESTARTS,
    SEARCH_SEED,
    SHORTLIST,
    SWEEPS,
    Method,
    SearchSettings,
)
from relens.triggers.search.trigger_study import TriggerStudy
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
    from relens.triggers.model.dialogue_model import DialogueModel

#: Shortlists and hit types that are compared in one study.
_MOST_COMPARED = 20

#: The beginning of the last part of a unit's key.
_G = "G "


@dataclass(frozen=True)
class AblationStudy(Study):
    """Searches that differ in their effort alone.

    model, lists, count, targets, file, normal, epsilon, input_weight: as in `TriggerStudy`. hit_types: each has
    searches of its own. shortlists: each G. restarts: the most; all smaller numbers come with it. sweeps, seed, method:
    as in `SearchSettings`; greedy "flips" have no shortlist.
    """

    kind: ClassVar[str] = "trigger-ablation"
    title: ClassVar[str] = "Search effort"
    question: ClassVar[str] = "How many words and how many restarts does a search for triggers need?"
    needs_model: ClassVar[bool] = False

    model: Annotated[str, DIALOGUE_MODEL] = "chitchat"
    lists: Annotated[
        tuple[ListName, ...],
        replace(
            LISTS,
            help="Each list has curves of its own. The paper has **normal**, replies that the model gives anyway.",
        ),
    ] = ("normal",)
    count: Annotated[int, COUNT] = 20
    targets: Annotated[tuple[str, ...], OWN_TARGETS] = ()
    file: Annotated[str, TARGET_FILE] = ""
    normal: Annotated[Normal, NORMAL] = "greedy"
    hit_types: Annotated[
        tuple[str, ...],
        Setting(
            "Search for",
            "The conditions for a hit; each has searches and curves of its own.",
            fewest=1,
            most_items=_MOST_COMPARED,
            distinct=True,
        ),
    ] = ("o-greedy",)
    shortlists: Annotated[
        tuple[int, ...],
        replace(
            SHORTLIST,
            help="Several numbers, with commas between them. Each has searches of its own, with so many words tried at "
            "a place.",
            ceiling=None,
            fewest=1,
            most_items=_MOST_COMPARED,
            distinct=True,
        ),
    ] = (10, 30, 100)
    restarts: Annotated[
        int,
        replace(
            RESTARTS,
            label="Restarts at most",
            help="Searches for each target, each from other words. All smaller numbers come with it at no cost.",
        ),
    ] = 10
    sweeps: Annotated[int, SWEEPS] = 50
    method: Annotated[
        Method, replace(METHOD, choices={name: label for name, label in METHOD.choices.items() if name != "flips"})
    ] = "gibbs"
    seed: Annotated[int, SEARCH_SEED] = 0
    epsilon: Annotated[float, EPSILON] = 0.01
    input_weight: Annotated[float, INPUT_WEIGHT] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for hit_type in self.hit_types:
            self.search_for(hit_type, self.shortlists[0])

    def check(self) -> None:
        """See `Study.check`."""
        self.search_for(self.hit_types[0], self.shortlists[0]).check()

    def files(self) -> tuple[str, ...]:
        """See `Study.files`."""
        return (self.file,) if self.file else ()

    def search_for(self, hit_type: str, shortlist: int) -> TriggerStudy:
        """The study that searches for triggers with this G alone."""
        search = SearchSettings(self.method, shortlist, self.sweeps, self.restarts, self.seed)
        return TriggerStudy(
            self.model,
            self.lists,
            self.count,
            self.targets,
            self.file,
            self.normal,
            hit_type,
            search,
            self.epsilon,
            self.input_weight,
        )

    def plan(self) -> Iterator[Unit]:
        """A unit for each target, hit type and G; all of a target before the next."""
        for target in self.search_for(self.hit_types[0], self.shortlists[0]).plan():
            for hit_type in self.hit_types:
                for shortlist in self.shortlists:
                    yield Unit(
                        f"{target.key}, {hit_type}, {_G}{shortlist}",
                        f"{target.label}, {hit_type}, {shortlist:,} words tried",
                    )

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        """The rows of one search, none where its list is shorter. Raises what is wrong with the model or a target."""
        from relens.models.hardware import choose_device, use_physical_cores
        from relens.triggers.search.search_preparation import prepare_search
        from relens.triggers.search.targets import target_ids
        from relens.triggers.search.trigger_search import SearchResult, trigger_search

        list_place, hit_type, shortlist = unit.key.split(", ")
        name, _, number = list_place.rpartition(" ")
        study, place = self.search_for(hit_type, int(shortlist.removeprefix(_G))), int(number)
        use_physical_cores(choose_device())
        preparation = yield from run_in_background(lambda: prepare_search(study))
        targets = preparation.lists[name]
        if (place, hit_type, study.search.shortlist) == (1, self.hit_types[0], self.shortlists[0]):
            yield ListRow(name, len(targets.targets), targets.dropped)
        if place > len(targets.targets):
            return
        model, words = preparation.model, targets.targets[place - 1]
        ids = target_ids(model.vocabulary, words)
        objective = study.objective(model.thresholds)
        curve: list[float] = []
        begun = time.perf_counter()
        for event in trigger_search(model, [ids], objective, study.search):
            if event is None:
                yield None
            elif not isinstance(event, SearchResult):
                curve += [event.reply_value] if curve else [event.reply_before, event.reply_value]
                yield None
            else:
                yield SearchRow(
                    name,
                    place,
                    words,
                    hit_type=study.hit_type,
                    shortlist=study.search.shortlist,
                    objectives=event.values,
                    is_hit=_hits(study, model, ids, event.inputs),
                    sweeps=event.sweeps,
                    tried=event.tried,
                    curve=tuple(curve),
                    candidates=event.candidates,
                    seconds=time.perf_counter() - begun,
                    model=self.model,
                    fingerprint=model.fingerprint,
                )

    def check_resumed(self, rows: Rows) -> None:
        """See `Study.check_resumed`."""
        done = SearchRow.all_in(rows_of_done_units(rows))
        check_listed_model(self.model, (row.fingerprint for row in done))


#: Studies to begin with. After quick training a model has hardly more than one greedy reply, and reaches all likely
#: targets; the effect of effort shows in the list "mal".
PRESETS: dict[str, AblationStudy] = {
    "quick": AblationStudy(
        model="chitchat-quick",
        lists=("normal", "mal"),
        count=10,
        normal="sampled",
        hit_types=("o-sample-avg-k1",),
        shortlists=(1, 3, 10, 30),
        restarts=5,
    ),
    "losses": AblationStudy(
        model="chitchat-quick",
        lists=("normal", "mal", "random"),
        count=4,
        normal="sampled",
        hit_types=("o-greedy", "o-sample-min-k1", "io-sample-min-k1"),
        shortlists=(10,),
        restarts=1,
    ),
    "paper": AblationStudy(model="chitchat-paper", count=100, shortlists=(1, 10, 30, 100, 300)),
}


def _hits(
    study: TriggerStudy, model: DialogueModel, ids: list[int], inputs: tuple[tuple[int, ...], ...]
) -> tuple[bool, ...]:
    """Whether each input is a hit of the search's type, plainly and in float32."""
    losses, costs = model.losses(ids)
    searched, texts = HitType.called(study.hit_type), (losses.prompt.text(row[:-1]) for row in inputs)
    return tuple(score(losses, text, costs).is_hit(searched, model.thresholds) for text in texts)
