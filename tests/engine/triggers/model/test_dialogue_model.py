"""A dialogue model as a folder: saved and loaded, and all errors of a stranger's folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from relens.errors import ModelError, QueryError
from relens.triggers.model.batches import EncodedPairs
from relens.triggers.model.dialogue_model import (
    DialogueModel,
    DialogueTexts,
    Training,
    load_dialogue_model,
    model_folder,
    model_names,
)
from relens.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE, PAD
from tests.engine.triggers.oracle import evaluate


@pytest.fixture
def folder(dialogue_model, tmp_path):
    dialogue_model.save(tmp_path / "model")
    return tmp_path / "model"


def test_a_saved_model_is_loaded_unchanged(dialogue_model, folder):
    again = DialogueModel.load(folder)
    assert again.fingerprint == dialogue_model.fingerprint
    assert (again.vocabulary, again.thresholds) == (dialogue_model.vocabulary, dialogue_model.thresholds)
    assert (again.configuration, again.training) == (dialogue_model.configuration, Training())
    assert again.texts.replies == dialogue_model.texts.replies
    sources = dialogue_model.texts.test_sources[:6].long()
    targets = [[7, 8, END]] * 6
    before, after = (
        evaluate(model.seq2seq, model.sentence_model, sources, targets) for model in (dialogue_model, again)
    )
    assert before == after
    assert all(parameter.requires_grad for parameter in again.seq2seq.parameters())
    assert again.device.type == "cpu"
    assert sorted(path.suffix for path in folder.iterdir()) == [".json"] * 2 + [".safetensors"] * 3


def test_saving_replaces_and_leaves_nothing_behind(dialogue_model, folder):
    with torch.no_grad():
        dialogue_model.seq2seq.output.bias[7] += 1.0
    old = DialogueModel.load(folder).fingerprint
    changed = DialogueModel(
        dialogue_model.vocabulary,
        dialogue_model.seq2seq,
        dialogue_model.sentence_model,
        dialogue_model.thresholds,
        dialogue_model.configuration,
        dialogue_model.texts,
    )
    changed.save(folder)
    assert DialogueModel.load(folder).fingerprint == changed.fingerprint != old
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_texts_keep_all_replies():
    test = EncodedPairs(([4], [4], [4]), ([BEGIN, 7, END], [BEGIN, 8, 9], [BEGIN, END]))
    texts = DialogueTexts.of_pairs([[7], [8, 9], []], test)
    assert texts.replies == [(7,), (8, 9), ()]
    assert texts.test_targets.tolist() == [[BEGIN, 7, END], [BEGIN, 8, 9], [BEGIN, END, PAD]]
    assert texts.test_sources.tolist() == [[END_OF_UTTERANCE]] * 3


def test_a_model_replaces_another_whole_or_not_at_all(dialogue_model, tmp_path, monkeypatch):
    folder = tmp_path / "toy"
    dialogue_model.save(folder)
    replace = os.replace

    def interrupted(source, target):
        if Path(target) == folder and not str(source).endswith(".before"):
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dialogue_model.save(folder)
    monkeypatch.setattr(os, "replace", replace)
    assert DialogueModel.load(folder).fingerprint == dialogue_model.fingerprint
    (folder / "of the one before").touch()
    dialogue_model.save(folder)
    assert not (folder / "of the one before").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["toy"]


def edited(path, change):
    description = json.loads(path.read_text())
    change(description)
    path.write_text(json.dumps(description))


def retensored(path, change):
    tensors = load_file(path)
    change(tensors)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)


def drop(name):
    return lambda values: values.pop(name)


def put(name, value):
    return lambda values: values.__setitem__(name, value)


WRONG = {
    "no description": lambda folder: (folder / "model.json").unlink(),
    "no JSON": lambda folder: (folder / "model.json").write_text("{"),
    "deep JSON": lambda folder: (folder / "model.json").write_text("[" * 100_000),
    "a list": lambda folder: (folder / "vocabulary.json").write_text("[]"),
    "no shapes": lambda folder: edited(folder / "model.json", drop("configuration")),
    "no thresholds": lambda folder: edited(folder / "model.json", drop("thresholds")),
    "a huge shape": lambda folder: edited(
        folder / "model.json", lambda read: read["configuration"]["seq2seq"].update(hidden=4096)
    ),
    "a shape beyond the limit": lambda folder: edited(
        folder / "model.json", lambda read: read["configuration"]["seq2seq"].update(hidden=1 << 40)
    ),
    "two vocabularies": lambda folder: edited(
        folder / "model.json", lambda read: read["configuration"]["sentence_model"].update(vocabulary_size=31)
    ),
    "another vocabulary": lambda folder: edited(folder / "vocabulary.json", lambda read: read["words"].append("more")),
    "a word twice": lambda folder: edited(folder / "vocabulary.json", lambda read: read["words"].append("word1")),
    "no weights": lambda folder: (folder / "seq2seq.safetensors").unlink(),
    "a pickle": lambda folder: (folder / "seq2seq.safetensors").write_bytes(b"\x80\x04}\x94."),
    "a weight too few": lambda folder: retensored(folder / "seq2seq.safetensors", drop("output.bias")),
    "a weight too many": lambda folder: retensored(folder / "seq2seq.safetensors", put("more", torch.zeros(1))),
    "another shape": lambda folder: retensored(folder / "seq2seq.safetensors", put("output.bias", torch.zeros(31))),
    "another type": lambda folder: retensored(
        folder / "sentence_model.safetensors", put("output.bias", torch.zeros(30, dtype=torch.int64))
    ),
    "no number": lambda folder: retensored(
        folder / "sentence_model.safetensors", put("output.bias", torch.full((30,), torch.nan))
    ),
    "no texts": lambda folder: retensored(folder / "texts.safetensors", drop("responses")),
    "texts of other words": lambda folder: retensored(
        folder / "texts.safetensors", put("responses", torch.tensor([30], dtype=torch.int32))
    ),
    "texts of other lengths": lambda folder: retensored(
        folder / "texts.safetensors", put("test_sources", torch.zeros((40, 5), dtype=torch.int32))
    ),
}


@pytest.mark.parametrize("way", WRONG)
def test_a_wrong_folder_is_refused_with_a_sentence(folder, way):
    WRONG[way](folder)
    with pytest.raises(ModelError) as raised:
        DialogueModel.load(folder)
    assert str(raised.value).endswith(".")


def test_models_are_loaded_by_name(dialogue_model, tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path))
    assert model_names() == ()
    for name in ("b.1", "a-model"):
        dialogue_model.save(model_folder(name))
    (model_folder("b.1").parent / ".training").mkdir()
    (model_folder("b.1").parent / "empty").mkdir()
    assert model_names() == ("a-model", "b.1")
    assert load_dialogue_model("b.1").fingerprint == dialogue_model.fingerprint
    with pytest.raises(ModelError, match=r"'c'; there are: a-model, b\.1"):
        load_dialogue_model("c")


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".training", "A", "a" * 65, "a\n", "ä"])
def test_paths_are_no_names(name):
    with pytest.raises(QueryError):
        model_folder(name)
