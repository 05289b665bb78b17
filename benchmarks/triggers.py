"""Milliseconds a candidate in the search for triggers: one by one, all of a place at once, and by bounds.

    python -m benchmarks.triggers [--model NAME] [--targets 8] [--words 4] [--shortlist 100] [--sweeps 2]

Targets of the list "mal" are searched by gibbs-enum for a few sweeps, and every request of the search, "which of these
100 words is the best in this place?", is recorded. Three scorers then answer the same requests: candidate by candidate
with all targets side by side, as the authors' code does; all candidates of a place in one plain evaluation; and the
fast scorer, which reuses results of earlier requests. `whole_search` is the whole search, gradients included. Seconds
are those of the processor, on one thread, so that other programs on the machine do not count. `disagreements` is the
number of answers in which the fast scorer and the plain one differ, and `largest_difference` the difference of their
objectives in nats.

How many candidates are decided by bounds depends on the model. `--model` names a trained one. Without it the weights
are random, of hidden size 256 with 10,000 words, made larger so that replies depend on the input and probabilities are
spread as in a trained model: the output layer has the frequencies of words as its bias.

`bars` says whether the fast scorer is at least four times as fast as plain evaluation, with the same answers.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import torch

from benchmarks import machine
from relens.triggers.hits import HitType, Thresholds
from relens.triggers.model.batches import SOURCE_LENGTH, EncodedPairs
from relens.triggers.model.dialogue_model import (
    DialogueConfiguration,
    DialogueModel,
    DialogueTexts,
    load_dialogue_model,
)
from relens.triggers.model.sentence_model import SentenceModel, SentenceModelConfiguration
from relens.triggers.model.seq2seq import Context, Seq2Seq, Seq2SeqConfiguration
from relens.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE, SPECIAL_WORDS, UNKNOWN, WordVocabulary
from relens.triggers.objective import Objective
from relens.triggers.search.fast_scorer import FastScorer
from relens.triggers.search.gibbs import gibbs_sweep
from relens.triggers.search.scorer import Best, PlainScorer, Scorer, best_of
from relens.triggers.search.searches import begin
from relens.triggers.search.targets import mal_targets, own_prototypes, target_ids

HIT_TYPES = ("o-greedy", "o-sample-min-k1", "io-sample-min-k1")
SPEED_UP = 4.0

#: Words of a model with random weights.
SIZE = 10_000


@dataclass(frozen=True)
class Request:
    """Which word is the best in a place? See `Scorer.best`."""

    source_ids: torch.Tensor
    target_ids: torch.Tensor
    values: torch.Tensor
    place: int
    words: torch.Tensor


class RecordingScorer(FastScorer):
    """Records its requests."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.requests: list[Request] = []

    def best(
        self, source_ids: torch.Tensor, target_ids: torch.Tensor, values: torch.Tensor, place: int, words: torch.Tensor
    ) -> Best:
        self.requests.append(Request(source_ids.clone(), target_ids, values.clone(), place, words))
        return super().best(source_ids, target_ids, values, place, words)


def one_by_one(scorer: Scorer, question: Request, candidates: int) -> Best:
    """The first few candidates one after the other, each for all targets at once."""
    values = []
    for column in range(candidates):
        tried = question.source_ids.clone()
        tried[:, question.place] = question.words[:, column]
        values.append(scorer.values(tried, question.target_ids))
    present = question.source_ids[:, question.place]
    words = question.words[:, :candidates]
    return best_of(present, question.values, words, torch.stack(values, dim=1), torch.full_like(present, candidates))


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    answer = work()
    return time.process_time() - begun, answer


def measured(model: DialogueModel, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """All three scorers on the requests of one hit type."""
    objective = Objective(HitType.called(name), model.thresholds)
    fast = RecordingScorer(model.seq2seq, model.sentence_model, objective)
    plain = PlainScorer(model.seq2seq, model.sentence_model, objective)
    fits = [words for words in mal_targets(model.vocabulary).targets if len(words) == options.words]
    targets = list(
        enumerate(target_ids(model.vocabulary, words) for words in fits[:: max(1, len(fits) // options.targets)])
    )
    searches = begin(model, fast, targets[: options.targets], 1, 0)
    at_first = float(searches.values.mean())

    def search() -> None:
        for _ in range(options.sweeps):
            for _ in gibbs_sweep(fast, searches, options.shortlist):
                pass

    spent = dict.fromkeys(("one by one", "plain", "fast", "whole search"), 0.0)
    tried = dict.fromkeys(spent, 0)
    spent["whole search"], _ = seconds(search)
    tried["whole search"] = int(searches.candidates.sum())
    questions, again = fast.requests, FastScorer(model.seq2seq, model.sentence_model, objective)
    full = disagreements = 0
    largest = 0.0
    for number, question in enumerate(questions):
        arguments = (question.source_ids, question.target_ids, question.values, question.place, question.words)
        took, answer = seconds(lambda arguments=arguments: again.best(*arguments))
        spent["fast"] += took
        tried["fast"] += question.words.numel()
        full += int(answer.full.sum())
        if number % options.every:
            continue
        took, expected = seconds(lambda arguments=arguments: plain.best(*arguments))
        spent["plain"] += took
        tried["plain"] += question.words.numel()
        disagreements += int((answer.words != expected.words).sum())
        largest = max(largest, float((answer.values - expected.values).abs().max()))
        took, _ = seconds(lambda q=question: one_by_one(plain, q, options.one_by_one))
        spent["one by one"] += took
        tried["one by one"] += len(question.words) * options.one_by_one
    each = {scorer: 1000 * spent[scorer] / tried[scorer] for scorer in spent}
    return {
        "targets": len(searches.number),
        "words_of_a_target": options.words + 1,
        "places": searches.free,
        "objective": [round(at_first, 3), round(float(searches.values.mean()), 3)],
        "questions": len(questions),
        "questions_answered_plainly_too": -(-len(questions) // options.every),
        "candidates": tried["whole search"],
        "gradients": int(searches.gradients.sum()),
        "milliseconds_a_candidate": {scorer.replace(" ", "_"): round(each[scorer], 3) for scorer in spent},
        "times_as_fast_as_plain": round(each["plain"] / each["fast"], 2),
        "times_as_fast_as_one_by_one": round(each["one by one"] / each["fast"], 2),
        "share_that_needs_the_full_softmax": round(full / tried["fast"], 4),
        "disagreements": disagreements,
        "largest_difference": largest,
    }


def random_model(context: str) -> DialogueModel:
    """A model of random weights (see the module), whose words are those of our own targets and made-up ones."""
    torch.manual_seed(0)
    targets = sorted({word for words in own_prototypes() for word in words} | {"well", "oh", "i", "think", "."})
    made_up = (f"word{number}" for number in range(SIZE))
    vocabulary = WordVocabulary((*SPECIAL_WORDS, *targets, *made_up)[:SIZE])
    seq2seq = Seq2Seq(Seq2SeqConfiguration(SIZE, context=cast(Context, context)))
    sentence_model = SentenceModel(SentenceModelConfiguration(SIZE))
    with torch.no_grad():
        for model in (seq2seq, sentence_model):
            for name, parameter in model.named_parameters():
                parameter.mul_(12.0 if name == "output.weight" else 1.0 if "embedding" in name else 2.0)
            model.output.bias.copy_(-torch.log(torch.arange(SIZE) + 10.0))
    pairs = EncodedPairs(([END_OF_UTTERANCE] * SOURCE_LENGTH,), ([BEGIN, UNKNOWN, END],))
    configuration = DialogueConfiguration(seq2seq.configuration, sentence_model.configuration)
    texts = DialogueTexts.of_pairs([row[1:-1] for row in pairs.targets], pairs)
    return DialogueModel(vocabulary, seq2seq, sentence_model, Thresholds(-4.0, -4.0), configuration, texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="", help="the name of a dialogue model")
    parser.add_argument(
        "--context", default="last", choices=["last", "general", "mlp-query"], help="of one with random weights"
    )
    parser.add_argument("--targets", type=int, default=8)
    parser.add_argument("--words", type=int, default=4, help="of a target, without its end")
    parser.add_argument("--shortlist", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=2)
    parser.add_argument("--every", type=int, default=4, help="every how manieth question is answered plainly, too")
    parser.add_argument("--one-by-one", type=int, default=10, help="how many candidates of a question, too")
    options = parser.parse_args()
    model = load_dialogue_model(options.model) if options.model else random_model(options.context)
    torch.set_num_threads(1)
    by_hit_type = {name: measured(model, name, options) for name in HIT_TYPES}
    result = {
        "model": {
            **model.configuration.to_json(),
            "weights": f"trained on {model.training.pairs:,} pairs" if options.model else "random",
            "perplexity": model.training.perplexity,
            "fingerprint": model.fingerprint,
        },
        "hit_types": by_hit_type,
        "bars": {
            f"at least {SPEED_UP:.0f} times as fast as plain": all(
                part["times_as_fast_as_plain"] >= SPEED_UP for part in by_hit_type.values()
            ),
            "the same answers": all(
                not part["disagreements"] and part["largest_difference"] < 1e-4 for part in by_hit_type.values()
            ),
        },
    }
    machine.report("triggers", result)


if __name__ == "__main__":
    main()
