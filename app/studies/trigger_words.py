"""The words of trigger search in plain language, and which words of targets are masked.

o-sample-min-k1      every word likely          (k = 1)
io-sample-avg-k2     likely on average, by a likely input (k = 2)
you are a loser      you are a l····
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from app.masks import mask_of, shown
from app.text import visible
from engine.errors import RelensError
from engine.language.stop_words import STOP_WORDS
from engine.studies.allowed_files import check_files
from engine.studies.masking import Masker
from engine.studies.study import Study
from engine.studies.word_lists import MILD_WORDS
from engine.triggers.brute_force.study import BruteForceStudy
from engine.triggers.causal.causal_study import TARGETS
from engine.triggers.causal.check_study import PromptCheckStudy
from engine.triggers.hits import HitType
from engine.triggers.model.vocabulary import words_of_text
from engine.triggers.score_row import hits_of, sentence
from engine.triggers.search.check_study import TriggerCheckStudy
from engine.triggers.search.targets import read_targets
from engine.triggers.shared_settings import LISTS

#: Between a text that is put to a model and what it should answer.
ARROW = "=>"

#: Lists in plain words; also their order.
LIST_LABELS = {
    "own": "your own",
    "file": "your file",
    **LISTS.choices,
}

_SEEN = {"reply": "yes, as a whole reply", "part": "within a reply", "": "no"}

#: What has to be said before any trigger is shown.
CONTENT_NOTICE = (
    "The lists hold insults and commands, all mild; such words are masked unless you switch them on above what was "
    "found. Inputs are made of words of the training text, which may hold others. A hit by sampling is a claim about a "
    "probability, not a reply that anybody has seen: only the model's own greedy reply, shown beside it, was said. "
    "What you export is data to test models with."
)

#: Rude words of the list that comes with Relens, besides those of the word list of the studies.
_RUDE = (
    *("annoying", "boring", "crazy", "hopeless", "pathetic", "smell", "sucks", "useless", "ugly", "weird"),
    *("worthless", "waste", "hates"),
)


def hit_label(name: str) -> str:
    """A hit type, as "o-sample-min-k1", in plain words."""
    kind = HitType.called(name)
    if kind.rule == "greedy":
        return "says it (greedy)"
    what = "every word likely" if kind.rule == "min" else "likely on average"
    by = ", and so is the input" if kind.side == "io" else ""
    return f"{what}{by} (k = {kind.k})"


def list_label(name: str) -> str:
    """A list in plain words."""
    return LIST_LABELS.get(name, name)


def reached(row: Mapping[str, Any], hit_type: str) -> bool:
    """Whether the trigger of this row is a hit of that type."""
    return hits_of(row).get(hit_type, False)


def all_hits(row: Mapping[str, Any]) -> str:
    """The hit types of the trigger of this row."""
    return ", ".join(name for name, is_hit in hits_of(row).items() if is_hit) or "–"


def seen_in_training(row: Mapping[str, Any]) -> str:
    """Whether the target of this row stands in the replies of the training text, as far as that is known."""
    return _SEEN.get(row.get("seen", "unknown"), "–")


def target_text(row: Mapping[str, Any]) -> str:
    """The target of a row: of a dialogue model a list of words, of a prompt a text."""
    target = row["target"]
    return target if isinstance(target, str) else sentence(target)


def trigger_masker(study: Study) -> Masker:
    """What hides the rude words of the lists, and all words that carry meaning of targets that somebody brought."""
    # Read as any study that has them: a search names its own targets, a relaxation a file of prototypes, and of brute
    # force every phrase is one word, and is written with blanks between its letters too.
    typed = [text for text in _texts(study) if text not in TARGETS]
    brought = [word for text in typed for word in words_of_text(text)]
    for target in _of_files(study):
        brought += target
    hidden = [word for word in brought if word not in STOP_WORDS and any(map(str.isalpha, word)) and len(word) > 2]
    words = [*MILD_WORDS, *_RUDE, *hidden]
    if isinstance(study, BruteForceStudy):
        words += [" ".join(word) for word in words]
    return mask_of(tuple(dict.fromkeys(words)))


def masked(mask: Masker | None, words: Sequence[str]) -> str:
    """The words as one text, as a reader may see it."""
    return shown(mask, sentence(words))


def masked_words(mask: Masker | None, words: Sequence[str]) -> list[str]:
    """The words one by one, as a reader may see them."""
    return [shown(mask, word) for word in words]


def token_labels(tokens: Sequence[str], mask: Masker | None, unit: str) -> list[str]:
    """Tokens one by one, as a reader may see them: words; or pieces of a text, in which a blank is shown."""
    if unit == "word":
        return masked_words(mask, tokens)
    return [visible(text) for text in (tokens if mask is None else mask.pieces(tokens))]


def _texts(study: Study) -> tuple[str, ...]:
    """Targets that somebody typed; of a check all of them, since it does not know where they come from."""
    if isinstance(study, TriggerCheckStudy):
        return tuple(" ".join(pair.target) for pair in study.pairs)
    if isinstance(study, PromptCheckStudy):
        return tuple(asked.target for asked in study.texts)
    texts = getattr(study, "targets", ())
    return texts if isinstance(texts, tuple) else ()


def _of_files(study: Study) -> tuple[tuple[str, ...], ...]:
    # A study of brute force reads a text to learn from too, whose words are no targets.
    paths = (study.targets,) if isinstance(study, BruteForceStudy) else study.files()
    try:
        check_files(study)
        return tuple(target for path in paths if path for target in file_targets(path))
    except RelensError:
        return ()


@lru_cache(maxsize=4)
def file_targets(path: str) -> tuple[tuple[str, ...], ...]:
    """The targets of a file that was kept, which does not change. Raises what is wrong with it."""
    return read_targets(path)
