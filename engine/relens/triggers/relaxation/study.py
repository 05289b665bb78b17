"""The continuous relaxation as a study: a unit is a descent for some targets of one list in one space.

    embedding normal 1   {"row": "descent", "step": 10, "cost": 2.1, "hits": 3, ...}
                         {"row": "target", "space": "embedding", "list": "normal", "target": [...], "hit": true, ...}
    embedding mal 1
    one-hot normal 1

A list may have fewer targets than `count`; its last units are empty then. Source: He and Glass 2019, section 3.1 and
appendix A.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, cast

from relens.setting import Setting
from relens.studies.resumed import rows_of_done_units
from relens.studies.rows import Rows, StudyRow
from relens.studies.study import Study, StudyContext, Unit
from relens.triggers.background import reported, run_in_background
from relens.triggers.model.model_list import check_listed_model, check_name
from relens.triggers.relaxation.rows import DescentStep, LeftOut, ListLength, RelaxedTarget
from relens.triggers.relaxation.settings import PENALTY, SPACE_LABELS, SPACES, RelaxationSettings, Space
from relens.triggers.shared_settings import COUNT, DIALOGUE_MODEL, LISTS, SEED, TARGET_FILE, ListName

if TYPE_CHECKING:
    from relens.triggers.model.dialogue_model import DialogueModel
    from relens.triggers.search.targets import TargetList


@dataclass(frozen=True)
class RelaxationStudy(RelaxationSettings, Study):
    """A descent for each target of some lists.

    name: of the dialogue model. count: the most targets of each list. targets: a file of prototypes for "mal", "" for
    those of Relens. penalty, mal_penalty: lambda for most lists and for "mal", in the one-hot space. batch: targets
    of one descent, which changes nothing but the time. For the others see `RelaxationSettings`.
    """

    kind: ClassVar[str] = "relaxation"
    title: ClassVar[str] = "Continuous relaxation"
    question: ClassVar[str] = (
        "Which replies can gradient descent on the input reach, and do the nearest words reach them?"
    )
    needs_model: ClassVar[bool] = False

    name: Annotated[str, DIALOGUE_MODEL] = "chitchat"
    spaces: Annotated[
        tuple[Space, ...],
        Setting(
            "Inputs",
            "**any embeddings**: each place is any vector. **mixtures of words**: each place has a share of each word, "
            "with a penalty for not being one word.",
            fewest=1,
            distinct=True,
            choices=SPACE_LABELS,
        ),
    ] = SPACES
    lists: Annotated[
        tuple[ListName, ...],
        replace(LISTS, help="Targets of the descent.", fewest=1, distinct=True),
    ] = ("normal", "mal")
    count: Annotated[int, replace(COUNT, most=10_000)] = 100
    targets: Annotated[str, replace(TARGET_FILE, help="Prototypes of the list mal, one a line, UTF-8.")] = ""
    mal_penalty: Annotated[
        float,
        replace(
            PENALTY,
            label="One-hot penalty (lambda), list mal",
            help="The same for the list mal; lower in the paper.",
        ),
    ] = 0.1
    batch: Annotated[
        int,
        Setting(
            "Targets at once",
            "Targets of one descent, which changes nothing but the time. Each takes memory for the places of an input "
            "times the vocabulary.",
            least=1,
            most=256,
        ),
    ] = 20
    seed: Annotated[int, replace(SEED, help="Another seed: other first inputs and other targets.")] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.name)

    def files(self) -> tuple[str, ...]:
        """See `Study.files`."""
        return (self.targets,) if self.targets else ()

    def plan(self) -> Iterator[Unit]:
        """For each space and list, the targets `batch` at a time."""
        parts = -(-self.count // self.batch)
        for space in self.spaces:
            for name in self.lists:
                for part in range(1, parts + 1):
                    yield Unit(
                        f"{space} {name} {part}", f"{SPACE_LABELS[space]}, list {name!r}, part {part} of {parts}"
                    )

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        """See `Study.carry_out`. Raises `ModelError` where there is no such model."""
        from relens.models.hardware import choose_device, use_physical_cores
        from relens.triggers.model.dialogue_model import load_dialogue_model
        from relens.triggers.relaxation.descent import relax
        from relens.triggers.search.targets import check_searchable, target_ids

        space_name, name, part = unit.key.split(" ")
        space = cast(Space, space_name)
        device = choose_device()
        use_physical_cores(device)
        model = load_dialogue_model(self.name, device)
        yield None
        listed = yield from run_in_background(lambda: self._list(name, model))
        if self.targets:
            check_searchable([listed])
        if part == "1":
            yield ListLength(space, name, len(listed.targets[: self.count]))
            for dropped in listed.dropped:
                yield LeftOut(space, name, **vars(dropped))
        first = (int(part) - 1) * self.batch
        targets = listed.targets[: self.count][first : first + self.batch]
        if not targets:
            return
        ids = [target_ids(model.vocabulary, words) for words in targets]
        settings = replace(self, penalty=self.mal_penalty) if name == "mal" else self
        descent = relax(model, ids, space, settings, self.seed)
        outcomes = yield from reported(descent, lambda progress: DescentStep(space, name, **vars(progress)))
        for target, relaxed in zip(targets, outcomes, strict=True):
            said = {
                key: model.vocabulary.words_of(getattr(relaxed, key))
                for key in ("reply", "projected", "projected_reply")
            }
            yield RelaxedTarget(space, name, target=target, model=model.fingerprint, **vars(relaxed) | said)

    def check_resumed(self, rows: Rows) -> None:
        """See `Study.check_resumed`."""
        check_listed_model(self.name, (row.model for row in RelaxedTarget.all_in(rows_of_done_units(rows))))

    def _list(self, name: str, model: DialogueModel) -> TargetList:
        from relens.triggers.search.targets import mal_targets, normal_targets, random_targets, read_targets

        if name == "normal":
            return normal_targets(model, self.count, "greedy", self.seed)
        if name == "random":
            return random_targets(model.vocabulary, self.count, self.seed)
        return mal_targets(model.vocabulary, read_targets(self.targets) if self.targets else None)


#: The quick one takes some minutes on two free cores.
PRESETS: dict[str, RelaxationStudy] = {
    "quick": RelaxationStudy(name="chitchat-quick", count=20, steps=500),
    "paper": RelaxationStudy(name="chitchat-attention", count=500, steps=4_000),
}
