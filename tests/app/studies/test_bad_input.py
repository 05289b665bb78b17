"""Whatever is put into a field of a study's form gets one sentence, or is a study that can be asked; nothing is lost.

Fields are set as a browser sets them that does not hold itself to their bounds. "Nothing is lost" means that all other
fields are still there, with what they held.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import pytest
from streamlit.testing.v1 import AppTest

from relens.errors import RelensError
from relens.runs.specification import StudySpecification
from relens.studies.catalogue import study_class
from relens.studies.study import Study
from relens.studies.validators import Answers, InText, OfForm, OnList
from relens.studies.word_lists import read_words
from relens_dashboard.studies.cloze_settings import uploaded_passages
from relens_dashboard.studies.kept_text import keep_text
from relens_dashboard.studies.memorization_validators import planted_fields

#: In a field of text: anything. None of it is a reason to raise what is no sentence, to hang, or to forget a field.
TEXTS = {
    "empty": "",
    "blanks": "  \t ",
    "long": "word " * 400_000,
    "line of brackets": "(" * 5_000,
    "unbalanced": "(a|[b",
    "control": "a\x00b\x07\x1b[31m\u202e\ufeff",
    "repetition": "(?:(?:(?:a?){9999}){9999}){9999}",
    "look-ahead": "(?=a)b",
    "markup": "</textarea><script>alert(1)</script> **x** $y$",
    "braces": "{subject}{outcome}{}",
    "path": "../../../../etc/passwd",
}
NUMBERS = {"negative": -1, "zero": 0, "billion": 10**9, "huge": 1e308, "nan": math.nan, "infinite": math.inf}

#: The fields of each form, by the kind of widget; `states` are studies whose forms have fields that others hide.
FIELDS = {
    "bias": {
        "text": ["template", "subjects", "outcomes", "alphabet"],
        "number": ["draws", "costly", "positions", "seed", "seconds", "top_k", "top_p", "temperature", "tolerance"],
    },
    "cloze": {"text": ["paste"], "number": ["count", "top_k", "expansions", "answers", "answers_with_end"]},
    "knowledge": {
        "text": ["prompt", "truth", "distractors", "pattern"],
        "number": ["matches", "continuation", "expansions"],
    },
    "memorization": {
        "text": ["prefix", "pattern", "form", "values", "path"],
        "number": ["seconds", "top_k", "top_p", "temperature", "max_tokens", "matches", "batch", "seed"],
    },
    "toxicity": {
        "text": ["text", "own_words"],
        "number": [
            *("most_inputs", "top_k", "top_p", "temperature", "most_matches", "max_tokens"),
            *("prompted_expansions", "unprompted_expansions"),
        ],
    },
}
#: What has to be chosen before a field is there.
CHOICES = {
    "cloze_paste": {"cloze_source": "Paste"},
    "memorization_form": {"memorization_validator": "has a form"},
    "memorization_values": {"memorization_validator": "is on a list"},
    "memorization_path": {"memorization_validator": "is in a text"},
    "toxicity_text": {"toxicity_source": "Pasted text"},
    "toxicity_own_words": {"toxicity_source": "Pasted text", "toxicity_words": "My own"},
}
TEXT_FIELDS = [(kind, name) for kind, fields in FIELDS.items() for name in fields["text"]]
NUMBER_FIELDS = [(kind, name) for kind, fields in FIELDS.items() for name in fields["number"]]


def script(kind: str, data: dict) -> None:
    """A page of the form alone."""
    from types import SimpleNamespace

    import streamlit as st

    from relens.studies.study import Study
    from relens_dashboard.components import study_form
    from relens_dashboard.study_views import study_views
    from tests.app.fakes import checks_here

    if data:
        study_form.presets = lambda kind: {"This": Study.from_json(data)}
    st.session_state["asked"], _ = study_form.study_form(
        SimpleNamespace(**checks_here()), study_views()[kind], ["m"], None
    )


def form(kind: str, study: Study | None = None) -> AppTest:
    data = {} if study is None else study.to_json()
    shown = AppTest.from_function(script, kwargs={"kind": kind, "data": data}, default_timeout=20).run()
    assert not shown.exception
    return shown


@pytest.fixture(autouse=True)
def _own_presets(monkeypatch):
    from relens_dashboard.components import study_form

    monkeypatch.setattr(study_form, "presets", study_form.presets)  # put back what a script changed
    monkeypatch.delenv("RELENS_TEXTS", raising=False)


def fields_of(shown: AppTest) -> dict:
    """All fields with what they hold."""
    kinds = ("text_input", "text_area", "number_input", "toggle", "checkbox", "multiselect", "button_group")
    return {widget.key: widget.value for kind in kinds for widget in getattr(shown, kind) if widget.key}


def field(shown: AppTest, key: str):
    return next(widget for kind in ("text_input", "text_area", "number_input") for widget in getattr(shown, kind)
                if widget.key == key)  # fmt: skip


def with_field(kind: str, key: str, choices: Mapping[str, Mapping[str, str]] = CHOICES) -> AppTest:
    """The form, once the field is there; choices: what has to be chosen before."""
    shown = form(kind)
    for chosen, label in choices.get(key, {}).items():
        shown.segmented_control(key=chosen).set_value(label)
        shown.run()
        assert not shown.exception
    return shown


def is_answered(shown: AppTest) -> bool:
    """Whether there is one sentence and nothing that would be run, or none and a study that makes sense."""
    assert not shown.exception
    asked = shown.session_state["asked"]
    sentences = [error.value for error in shown.error]
    if asked is None:
        (sentence,) = sentences
        first = sentence.split("\n")[0].replace("\\", "")
        assert 10 < len(first) < 500, first
        assert "Traceback" not in sentence
        assert first.rstrip()[-1] in ".!`", first
    else:
        assert sentences == []
        assert asked.study.units()
        assert StudySpecification.from_json(json.loads(json.dumps(asked.to_json()))) == asked
    return asked is not None


def takes_any_text(shown: AppTest, key: str) -> None:
    """Try all texts in a field; the others stay as they are, and what was there can be put back."""
    before = fields_of(shown)
    first = field(shown, key).value
    for what, text in TEXTS.items():
        field(shown, key).set_value(text)
        shown.run()
        is_answered(shown)
        after = fields_of(shown)
        assert after.keys() >= before.keys(), what
        assert all(after[other] == before[other] for other in before if other != key), what
    field(shown, key).set_value(first)
    shown.run()
    assert fields_of(shown) == before


def takes_any_number(shown: AppTest, key: str) -> None:
    """Try all numbers in a field; it keeps to its bounds, and the others stay as they are."""
    before = fields_of(shown)
    for what, number in {"none": None, **NUMBERS}.items():
        is_float = isinstance(before[key], float)
        if number is not None and not is_float and (not math.isfinite(number) or number > 2**53):
            continue  # no browser sends it for a whole number
        field(shown, key).set_value(number)
        shown.run()
        assert is_answered(shown), what
        held = field(shown, key)
        assert held.value is None or held.min <= held.value <= held.max, what
        after = fields_of(shown)
        assert after.keys() == before.keys(), what
        assert all(after[other] == before[other] for other in before if other != key), what


def typed_fields(shown: AppTest) -> set[str]:
    """The keys of all fields that one types in."""
    return {widget.key for group in (shown.text_input, shown.text_area, shown.number_input) for widget in group}


@pytest.mark.parametrize(("kind", "name"), TEXT_FIELDS)
def test_any_text_in_a_field_of_text(kind, name):
    takes_any_text(with_field(kind, f"{kind}_{name}"), f"{kind}_{name}")


@pytest.mark.parametrize(("kind", "name"), NUMBER_FIELDS)
def test_any_number_in_a_field_of_numbers(kind, name):
    takes_any_number(form(kind), f"{kind}_{name}")


@pytest.mark.parametrize("kind", FIELDS)
def test_every_field_is_among_these(kind):
    known = {f"{kind}_{name}" for names in FIELDS[kind].values() for name in names}
    assert typed_fields(form(kind)) == known - CHOICES.keys()


class TestFiles:
    """Files and folders of the machine, which a page may not read."""

    @pytest.mark.parametrize(
        "path", ["/etc/passwd", "/", ".", "~", "nothing\x00", "x" * 5_000, "/nowhere/at/all", "//"]
    )
    def test_a_path_outside_the_allowed_folders(self, path):
        shown = with_field("memorization", "memorization_path")
        field(shown, "memorization_path").set_value(path)
        shown.run()
        assert not is_answered(shown)
        assert "root:" not in shown.error[0].value

    @pytest.mark.parametrize("name", ["", "nothing.txt", "folder", "empty.txt", "bytes.txt"])
    def test_a_path_inside_them(self, monkeypatch, tmp_path, name):
        monkeypatch.setenv("RELENS_TEXTS", str(tmp_path))
        (tmp_path / "folder").mkdir()
        (tmp_path / "empty.txt").write_bytes(b"")
        (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
        shown = with_field("memorization", "memorization_path")
        field(shown, "memorization_path").set_value(str(tmp_path / name))
        shown.run()
        is_answered(shown)

    @pytest.mark.parametrize("path", ["/etc/passwd", "/nowhere", "/"])
    def test_a_run_that_names_a_file_of_passages(self, path):
        shown = form("cloze", study_class("cloze").from_json({"kind": "cloze", "path": path}))
        assert not is_answered(shown)
        assert "may not read" in shown.error[0].value


@pytest.mark.parametrize(
    "lines",
    [
        '{"text": "Ann met Bob."}\n{"text": ',
        '{"text": 3}',
        '{"text": "one"}',
        "[1, 2]\nAnn met Bob",
        "{" * 3_000,
        "Ann met Bob.\n\n \n...\n",
        "Bob",
        "\n".join(["Ann met Bob."] * 30_000),
    ],
)
def test_passages_with_bad_lines(lines):
    shown = with_field("cloze", "cloze_paste")
    field(shown, "cloze_paste").set_value(lines)
    shown.run()
    if not is_answered(shown) and "\n" in lines:
        assert "ine" in shown.error[0].value or "passages" in shown.error[0].value


@pytest.mark.parametrize("take", [uploaded_passages, keep_text, read_words, planted_fields])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00" * 1_000,
        bytes(range(256)) * 100,
        "Ann met Bob.".encode("utf-16"),
        b"\xef\xbb\xbfAnn",
        b"a " * 1_000_000,
        b"[" * 100_000,
        b'{"text": ' * 50_000,
        b'{"prefix": NaN, "secrets": [1e400]}',
        b'{"prefix": "(", "pattern": "[", "secrets": []}',
    ],
    ids=range(10),
)
def test_uploads(take, data, monkeypatch, tmp_path):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path))
    try:
        take(data)
        sentence = ""
    except RelensError as error:
        sentence = error.sentence
    assert len(sentence) < 300


@pytest.mark.parametrize("words", ["two words", "ok\n\n  \n# remark\nfine", "x" * 41, "a-", "-", "#", "1\n2\n\x003"])
def test_word_lists_with_blanks(words):
    shown = with_field("toxicity", "toxicity_own_words")
    field(shown, "toxicity_text").set_value("It is ok. It is fine.")
    field(shown, "toxicity_own_words").set_value(words)
    shown.run()
    assert is_answered(shown) == words.startswith("ok")


def test_a_complaint_about_a_field_leaves_those_behind_it_as_they_were():
    shown = form("toxicity")
    shown.number_input(key="toxicity_most_inputs").set_value(7)
    shown.number_input(key="toxicity_top_k").set_value(9)
    shown.segmented_control(key="toxicity_source").set_value("Pasted text")
    shown.run()
    assert shown.error[0].value.replace("\\", "") == "Paste a text."
    shown.segmented_control(key="toxicity_source").set_value("Built-in letters")
    shown.run()
    asked = shown.session_state["asked"].study
    assert (len(asked.inputs), asked.decoding.top_k) == (7, 9)


@pytest.mark.parametrize("validator", [InText(), OnList(), OfForm(), Answers()])
def test_a_validator_without_what_it_needs(validator):
    study = study_class("memorization").from_json({"kind": "memorization", "validator": validator.to_json()})
    shown = form("memorization", study)
    assert not is_answered(shown)
    assert "memorization_seconds" in fields_of(shown)
