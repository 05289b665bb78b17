"""The one door, end to end: real regular expressions, a real tokenizer and a real network, against the long way."""

from __future__ import annotations

import itertools
import math

import pytest

from relens import Boundary, Decoding, Encoding, Limits, Query, ShortestPath, compile_query, load_model, search
from relens.errors import EmptyLanguageError, ModelError, QueryError, RegexError
from tests.engine.oracle import Oracle, all_paths

RULES = [
    Decoding(),
    Decoding(top_k=7),
    Decoding(top_p=0.7),
    Decoding(temperature=0.6),
    Decoding(top_k=20, temperature=1.4),
    Decoding.greedy(),
]


@pytest.fixture(scope="module")
def tiny(tiny_model_folder):
    return load_model(str(tiny_model_folder), device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def oracle(tiny):
    return Oracle(tiny)


def check(model, oracle, query, prefixes, patterns, rank) -> None:
    """Run the search to its end and compare everything with the long way."""
    run = search(model, query, ShortestPath(rank=rank), Limits(matches=None))
    bounds, matches = [(run.progress.found_mass, run.progress.remaining_mass)], []
    for match in run:
        matches.append(match)
        bounds.append((run.progress.found_mass, run.progress.remaining_mass))
    bounds.append((run.progress.found_mass, run.progress.remaining_mass))
    assert run.progress.ended == "exhausted"

    canonical = query.encoding is Encoding.CANONICAL
    prefix_paths = all_paths(model.tokenizer, prefixes, query.prefix_encoding is Encoding.CANONICAL)
    pattern_paths = all_paths(model.tokenizer, patterns, canonical)
    scored = {}
    for prefix_ids, pattern_ids in itertools.product(prefix_paths, pattern_paths):
        truth = oracle.scored(prefix_ids, pattern_ids, query.decoding, query.end_of_text)
        if truth is not None and len(truth.token_ids) <= query.max_tokens:
            scored[truth.token_ids] = truth

    assert {match.token_ids for match in matches} == set(scored)
    previous = math.inf
    for match in matches:
        truth = scored[match.token_ids]
        assert match.prefix_log_prob == pytest.approx(truth.prefix_log_prob, abs=1e-4, rel=1e-5)
        assert match.log_prob == pytest.approx(truth.log_prob, abs=1e-4, rel=1e-5)
        assert match.decoder_log_prob == pytest.approx(truth.decoder_log_prob, abs=1e-4, rel=1e-5)
        assert match.text == model.tokenizer.decode(match.token_ids)
        assert match.prefix_tokens == truth.prefix_tokens
        own = (
            *model.tokenizer.encode(match.prefix_text),
            *model.tokenizer.encode(match.text[len(match.prefix_text) :]),
        )
        assert match.is_canonical == (match.token_ids == own)
        value = match.decoder_log_prob + (match.prefix_log_prob if rank == "joint" else 0.0)
        assert value <= previous
        previous = value

    mass = 0.0
    for truth in scored.values():
        extends = any(truth.token_ids[:end] in scored for end in range(len(truth.token_ids)))
        if query.end_of_text or not extends:
            mass += math.exp(truth.decoder_log_prob + (truth.prefix_log_prob if len(prefix_paths) > 1 else 0.0))
    for lower, remaining in bounds:
        assert lower <= mass * (1 + 1e-4) + 1e-12
        assert lower + remaining >= mass * (1 - 1e-4) - 1e-12
    assert bounds[-1][0] == pytest.approx(mass, rel=1e-3)
    assert bounds[-1][1] == 0.0


@pytest.mark.parametrize("decoding", RULES, ids=str)
@pytest.mark.parametrize("rank", ["joint", "conditional"])
@pytest.mark.parametrize("encoding", list(Encoding))
def test_literal_prefix(tiny, oracle, decoding, rank, encoding):
    query = Query(" (cat|dog|log)s?", prefix="The", encoding=encoding, decoding=decoding)
    check(tiny, oracle, query, ["The"], [f" {word}{s}" for word in ("cat", "dog", "log") for s in ("", "s")], rank)


@pytest.mark.parametrize("decoding", RULES[:4], ids=str)
@pytest.mark.parametrize("rank", ["joint", "conditional"])
def test_several_prefixes_and_end_of_text(tiny, oracle, decoding, rank):
    query = Query(" sat(| on)", prefix="The (cat|dog)", decoding=decoding, end_of_text=True)
    check(tiny, oracle, query, ["The cat", "The dog"], [" sat", " sat on"], rank)


def test_without_a_prefix(tiny, oracle):
    check(tiny, oracle, Query("(cat|dog|art)"), [""], ["cat", "dog", "art"], "joint")


def test_longest_match(tiny, oracle):
    check(tiny, oracle, Query("(cat|dog)s?", max_tokens=2), [""], ["cat", "dog", "cats", "dogs"], "joint")


def test_free_boundary_lets_a_token_straddle(tiny, oracle):
    query = Query("he cat", prefix="T", boundary=Boundary.FREE, prefix_encoding=Encoding.ALL)
    matches = {match.token_ids: match for match in search(tiny, query, limits=Limits(matches=None))}
    assert set(matches) == set(all_paths(tiny.tokenizer, ["The cat"], canonical=False))
    straddling = tuple(tiny.tokenizer.encode("The cat"))
    assert matches[straddling].prefix_tokens == 0
    assert matches[straddling].is_canonical


def test_progress_and_limits(tiny):
    run = search(tiny, Query("[a-z]+"), limits=Limits(matches=3))
    assert len(list(run)) == 3
    assert run.progress.matches == 3
    assert run.progress.ended == "matches"
    assert run.progress.tokens_computed >= run.progress.expansions > 0
    assert search(tiny, Query("[a-z]+"), limits=Limits(expansions=1, matches=None)).poll(60) is not None
    slow = search(tiny, Query("[a-z]+"), limits=Limits(seconds=1e-9))
    assert list(slow) == []
    assert slow.progress.ended == "seconds"


def test_stop(tiny):
    stopped = search(tiny, Query("[a-z]+"), stop=lambda: True)
    assert list(stopped) == []
    assert stopped.progress.ended == "stopped"
    run = search(tiny, Query("[a-z]+"))
    next(iter(run))
    run.stop()
    assert run.progress.ended in ("", "stopped")


def test_poll_and_iteration_agree(tiny):
    query, limits = Query("(cat|dog|log)s?"), Limits(matches=None)
    polled, run = [], search(tiny, query, limits=limits)
    while not run.finished:
        polled += run.poll(0.0)
    assert [match.token_ids for match in polled] == [match.token_ids for match in search(tiny, query, limits=limits)]


def test_refusals(tiny):
    with pytest.raises(RegexError):
        search(tiny, Query("(a"))
    with pytest.raises(EmptyLanguageError):
        search(tiny, Query(r"[^\s\S]"))
    with pytest.raises(QueryError, match="prefix alone"):
        search(tiny, Query("a", prefix="cat " * 200))
    with pytest.raises(QueryError, match="begin-of-text"):
        search(tiny, Query("a", begin_of_text=False))
    with pytest.raises(ModelError):
        load_model("/no/such/folder")


def test_compiled_query_is_the_searched_language(tiny):
    compiled = compile_query(Query(" (cat|dog)", prefix="The"), tiny.tokenizer)
    assert compiled.accepts_text("The cat")
    assert not compiled.accepts_text("The cow")
    assert compiled.accepts_tokens([*tiny.tokenizer.encode("The"), *tiny.tokenizer.encode(" cat")])
    assert compiled.sizes.language_states > 4


@pytest.mark.model
@pytest.mark.parametrize("decoding", RULES, ids=str)
@pytest.mark.parametrize("rank", ["joint", "conditional"])
def test_the_real_model_in_order_of_rank(smollm2, smollm2_oracle, decoding, rank):
    query = Query(" (mat|bed)s?", prefix="The (cat|dog) sat on the", decoding=decoding)
    prefixes = ["The cat sat on the", "The dog sat on the"]
    patterns = [f" {word}{s}" for word in ("mat", "bed") for s in ("", "s")]
    check(smollm2, smollm2_oracle, query, prefixes, patterns, rank)
    once = Query(" (mat|bed)", prefix="The cat sat on the", decoding=decoding, encoding=Encoding.CANONICAL)
    check(smollm2, smollm2_oracle, once, prefixes[:1], patterns[:3:2], rank)


@pytest.mark.model
def test_the_real_model_with_end_of_text_and_numbers(smollm2, smollm2_oracle):
    query = Query(r" [12]\d", prefix="He was born on July", end_of_text=True, decoding=Decoding(top_k=200))
    check(smollm2, smollm2_oracle, query, ["He was born on July"], [f" {n}" for n in range(10, 30)], "conditional")


@pytest.fixture(scope="module")
def smollm2():
    return load_model("smollm2-135m", device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def smollm2_oracle(smollm2):
    return Oracle(smollm2)
