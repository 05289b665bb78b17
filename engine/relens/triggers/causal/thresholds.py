"""The scores of real messages and replies under a language model: T_out and T_in for its hit types.

    hello, how are you?   ->   fine, and you? <|im_end|>       -2.9 a token, in the model's own prompt: T_out
    hello, how are you?                                        -3.4 a token, as a text by itself: T_in

They are measured on pairs of the corpus that comes with Relens, the ones that dialogue models are tested on, with the
words joined as people write them. A pair of another corpus would give another threshold, so a row of results has the
thresholds it was judged by. Source: He and Glass 2019, section 4.1.
"""

from __future__ import annotations

import random
import re
from collections.abc import Generator, Iterable, Sequence

import torch

from relens.errors import QueryError
from relens.models.encoder_decoder import EncoderDecoder
from relens.models.language_model import LanguageModel
from relens.triggers.causal.input_scores import InputScores
from relens.triggers.causal.prompts import Prompt
from relens.triggers.hits import Thresholds

#: Pairs that are measured, and the seed they are drawn with.
PAIRS, SEED = 64, 0

#: Messages that are scored between two yields.
_STRETCH = 8

_JOINED = re.compile(r" (?=[.,!?;:)]|n't\b|'(?:s|m|d|re|ve|ll)\b)")


def written(words: Sequence[str]) -> str:
    """The words of a corpus as people write them: "do n't go ." becomes "don't go."."""
    return _JOINED.sub("", " ".join(words))


def corpus_pairs(count: int = PAIRS, seed: int = SEED) -> list[tuple[str, str]]:
    """Messages and replies of the test part of the corpus (about 8 s). Raises `ModelError` without the corpus."""
    from relens.triggers.model.default_corpus import default_corpus

    test = default_corpus().test
    drawn = random.Random(seed).sample(range(len(test)), min(count, len(test)))
    return [(written(test[number].source), written(test[number].response)) for number in drawn]


def measure_thresholds(
    model: LanguageModel | EncoderDecoder, prompt: Prompt, inputs: InputScores, pairs: Iterable[tuple[str, str]]
) -> Generator[None, None, Thresholds]:
    """The mean log-probability a token of the replies, each to its message in the slot, and of the messages.

    A reply has its end where a target of the prompt has. Pairs without a token to score are passed over. Yields now
    and then. Raises `QueryError` where no pair is left.
    """
    replies: list[float] = []
    messages: list[list[int]] = []
    for message, reply in pairs:
        before, own = prompt.ids_around(message), model.tokenizer.encode(reply, continues=True)
        own = [*own, model.tokenizer.end_of_text] if prompt.ends and model.tokenizer.end_of_text is not None else own
        judged = inputs.judge.tokenizer.encode(message)
        fits = len(judged) < inputs.judge.context_length
        log_probs = _reply_log_probs(model, before, own) if before and own and fits else None
        if log_probs is None:
            continue
        replies += log_probs.tolist()
        messages.append(judged)
        yield None
    judged_ones = [message for message in messages if inputs.has_opinion(message)]
    costs: list[float] = []
    for first in range(0, len(judged_ones), _STRETCH):
        costs += [cost for row in inputs.token_costs(judged_ones[first : first + _STRETCH]) for cost in row]
        yield None
    if not replies or not costs:
        raise QueryError("There are no pairs to measure thresholds on.")
    return Thresholds(out=sum(replies) / len(replies), into=-sum(costs) / len(costs))


def _reply_log_probs(
    model: LanguageModel | EncoderDecoder, before: Sequence[int], own: Sequence[int]
) -> torch.Tensor | None:
    """(own,): of each token of a reply to a prompt; None where the model does not hold so many."""
    if isinstance(model, EncoderDecoder):
        if model.context_length is not None and max(len(before), len(own)) > model.context_length:
            return None
        return model.reply_log_probs(before, own)
    if len(before) + len(own) > model.context_length:
        return None
    ids = torch.tensor([[*before, *own[:-1]]], device=model.device)
    with torch.inference_mode():
        log_probs = torch.log_softmax(model.network(ids, use_cache=False).logits[0, -len(own) :].float(), dim=-1)
    return log_probs.gather(1, torch.tensor(own, device=model.device)[:, None])[:, 0]
