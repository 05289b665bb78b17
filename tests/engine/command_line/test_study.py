"""Studies from the command line: settings, continued files, and mistakes."""

from __future__ import annotations

import json

import pytest

from relens.command_line.main import main
from relens.errors import ModelError
from relens.settings import device_name
from relens.studies import catalogue
from relens.studies.rows import done_units, rows_of
from tests.engine.runs.counting import CountingStudy


@pytest.fixture(autouse=True)
def _counting(monkeypatch):
    homes = {"counting": "tests.engine.runs.counting:CountingStudy"}
    monkeypatch.setattr(catalogue, "_HOME", homes)
    monkeypatch.setattr("relens.command_line.study.STUDIES", tuple(homes))


@pytest.fixture
def command(tiny_model_folder):
    return ["study", "counting", "--model", str(tiny_model_folder), "--device", "cpu", "--set", "counts=[1, 2]"]


def test_rows_go_to_standard_output(command, capsys):
    assert main(command) == 0
    captured = capsys.readouterr()
    rows = [json.loads(line) for line in captured.out.splitlines()]
    assert done_units(rows) == {"0", "1"}
    assert [row["count"] for row in rows_of(rows, "count")] == [0, 0, 1]


def test_a_file_is_continued(command, tmp_path, capsys):
    file = tmp_path / "rows.jsonl"
    assert main([*command, "--output", str(file)]) == 0
    lines = file.read_text().splitlines()
    # Cut short in the midst of a line of the second unit.
    file.write_text("\n".join([*lines[:5], lines[5][:7]]) + "")
    assert main([*command, "--output", str(file)]) == 0
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert sum(row["row"] == "begin" and row["unit"] == "0" for row in rows) == 1
    assert [row["count"] for row in rows_of(rows, "count")] == [0, 0, 1]
    assert capsys.readouterr().out == ""


def test_a_file_begins_with_its_settings(command, tiny_model_folder, tmp_path):
    file = tmp_path / "rows.jsonl"
    assert main([*command, "--output", str(file)]) == 0
    first, *rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(first.pop("fingerprint")) == 16
    assert first == {
        "unit": "",
        "row": "settings",
        "study": {"kind": "counting", "counts": [1, 2], "pause": 0.0},
        "model": str(tiny_model_folder),
    }
    assert rows_of([first, *rows], "count") == rows_of(rows, "count")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--set", "counts=[1, 3]"], "counts is [1, 2] there, and [1, 3] here."),
        (["--model", "another"], 'and "another" here.'),
        (["--set", f"counts={list(range(1, 99))}"], "… here."),
    ],
)
def test_rows_of_other_settings_are_not_added(command, tmp_path, capsys, more, sentence):
    file = tmp_path / "rows.jsonl"
    assert main([*command, "--output", str(file)]) == 0
    before = file.read_bytes()
    assert main([*command, *more, "--output", str(file)]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"The file {file} holds rows of other settings: ")
    assert sentence in said
    assert file.read_bytes() == before


def test_a_file_without_settings_is_continued(command, tmp_path):
    file = tmp_path / "rows.jsonl"
    assert main([*command, "--output", str(file)]) == 0
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[1:]))
    assert main([*command, "--output", str(file)]) == 0
    assert file.read_text() == "".join(lines[1:])


def test_rows_of_another_model_of_that_name_are_not_added(command, tmp_path, capsys):
    file = tmp_path / "rows.jsonl"
    assert main([*command, "--output", str(file)]) == 0
    first, *lines = file.read_text().splitlines(keepends=True)
    trained_again = json.dumps({**json.loads(first), "fingerprint": "0" * 16}) + "\n"
    file.write_text("".join([trained_again, *lines[:4]]))  # one unit is done, another has begun
    before = file.read_bytes()
    assert main([*command, "--output", str(file)]) == 1
    assert "is another one than when this study was begun" in capsys.readouterr().err
    assert file.read_bytes() == before
    file.write_text("".join([trained_again, *lines[:2]]))  # no unit is done, so nothing can be mixed
    assert main([*command, "--output", str(file)]) == 0


def test_a_study_checks_the_models_in_its_settings(command, tmp_path, capsys, monkeypatch):
    file = tmp_path / "rows.jsonl"
    assert main([*command, "--output", str(file)]) == 0
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:5]))
    looked = []

    def check(study, rows):
        looked.extend(rows_of(rows, "count"))
        raise ModelError("The dialogue model is another one.")

    monkeypatch.setattr(CountingStudy, "check_resumed", check)
    assert main([*command, "--output", str(file)]) == 1
    assert "The dialogue model is another one." in capsys.readouterr().err
    assert [row["count"] for row in looked] == [0]


@pytest.mark.parametrize("study", ["null", "[]", '{"counts": {}}'])
def test_damaged_settings_count_as_other_settings(command, tmp_path, capsys, study):
    file = tmp_path / "rows.jsonl"
    file.write_text(f'{{"unit": "", "row": "settings", "study": {study}}}\n')
    assert main([*command, "--output", str(file)]) == 2
    assert "other settings" in capsys.readouterr().err


def test_the_studies_are_listed(capsys):
    assert main(["study"]) == 0
    assert "Counting: How far?" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--set", "stars=3"], "no field called 'stars'"),
        (["--set", "counts"], "--set needs FIELD=VALUE"),
        (["--set", "counts=many"], "must be a list"),
        (["--preset", "great"], "no preset 'great'"),
    ],
)
def test_mistakes_are_one_sentence(command, more, sentence, capsys):
    assert main([*command, *more]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--model", "--dtype"])
@pytest.mark.parametrize(
    ("study", "how"),
    [("triggers", "by --set model=NAME."), ("relaxation", "by --set name=NAME."), ("brute-force", "no effect.")],
)
def test_options_of_a_language_model_are_refused_where_none_is_used(monkeypatch, capsys, option, study, how):
    monkeypatch.undo()  # the studies there are
    assert main(["study", study, option, "x"]) == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith(f"The study {study!r} uses no language model, so {option} has no effect")
    assert said.endswith(how)


def test_the_device_is_that_of_the_command_line_for_all_models(monkeypatch, tmp_path):
    monkeypatch.setenv("RELENS_DEVICE", "cuda:7")
    monkeypatch.setattr(CountingStudy, "needs_model", False)
    devices = []
    carry_out = CountingStudy.carry_out

    def look(study, unit, context):
        devices.append(device_name())
        return carry_out(study, unit, context)

    monkeypatch.setattr(CountingStudy, "carry_out", look)
    assert main(["study", "counting", "--device", "cpu"]) == 0
    assert main(["study", "counting"]) == 0
    assert devices == ["cpu", "cpu", "cuda:7", "cuda:7"]


def test_a_file_that_holds_something_else_is_left_alone(command, tmp_path, capsys):
    file = tmp_path / "notes.txt"
    file.write_text("buy milk\nbuy bread\n")
    assert main([*command, "--output", str(file)]) == 1
    assert "Line 1" in capsys.readouterr().err
    assert file.read_text() == "buy milk\nbuy bread\n"
