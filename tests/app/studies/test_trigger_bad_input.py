"""Any input in a field of the pages around triggers gets one sentence, or is a valid study; nothing is lost.

As in `tests.app.studies.test_bad_input`, whose texts and numbers are put into these fields too.
"""

from __future__ import annotations

import re

import pytest

from relens.errors import RelensError
from relens.studies.catalogue import study_class
from relens.triggers.model.model_list import model_folder
from relens_dashboard.studies.kept_text import keep_checked
from relens_dashboard.studies.trigger_words import file_targets
from tests.app.studies.test_bad_input import (
    field,
    fields_of,
    form,
    is_answered,
    takes_any_number,
    takes_any_text,
    typed_fields,
    with_field,
)
from tests.engine.triggers.conftest import dialogue_model, vocabulary

__all__ = ["dialogue_model", "vocabulary"]  # fixtures of this module too

FIELDS = {
    "dialogue-model": {
        "text": ["name", "path"],
        "number": ["pairs", "vocabulary", "embedding", "hidden", "epochs", "dropout", "seed"],
    },
    "triggers": {
        "text": ["targets"],
        "number": [
            *("count", "shortlist", "sweeps", "restarts", "seed", "epsilon", "input_weight", "substitutes"),
        ],
    },
    "trigger-ablation": {
        "text": ["shortlists", "targets"],
        "number": ["count", "restarts", "sweeps", "seed"],
    },
    "trigger-check": {"text": ["pairs"], "number": []},
    "causal-triggers": {
        "text": ["targets", "template", "judge", "encoder_decoder"],
        "number": ["free", "evaluations", "seeds", "seed"],
    },
    "prompt-check": {"text": ["texts", "template"], "number": []},
    "relaxation": {"text": [], "number": ["count", "steps", "penalty", "mal_penalty", "seed"]},
    "brute-force": {
        "text": ["corpus_path", "mal_path"],
        "number": ["depth", "pairs", "epochs", "hidden", "noise", "random_count", "seed"],
    },
}
#: What has to be chosen before a field is there.
CHOICES = {
    "dialogue-model_path": {"dialogue-model_source": "On the server"},
    "brute-force_corpus_path": {"brute-force_corpus_source": "On the server"},
    "brute-force_mal_path": {"brute-force_mal_source": "On the server"},
}
TEXT_FIELDS = [(kind, name) for kind, fields in FIELDS.items() for name in fields["text"]]
NUMBER_FIELDS = [(kind, name) for kind, fields in FIELDS.items() for name in fields["number"]]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch, dialogue_model):
    from relens_dashboard.components import study_form

    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(study_form, "presets", study_form.presets)  # put back what a script changed
    monkeypatch.delenv("RELENS_TEXTS", raising=False)
    dialogue_model.save(model_folder("chitchat-quick"))


@pytest.mark.parametrize(("kind", "name"), TEXT_FIELDS)
def test_any_text_in_a_field_of_text(kind, name):
    takes_any_text(with_field(kind, f"{kind}_{name}", CHOICES), f"{kind}_{name}")


@pytest.mark.parametrize(("kind", "name"), NUMBER_FIELDS)
def test_any_number_in_a_field_of_numbers(kind, name):
    takes_any_number(form(kind), f"{kind}_{name}")


@pytest.mark.parametrize("kind", FIELDS)
def test_every_field_is_among_these(kind):
    known = {f"{kind}_{name}" for names in FIELDS[kind].values() for name in names}
    assert typed_fields(form(kind)) == known - CHOICES.keys()


@pytest.mark.parametrize(
    ("kind", "key", "text", "sentence"),
    [
        ("dialogue-model", "name", "My model", "The name of a dialogue model has small letters"),
        ("dialogue-model", "name", "", "'' is none."),
        ("dialogue-model", "path", "", "Name the file for “Conversations”."),
        ("dialogue-model", "path", "/etc/passwd", "The dashboard may not read '/etc/passwd'"),
        ("brute-force", "corpus_path", "/etc/passwd", "The dashboard may not read '/etc/passwd'"),
        ("brute-force", "mal_path", "/", "The dashboard may not read '/'"),
        (
            "causal-triggers",
            "template",
            "no slot",
            "A template has one {}, where the free tokens go; this one has none.",
        ),
        ("causal-triggers", "template", "{} or {}", "A template has one {}, where the free tokens go; this one has 2."),
        ("causal-triggers", "targets", "a\nb\n\na", "In “Targets”, 'a' is there twice."),
        ("causal-triggers", "encoder_decoder", "t5-small", "The model 't5-small' is not among those that this server"),
        ("causal-triggers", "encoder_decoder", "smollm2-135m", "An encoder-decoder has no chat format"),
        ("causal-triggers", "targets", "\n \n", "“Targets” must have at least 1, not 0."),
        ("trigger-ablation", "shortlists", "", "“Words tried (G)” must have at least 1, not 0."),
        ("trigger-ablation", "shortlists", "3, 3", "In “Words tried (G)”, 3 is there twice."),
        ("trigger-ablation", "shortlists", "3, -1", "'-1' is none."),
        ("trigger-check", "pairs", "", "There is nothing to check."),
        ("trigger-check", "pairs", "word1 =>", "A target has at least one word."),
        ("trigger-check", "pairs", "=> word1", "An input has at least one word."),
        ("triggers", "targets", "word1\n" + "x" * 501, "Target 2 of your own has more than 500 characters."),
    ],
)
def test_a_mistake_is_one_sentence(kind, key, text, sentence):
    shown = with_field(kind, f"{kind}_{key}", CHOICES)
    field(shown, f"{kind}_{key}").set_value(text)
    shown.run()
    assert not is_answered(shown)
    assert sentence in shown.error[0].value.replace("\\", "")
    assert field(shown, f"{kind}_{key}").value == text


@pytest.mark.parametrize("kind", ["triggers", "relaxation"])
def test_no_list_and_no_model(kind):
    shown = form(kind)
    before = fields_of(shown)
    shown.pills(key=f"{kind}_lists").set_value([])
    shown.run()
    assert not is_answered(shown)
    assert "lists of targets" in shown.error[0].value.lower() or "no list" in shown.error[0].value
    assert {**before, f"{kind}_lists": []} == fields_of(shown)
    # A run may name a model that is there no more.
    name = "model" if kind == "triggers" else "name"
    shown = form(kind, study_class(kind).from_json({"kind": kind, name: "nobody"}))
    assert is_answered(shown)
    assert any("There is no model called “nobody”" in caption.value for caption in shown.caption)


@pytest.mark.parametrize("kind", ["triggers", "relaxation"])
def test_before_any_model_is_trained(kind, monkeypatch, tmp_path):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "empty"))
    shown = form(kind)
    assert not is_answered(shown)
    assert shown.error[0].value.startswith("Train a dialogue model first")


def test_targets_that_the_model_cannot_say_are_named_at_once():
    shown = form("triggers")
    shown.text_area(key="triggers_targets").set_value("word3 zebra\nword1\n\n*yak*")
    shown.run()
    assert is_answered(shown)
    said = [caption.value.replace("\\", "") for caption in shown.caption]
    expected = "2 targets are left out; for instance: the target 'word3 zebra' has words that the model does not know"
    assert any(one.startswith(expected) and one.endswith("'zebra'.") for one in said)
    # With nothing else to search for, there has to be one that can be said.
    shown.pills(key="triggers_lists").set_value([])
    shown.run()
    assert is_answered(shown)
    shown.text_area(key="triggers_targets").set_value("word3 zebra")
    shown.run()
    assert not is_answered(shown)
    assert "has words that the model does not know: 'zebra'." in shown.error[0].value.replace("\\", "")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The uploaded text is empty."),
        ("ok\nétat".encode("latin-1"), "Line 2 of the uploaded text is not UTF-8; save the file as UTF-8."),
        ("word1".encode("utf-16-le"), "Line 1 of the uploaded text is no text: it has a null character."),
        (b"\n # a remark\n\n", "There are no targets in the file of targets “mine.txt”."),
        (b"word1\n" * 800_000, "A file of targets has at most 1,048,576 bytes."),
    ],
)
def test_a_file_of_targets_is_looked_at_at_once(data, sentence):
    with pytest.raises(RelensError, match=re.escape(sentence)):
        keep_checked("mine.txt", data, file_targets)


@pytest.mark.parametrize(
    ("data", "form", "sentence"),
    [
        (b"a\nb\n\nc\nd\n", "auto", ""),
        (b"\n \n", "auto", "The corpus has no text."),
        (b"yes\n\nno\n", "auto", "The corpus has no pairs: nothing in it is answered by anything."),
        (b"a\nb\nc\n", "auto", "The corpus has a single dialogue, so nothing is left to test with"),
        (b"a\tb\nalone\n", "auto", "Line 2 of the corpus has no tab between an input and its response."),
        (b"a\nb\n\nc\nd\n", "pairs", "Line 1 of the corpus has no tab between an input and its response."),
        (b"a\nb\n\nc\nd\n", "json", "Line 1 of the corpus is not JSON; each line is a whole value."),
        ("é\tb\nc\td".encode("latin-1"), "auto", "Line 1 of the uploaded text is not UTF-8; save the file as UTF-8."),
        (b"x" * 4_500_000, "auto", "Line 1 of the corpus has more than the limit of 4,194,304 bytes."),
    ],
)
def test_an_uploaded_corpus_is_looked_at_at_once(data, form, sentence):
    shown = form_of_training(form)
    before = fields_of(shown)
    shown.get("file_uploader")[0].set_value(("talks.txt", data, "text/plain"))
    shown.run()
    assert is_answered(shown) == (not sentence)
    if sentence:
        assert sentence in shown.error[0].value.replace("\\", "")
    assert fields_of(shown) == before


def form_of_training(how):
    """The page of training, where a file is to be uploaded that is written in this way."""
    shown = form("dialogue-model")
    shown.number_input(key="dialogue-model_seed").set_value(7)
    shown.segmented_control(key="dialogue-model_source").set_value("A file")
    shown.run()
    shown.selectbox(key="dialogue-model_form").set_value(how)
    shown.run()
    assert "Choose a file for “Conversations”." in shown.error[0].value.replace("\\", "")
    return shown
