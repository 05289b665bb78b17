"""Searching for triggers as a study: rows, stop and resume, verdict, and what is refused; on random models."""

from __future__ import annotations

import dataclasses
import json
import math
import typing

import pytest
import torch

from relens.command_line.main import main
from relens.errors import ModelError, QueryError, RelensError
from relens.paired import proportion
from relens.studies.allowed_files import check_files
from relens.studies.catalogue import presets, study_class
from relens.studies.rows import done_units, rows_of
from relens.studies.study import Study, StudyContext, StudyRun, Unit
from relens.triggers.hits import HIT_TYPES, HitType, Thresholds
from relens.triggers.model.model_list import model_folder
from relens.triggers.search.search_settings import SearchSettings
from relens.triggers.search.trigger_study import TriggerStudy
from tests.engine.triggers.made_rows import trigger_row
from tests.engine.triggers.oracle import evaluate

pytestmark = pytest.mark.heavy

SEARCH = SearchSettings(shortlist=6, sweeps=2, restarts=2, seed=3)


@pytest.fixture
def study(tmp_path, monkeypatch, dialogue_model):
    """Six targets of a random model, of which one list is typed."""
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RELENS_DEVICE", "cpu")
    dialogue_model.save(model_folder("toy"))
    return TriggerStudy(
        model="toy",
        lists=("normal", "random"),
        count=2,
        targets=("word3 word4", "Word5", "nobody knows word3"),
        normal="greedy",
        hit_type="io-sample-avg-k2",
        search=SEARCH,
    )


def context(stop=lambda: False):
    return StudyContext(typing.cast("typing.Any", None), stop=stop)


def without_seconds(rows):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def test_rows_say_everything(study, dialogue_model):
    rows = list(StudyRun(study, context()))
    keys = ["own 1", "own 2", "own 3", "normal 1", "normal 2", "random 1", "random 2"]
    assert [unit.key for unit in study.units()] == keys
    assert done_units(rows) == set(keys)
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    lists = {row["list"]: row for row in rows_of(rows, "list")}
    assert lists["own"]["targets"] == 2
    (dropped,) = lists["own"]["dropped"]
    assert dropped["unknown"] == ["nobody", "knows"]
    assert "does not know" in dropped["reason"]
    assert [row["target"] for row in rows_of(rows, "target", "own 2")] == [["word5"]]
    assert rows_of(rows, "target", "own 3") == []
    triggers = rows_of(rows, "trigger")
    assert [row["unit"] for row in triggers] == [key for key in keys if key != "own 3"]
    for row in triggers:
        sweeps = rows_of(rows, "sweep", row["unit"])
        assert [sweep["sweep"] for sweep in sweeps] == list(range(1, max(row["sweeps"]) + 1))
        assert row["candidates"] == sum(sweep["candidates"] for sweep in sweeps) <= 5 * 6 * 2 * 2
        assert sweeps[-1]["best"] == pytest.approx(row["objective"], abs=1e-5)
        assert sweeps[-1]["input"] == row["input_tokens"]
        # The search is for an io hit: what the input costs is left out of what the reply still costs.
        assert all(0.0 < sweep["reply_value"] < sweep["best"] for sweep in sweeps)
        # Each sweep begins where the one before it has ended.
        replies = [sweep["reply_value"] for sweep in sweeps]
        assert [sweep["reply_before"] for sweep in sweeps[1:]] == replies[:-1]
        words = len(row["target"]) + 1
        assert [len(weights) for weights in row["attention"]] == [len(row["input_tokens"])] * words
        assert row["objective"] == min(row["objectives"]) == row["objectives"][row["restart"]]
        assert row["inputs"][row["restart"]] == row["input_tokens"]
        assert row["fingerprint"] == dialogue_model.fingerprint
        # A plain evaluation has the same scores.
        vocabulary = dialogue_model.vocabulary
        ids = [*vocabulary.ids(row["target"]), 0]
        assert row["target_ids"] == ids
        assert list(vocabulary.words_of(row["input_ids"])) == row["input_tokens"]
        (score,) = evaluate(
            dialogue_model.seq2seq, dialogue_model.sentence_model, torch.tensor([row["input_ids"]]), [ids]
        )
        assert row["token_log_probs"] == pytest.approx(score.token_log_probs, abs=1e-5)
        assert row["input_log_probs"] == pytest.approx(score.input_log_probs, abs=1e-5)
        assert row["average"] == pytest.approx(score.average, abs=1e-5)
        assert len(row["token_log_probs"]) == len(row["target"]) + 1
        thresholds = Thresholds(**row["thresholds"])
        assert set(row["hits"]) == {hit_type.name for hit_type in HIT_TYPES}
        for name, margin in row["margins"].items():
            assert margin == pytest.approx(score.margin(HitType.called(name), thresholds), abs=1e-4)
            assert row["hits"][name] == (margin > 0)
            assert (row["restart"] in row["restarts_that_hit"][name]) == row["hits"][name]
        assert row["reply"] == " ".join(vocabulary.words_of(number for number in score.reply if number))
        assert row["hits"]["o-greedy"] == row["is_said"] == (row["reply_ids"] == row["target_ids"])


def test_the_verdict_counts_the_rows(study):
    rows = list(StudyRun(study, context()))
    cells = {(cell.target_list, cell.hit_type): cell for cell in study.findings(rows).cells}
    for (name, hit_type), cell in cells.items():
        of_list = [row for row in rows_of(rows, "trigger") if row["list"] == name]
        assert cell.targets == len(of_list) == 2
        assert cell.hits == sum(row["hits"][hit_type] for row in of_list)
        assert cell.hits <= cell.hits_of_any == sum(bool(row["restarts_that_hit"][hit_type]) for row in of_list)
        assert cell.share == proportion(cell.hits, cell.targets)
    sentences = study.verdict(rows)
    own = cells["own", "io-sample-avg-k2"]
    assert sentences[0].startswith(f"For {own.hits} of 2 targets of your own (list 'own') an input reaches io-sample-a")
    assert f"io-sample-avg-k2: {100 * own.share.value:.0f} % (" in sentences[0]
    assert any(
        sentence.startswith("Left out of the list 'own'") and sentence.endswith(": 1.") for sentence in sentences
    )
    assert "No reply was sampled" in sentences[-1]
    assert study.verdict(rows[:3]) == ()


def test_the_verdict_weighs_the_lists():
    def row(name, place, hit, seen=""):
        hits = dict.fromkeys(("o-greedy", "o-sample-min-k1", "o-sample-avg-k1"), hit)
        return trigger_row(name, place, hits, seen=seen)

    study = TriggerStudy(hit_type="o-greedy")
    poor = study.verdict([row("normal", place, place == 0) for place in range(4)] + [row("random", 0, True)])
    assert any("may well have a trigger" in sentence for sentence in poor)
    assert any("prove little" in sentence for sentence in poor)
    assert not any("claim about a probability" in sentence for sentence in poor)
    good = study.verdict(
        [*(row("normal", place, True) for place in range(4)), row("random", 0, False), row("mal", 0, True)]
    )
    assert not any("may well" in sentence or "prove little" in sentence for sentence in good)
    assert any("1 of 1 reached targets of the list 'mal' stands nowhere" in sentence for sentence in good)
    lucky = study.verdict([row("normal", 0, True), row("random", 0, True, seen="reply")])
    assert not any("prove little" in sentence for sentence in lucky)
    assert any("by chance" in sentence for sentence in lucky)


@pytest.mark.parametrize("looks", [0, 3, 12, 40, 75])
def test_a_resumed_study_has_the_rows_of_an_undisturbed_one(study, looks):
    whole = list(StudyRun(study, context()))
    left = iter([False] * looks)
    first = StudyRun(study, context(lambda: next(left, True)))
    rows = list(first)
    assert first.progress.ended == "stopped"
    rows += list(StudyRun(study, context(), done_units(rows)))
    for kind in ("list", "target", "sweep", "trigger"):
        assert without_seconds(rows_of(rows, kind)) == without_seconds(rows_of(whole, kind))


def test_a_file_and_our_own_list(study, tmp_path):
    (tmp_path / "targets.txt").write_text("word1\nword2 word3\nnobody\nword4\nword5\n")
    study = TriggerStudy(model="toy", lists=(), count=3, file=str(tmp_path / "targets.txt"), search=SEARCH)
    rows = list(StudyRun(study, context()))
    (listed,) = rows_of(rows, "list")
    assert (listed["targets"], len(listed["dropped"])) == (3, 1)
    assert [row["place"] for row in rows_of(rows, "trigger")] == [1, 2, 3]
    (tmp_path / "elsewhere.txt").write_text("word1")
    with pytest.raises(RelensError, match="upload"):
        check_files(TriggerStudy(file=str(tmp_path / "elsewhere.txt")))
    # None of our own targets has only the words of this model; with another list that is a row, alone it is an error.
    rows = list(StudyRun(TriggerStudy(model="toy", lists=("mal", "random"), count=1, search=SEARCH), context()))
    listed = next(row for row in rows_of(rows, "list") if row["list"] == "mal")
    assert listed["targets"] == 0
    assert len(listed["dropped"]) > 500
    assert [row["list"] for row in rows_of(rows, "trigger")] == ["random"]
    with pytest.raises(QueryError, match=r"^None of the [\d,]+ targets can be searched for; for instance, the target "):
        list(StudyRun(TriggerStudy(model="toy", lists=("mal",), count=1, search=SEARCH), context()))


@pytest.mark.parametrize(
    ("targets", "sentence"),
    [
        (
            ("nobody word3 knows",),
            "The target 'nobody word3 knows' has words that the model does not know: 'nobody', 'knows'.",
        ),
        (("word3 " * 19,), "has 19 words; the longest reply has 18."),
        (("<eou>", "Zebra"), "None of the 2 targets can be searched for; for instance, the target '<eou>' has words"),
    ],
)
def test_targets_with_unknown_or_too_many_words_are_a_sentence(study, capsys, targets, sentence):
    command = [
        "study",
        "triggers",
        "--set",
        "model=toy",
        "--set",
        "lists=[]",
        "--set",
        f"targets={json.dumps(targets)}",
    ]
    assert main(command) == 2
    listed = capsys.readouterr()
    assert sentence in listed.err.splitlines()[-1]
    assert "Traceback" not in listed.err
    # What is typed twice is searched for once, whatever its capitals.
    rows = list(StudyRun(dataclasses.replace(study, lists=(), targets=("word3", "Word3", "word3 ")), context()))
    assert [row["targets"] for row in rows_of(rows, "list")] == [1]
    assert len(rows_of(rows, "trigger")) == 1


def test_without_the_model_there_is_a_sentence(study):
    with pytest.raises(ModelError, match="no dialogue model called 'other'"):
        list(TriggerStudy(model="other").carry_out(Unit("mal 1", ""), context()))


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "../x"},
        {"lists": ()},
        {"count": 0},
        {"count": 10**9},
        {"targets": (" ",)},
        {"targets": ("x" * 10_000,)},
        {"targets": ("x",) * 10_000},
        {"hit_type": "io-greedy"},
        {"epsilon": 2.0},
        {"input_weight": math.nan},
    ],
)
def test_settings_without_meaning_are_refused(settings):
    with pytest.raises(RelensError):
        TriggerStudy(**settings).units()


def test_a_study_survives_json_and_is_in_the_catalogue(study):
    assert Study.from_json(json.loads(json.dumps(study.to_json()))) == study
    assert study_class("triggers") is TriggerStudy
    assert all(isinstance(preset.units()[0], Unit) for preset in presets("triggers").values())


def test_from_a_terminal(study, tmp_path, capsys):
    settings = [f"--set={name}={json.dumps(value)}" for name, value in study.to_json().items() if name != "kind"]
    assert main(["study", "triggers", *settings, "--output", str(tmp_path / "rows.jsonl")]) == 0
    assert "io-sample-avg-k2" in capsys.readouterr().out
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert len(rows_of(rows, "trigger")) == 6
