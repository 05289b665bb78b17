"""Training as a study: from a corpus to a model with a name, resumed runs, and the command line."""

from __future__ import annotations

import dataclasses
import json
import math
import typing

import pytest

from relens.command_line.main import main
from relens.errors import QueryError, RelensError
from relens.studies.allowed_files import check_files
from relens.studies.catalogue import presets, study_class
from relens.studies.rows import done_units, rows_of
from relens.studies.study import Study, StudyContext, StudyRun, Unit
from relens.triggers.model.dialogue_model import load_dialogue_model
from relens.triggers.model.model_list import model_names, models_folder
from relens.triggers.model.preparation import prepare
from relens.triggers.model.recipe import Recipe
from relens.triggers.model.training import mean_negative_log_likelihood, reply_loss, sentence_loss
from relens.triggers.model.training_study import DialogueModelStudy

RECIPE = Recipe(rate=1e-2, epochs=2, batch=8, autocast=False)


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RELENS_DEVICE", "cpu")


@pytest.fixture
def study(tmp_path):
    """Forty dialogues in which a letter is answered by the next one."""
    lines = [f"say {'abcdefgh'[number % 8]} {number % 5}\n{'bcdefgha'[number % 8]} it is\n" for number in range(40)]
    (tmp_path / "corpus.txt").write_text("\n".join(lines))
    return DialogueModelStudy(
        name="letters",
        corpus=str(tmp_path / "corpus.txt"),
        test_share=0.2,
        vocabulary=40,
        embedding=5,
        hidden=7,
        dropout=0.1,
        recipe=RECIPE,
    )


def context(stop=lambda: False):
    return StudyContext(typing.cast("typing.Any", None), stop=stop)


def test_a_study_makes_a_model(study):
    rows = list(StudyRun(study, context()))
    keys = ["replies 1", "replies 2", "sentences 1", "sentences 2", "measure"]
    assert [unit.key for unit in study.units()] == keys
    assert done_units(rows) == set(keys)
    assert json.loads(json.dumps(rows)) == rows
    steps = rows_of(rows, "step", "replies 2")
    assert [(row["epoch"], row["step"], row["steps"]) for row in steps] == [(2, step, 4) for step in range(1, 5)]
    (row,) = rows_of(rows, "model")
    model = load_dialogue_model("letters")
    assert row["fingerprint"] == model.fingerprint
    assert (row["pairs"], row["test_pairs"], row["corpus"]) == (32, 8, "corpus.txt")
    assert row["vocabulary"] == len(model.vocabulary) == 5 + len({*"abcdefgh", *"01234", "say", "it", "is"})
    # The rows agree with the model in the folder.
    preparation = prepare(study)
    for part, loss, network in (
        ("replies", reply_loss, model.seq2seq),
        ("sentences", sentence_loss, model.sentence_model),
    ):
        work = mean_negative_log_likelihood(network, loss(network), preparation.test, model.device)
        while True:
            try:
                next(work)
            except StopIteration as end:
                cost = end.value
                break
        threshold = row["threshold_out"] if part == "replies" else row["threshold_in"]
        assert -threshold == pytest.approx(cost, rel=1e-6)
        epochs = rows_of(rows, "epoch")
        assert [epoch["nll"] for epoch in epochs if epoch["part"] == part][-1] == pytest.approx(cost, rel=1e-6)
        perplexity = row["perplexity"] if part == "replies" else row["sentence_perplexity"]
        assert perplexity == pytest.approx(math.exp(cost), rel=1e-6)
    assert (model.thresholds.out, model.thresholds.into) == (row["threshold_out"], row["threshold_in"])
    assert model.training.perplexity == row["perplexity"]
    assert len(model.texts.replies) == 32
    # Checkpoints are gone.
    assert not list((models_folder() / ".training").iterdir())
    sentences = study.verdict(rows)
    assert "'letters'" in sentences[0]
    assert "32 pairs" in sentences[0]
    assert f"8 held-out pairs, a word of a reply has perplexity {row['perplexity']:,.0f}" in sentences[1]
    assert study.verdict(rows[:5]) == ()


@pytest.mark.parametrize("looks", [1, 4, 9, 14, 25, 36])
def test_a_resumed_run_has_the_model_of_an_uninterrupted_one(study, looks):
    whole = [row for row in StudyRun(study, context()) if row["row"] == "model"]
    left = iter([False] * looks)
    first = StudyRun(study, context(lambda: next(left, True)))
    rows = list(first)
    assert first.progress.ended == "stopped"
    assert "measure" not in done_units(rows)
    rows += list(StudyRun(study, context(), done_units(rows)))
    assert [row["fingerprint"] for row in rows_of(rows, "model")] == [whole[0]["fingerprint"]]


def test_an_epoch_of_an_earlier_run_has_no_row(study):
    """Its checkpoint is further on, so its cost is lost."""
    first = StudyRun(study, context())
    rows = []
    while "replies 2" not in done_units(rows):
        rows += first.poll(0.0) or first.poll(0.01)
    again = list(StudyRun(study, context()))
    epochs = [(row["part"], row["epoch"]) for row in rows_of(again, "epoch")]
    assert epochs == [("replies", 2), ("sentences", 1), ("sentences", 2)]
    (before,) = (row for row in rows_of(rows, "epoch") if (row["part"], row["epoch"]) == ("replies", 2))
    assert rows_of(again, "epoch")[0]["nll"] == before["nll"]


def test_the_model_keeps_whole_replies(study, tmp_path):
    """The training has only the first words of a reply; the texts of the model have all."""
    lines = [f"say {place}\t" + " ".join("abcdefgh"[(place + word) % 8] for word in range(30)) for place in range(5)]
    (tmp_path / "corpus.txt").write_text("\n".join(lines * 8))
    study = dataclasses.replace(study, form="pairs", recipe=Recipe(epochs=1, batch=8))
    rows = list(StudyRun(study, context()))
    assert rows_of(rows, "model")
    replies = load_dialogue_model("letters").texts.replies
    assert {len(reply) for reply in replies} == {30}


def test_a_checkpoint_that_is_lost_or_broken_is_made_again(study):
    whole = [row["fingerprint"] for row in StudyRun(study, context()) if row["row"] == "model"]
    list(study.carry_out(study.units()[0], context()))
    (checkpoint,) = prepare(study).folder.iterdir()
    checkpoint.write_bytes(b"broken")
    finished = ["replies 1", "replies 2", "sentences 1"]
    rows = list(StudyRun(study, context(), finished))
    assert [row["fingerprint"] for row in rows_of(rows, "model")] == whole


def test_another_text_of_the_same_name_is_another_corpus(study, tmp_path):
    before = prepare(study)
    assert prepare(study) is before
    with open(study.corpus, "a") as file:
        file.write("\nnew\nold\n")
    after = prepare(study)
    assert after.folder != before.folder
    assert after.corpus.fingerprint != before.corpus.fingerprint
    assert 0.0 <= after.unknown_share < 1.0


@pytest.mark.parametrize(
    "settings",
    [
        {"name": "../x"},
        {"test_share": 0.0},
        {"pairs": 0},
        {"vocabulary": 5},
        {"embedding": 0},
        {"hidden": 5000},
        {"dropout": 1.0},
        {"seed": -1},
    ],
)
def test_settings_without_meaning_are_refused(settings):
    with pytest.raises(QueryError):
        DialogueModelStudy(**settings).units()


def test_a_corpus_without_pairs_is_a_sentence(study, tmp_path):
    (tmp_path / "corpus.txt").write_text("hello\n\nyes\n")
    with pytest.raises(RelensError, match="no pairs"):
        list(study.carry_out(Unit("replies 1", ""), context()))
    with pytest.raises(QueryError, match="upload"):
        check_files(study)


def test_a_study_survives_json_and_is_in_the_catalogue(study):
    again = Study.from_json(json.loads(json.dumps(study.to_json())))
    assert again == study
    assert study_class("dialogue-model") is DialogueModelStudy
    assert all(isinstance(preset.units()[0], Unit) for preset in presets("dialogue-model").values())


def test_the_command_line_loads_no_language_model(study, tmp_path, capsys):
    settings = [f"--set={name}={json.dumps(value)}" for name, value in study.to_json().items() if name != "kind"]
    command = ["study", "dialogue-model", *settings, "--output", str(tmp_path / "rows.jsonl")]
    assert main(command) == 0
    assert model_names() == ("letters",)
    assert "'letters'" in capsys.readouterr().out
