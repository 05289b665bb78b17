"""The searches: fast as plain, alone as in company, stopped as not; and brute force where every input can be tried."""

from __future__ import annotations

import gc
import itertools
import weakref
from functools import cache

import pytest
import torch

from relens.errors import QueryError, RelensError
from relens.triggers.hits import HIT_TYPES, HitType, Thresholds
from relens.triggers.model.batches import EncodedPairs
from relens.triggers.model.dialogue_model import DialogueConfiguration, DialogueModel, DialogueTexts
from relens.triggers.model.sentence_model import SentenceModel, SentenceModelConfiguration
from relens.triggers.model.seq2seq import Seq2Seq, Seq2SeqConfiguration
from relens.triggers.model.vocabulary import (
    BEGIN,
    END,
    END_OF_UTTERANCE,
    FORBIDDEN,
    PAD,
    SPECIAL_WORDS,
    UNKNOWN,
    WordVocabulary,
)
from relens.triggers.objective import Objective
from relens.triggers.search import trigger_search as trigger_search_module
from relens.triggers.search.gibbs import try_place
from relens.triggers.search.scorer import PlainScorer
from relens.triggers.search.search_settings import METHODS, SearchSettings
from relens.triggers.search.searches import begin
from relens.triggers.search.trigger_search import SearchResult, Sweep, trigger_search
from tests.engine.triggers.conftest import SIZE, random_sentence_model, random_seq2seq
from tests.engine.triggers.oracle import evaluate

pytestmark = pytest.mark.heavy

TARGETS = [[7, 8, END], [9, END], [10, 11, END], [12, 5, 6, END]]
NAMES = ["o-greedy", "o-sample-min-k1", "io-sample-min-k1", "io-sample-avg-k2"]
FEW = SearchSettings(shortlist=10, sweeps=2, restarts=2, seed=5)


def objective_of(model: DialogueModel, name: str) -> Objective:
    return Objective(HitType.called(name), model.thresholds)


def with_context(model: DialogueModel, context: str, seed: int) -> DialogueModel:
    seq2seq, sentence_model = random_seq2seq(context, seed), random_sentence_model(seed)
    configuration = DialogueConfiguration(seq2seq.configuration, sentence_model.configuration, source_length=6)
    return DialogueModel(model.vocabulary, seq2seq, sentence_model, model.thresholds, configuration, model.texts)


def searched(model, objective, settings, targets=TARGETS, scorer=None):
    """What was found, by target, and the sweeps."""
    events = [event for event in trigger_search(model, targets, objective, settings, scorer) if event is not None]
    found = {event.target: event for event in events if isinstance(event, SearchResult)}
    return found, [event for event in events if isinstance(event, Sweep)]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("context", ["last", "general", "mlp-query"])
@pytest.mark.parametrize("name", NAMES)
def test_the_fast_search_has_the_results_of_the_plain_one(dialogue_model, name, context, seed):
    model = with_context(dialogue_model, context, seed + 3)
    objective = objective_of(model, name)
    settings = SearchSettings(shortlist=8, sweeps=2, restarts=2, seed=seed)
    fast, _ = searched(model, objective, settings)
    plain, _ = searched(model, objective, settings, scorer=PlainScorer(model.seq2seq, model.sentence_model, objective))
    for number, found in plain.items():
        assert fast[number].inputs == found.inputs
        assert fast[number].values == found.values
        assert (fast[number].candidates, fast[number].sweeps) == (found.candidates, found.sweeps)
        assert fast[number].full < found.full == found.candidates


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_accepted_edits_never_raise_the_objective(dialogue_model, name, method):
    objective = objective_of(dialogue_model, name)
    settings = SearchSettings(method, shortlist=10, sweeps=3, restarts=2, seed=5, substitutes=2)
    scorer = PlainScorer(dialogue_model.seq2seq, dialogue_model.sentence_model, objective)
    found, sweeps = searched(dialogue_model, objective, settings)
    assert sorted(found) == [0, 1, 2, 3]
    for number, ids in enumerate(TARGETS):
        at_first = begin(dialogue_model, scorer, [(number, ids)], 2, 5)
        inputs = at_first.source_ids.clone()
        values = at_first.values.tolist()
        for sweep in (sweep for sweep in sweeps if sweep.target == number):
            for edit in sweep.edits:
                assert edit.value < values[edit.restart] or edit.value == pytest.approx(values[edit.restart], abs=1e-6)
                values[edit.restart] = edit.value
                assert int(inputs[edit.restart, edit.place]) == edit.before
                inputs[edit.restart, edit.place] = edit.after
            assert list(sweep.values) == pytest.approx(values, abs=1e-5)
            best = sweep.values.index(min(sweep.values))
            assert list(sweep.best) == inputs[best].tolist()
        # The edits lead from the beginning to what was found, and its value is the value of just that.
        assert [list(row) for row in found[number].inputs] == inputs.tolist()
        expected = scorer.values(inputs, at_first.target_ids).tolist()
        assert list(found[number].values) == pytest.approx(expected, abs=1e-6)
        assert found[number].values[found[number].best] == min(found[number].values)
        mine = [sweep for sweep in sweeps if sweep.target == number]
        assert found[number].candidates == sum(sweep.candidates for sweep in mine)
        assert found[number].gradients == sum(sweep.gradients for sweep in mine) > 0
        for row in found[number].inputs:
            assert row[-1] == END_OF_UTTERANCE
            assert not set(row[:-1]) & set(FORBIDDEN)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["o-greedy", "io-sample-min-k1"])
@pytest.mark.parametrize("stop_at_hit", [False, True])
def test_a_target_alone_goes_as_in_company(dialogue_model, name, method, stop_at_hit):
    model = dialogue_model
    loose = Thresholds(-8.0, -8.0) if name.startswith("io") else model.thresholds  # so that some are reached
    objective = Objective(HitType.called(name), loose)
    settings = SearchSettings(method, 6, 2, 2, 5, substitutes=2, stop_at_hit=stop_at_hit)
    targets = [*TARGETS[:2], model.seq2seq.greedy(model.seq2seq.encode(model.texts.test_sources[:1].long()))[0]]
    together, _ = searched(model, objective, settings, targets)
    for number, ids in enumerate(targets):
        alone, _ = searched(model, objective, settings, [ids])
        assert alone[0].inputs == together[number].inputs
        assert alone[0].sweeps == together[number].sweeps
        assert list(alone[0].values) == pytest.approx(together[number].values, abs=1e-5)
    again, _ = searched(model, objective, settings, targets)
    assert again == together


def test_another_seed_is_another_search(dialogue_model):
    objective = objective_of(dialogue_model, "o-greedy")
    found = [
        searched(dialogue_model, objective, SearchSettings(shortlist=2, sweeps=1, restarts=2, seed=s))[0]
        for s in (0, 1)
    ]
    assert found[0][0].inputs != found[1][0].inputs
    assert found[0][0].inputs[0] != found[0][0].inputs[1]


def test_more_restarts_begin_as_fewer_do(dialogue_model):
    objective = objective_of(dialogue_model, "io-sample-min-k1")
    few, _ = searched(dialogue_model, objective, FEW, TARGETS[:1])
    more, _ = searched(
        dialogue_model, objective, SearchSettings(shortlist=10, sweeps=2, restarts=4, seed=5), TARGETS[:1]
    )
    assert more[0].inputs[:2] == few[0].inputs


def test_a_search_ends_when_a_sweep_brings_nothing(dialogue_model):
    objective = objective_of(dialogue_model, "o-sample-min-k1")
    settings = SearchSettings(shortlist=SIZE, sweeps=50, restarts=3)
    found, sweeps = searched(dialogue_model, objective, settings)
    scorer = PlainScorer(dialogue_model.seq2seq, dialogue_model.sentence_model, objective)
    for number, ids in enumerate(TARGETS):
        mine = [sweep for sweep in sweeps if sweep.target == number]
        assert len(mine) == max(found[number].sweeps) < 50
        assert [sum(count >= sweep.sweep for count in found[number].sweeps) for sweep in mine] == [
            sweep.searching for sweep in mine
        ]
        # With all words on the shortlist, no change of one word makes any of them better.
        for row, value in zip(found[number].inputs, found[number].values, strict=True):
            for place in range(len(row) - 1):
                tried = torch.tensor([row] * SIZE)
                tried[:, place] = torch.arange(SIZE)
                tried = tried[[word for word in range(SIZE) if word not in FORBIDDEN]]
                target_ids = torch.tensor([[2, *ids]] * len(tried))
                assert float(scorer.values(tried, target_ids).min()) >= value - 2e-5


@pytest.mark.parametrize("context", ["last", "general"])
@pytest.mark.parametrize("name", ["o-sample-min-k1", "io-sample-avg-k2"])
def test_places_that_were_tried_in_vain_are_not_tried_again(dialogue_model, name, context):
    """A search that tries all places in all sweeps, each with a gradient of its own, comes to the same."""
    model = with_context(dialogue_model, context, 3)
    objective = objective_of(model, name)
    settings = SearchSettings(shortlist=10, sweeps=20, restarts=2, seed=2)
    found, _ = searched(model, objective, settings)
    scorer = PlainScorer(model.seq2seq, model.sentence_model, objective)
    spared = 0
    for number, ids in enumerate(TARGETS):
        searches = begin(model, scorer, [(number, ids)], 2, 2)
        for row in range(2):
            alone = searches.take([row])
            sweeps = 0
            while sweeps < 20:
                before, sweeps = float(alone.values), sweeps + 1
                for place in range(alone.free):
                    slopes = scorer.problem(alone.target_ids).first_order(alone.source_ids[:, :-1])
                    try_place(scorer, alone, torch.tensor([0]), place, slopes.estimated_gain(place), 10)
                if float(alone.values) >= before:
                    break
            assert found[number].inputs[row] == tuple(alone.source_ids[0].tolist())
            assert found[number].sweeps[row] == sweeps
            spared += int(alone.candidates.sum())
        spared -= found[number].candidates
        assert 0 < found[number].gradients < found[number].candidates / 10
    assert spared > 0


def test_tables_of_weights_are_made_once_and_go_with_the_model(dialogue_model, monkeypatch):
    made = []
    tables = trigger_search_module.ScorerTables
    monkeypatch.setattr(trigger_search_module, "ScorerTables", lambda *models: made.append(1) or tables(*models))
    model = with_context(dialogue_model, "last", 9)
    for name in ("o-greedy", "io-sample-min-k1"):
        searched(model, objective_of(model, name), FEW, TARGETS[:1])
    assert len(made) == 1
    gone = weakref.ref(model.seq2seq)
    del model
    gc.collect()
    assert gone() is None


def test_it_stops_at_a_hit(dialogue_model):
    model = dialogue_model
    said = model.seq2seq.greedy(model.seq2seq.encode(model.texts.test_sources[:1].long()))[0]
    objective = Objective(HitType("o", "avg", 2), Thresholds(-6.0, -6.0))
    settings = SearchSettings(shortlist=SIZE, sweeps=50, restarts=2)
    whole, _ = searched(model, objective, settings, [said])
    hit, sweeps = searched(model, objective, SearchSettings(shortlist=SIZE, restarts=2, stop_at_hit=True), [said])
    scores = evaluate(model.seq2seq, model.sentence_model, torch.tensor(hit[0].inputs), [said] * 2)
    assert any(score.is_hit(objective.hit_type, objective.thresholds) for score in scores)
    assert len(sweeps) < max(whole[0].sweeps)


def test_many_targets_are_taken_in_parts(dialogue_model, monkeypatch):
    objective = objective_of(dialogue_model, "o-greedy")
    whole, _ = searched(dialogue_model, objective, FEW)
    monkeypatch.setattr("relens.triggers.search.trigger_search.MOST_ROWS", 2)
    parts, _ = searched(dialogue_model, objective, FEW)
    assert {number: found.inputs for number, found in parts.items()} == {
        number: found.inputs for number, found in whole.items()
    }


@pytest.mark.parametrize("ids", [[], [END], [7, 8], [7, PAD, END], [SIZE, END], [END, 7, END], [7] * 30 + [END]])
def test_bad_targets_are_refused(dialogue_model, ids):
    with pytest.raises(QueryError):
        list(trigger_search(dialogue_model, [ids], objective_of(dialogue_model, "o-greedy"), FEW))


@pytest.mark.parametrize(
    "settings",
    [{"method": "luck"}, {"shortlist": 0}, {"sweeps": 0}, {"restarts": 10_000}, {"substitutes": 0}, {"seed": -1}],
)
def test_settings_without_meaning_are_refused(settings):
    with pytest.raises(RelensError):
        SearchSettings(**settings)


# --- brute force: three open places, every input tried ----------------------------------------------------

WORDS = 8


@cache
def toy(context: str) -> DialogueModel:
    """A model that has learnt a little to answer "a b c" with "a c", of eight words and <unk>: 729 inputs."""
    size = WORDS + len(SPECIAL_WORDS)
    torch.manual_seed(1)
    seq2seq = Seq2Seq(Seq2SeqConfiguration(size, 6, 16, context))
    sentence_model = SentenceModel(SentenceModelConfiguration(size, 6, 8))
    with torch.no_grad():
        for parameter in sentence_model.parameters():
            parameter.mul_(3.0)
    inputs = every_input(size)
    replies = torch.stack([torch.full((729,), BEGIN), inputs[:, 0], inputs[:, 2], torch.full((729,), END)], dim=1)
    optimiser = torch.optim.Adam(seq2seq.parameters(), 3e-2)
    for _ in range(100):
        chosen = torch.randint(729, (48,))
        optimiser.zero_grad()
        loss = seq2seq(inputs[chosen], replies[chosen])
        (loss / 48).backward()
        optimiser.step()
    vocabulary = WordVocabulary((*SPECIAL_WORDS, *(f"w{number}" for number in range(WORDS))))
    pairs = EncodedPairs(([5, 6, 7, END_OF_UTTERANCE],), ([BEGIN, 5, END],))
    configuration = DialogueConfiguration(seq2seq.configuration, sentence_model.configuration, source_length=4)
    texts = DialogueTexts.of_pairs([row[1:-1] for row in pairs.targets], pairs)
    return DialogueModel(vocabulary, seq2seq, sentence_model, Thresholds(-1.0, -2.6), configuration, texts)


def every_input(size: int) -> torch.Tensor:
    words = [UNKNOWN, *range(len(SPECIAL_WORDS), size)]
    return torch.tensor([[*row, END_OF_UTTERANCE] for row in itertools.product(words, repeat=3)])


@pytest.mark.parametrize("context", ["last", "general"])
def test_brute_force_agrees(context):
    """What the search claims exists, nothing is better than the best there is, and of what exists it finds most."""
    model = toy(context)
    inputs = every_input(len(model.vocabulary))
    place = {tuple(row): at for at, row in enumerate(inputs.tolist())}
    targets = [[5, 6, END], [7, 7, END], [9, 8, END], [10, END], [UNKNOWN, 11, END], [6, 5, 7, END]]
    existing = reached = 0
    for name in ("o-greedy", "o-sample-min-k1", "io-sample-min-k2"):
        objective = objective_of(model, name)
        scorer = PlainScorer(model.seq2seq, model.sentence_model, objective)
        found, _ = searched(model, objective, SearchSettings(shortlist=5, sweeps=20, restarts=4), targets)
        for number, ids in enumerate(targets):
            values = scorer.values(inputs, torch.tensor([[BEGIN, *ids]]).expand(len(inputs), -1))
            scores = evaluate(model.seq2seq, model.sentence_model, inputs, [ids] * len(inputs), batch=1024)
            rows = [place[row] for row in found[number].inputs]
            assert min(found[number].values) >= float(values.min()) - 1e-5
            assert list(found[number].values) == pytest.approx(values[rows].tolist(), abs=1e-5)
            claimed = evaluate(
                model.seq2seq, model.sentence_model, torch.tensor(found[number].inputs), [ids] * len(rows)
            )
            for hit_type in HIT_TYPES:
                margins = [score.margin(hit_type, model.thresholds) for score in claimed]
                truth = [scores[row].margin(hit_type, model.thresholds) for row in rows]
                assert margins == pytest.approx(truth, abs=1e-4)
            hits = [score.is_hit(objective.hit_type, model.thresholds) for score in scores]
            assert sum(hits) < len(hits) / 4  # or a search would have nothing to find
            existing += any(hits)
            reached += any(hits[row] for row in rows)
    print(f"of {existing} triggers that exist {reached} were found")
    assert existing >= 6
    assert reached >= 0.8 * existing
