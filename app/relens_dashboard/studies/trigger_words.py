"""Trigger search in plain words: hit types, lists and targets, and the mask of the targets.

o-sample-min-k1      every word likely          (k = 1)
io-sample-avg-k2     likely on average, by a likely input (k = 2)
you are a loser      you are a l····
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from relens.errors import RelensError
from relens.language.stop_words import STOP_WORDS
from relens.studies.allowed_files import check_files
from relens.studies.masking import Masker
from relens.studies.study import Study
from relens.studies.word_lists import MILD_WORDS
from relens.triggers.brute_force.study import BruteForceStudy
from relens.triggers.causal.causal_study import TARGETS
from relens.triggers.causal.check_study import PromptCheckStudy
from relens.triggers.hits import HitType
from relens.triggers.model.vocabulary import words_of_text
from relens.triggers.score_row import Seen, StoredScore, sentence
from relens.triggers.search.check_study import TriggerCheckStudy
from relens.triggers.search.targets import read_targets
from relens.triggers.shared_settings import LISTS
from relens_dashboard.masks import mask_of, shown
from relens_dashboard.text import visible

#: Between an input and its target.
ARROW = "=>"

#: Lists in plain words; also their order.
LIST_LABELS = {
    "own": "your own",
    "file": "your file",
    **LISTS.choices,
}

_SEEN = {"reply": "yes, as a whole reply", "part": "within a reply", "": "no"}

#: The notice above all triggers.
CONTENT_NOTICE = (
    "The lists have mild insults and commands; these words are masked unless you switch them on above the results. "
    "Inputs are made of words of the training text, which may have others. A hit by sampling is a claim about a "
    "probability: only the greedy reply was written by the model. Exported rows are data to test models with."
)

#: Rude words of the list that comes with Relens that the word list of the studies lacks.
_RUDE = (
    *("annoying", "boring", "crazy", "hopeless", "pathetic", "smell", "sucks", "useless", "ugly", "weird"),
    *("worthless", "waste", "hates"),
)


def hit_label(name: str) -> str:
    """A hit type, as "o-sample-min-k1", in plain words."""
    kind = HitType.called(name)
    if kind.rule == "greedy":
        return "says it (greedy)"
    likely = "every word likely" if kind.rule == "min" else "likely on average"
    by = ", and so is the input" if kind.side == "io" else ""
    return f"{likely}{by} (k = {kind.k})"


def list_label(name: str) -> str:
    """A list in plain words."""
    return LIST_LABELS.get(name, name)


def all_hits(score: StoredScore) -> str:
    """The hit types that are reached."""
    return ", ".join(name for name, is_hit in score.hits.items() if is_hit) or "–"


def seen_in_training(seen: Seen | None) -> str:
    """Whether a target stands in the replies of the training text."""
    return "–" if seen is None else _SEEN[seen]


def trigger_masker(study: Study) -> Masker:
    """The mask of the rude words of the lists, and of all content words of typed and uploaded targets."""
    # A search has typed targets, a relaxation a file of prototypes. Each phrase of brute force is one word, which is
    # also written with blanks between its letters.
    texts = [text for text in _typed(study) if text not in TARGETS]
    brought = [word for text in texts for word in words_of_text(text)]
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
    """Tokens one by one, as a reader may see them: words, or pieces of a text with visible blanks."""
    if unit == "word":
        return masked_words(mask, tokens)
    return [visible(text) for text in (tokens if mask is None else mask.pieces(tokens))]


def _typed(study: Study) -> tuple[str, ...]:
    """The typed targets; of a check all of them, since they have no source."""
    if isinstance(study, TriggerCheckStudy):
        return tuple(" ".join(pair.target) for pair in study.pairs)
    if isinstance(study, PromptCheckStudy):
        return tuple(checked.target for checked in study.texts)
    texts = getattr(study, "targets", ())
    return texts if isinstance(texts, tuple) else ()


def _of_files(study: Study) -> tuple[tuple[str, ...], ...]:
    # Brute force also reads a training text, whose words are no targets.
    paths = (study.targets,) if isinstance(study, BruteForceStudy) else study.files()
    try:
        check_files(study)
        return tuple(target for path in paths if path for target in file_targets(path))
    except RelensError:
        return ()


@lru_cache(maxsize=4)
def file_targets(path: str) -> tuple[tuple[str, ...], ...]:
    """The targets of an uploaded file, which does not change. Raises what is wrong with it."""
    return read_targets(path)
