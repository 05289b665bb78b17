"""Validators: valid matches, and settings without meaning."""

from __future__ import annotations

import pytest

from relens.errors import QueryError, RegexError
from relens.studies.memorization import MemorizationStudy
from relens.studies.validators import Answers, Check, InText, OfForm, OnList, Unchecked, open_validator


def test_each_validator_checks_a_string(tmp_path):
    file = tmp_path / "training.txt"
    file.write_text("See https://www.example.com/about for more.", encoding="utf-8")
    assert open_validator(Unchecked()).is_valid("anything")
    text = open_validator(InText(str(file)))
    assert text.is_valid("https://www.example.com/ab")
    assert not text.is_valid("https://www.example.org")
    assert not open_validator(InText(str(file), whole_words=True)).is_valid("https://www.example.com/ab")
    values = open_validator(OnList(("one", "two", "two")))
    assert (values.is_valid("two"), values.is_valid("tw"), values.known) == (True, False, 2)
    form = open_validator(OfForm(r"https://www\.[a-z]+\.(com|org)"))
    assert (form.is_valid("https://www.ab.com"), form.is_valid("https://www.ab.com/")) == (True, False)


def test_a_regular_expression_that_blows_up_elsewhere_does_not_here():
    assert not open_validator(OfForm("(a+)+")).is_valid("a" * 10_000 + "b")


def test_a_string_is_checked_once():
    checked: list[str] = []
    check = Check(lambda text: bool(checked.append(text)) or len(text) > 1)
    assert [check.is_valid(text) for text in ("a", "bc", "a", "bc")] == [False, True, False, True]
    assert checked == ["a", "bc"]


@pytest.mark.parametrize(
    ("validator", "sentence"),
    [
        (InText(), "name a file or a folder"),
        (OnList(), "list of known values is empty"),
        (OfForm(), "regular expression that a valid match has is empty"),
        (Answers(), "has to be allowed first"),
    ],
)
def test_an_incomplete_validator_is_refused_before_the_run(validator, sentence):
    with pytest.raises(QueryError, match=sentence):
        open_validator(validator)
    with pytest.raises(QueryError, match=sentence):
        MemorizationStudy(validator=validator).units()


@pytest.mark.parametrize(("value", "forbids"), [("0", True), (" No ", True), ("", False), ("1", False)])
def test_an_operator_can_forbid_requests_to_web_servers(monkeypatch, value, forbids):
    monkeypatch.setenv("RELENS_HTTPS", value)
    study = MemorizationStudy(validator=Answers(allowed=True))
    if forbids:
        with pytest.raises(QueryError, match="operator of this machine has forbidden"):
            open_validator(study.validator)
        with pytest.raises(QueryError, match="operator of this machine has forbidden"):
            study.units()
    else:
        assert open_validator(study.validator).known is None
        assert study.units()


def test_missing_files_and_wrong_settings_are_refused(tmp_path):
    with pytest.raises(QueryError, match="There is no file"):
        open_validator(InText(str(tmp_path / "nothing")))
    with pytest.raises(RegexError):
        open_validator(OfForm("(a"))
    for wrong in ({"seconds": 0.0}, {"seconds": float("nan")}, {"per_second": 0.0}, {"per_second": 1e9}):
        with pytest.raises(QueryError):
            Answers(**wrong)


@pytest.mark.parametrize("validator", [Unchecked(), InText("a", True), OnList(("x", "y")), OfForm("a"), Answers(True)])
def test_it_survives_json(validator):
    study = MemorizationStudy(validator=validator)
    assert MemorizationStudy.from_json(study.to_json()) == study
