"""Brute force as a study: a toy is trained, all of its inputs are tried, and the tables are counted anew."""

from __future__ import annotations

import itertools
import json
import math
import typing
from pathlib import Path

import pytest
import torch

from relens.errors import QueryError
from relens.paired import proportion
from relens.studies.catalogue import presets, study_class
from relens.studies.rows import done_units, rows_of
from relens.studies.study import Study, StudyContext, StudyRun, Unit
from relens.triggers.brute_force import character_training, run
from relens.triggers.brute_force import study as brute_force_study
from relens.triggers.brute_force.character_lists import character_targets
from relens.triggers.brute_force.character_training import prepare_characters
from relens.triggers.brute_force.enumeration import BruteForce
from relens.triggers.brute_force.search import search_triggers
from relens.triggers.brute_force.study import BruteForceStudy
from relens.triggers.model.characters import input_symbols, spelled_out
from relens.triggers.model.recipe import Recipe
from relens.triggers.model.seq2seq import Seq2Seq
from relens.triggers.model.vocabulary import END, END_OF_UTTERANCE, PAD, UNKNOWN
from relens.triggers.search.search_settings import SearchSettings

pytestmark = pytest.mark.heavy


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RELENS_DEVICE", "cpu")


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setattr(brute_force_study, "PART_SYMBOLS", 2)
    (tmp_path / "text.txt").write_text("ab ba b a\nbac de ab\n\nb ab ba cde\n" * 40)
    (tmp_path / "mal.txt").write_text("ab ba\nce\n")
    return BruteForceStudy(
        corpus=str(tmp_path / "text.txt"),
        targets=str(tmp_path / "mal.txt"),
        symbols=5,
        embedding=6,
        hidden=16,
        recipe=Recipe(rate=2e-2, epochs=2, batch=8, autocast=False),
        noise=0.1,
        random_count=10,
        depth=3,
    )


def study_context(stop=lambda: False):
    return StudyContext(typing.cast("typing.Any", None), stop=stop)


def finish(work):
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def talkative(study, preparation, device, epochs):
    """A model with many different replies, in place of a trained one."""
    torch.manual_seed(2)
    model = Seq2Seq(preparation.configuration).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0)
        model.output.weight.mul_(8.0)
        model.output.bias.copy_(torch.tensor([0.5] + [-9.0] * 4 + [0.0] * 5))
    return model
    yield


@pytest.mark.parametrize("is_trained", [True, False])
def test_the_tables_are_those_of_plain_greedy_decoding(study, is_trained, monkeypatch):
    if not is_trained:
        monkeypatch.setattr(run, "trained_characters", talkative)
    rows = list(StudyRun(study, study_context()))
    assert json.loads(json.dumps(rows)) == rows
    units = [unit.key for unit in study.units()]
    assert character_training._prepare.cache_info().currsize == 0  # its memory is given back
    assert units == [
        "train 1",
        "train 2",
        "measure",
        "length 1, 0",
        "length 2, 0",
        *(f"length 3, {n}" for n in range(6)),
        "search 3",
    ]
    assert done_units(rows) == set(units)
    preparation = prepare_characters(study)
    vocabulary = preparation.vocabulary
    (row,) = rows_of(rows, "model")
    assert row["symbols"] == ["<unk>", *vocabulary.words[5:]]
    assert row["words"] == len(preparation.text.words)
    assert row["perplexity"] == pytest.approx(math.exp(row["nll"]))
    # Each input by itself.
    model = finish(run.trained_characters(study, preparation, torch.device("cpu"), 2))
    symbols = input_symbols(vocabulary)
    said = {}
    for length in (1, 2, 3):
        for inputs in itertools.product(symbols, repeat=length):
            source = torch.tensor([[PAD] * (6 - length) + [*inputs, END_OF_UTTERANCE]])
            (reply,) = model.greedy(model.encode(source), 10)
            said[spelled_out(vocabulary, inputs)] = vocabulary.words_of(reply[: -1 if reply[-1] == END else None])
    assert len(said) == 6 + 36 + 216 == study.inputs()
    targets = character_targets(vocabulary, preparation.text.words, ["abba", "ce"], 10)
    outside = sum("".join(reply) not in targets["normal"] for reply in said.values())
    findings = study.findings(rows)
    total = findings.coverage[-1]
    assert (total.inputs, total.possible, total.outside) == (258, 258, outside)
    assert [line.inputs for line in findings.coverage] == [6, 36, 216, 258]
    assert total.inputs_a_second > 0.0
    for hits in findings.lists:
        whole = {target for target in targets[hits.list] if tuple(target) in said.values()}
        parts = {
            target
            for target in targets[hits.list]
            if any(target in "".join(symbol[0] for symbol in reply) for reply in said.values())
        }
        assert (hits.targets, set(hits.whole), set(hits.parts)) == (len(targets[hits.list]), whole, parts)
        assert (hits.whole_share, hits.parts_share) == tuple(
            proportion(len(reached), hits.targets) for reached in (whole, parts)
        )
        assert set(hits.triggers) == parts
        for target, trigger in hits.triggers.items():
            assert target in "".join(said[trigger])
            assert target not in whole or "".join(said[trigger]) == target
    assert findings.lists[0].whole
    if not is_trained:
        assert len(findings.outside) > 5
        assert any(len(hits.parts) > len(hits.whole) for hits in findings.lists)
    for example in findings.outside:
        assert tuple(example.output.split()) == said[example.input]
        assert "".join(example.output.split()) not in targets["normal"]
    assert "258 inputs, 100 % of those of up to 3 symbols" in study.verdict(rows)[0]
    longest = [row for row in rows if row.get("length", 3) == 3]
    assert "100 % of those of 3 symbols" in study.verdict(longest)[0]
    assert study.verdict(rows[:3]) == ()


@pytest.mark.parametrize("context", ["last", "general"])
def test_a_search_finds_only_existing_targets(study, context, monkeypatch):
    """Each hit is decoded again; existing targets are the replies to all inputs of this length, one by one."""
    monkeypatch.setattr(run, "trained_characters", talkative)
    study = BruteForceStudy.from_json({**study.to_json(), "context": context})
    preparation = prepare_characters(study)
    vocabulary = preparation.vocabulary
    model = finish(talkative(study, preparation, None, 0))
    said = set()
    for inputs in itertools.product(input_symbols(vocabulary), repeat=3):
        (reply,) = model.greedy(model.encode(torch.tensor([[PAD] * 3 + [*inputs, END_OF_UTTERANCE]])), 10)
        said.add(tuple(reply[:-1] if reply[-1] == END else reply))
    sayable = ["".join(vocabulary.words_of(ids)) for ids in sorted(said) if ids and UNKNOWN not in ids]
    phrases = [*sayable, "ce", "dcdc", "eeee"]
    Path(study.targets).write_text("\n".join(phrases))
    rows = list(StudyRun(study, study_context()))
    lists = character_targets(vocabulary, preparation.text.words, phrases, 10)
    searched = {row["list"]: row for row in rows_of(rows, "search")}
    assert set(searched) == set(lists)
    existing = reached = 0
    for name, targets in lists.items():
        row = searched[name]
        exist = [target for target in targets if tuple(vocabulary.ids(target)) in said]
        assert row["existing"] == len(exist)
        assert sorted([*row["triggers"], *row["missed"]]) == sorted(exist)
        for target, trigger in row["triggers"].items():
            source = torch.tensor([[PAD] * 3 + [*map(vocabulary.words.index, trigger.split()), END_OF_UTTERANCE]])
            (reply,) = model.greedy(model.encode(source), 10)
            assert vocabulary.words_of(reply[:-1] if reply[-1] == END else reply) == tuple(target)
        existing, reached = existing + row["existing"], reached + len(row["triggers"])
    assert existing >= len(sayable) > 5
    assert reached >= 0.7 * existing
    searches = study.findings(rows).searches
    assert sum(search.existing for search in searches) == existing
    assert sum(len(search.triggers) for search in searches) == reached
    assert sum("gibbs-enum finds" in sentence for sentence in study.verdict(rows)) == len(searches) > 0


def test_a_search_for_replies_that_are_cut_off_and_for_no_target(study, monkeypatch):
    """A reply of full length has no end."""
    preparation = prepare_characters(study)
    model = finish(talkative(study, preparation, None, 0))
    with torch.no_grad():
        model.output.bias[END] = -50.0
    brute_force = BruteForce(model, input_symbols(preparation.vocabulary), 7, 4)
    replies = model.greedy(model.encode(brute_force.inputs(2, torch.arange(20))), 4)
    settings = SearchSettings(shortlist=6, restarts=5)
    outcomes = finish(search_triggers(brute_force, replies, 2, settings))
    assert all(END not in reply for reply in replies)
    assert sum(bool(outcome.trigger) for outcome in outcomes) >= 15
    for reply, outcome in zip(replies, outcomes, strict=True):
        if outcome.trigger:
            assert outcome.trigger[:4] == (PAD,) * 4
            assert model.greedy(model.encode(torch.tensor([outcome.trigger])), 4) == [reply]
    assert finish(search_triggers(brute_force, [], 2, settings)) == []


def test_without_searched_symbols_there_is_no_search(study):
    without = BruteForceStudy.from_json({**study.to_json(), "searched": 0})
    assert [unit.key for unit in without.units()] == [unit.key for unit in study.units()][:-1]
    assert study.of_training() == without.of_training()
    shallow = BruteForceStudy.from_json({**study.to_json(), "depth": 2})
    assert shallow.units()[-1].key == "search 2"


@pytest.mark.parametrize("looks", [3, 30, 60, 75, 80])
def test_a_resumed_run_has_the_rows_of_an_uninterrupted_one(study, looks):
    whole = list(StudyRun(study, study_context()))
    left = iter([False] * looks)
    rows = list(StudyRun(study, study_context(lambda: next(left, True))))
    assert len(done_units(rows)) < len(study.units())
    rows += list(StudyRun(study, study_context(), done_units(rows)))
    for kind in ("list", "hits", "example"):
        assert rows_of(rows, kind) == rows_of(whole, kind)
    assert study.findings(rows).coverage[-1].outside == study.findings(whole).coverage[-1].outside


def test_going_deeper_takes_no_training(study, monkeypatch):
    list(StudyRun(study, study_context()))
    deeper = BruteForceStudy.from_json({**study.to_json(), "depth": 4, "shorter": False, "random_count": 0})
    monkeypatch.setattr("relens.triggers.model.training.Trainer.epoch", lambda self: pytest.fail("trained again"))
    rows = list(StudyRun(deeper, study_context()))
    findings = deeper.findings(rows)
    assert [line.inputs for line in findings.coverage] == [6**4, 6**4]
    assert next(hits for hits in findings.lists if hits.list == "random").targets == 0


def test_a_broken_checkpoint_is_made_again(study):
    whole = study.findings(list(StudyRun(study, study_context()))).lists
    (checkpoint,) = prepare_characters(study).folder.iterdir()
    checkpoint.write_bytes(b"broken")
    rows = list(StudyRun(study, study_context(), ["train 1", "train 2"]))
    assert study.findings(rows).lists == whole


def test_a_text_with_fewer_characters_has_fewer_inputs(study):
    wider = BruteForceStudy.from_json({**study.to_json(), "symbols": 20, "depth": 1})
    rows = list(StudyRun(wider, study_context()))
    assert wider.findings(rows).coverage[-1].possible == len({*"abcde"}) + 1


def test_text_without_two_lines_and_other_mistakes_are_sentences(study, tmp_path):
    for text, match in (("one line only", "single line"), ("cat\ndog\n", "no two words"), ("\n", "no text")):
        (tmp_path / "text.txt").write_text(text)
        with pytest.raises(QueryError, match=match):
            list(study.carry_out(Unit("measure", ""), study_context()))
    (tmp_path / "text.txt").write_bytes(b"a cat\n\xff\xfe\n")
    with pytest.raises(QueryError, match="Line 2"):
        list(study.carry_out(Unit("measure", ""), study_context()))


@pytest.mark.parametrize(
    "settings",
    [
        {"words": 0},
        {"symbols": 65},
        {"pairs": 0},
        {"test_share": 1.0},
        {"noise": 1.5},
        {"hidden": 0},
        {"depth": 7},
        {"depth": 0},
        {"seed": -1},
        {"shortest_reversed": 0},
        {"searched": 5},
        {"shortlist": 0},
        {"restarts": 0},
    ],
)
def test_settings_without_meaning_are_refused(settings):
    with pytest.raises(QueryError):
        BruteForceStudy(**settings).units()


def test_a_study_survives_json_and_is_in_the_catalogue(study):
    assert Study.from_json(json.loads(json.dumps(study.to_json()))) == study
    assert study_class("brute-force") is BruteForceStudy
    assert study.files() == (study.corpus, study.targets)
    with pytest.raises(QueryError):
        BruteForceStudy(random_count=10**6)


def test_parts_of_the_largest_preset_are_a_million_inputs_each():
    paper = presets("brute-force")["paper"]
    assert paper.inputs() == sum(33**length for length in range(1, 7))
    assert len(paper.units()) == 10 + 1 + 4 + 33 + 33**2 + 1
