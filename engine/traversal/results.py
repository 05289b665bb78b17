"""What a search gives back: matches, and an account of the work so far."""

from __future__ import annotations

from dataclasses import dataclass

from engine.query import Record


@dataclass(frozen=True)
class Match(Record):
    """One token sequence of the query's language, with its scores in nats.

    text: the whole string, prefix included; prefix_text: the part spelled by prefix arcs. token_ids: the sequence
    without begin and end of text; prefix_tokens: how many of them are prefix arcs.
    prefix_log_prob: the model's log-probability of the prefix. log_prob: of the pattern given the prefix, by the
    model's own distribution after temperature. decoder_log_prob: the same under the decoding rule, renormalised.
    token_log_probs, token_decoder_log_probs: the terms of those sums, one a token (the decoder's is 0 on prefix
    arcs), followed by the term of the end-of-text token where the query demands it.
    is_canonical: whether the tokenizer itself would give this sequence. seconds: since the search began.
    """

    text: str
    prefix_text: str
    token_ids: tuple[int, ...]
    prefix_tokens: int
    prefix_log_prob: float
    log_prob: float
    decoder_log_prob: float
    token_log_probs: tuple[float, ...]
    token_decoder_log_probs: tuple[float, ...]
    is_canonical: bool
    seconds: float


@dataclass(frozen=True)
class Progress(Record):
    """An account of a search so far.

    expansions: nodes whose next-token distribution was asked for; forwards: calls of the model; tokens_computed:
    tokens those calls computed, recomputed ones included. found_mass and remaining_mass bound the probability that
    the decoder's output begins with a match (with end_of_text: is a match): it lies between found_mass and
    found_mass + remaining_mass. mass_is_joint: the bounds include the probability of the prefix itself, because the
    query has more than one prefix; else they are given the prefix. frontier: open entries.
    ended: why the search ended, "" while it runs: "exhausted", "matches", "expansions", "seconds", "stopped".
    """

    matches: int = 0
    expansions: int = 0
    forwards: int = 0
    tokens_computed: int = 0
    seconds_compile: float = 0.0
    seconds_model: float = 0.0
    seconds_total: float = 0.0
    found_mass: float = 0.0
    remaining_mass: float = 1.0
    mass_is_joint: bool = False
    frontier: int = 0
    ended: str = ""
