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
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from engine.errors import LimitError, QueryError
from engine.studies.resumed import rows_of_done_units
from engine.studies.study import ROW, Row, Study, StudyContext, Unit
from engine.triggers.background import run_in_background
from engine.triggers.model.model_list import check_listed_model, check_name
from engine.triggers.relaxation.settings import SPACES, RelaxationSettings, Space
from engine.triggers.seeds import check_seed

if TYPE_CHECKING:
    from engine.triggers.model.dialogue_model import DialogueModel
    from engine.triggers.search.targets import TargetList

ListName = Literal["normal", "mal", "random"]
LISTS: tuple[ListName, ...] = get_args(ListName)

#: What rows tell.
DESCENT, TARGET, DROPPED, LIST = "descent", "target", "dropped", "list"

#: Targets of a list, and those that descend side by side: each needs room for n x vocabulary numbers.
MOST_TARGETS, MOST_BATCH = 10_000, 256


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

    name: str = "chitchat"
    spaces: tuple[Space, ...] = SPACES
    lists: tuple[ListName, ...] = ("normal", "mal")
    count: int = 100
    targets: str = ""
    steps: int = 1_000
    rate: float = 1.0
    momentum: float = 0.9
    decay: float = 1e-5
    penalty: float = 1.0
    mal_penalty: float = 0.1
    averages_penalty: bool = False
    epsilon: float = 0.01
    ends: bool = True
    batch: int = 20
    seed: int = 0

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

    def verdict(self, rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
        """How many targets were hit by numbers, and how many of these by the words next to them."""
        from engine.triggers.relaxation.findings import relaxation_verdict

        return relaxation_verdict(rows)

    def _list(self, name: str, model: DialogueModel) -> TargetList:
        from engine.triggers.search.targets import mal_targets, normal_targets, random_targets, read_targets

        if name == "normal":
            return normal_targets(model, self.count, "greedy", self.seed)
        if name == "random":
            return random_targets(model.vocabulary, self.count, self.seed)
        return mal_targets(model.vocabulary, read_targets(self.targets) if self.targets else None)

    def check(self) -> None:
        """See `Study.check`."""
        check_name(self.name)
        for what, values, known in (("space", self.spaces, SPACES), ("list", self.lists, LISTS)):
            if not values or len(set(values)) < len(values) or not set(values) <= set(known):
                raise QueryError(f"The study needs at least one {what}, each once, of {', '.join(known)}.")
        if not (1 <= self.count <= MOST_TARGETS):
            raise QueryError(f"A list has between 1 and {MOST_TARGETS:,} targets, not {self.count}.")
        if self.batch < 1:
            raise QueryError(f"At least 1 target descends at once, not {self.batch}.")
        if self.batch > MOST_BATCH:
            raise LimitError(f"At most {MOST_BATCH} targets descend at once, not {self.batch}.", limit="batch")
        check_seed(self.seed)
        for name in self.lists:
            self.settings(name)


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
