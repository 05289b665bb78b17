"""The new study on its page, in a terminal and in files; `tests/test_new_study.py` runs this in a copy of the house."""

from __future__ import annotations

import json

import pytest

from relens.command_line.main import main
from relens.runs.specification import StudySpecification
from relens.setting import settings_of
from relens.studies.catalogue import study_class
from relens_dashboard.report import study_report
from relens_dashboard.study_files import study_file
from relens_dashboard.study_views import study_views

KIND = "next-word"
STUDY = study_class(KIND)(prompt="The cat", words=3)


@pytest.fixture
def page(dashboard):
    dashboard.run()
    return dashboard.switch_page("../../pages/next_word.py").run()


@pytest.fixture(scope="module")
def written(tiny_model_folder, tmp_path_factory):
    """The file of rows that the command line writes."""
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    settings = ["--set", "prompt=The cat", "--set", "words=3"]
    assert main(["study", KIND, "--model", str(tiny_model_folder), "--output", str(path), *settings]) == 0
    return path


def rows_in(path):
    return [json.loads(line) for line in path.read_text().splitlines()][1:]


def test_the_form_has_a_field_for_each_setting(page):
    assert not page.exception
    kinds = ("text_input", "number_input", "toggle", "segmented_control")
    keys = {widget.key for kind in kinds for widget in getattr(page, kind)}
    assert {f"{KIND}_{one.name}" for one in settings_of(type(STUDY))} <= keys


def test_a_setting_without_meaning_is_a_sentence_on_the_page(page):
    page.text_input(key=f"{KIND}_prompt").set_value("").run()
    assert page.error[0].value == "“Prompt” must not be empty\\."
    assert page.button(key="study_run_button").disabled


def test_the_command_line_describes_each_setting(capsys):
    with pytest.raises(SystemExit):
        main(["study", KIND, "--help"])
    words = capsys.readouterr().out
    for line in (
        "prompt: Prompt (",
        "words: Words (whole number",
        "'any' or 'lower'",
        "canonical: Canonical tokens only (",
    ):
        assert line in words


def test_a_study_that_is_done_is_not_done_again(written, tiny_model_folder, capsys):
    before = written.read_text()
    settings = ["--set", "prompt=The cat", "--set", "words=3"]
    assert main(["study", KIND, "--model", str(tiny_model_folder), "--output", str(written), *settings]) == 0
    assert written.read_text() == before


def test_a_study_that_was_cut_short_is_resumed(written, tiny_model_folder, tmp_path):
    whole = written.read_text().splitlines(keepends=True)
    cut = tmp_path / "rows.jsonl"
    cut.write_text("".join(whole[:3]))
    settings = ["--set", "prompt=The cat", "--set", "words=3"]
    assert main(["study", KIND, "--model", str(tiny_model_folder), "--output", str(cut), *settings]) == 0
    assert STUDY.findings(rows_in(cut)) == STUDY.findings(rows_in(written))
    assert len(STUDY.findings(rows_in(cut)).words) == 3


def test_a_run_opens_on_the_page_and_leaves_it_as_files(dashboard, services, written):
    rows = rows_in(written)
    specification = StudySpecification("m", STUDY)
    run_id = services.store.submit(specification)
    services.store.add_rows(run_id, rows)
    services.store.change(run_id, status="done", progress={"units": 1, "units_done": 1})
    dashboard.run()
    dashboard.switch_page("../../pages/next_word.py")
    dashboard.query_params["run"] = run_id
    page = dashboard.run()
    assert not page.exception
    assert len(page.get("plotly_chart")) == 1
    assert page.text_input(key=f"{KIND}_prompt").value == "The cat"
    view, findings = study_views()[KIND], STUDY.findings(rows)
    figures, tables = view.figures(findings, STUDY), view.tables(findings, STUDY)
    run = services.store.get(run_id)
    report = study_report(run, specification, view, findings.verdict, figures, tables).decode()
    assert findings.verdict[0].split("“")[0] in report
    for format in ("csv", "parquet"):
        assert study_file(rows, format)
