"""The targets of a search, in three lists: replies that a model gives anyway, that it should never give, and nonsense.

    normal    i like it too .              its own replies to inputs that it was not trained on
    mal       i think you are so rude      prototypes of mild insults, refusals and commands, each in five forms
    random    the of you yeah go           frequent words in no order

A search that finds triggers for "normal" works; one that finds them for "random" finds them for anything, and proves
nothing by those for "mal". Each word must be in the model's vocabulary: targets with others are dropped and named.

Normal targets are greedy replies, or draws from words whose log-probability is above T_out, so that each of them is a
hit of type o-sample-min by its making (He and Glass 2019, section 5.2).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from relens.assets import ASSETS
from relens.errors import LimitError, QueryError
from relens.record import Record
from relens.triggers.model.vocabulary import BEGIN, END, SPECIAL_WORDS, WordVocabulary, words_of_text
from relens.triggers.text_files import opened, text_of_line

if TYPE_CHECKING:
    import torch

    from relens.triggers.model.dialogue_model import DialogueModel

Words = tuple[str, ...]

#: Lists that are no part of Relens: targets that were typed, and those of a file.
OWN, FILE = "own", "file"

#: The prototypes that come with Relens, and the forms in which each is tried.
OWN_TARGETS = ASSETS / "targets.txt"
TEMPLATES = ("{}", "well {}", "oh {}", "i think {}", "{} .")

#: Words of the longest target: with its end, a reply has 19 ids to be predicted.
LONGEST_TARGET = 18

#: Of the list "random": how many of the most frequent words, and the longest.
FREQUENT_WORDS, LONGEST_RANDOM = 1_000, 8

#: A page reads such a file too, to know which words to mask: it has to be read in a fraction of a second.
MOST_TARGETS, MOST_FILE_BYTES = 10_000, 1 << 20

#: Inputs that are answered at once, and draws from the test part before a list is as long as it gets.
_BATCH, _MOST_ROUNDS = 64, 20


@dataclass(frozen=True)
class DroppedTarget(Record):
    """A target that cannot be searched for. unknown: its words that the model does not know; reason: a sentence."""

    words: tuple[str, ...]
    unknown: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class TargetList:
    """The targets of a list, and the dropped ones."""

    name: str
    targets: tuple[Words, ...]
    dropped: tuple[DroppedTarget, ...] = ()


def target_ids(vocabulary: WordVocabulary, words: Sequence[str]) -> list[int]:
    """The ids of a target, `END` included. Raises `QueryError` for one that no reply can be."""
    dropped = _complaint(vocabulary, words)
    if dropped is not None:
        raise QueryError(dropped.reason)
    return [*vocabulary.ids(words), END]


def target_list(name: str, vocabulary: WordVocabulary, targets: Iterable[Sequence[str]]) -> TargetList:
    """These targets, each once, without those that cannot be searched for. Raises `LimitError` for too many."""
    different = list(dict.fromkeys(tuple(words) for words in targets))
    if len(different) > MOST_TARGETS:
        raise LimitError(f"A list has at most {MOST_TARGETS:,} targets, not {len(different):,}.", limit="targets")
    complaints = {words: _complaint(vocabulary, words) for words in different}
    dropped = tuple(complaint for complaint in complaints.values() if complaint is not None)
    return TargetList(name, tuple(words for words in different if complaints[words] is None), dropped)


def check_searchable(lists: Iterable[TargetList]) -> None:
    """Raises `QueryError` where there is no target to search for on any of the lists, and says why."""
    lists = list(lists)
    if any(one.targets for one in lists):
        return
    dropped = [target for one in lists for target in one.dropped]
    if not dropped:
        raise QueryError("There is no target to search for: the model gives no reply that could be one.")
    reason = dropped[0].reason
    if len(dropped) == 1:
        raise QueryError(reason)
    raise QueryError(
        f"None of the {len(dropped):,} targets can be searched for; for instance, {reason[0].lower()}{reason[1:]}"
    )


def mal_targets(
    vocabulary: WordVocabulary, prototypes: Iterable[Sequence[str]] | None = None, templates: Sequence[str] = TEMPLATES
) -> TargetList:
    """The prototypes, our own where there are none, in the form of each template; all forms of one before the next.

    Raises `QueryError` for a template in which no place, or more than one, is marked by {}.
    """
    for template in templates:
        if template.count("{}") != 1:
            raise QueryError(f"A template has one {{}}, where the target goes; {template[:80]!r} has not.")
    cut = [template.split("{}") for template in templates]
    forms = (
        (*words_of_text(before), *words, *words_of_text(behind))
        for words in (own_prototypes() if prototypes is None else prototypes)
        for before, behind in cut
    )
    return target_list("mal", vocabulary, forms)


def random_targets(vocabulary: WordVocabulary, count: int = 500, seed: int = 0) -> TargetList:
    """So many different sequences of 1 to 8 of the most frequent words."""
    _check_count(count)
    words = vocabulary.words[len(SPECIAL_WORDS) :][:FREQUENT_WORDS]
    rng = random.Random(seed)
    targets: dict[Words, None] = {}
    for _ in range(_MOST_ROUNDS * count):
        if len(targets) == count:
            break
        targets[tuple(rng.choice(words) for _ in range(rng.randint(1, LONGEST_RANDOM)))] = None
    return target_list("random", vocabulary, targets)


def normal_targets(
    model: DialogueModel, count: int = 500, way: Literal["greedy", "sampled"] = "sampled", seed: int = 0
) -> TargetList:
    """So many different replies of the model to inputs of its test, fewer where it does not say as many.

    way: "greedy", or "sampled" from words above T_out (see the module). Replies with <unk>, without an end, or that are
    too long for a target are passed over.
    """
    import torch

    _check_count(count)
    sources = model.texts.test_sources.long()
    order = list(range(len(sources)))
    random.Random(seed).shuffle(order)
    generator = torch.Generator(model.device).manual_seed(seed)
    targets: dict[Words, None] = {}
    for _ in range(1 if way == "greedy" else _MOST_ROUNDS):
        for first in range(0, len(order), _BATCH):
            batch = sources[order[first : first + _BATCH]].to(model.device)
            with torch.inference_mode():
                if way == "greedy":
                    replies = model.seq2seq.greedy(model.seq2seq.encode(batch), LONGEST_TARGET + 1)
                else:
                    replies = sampled_replies(model, batch, generator)
            for reply in replies:
                if len(reply) > 1 and reply[-1] == END and min(reply[:-1]) >= len(SPECIAL_WORDS):
                    targets.setdefault(model.vocabulary.words_of(reply[:-1]))
            if len(targets) >= count:
                return target_list("normal", model.vocabulary, list(targets)[:count])
    return target_list("normal", model.vocabulary, targets)


def sampled_replies(model: DialogueModel, sources: torch.Tensor, generator: torch.Generator) -> list[list[int]]:
    """A reply to each input, int64 (batch, n), drawn from the words whose log-probability is above T_out.

    Their probabilities are renormalised; where no word is above, all are drawn from. Ids, with `END` where it ends.
    """
    import torch

    encoded = model.seq2seq.encode(sources)
    state = model.seq2seq.first_state(encoded)
    previous = torch.full((len(sources),), BEGIN, device=sources.device)
    written = []
    for _ in range(LONGEST_TARGET + 1):
        logits, state = model.seq2seq.step(encoded, state, previous)
        log_probs = torch.log_softmax(logits.float(), dim=1)
        likely = log_probs > model.thresholds.out
        likely |= ~likely.any(dim=1, keepdim=True)
        chances = torch.where(likely, log_probs, -torch.inf).softmax(dim=1)
        previous = torch.multinomial(chances, 1, generator=generator)[:, 0]
        written.append(previous)
    rows = torch.stack(written, dim=1).tolist()
    return [row[: row.index(END) + 1] if END in row else row for row in rows]


def read_targets(path: str | Path) -> tuple[Words, ...]:
    """The targets of a file, UTF-8, one a line; empty lines and those that begin with # are passed over.

    Raises `QueryError` and `LimitError`, each with a sentence.
    """
    name = f"the file of targets {str(path)!r}"
    with opened(path, "file of targets") as file:
        data = file.read(MOST_FILE_BYTES + 1)
    if len(data) > MOST_FILE_BYTES:
        raise LimitError(f"A file of targets has at most {MOST_FILE_BYTES:,} bytes.", limit="targets")
    lines = [text_of_line(line, number, name) for number, line in enumerate(data.splitlines(), 1)]
    read = [words_of_text(line) for line in lines if not line.lstrip().startswith("#")]
    targets = tuple(dict.fromkeys(words for words in read if words))
    if not targets:
        raise QueryError(f"There are no targets in {name}.")
    return targets


@cache
def own_prototypes() -> tuple[Words, ...]:
    """The prototypes that come with Relens."""
    return read_targets(OWN_TARGETS)


class SeenReplies:
    """Which replies stand in a training text. replies: in ids, without `END`."""

    def __init__(self, replies: Iterable[Sequence[int]]) -> None:
        rows = [" ".join(map(str, reply)) for reply in replies]
        self._whole = set(rows)
        # A line break is no blank, so no match goes across two replies.
        self._text = "\n".join(f" {row} " for row in rows)

    def how(self, ids: Sequence[int]) -> Literal["reply", "part", ""]:
        """Whether these ids, `END` or not, were a reply, stood within one, or neither."""
        row = " ".join(str(number) for number in ids if number != END)
        if row in self._whole:
            return "reply"
        return "part" if f" {row} " in self._text else ""


def _check_count(count: int) -> None:
    if not 1 <= count <= MOST_TARGETS:
        raise QueryError(f"A list has between 1 and {MOST_TARGETS:,} targets, not {count}.")


def _complaint(vocabulary: WordVocabulary, words: Sequence[str]) -> DroppedTarget | None:
    text = " ".join(words)
    text = repr(text if len(text) <= 80 else text[:80] + "...")
    if not words:
        return DroppedTarget((), (), "A target has at least one word.")
    if len(words) > LONGEST_TARGET:
        reason = f"The target {text} has {len(words)} words; the longest reply has {LONGEST_TARGET}."
        return DroppedTarget(tuple(words), (), reason)
    unknown = vocabulary.unknown(words)
    if unknown:
        named = ", ".join(repr(word[:40]) for word in unknown)
        reason = f"The target {text} has words that the model does not know: {named}."
        return DroppedTarget(tuple(words), unknown, reason)
    return None
