"""The continuous relaxation as a study: twenty targets in one space are a unit.

    embedding normal 1   {"row": "descent", "step": 10, "cost": 2.1, "hits": 3, ...}
                         {"row": "target", "space": "embedding", "list": "normal", "target": [...], "hit": true, ...}
    embedding mal 1
    one-hot normal 1

How many targets a list has is known when the model is asked for them, so a list that is shorter than `count` has units
in which there is nothing to do. No language model is used. What the rows say, Table 1 and Figures 2
and 3, is in `engine.triggers.relaxation.findings`. Source: He and Glass 2019, section 3.1 and appendix A.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from engine.errors import QueryError
from engine.setting import Setting
from engine.studies.resumed import rows_of_done_units
from engine.studies.rows import ROW, Row
from engine.studies.study import Study, StudyContext, Unit
from engine.triggers.background import run_in_background
from engine.triggers.model.model_list import check_listed_model, check_name
from engine.triggers.objective import EPSILON
from engine.triggers.relaxation.settings import (
    AVERAGES_PENALTY,
    DECAY,
    ENDS,
    MOMENTUM,
    PENALTY,
    RATE,
    SPACES,
    STEPS,
    RelaxationSettings,
    Space,
)
from engine.triggers.shared_settings import COUNT, DIALOGUE_MODEL, LISTS, SEED, TARGET_FILE, ListName

if TYPE_CHECKING:
    from engine.triggers.model.dialogue_model import DialogueModel
    from engine.triggers.search.targets import TargetList

#: What rows tell.
DESCENT, TARGET, DROPPED, LIST = "descent", "target", "dropped", "list"


@dataclass(frozen=True)
class RelaxationStudy(Study):
    """A descent for each target of some lists.

    name: of the dialogue model. count: targets of each list, at most. targets: a file of prototypes for "mal", "" for
    those of Relens. penalty, mal_penalty: lambda for most lists and for "mal", in the one-hot space. batch: targets
    that descend side by side, which changes nothing but the time. For the others see
    `engine.triggers.relaxation.settings.RelaxationSettings`.
    """

    kind: ClassVar[str] = "relaxation"
    title: ClassVar[str] = "Continuous relaxation"
    question: ClassVar[str] = "Would the model say this if its input need not be words, and does that help?"
    needs_model: ClassVar[bool] = False

    name: Annotated[str, DIALOGUE_MODEL] = "chitchat"
    spaces: Annotated[
        tuple[Space, ...],
        Setting(
            "Inputs are",
            "**any numbers**: each place has any embedding. **shares of words**: each place is a mixture of words, and "
            "pays for not being one word.",
            fewest=1,
            distinct=True,
            choices={"embedding": "any numbers", "one-hot": "shares of words"},
        ),
    ] = SPACES
    lists: Annotated[
        tuple[ListName, ...],
        replace(LISTS, help="Which targets the numbers are moved for.", fewest=1, distinct=True),
    ] = ("normal", "mal")
    count: Annotated[int, replace(COUNT, most=10_000)] = 100
    targets: Annotated[str, replace(TARGET_FILE, help="Prototypes of the list mal, one a line, UTF-8.")] = ""
    steps: Annotated[int, STEPS] = 1_000
    rate: Annotated[float, RATE] = 1.0
    momentum: Annotated[float, MOMENTUM] = 0.9
    decay: Annotated[float, DECAY] = 1e-5
    penalty: Annotated[float, PENALTY] = 1.0
    mal_penalty: Annotated[
        float,
        replace(
            PENALTY,
            label="One-hot penalty (lambda), list mal",
            help="The same for the list mal, where the paper has less.",
        ),
    ] = 0.1
    averages_penalty: Annotated[bool, AVERAGES_PENALTY] = False
    epsilon: Annotated[float, EPSILON] = 0.01
    ends: Annotated[bool, ENDS] = True
    batch: Annotated[
        int,
        Setting(
            "Targets at once",
            "Targets that descend side by side, which changes nothing but the time. Each needs room for as many "
            "numbers as an input has places times the vocabulary.",
            least=1,
            most=256,
        ),
    ] = 20
    seed: Annotated[int, replace(SEED, help="Another seed begins from other numbers and draws other targets.")] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.name)

    def files(self) -> tuple[str, ...]:
        """See `Study.files`."""
        return (self.targets,) if self.targets else ()

    def plan(self) -> Iterator[Unit]:
        """Of each space and list, the targets `batch` at a time."""
        parts = -(-self.count // self.batch)
        for space in self.spaces:
            for name in self.lists:
                for part in range(1, parts + 1):
                    yield Unit(f"{space} {name} {part}", f"{_LABELS[space]}, list {name!r}, part {part} of {parts}")

    def settings(self, name: str) -> RelaxationSettings:
        """Those of a descent for the list of that name."""
        settings = RelaxationSettings(
            self.steps,
            self.rate,
            self.momentum,
            self.decay,
            self.penalty,
            self.averages_penalty,
            self.epsilon,
            self.ends,
        )
        return replace(settings, penalty=self.mal_penalty) if name == "mal" else settings

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[Row | None]:
        """The rows of a part of a list (see the module). Raises `ModelError` where there is no such model."""
        from engine.models.hardware import choose_device, use_physical_cores
        from engine.triggers.model.dialogue_model import load_dialogue_model
        from engine.triggers.relaxation.descent import DescentProgress, relax
        from engine.triggers.search.targets import check_searchable, target_ids

        space, name, part = unit.key.split(" ")
        device = choose_device()
        use_physical_cores(device)
        model = load_dialogue_model(self.name, device)
        yield None
        listed = yield from run_in_background(lambda: self._list(name, model))
        if self.targets:
            check_searchable([listed])
        if part == "1":
            yield {ROW: LIST, "space": space, "list": name, "targets": len(listed.targets[: self.count])}
            for dropped in listed.dropped:
                yield {ROW: DROPPED, "space": space, "list": name, **dropped.to_json()}
        first = (int(part) - 1) * self.batch
        chosen = listed.targets[: self.count][first : first + self.batch]
        if not chosen:
            return
        ids = [target_ids(model.vocabulary, words) for words in chosen]
        work = relax(model, ids, _space(space), self.settings(name), self.seed)
        while True:
            try:
                progress: DescentProgress | None = next(work)
            except StopIteration as end:
                found = end.value
                break
            if context.stop():
                return
            yield None if progress is None else {ROW: DESCENT, "space": space, "list": name, **progress.to_json()}
        for words, relaxed in zip(chosen, found, strict=True):
            row = relaxed.to_json()
            for key in ("reply", "projected", "projected_reply"):
                row[key] = list(model.vocabulary.words_of(row[key]))
            yield {ROW: TARGET, "space": space, "list": name, "target": list(words), "model": model.fingerprint, **row}

    def check_resumed(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """See `Study.check_resumed`."""
        check_listed_model(self.name, (row.get("model") for row in rows_of_done_units(rows)))

    def _list(self, name: str, model: DialogueModel) -> TargetList:
        from engine.triggers.search.targets import mal_targets, normal_targets, random_targets, read_targets

        if name == "normal":
            return normal_targets(model, self.count, "greedy", self.seed)
        if name == "random":
            return random_targets(model.vocabulary, self.count, self.seed)
        return mal_targets(model.vocabulary, read_targets(self.targets) if self.targets else None)


_LABELS = {"embedding": "any embeddings", "one-hot": "shares of words"}

#: Studies to begin with. The quick one takes some minutes on two free cores.
PRESETS: dict[str, RelaxationStudy] = {
    "quick": RelaxationStudy(name="chitchat-quick", count=20, steps=500),
    "paper": RelaxationStudy(name="chitchat-attention", count=500, steps=4_000),
}


def _space(name: str) -> Space:
    for space in SPACES:
        if space == name:
            return space
    raise QueryError(f"The space is one of {', '.join(SPACES)}, not {name!r}.")
