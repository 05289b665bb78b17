"""The inputs of a search, from the settings of its study: the model, the lists of targets, and the training replies.

Every target is a unit of its own, which may begin in a new process. The lists follow from the settings and the model
alone, so each unit makes the same; they are kept for the next unit of the same process.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from relens.models.hardware import choose_device, use_physical_cores
from relens.triggers.model.dialogue_model import DialogueModel, load_dialogue_model
from relens.triggers.model.model_list import MODEL, model_folder
from relens.triggers.model.vocabulary import words_of_text
from relens.triggers.search.search_settings import SearchSettings
from relens.triggers.search.targets import (
    FILE,
    OWN,
    SeenReplies,
    TargetList,
    check_searchable,
    mal_targets,
    normal_targets,
    random_targets,
    read_targets,
    target_list,
)

if TYPE_CHECKING:
    from relens.triggers.search.trigger_study import TriggerStudy


@dataclass(frozen=True)
class SearchPreparation:
    """The data that all units of a study share."""

    model: DialogueModel
    lists: dict[str, TargetList]
    seen: SeenReplies


def prepare_search(study: TriggerStudy) -> SearchPreparation:
    """The preparation of the study's units. Raises what is wrong with the model or the targets."""
    path = model_folder(study.model) / MODEL
    changed = path.stat().st_mtime_ns if path.is_file() else 0
    # Of the settings of a search only the seed changes the lists.
    search = SearchSettings(seed=study.search.seed)
    lists_alone = replace(study, hit_type="o-greedy", search=search, epsilon=0.0, input_weight=0.0)
    return _prepare(lists_alone, changed)


@lru_cache(maxsize=1)
def _prepare(study: TriggerStudy, _changed: int) -> SearchPreparation:
    device = choose_device()
    use_physical_cores(device)
    model = load_dialogue_model(study.model, device)
    lists = {name: _list(study, model, name) for name in study.list_names()}
    check_searchable(lists.values())
    return SearchPreparation(model, lists, SeenReplies(model.texts.replies))


def _list(study: TriggerStudy, model: DialogueModel, name: str) -> TargetList:
    seed = study.search.seed
    if name == "normal":
        return normal_targets(model, study.count, study.normal, seed)
    if name == "random":
        return random_targets(model.vocabulary, study.count, seed)
    if name == OWN:
        return target_list(OWN, model.vocabulary, map(words_of_text, study.targets))
    if name == FILE:
        whole = target_list(FILE, model.vocabulary, read_targets(study.file))
    else:
        whole = mal_targets(model.vocabulary)
    # A part of a long list is drawn, for its beginning may be all of one kind.
    if len(whole.targets) > study.count:
        drawn = sorted(random.Random(seed).sample(range(len(whole.targets)), study.count))
        return replace(whole, targets=tuple(whole.targets[place] for place in drawn))
    return whole
