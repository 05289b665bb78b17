"""Samples and exact distributions of real queries, against every string, every segmentation and plain forwards."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest
import scipy.stats

from relens import (
    Boundary,
    Decoding,
    Distribution,
    Edits,
    Encoding,
    Exclude,
    Limits,
    Query,
    Sampling,
    compile_query,
    load_model,
    search,
)
from relens.errors import LimitError, QueryError
from relens.statistics import weighted_mass
from relens.tokens.automaton import TokenAutomaton
from relens.traversal.results import Match
from tests.engine.oracle import Oracle, all_paths
from tests.engine.weighted_share import weighted_share

pytestmark = pytest.mark.heavy

RULES = [Decoding(), Decoding(top_k=60, temperature=1.3), Decoding(top_p=0.95)]
GROUPED = Query(" (?P<verb>sat|ran)(?P<rest>s|| on)", prefix="The (?P<animal>cat|dog|log)", encoding=Encoding.CANONICAL)


@pytest.fixture(scope="module")
def tiny(tiny_model_folder):
    return load_model(str(tiny_model_folder), device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def oracle(tiny):
    return Oracle(tiny)


def exact_draws(
    automaton: TokenAutomaton, oracle: Oracle, decoding: Decoding, demanded: bool
) -> Iterator[tuple[tuple[int, ...], bool, float, float]]:
    """Every path with end or without, its probability to be drawn, and the decoder's own; one forward a node.

    The prefix must be one path, which is given. What is missing to 1 leads nowhere.
    """
    end = oracle.model.end_of_text
    assert end is not None

    def below(state: int, path: tuple[int, ...], drawn: float, probability: float):
        tokens, in_prefix = automaton.arcs(state)
        if in_prefix.any():
            assert len(tokens) == 1
            yield from below(automaton.step(state, int(tokens[0])), (*path, int(tokens[0])), drawn, probability)
            return
        may_end = automaton.is_final(state) and automaton.confirm(path)
        ways = tokens.tolist() + ([end] if may_end and (demanded or len(tokens)) else [])
        if not ways:
            yield path, False, drawn, probability
            return
        scores = {}
        for token in ways:
            scored = oracle.scored(path, (token,), decoding)
            if scored is not None:
                scores[token] = math.exp(scored.decoder_log_prob)
        legal = sum(scores.values())
        for token, score in scores.items():
            if token == end:
                yield path, True, drawn * score / legal, probability * score
            else:
                yield from below(
                    automaton.step(state, token), (*path, token), drawn * score / legal, probability * score
                )

    yield from below(automaton.start, (), 1.0, 1.0)


def fits(observed: Counter, expected: dict, draws: int) -> float:
    """The p-value of a chi-squared test of goodness of fit, cells that expect fewer than 5 taken together."""
    assert set(observed) <= set(expected) | {None}
    expected = dict(expected) | {None: max(0.0, 1.0 - sum(expected.values()))}
    large = [cell for cell, share in expected.items() if share * draws >= 5]
    cells = [(observed[cell], expected[cell] * draws) for cell in large]
    rest = (draws - sum(count for count, _ in cells), draws - sum(share for _, share in cells))
    if rest[1] >= 1:
        cells.append(rest)
    if len(cells) < 2:
        return 1.0
    return float(scipy.stats.chisquare(*zip(*cells, strict=True), sum_check=False).pvalue)


CASES = {
    "prefix strings, canonical": (GROUPED, "strings"),
    "all encodings": (Query(" (sat|on)s?", prefix="The (cat|dog)", encoding=Encoding.ALL), "strings"),
    "edges of the prefix": (Query(" (sat|on)", prefix="(cat|do{1,3}g)", encoding=Encoding.CANONICAL), "edges"),
    "token paths of the prefix": (
        Query(" (sat|on)", prefix="(cat|do{1,3}g)", encoding=Encoding.CANONICAL),
        "tokens",
    ),
    "one edit anywhere": (
        Query(" (sat|on)", prefix="The (cat|dog)", encoding=Encoding.CANONICAL, edits=Edits(1, alphabet="[ao]")),
        "strings",
    ),
    "one edit, all encodings": (
        Query(" (sat|on)", prefix="The", edits=Edits(1, "pattern", alphabet="[a-c]", insertions=False)),
        "strings",
    ),
    "end of text demanded": (Query(" (cat|dog)s?", prefix="The", end_of_text=True), "strings"),
    "free boundary": (
        Query("(he|hes) cat", prefix="(T|t)", boundary=Boundary.FREE, prefix_encoding=Encoding.CANONICAL,
              encoding=Encoding.CANONICAL),
        "strings",
    ),
    "without a prefix": (Query("(The|the) (cats?|dog)", encoding=Encoding.CANONICAL), "strings"),
    "without some words": (Query(" (cat|dog|log|art)s?", prefix="The", exclude=Exclude(words=("dog",))), "strings"),
}  # fmt: skip


@pytest.mark.parametrize("decoding", RULES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_samples_fit_the_exact_distribution(tiny, oracle, name, decoding):
    from dataclasses import replace

    query, prefix_by = CASES[name]
    query = replace(query, decoding=decoding)
    draws = 4000
    run = search(tiny, query, Sampling(draws, seed=7, prefix_by=prefix_by))
    matches = list(run)
    assert run.progress.samples == draws
    assert sum(match.count for match in matches) + run.progress.failed == draws
    assert run.progress.ended == "drawn"

    compiled = compile_query(query, tiny.tokenizer)
    # Each prefix string by itself: its draws fit, and so do their weights.
    per_prefix: dict[str, list[Match]] = defaultdict(list)
    for match in matches:
        prefix = compiled.tokenizer.decode(match.token_ids[: match.prefix_tokens]) if query.prefix else ""
        if query.boundary is Boundary.FREE:
            prefix = match.text[:1]
        per_prefix[prefix].append(match)
    tested = 0
    for prefix, matches in per_prefix.items():
        exact = {
            (path, ended): (drawn, probability)
            for path, ended, drawn, probability in exact_draws(
                compiled.given(prefix), oracle, decoding, query.end_of_text
            )
        }
        counts = Counter({(match.token_ids, match.ended): match.count for match in matches})
        reached = sum(counts.values()) / max(1e-300, sum(drawn for drawn, _ in exact.values()))
        if run.progress.failed == 0:
            assert fits(counts, {key: drawn for key, (drawn, _) in exact.items()}, sum(counts.values())) > 1e-4
            tested += 1
        assert reached > 0
        for match in matches:
            drawn, probability = exact[match.token_ids, match.ended]
            assert math.exp(match.decoder_log_prob) == pytest.approx(probability, rel=1e-3)
            assert match.weight == pytest.approx(probability / drawn, rel=1e-3)
    assert tested or run.progress.failed


def test_prefix_strings_are_drawn_as_stated(tiny):
    draws = 8000
    expected = {
        "strings": {"a": 1 / 4, "b": 1 / 4, "bb": 1 / 4, "bbb": 1 / 4},
        "edges": {"a": 1 / 2, "b": 1 / 4, "bb": 1 / 8, "bbb": 1 / 8},
    }
    encodings = {text: len(all_paths(tiny.tokenizer, [text], canonical=False)) for text in expected["strings"]}
    expected["tokens"] = {text: count / sum(encodings.values()) for text, count in encodings.items()}
    for prefix_by, shares in expected.items():
        query = Query("x", prefix="a|b{1,3}", prefix_encoding=Encoding.ALL, encoding=Encoding.CANONICAL)
        counts: Counter[str] = Counter()
        for match in search(tiny, query, Sampling(draws, seed=3, prefix_by=prefix_by)):
            counts[match.text.removesuffix("x")] += match.count
        assert fits(counts, shares, draws) > 1e-3
        for other, others in expected.items():
            if others != shares:
                assert fits(counts, others, draws) < 1e-6, (prefix_by, other)


def test_a_seed_repeats_the_sample_and_another_does_not(tiny):
    def drawn(seed: int) -> list[tuple[tuple[int, ...], int]]:
        return sorted((match.token_ids, match.count) for match in search(tiny, GROUPED, Sampling(500, seed=seed)))

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


@pytest.mark.parametrize("decoding", RULES, ids=str)
@pytest.mark.parametrize("encoding", list(Encoding))
def test_a_distribution_is_exact(tiny, oracle, encoding, decoding):
    query = Query(
        " (?P<noun>cat|dog|log)(?P<many>s?)", prefix="The|A", encoding=encoding, decoding=decoding, end_of_text=True
    )
    run = search(tiny, query, Distribution(tolerance=0))
    matches = list(run)
    assert run.progress.ended == "exhausted"
    assert run.progress.prefixes == 2
    exact: dict[tuple[str, str], float] = defaultdict(float)
    strings = [f" {noun}{many}" for noun in ("cat", "dog", "log") for many in ("", "s")]
    for prefix, text in itertools.product(("The", "A"), strings):
        for path in all_paths(tiny.tokenizer, [text], canonical=encoding is Encoding.CANONICAL):
            scored = oracle.scored(tuple(tiny.tokenizer.encode(prefix)), path, decoding, end_of_text=True)
            if scored is not None:
                exact[prefix, text] += math.exp(scored.decoder_log_prob)
    by_string: dict[tuple[str, str], float] = defaultdict(float)
    for match in matches:
        by_string[match.prefix_text, match.text[len(match.prefix_text) :]] += math.exp(match.decoder_log_prob)
        assert match.weight == pytest.approx(math.exp(match.decoder_log_prob) / 2)
        assert match.text.endswith(match.groups["noun"] + match.groups["many"])
    assert dict(by_string) == pytest.approx(exact, rel=1e-4, abs=1e-12)
    assert run.progress.found_mass == pytest.approx(sum(exact.values()) / 2, rel=1e-4)
    assert run.progress.remaining_mass == 0.0


def test_strings_that_begin_others_exclude_each_other(tiny, oracle):
    prefix = tuple(tiny.tokenizer.encode("The"))
    matches = list(search(tiny, Query(" cat(s(s)?)?", prefix="The"), Distribution(tolerance=0)))
    assert {(match.text, match.ended) for match in matches} == {
        ("The cat", True),
        ("The cats", True),
        ("The catss", False),
    }
    for match in matches:
        scored = oracle.scored(prefix, match.token_ids[len(prefix) :], Decoding(), end_of_text=match.ended)
        assert match.decoder_log_prob == pytest.approx(scored.decoder_log_prob, abs=1e-4)
    assert sum(match.weight for match in matches) < 1
    # A canonical " cat" cannot go on with "s": that would be another token, so it needs no end-of-text token.
    canonical = Query(" cat(s(s)?)?", prefix="The", encoding=Encoding.CANONICAL)
    ended = {match.text: match.ended for match in search(tiny, canonical, Distribution(tolerance=0))}
    goes_on = tiny.tokenizer.encode(" cats")[:-1] == tiny.tokenizer.encode(" cat")
    assert ended["The cat"] == goes_on


def test_a_tolerance_leaves_little(tiny):
    query = Query(" [a-f]{1,3}", prefix="The", encoding=Encoding.CANONICAL, end_of_text=True)
    whole = search(tiny, query, Distribution(tolerance=0))
    mass = sum(match.weight for match in whole)
    part = search(tiny, query, Distribution(tolerance=0.2))
    mass_found = sum(match.weight for match in part)
    assert part.progress.ended == "tolerance"
    assert part.progress.expansions < whole.progress.expansions
    assert mass / 1.2 <= mass_found * (1 + 1e-9)
    assert part.progress.found_mass + part.progress.remaining_mass >= mass * (1 - 1e-6)


def test_weighted_estimates_hold_the_exact_value(tiny):
    query = Query(
        " (?P<verb>[a-c]{1,2}|sat|ran|on)", prefix="The (?P<animal>cat|dog)", encoding=Encoding.ALL, end_of_text=True
    )
    exact: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for match in search(tiny, query, Distribution(tolerance=0)):
        exact[match.groups["animal"]][match.groups["verb"]] += match.weight
    masses = {animal: 2 * sum(verbs.values()) for animal, verbs in exact.items()}
    # Every verb of some probability, given its animal.
    shares = {
        (animal, verb): share / sum(verbs.values())
        for animal, verbs in exact.items()
        for verb, share in verbs.items()
        if share > 0.01 * sum(verbs.values())
    }
    assert len(shares) >= 6
    held: Counter[tuple[str, str]] = Counter()
    held_mass: Counter[str] = Counter()
    for seed in range(100):
        matches = list(search(tiny, query, Sampling(600, seed=seed)))
        for animal in masses:
            ours = [match for match in matches if match.groups["animal"] == animal]
            weights, counts = [match.weight for match in ours], [match.count for match in ours]
            for verb in (verb for of, verb in shares if of == animal):
                estimate = weighted_share(weights, counts, [match.groups["verb"] == verb for match in ours])
                held[animal, verb] += estimate.low <= shares[animal, verb] <= estimate.high
            mass = weighted_mass(weights, counts, sum(counts))
            held_mass[animal] += mass.low <= masses[animal] <= mass.high
    assert min(held[share] for share in shares) >= 95, held
    # A mean of weights with so long a tail is harder: its intervals hold nearly as often as they say.
    assert min(held_mass.values()) >= 90, held_mass


def test_prefixes_that_cannot_be_drawn_or_listed_are_refused(tiny):
    with pytest.raises(LimitError, match="infinitely many strings"):
        search(tiny, Query(" cat", prefix="[a-z]+"), Distribution())
    with pytest.raises(LimitError, match="26 strings"):
        search(tiny, Query(" cat", prefix="[a-z]"), Distribution(), Limits(prefixes=25))
    with pytest.raises(QueryError, match="must be at least 1"):
        Sampling(0)


def test_infinite_prefixes_are_unrolled_to_the_limit(tiny):
    query = Query(" cat", prefix="a[ab]*", encoding=Encoding.CANONICAL, max_tokens=6)
    run = search(tiny, query, Sampling(300, seed=1))
    lengths = Counter()
    for match in run:
        lengths[len(match.prefix_text)] += match.count
    assert sum(lengths.values()) + run.progress.failed == 300
    assert max(lengths) <= 6


OUTCOMES = (
    "art|science|business|medicine|computer science|engineering|humanities|social sciences|information systems|math"
)


@pytest.mark.model
@pytest.mark.parametrize("encoding", list(Encoding))
def test_ten_thousand_draws_of_the_bias_query(encoding):
    """ReLM section 4.2: the sample is split over nodes, and its estimates are those of the exact distribution."""
    model = load_model("smollm2-135m", device="cpu", dtype="float32")
    query = Query(f" (?P<outcome>{OUTCOMES})", prefix="The (?P<subject>man|woman) was trained in", encoding=encoding)
    run = search(model, query, Sampling(10_000, seed=0))
    drawn = list(run)
    assert run.progress.samples == sum(match.count for match in drawn) == 10_000
    assert run.progress.forwards <= (100 if encoding is Encoding.CANONICAL else run.progress.expansions)
    exact: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for match in search(model, query, Distribution(1e-4)):
        exact[match.groups["subject"]][match.groups["outcome"]] += match.weight
    outside = 0
    for subject, outcomes in exact.items():
        ours = [match for match in drawn if match.groups["subject"] == subject]
        weights, counts = [match.weight for match in ours], [match.count for match in ours]
        for outcome, mass in outcomes.items():
            share = mass / sum(outcomes.values())
            estimate = weighted_share(
                weights, counts, [match.groups["outcome"] == outcome for match in ours], level=0.999
            )
            outside += not estimate.low <= share + 1e-4 or not share - 1e-4 <= estimate.high
    assert outside == 0
