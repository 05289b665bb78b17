"""The frame of the studies' pages, on fakes: settings, progress and files of a study of two units."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
import shlex

import pandas as pd
import pytest

from relens.command_line.study import study_of, study_parser
from relens.errors import QueryError, StoreError
from relens.query import Boundary
from relens.runs.specification import StudySpecification
from relens.studies.bias import PRESETS, BiasStudy
from relens.studies.bias_variants import Variant
from relens.studies.catalogue import STUDIES, presets, study_class
from relens_dashboard import study_views as views
from relens_dashboard.report import study_report
from relens_dashboard.studies.bias import VIEW
from relens_dashboard.studies.view import Table
from relens_dashboard.study_files import study_file
from relens_dashboard.study_narrative import ending_sentence, fraction_done, seconds_left, units_sentence, work_sentence
from relens_dashboard.study_snippets import differing_settings, study_command, study_python
from tests.app.fakes import FakeStore
from tests.app.studies.test_bias import EXACT, FEW, ROWS, STUDY, rows_of

PAGE = "../../pages/bias.py"
SPECIFICATION = StudySpecification("m", STUDY)


def html_of(page):
    return "\n".join(element.proto.body for element in page.get("html"))


def run_of(page):
    value = page.query_params["run"]
    return value if isinstance(value, str) else value[0]


def buttons(page):
    return {button.key for button in page.button if button.key.startswith("study_")}


@pytest.fixture
def bias_page(dashboard):
    dashboard.run()
    page = dashboard.switch_page(PAGE).run()
    assert not page.exception
    return page


def opened(dashboard, run_id):
    dashboard.run()
    dashboard.switch_page(PAGE)
    dashboard.query_params["run"] = run_id
    page = dashboard.run()
    assert not page.exception
    return page


@pytest.fixture
def record():
    store = FakeStore()
    return store.get(store.submit(SPECIFICATION))


class TestPage:
    def test_introduces_the_study_and_offers_the_presets(self, bias_page):
        assert "depend on whom it speaks of" in html_of(bias_page)
        assert list(bias_page.selectbox(key="study_preset_bias").options) == list(PRESETS)

    def test_run_submits_the_settings(self, bias_page, services):
        bias_page.number_input(key="bias_draws").set_value(12).run()
        bias_page.button(key="study_run_button").click().run()
        specification = StudySpecification.from_json(services.store.get(run_of(bias_page)).specification)
        assert specification.study == dataclasses.replace(BiasStudy(), draws=12)

    def test_a_preset_fills_the_settings_in_also_after_a_change(self, bias_page):
        bias_page.text_input(key="bias_template").set_value("A {subject} and {outcome}").run()
        bias_page.selectbox(key="study_preset_bias").select("Age and pastime").run()
        bias_page.run()
        assert bias_page.text_input(key="bias_template").value == PRESETS["Age and pastime"].template

    def test_settings_without_meaning_cannot_be_run(self, bias_page):
        bias_page.text_input(key="bias_template").set_value("no slots").run()
        assert "subject" in bias_page.error[0].value
        assert bias_page.button(key="study_run_button").disabled

    def test_without_a_model_there_is_a_sentence(self, dashboard, services, monkeypatch):
        monkeypatch.setattr("relens_dashboard.components.study_page.available_models", list)
        dashboard.run()
        page = dashboard.switch_page(PAGE).run()
        assert not page.exception
        assert "This server may load no model" in page.error[0].value
        assert page.button(key="study_run_button").disabled

    def test_an_address_shows_its_run_and_its_settings(self, dashboard, services):
        run_id = services.store.submit(SPECIFICATION)
        page = opened(dashboard, run_id)
        assert page.text_area(key="bias_subjects").value == "\n".join(STUDY.subjects)
        assert "study_stop_button" in buttons(page)

    @pytest.mark.parametrize(
        ("kind", "wrong", "sentence"),
        [
            ("brute-force", {"test_share": -1.0}, "“Share set aside” must be above 0 and below 1, not -1.0."),
            ("brute-force", {"depth": 2**60}, "“Symbols of the longest inputs” must be between 1 and 6"),
            ("triggers", {"count": -(2**63)}, "“Targets of each list” must be between 1 and 2,000"),
            ("triggers", {"search": {"seed": 2**70}}, "“Seed” must be between 0 and"),
        ],
    )
    def test_a_stored_run_whose_settings_have_no_meaning_opens(self, dashboard, services, kind, wrong, sentence):
        run_id = services.store.submit(StudySpecification("m", study_class(kind)()))
        stored = services.store.get(run_id).specification
        services.store.change(run_id, specification={**stored, "study": {**stored["study"], **wrong}})
        dashboard.run()
        dashboard.switch_page(f"../../pages/{kind.replace('-', '_')}.py")
        dashboard.query_params["run"] = run_id
        page = dashboard.run()
        assert not page.exception
        assert any(sentence in error.value.replace("\\", "") for error in page.error)

    def test_a_run_of_another_kind_is_not_shown(self, dashboard):
        page = opened(dashboard, "none")
        assert "not in the store" in page.warning[0].value.replace("\\", "")

    @pytest.mark.parametrize(("rows", "has_verdict"), [(ROWS[:4], False), (ROWS[:-1], True)])
    def test_a_verdict_waits_for_the_first_unit(self, dashboard, services, rows, has_verdict):
        run_id = services.store.submit(SPECIFICATION)
        progress = {"units": 2, "units_done": 0, "unit": "exact", "rows": len(rows), "seconds_total": 2.0}
        services.store.change(run_id, status="running", stage="working", progress=progress)
        services.store.add_rows(run_id, rows)
        words = html_of(opened(dashboard, run_id))
        assert ("data-study-verdict" in words) == has_verdict
        assert "<b>woman" not in words

    @pytest.mark.parametrize("origin", [None, {"id": "x", "imported": 1.0, "exported": 1.0}])
    def test_rows_that_do_not_fit_the_study_are_a_sentence(self, dashboard, services, origin):
        run_id = services.store.submit(SPECIFICATION)
        services.store.add_rows(run_id, [{name: row[name] for name in row if name != "count"} for row in ROWS])
        services.store.change(run_id, status="done", origin=origin)
        dashboard.run()
        dashboard.switch_page(PAGE)
        dashboard.query_params["run"] = run_id
        page = dashboard.run()
        assert not page.exception
        assert ["do not fit the study" in error.value for error in page.error] == [True]

    def test_a_failed_resume_shows_its_reason(self, dashboard, services, monkeypatch):
        def refuse(_):
            raise QueryError("There is no study that could be resumed.")

        monkeypatch.setattr(services.store, "resume", refuse, raising=False)
        run_id = services.store.submit(SPECIFICATION)
        services.store.change(run_id, status="stopped")
        page = opened(dashboard, run_id)
        page.button(key="study_resume_button").click().run()
        assert "could be resumed" in page.error[0].value

    def test_a_switch_of_the_view_shows_its_findings_anew(self, dashboard, services, monkeypatch):
        stands, made = [False], []
        figures = VIEW.figures
        monkeypatch.setattr(type(VIEW), "switches", lambda view: tuple(stands))
        monkeypatch.setattr(VIEW, "figures", lambda *given: made.append(tuple(stands)) or figures(*given))
        run_id = services.store.submit(SPECIFICATION)
        services.store.add_rows(run_id, ROWS)
        services.store.change(run_id, status="done")
        page = opened(dashboard, run_id)
        page.run()
        page.toggle(key="bias_end").set_value(True).run()  # a setting of the study is none of its switches
        assert made == [(False,)]
        stands[0] = True
        page.run()
        assert made == [(False,), (True,)]

    def test_a_store_that_cannot_be_read_for_a_moment_is_read_again(self, dashboard, services, monkeypatch):
        def busy(*_, **__):
            raise StoreError("The store of runs is too busy to answer.")

        run_id = services.store.submit(SPECIFICATION)
        services.store.change(run_id, status="running", row_count=1)
        page = opened(dashboard, run_id)
        services.store.change(run_id, row_count=2)
        looks = page.session_state["study_looking_looks"]
        with monkeypatch.context() as patched:
            patched.setattr(services.store, "rows", busy)
            page.run()
        assert any("too busy" in error.value for error in page.error)
        assert page.session_state["study_looking_looks"] == looks + 1
        page.run()
        assert not page.error

    def test_stop_resume_and_repeat(self, dashboard, services):
        run_id = services.store.submit(SPECIFICATION)
        page = opened(dashboard, run_id)
        page.button(key="study_stop_button").click().run()
        assert services.store.stopped == [run_id]
        services.store.change(run_id, status="stopped")
        page.run()
        assert {"study_resume_button", "study_repeat_button"} <= buttons(page)
        resumed = []
        services.store.resume = lambda run_id: (resumed.append(run_id), services.store.change(run_id, status="queued"))
        page.button(key="study_resume_button").click().run()
        assert resumed == [run_id]
        services.store.change(run_id, status="done")
        page.run()
        assert "study_resume_button" not in buttons(page)
        page.button(key="study_repeat_button").click().run()
        assert run_of(page) != run_id

    def test_navigation_has_the_studies_that_have_a_view(self, dashboard, monkeypatch):
        views.study_views.cache_clear()
        monkeypatch.setattr(views, "import_module", _without("bias"))
        try:
            assert "bias" not in views.study_views()
            dashboard.run()
            assert not dashboard.exception
        finally:
            views.study_views.cache_clear()


def _without(kind):
    from importlib import import_module

    def importing(name):
        if name == f"relens_dashboard.studies.{kind}":
            raise SyntaxError("broken")
        return import_module(name)

    return importing


class TestNarrative:
    def test_time_left_is_estimated_from_the_units_of_this_run_alone(self, record):
        done = [{"row": "done", "unit": str(place)} for place in range(4)]
        progress = {"units": 10, "units_done": 4, "unit": "x", "rows": 2, "seconds_total": 6.0}
        run = dataclasses.replace(record, status="running", progress=progress, row_count=4)
        assert seconds_left(run, done) == pytest.approx(6.0 / 2 * 6)  # two of the four were done before
        assert "about 18 s left" in work_sentence(run, done)
        assert units_sentence(run) == "4 of 10 done · now x"
        assert fraction_done(run) == pytest.approx(0.4)

    def test_before_the_first_unit_nothing_is_guessed(self, record):
        run = dataclasses.replace(record, status="running", stage_fraction=0.3)
        assert (units_sentence(run), work_sentence(run), fraction_done(run)) == ("", "", 0.3)

    @pytest.mark.parametrize("status", ["stopped", "failed", "interrupted"])
    def test_an_unfinished_study_can_be_resumed(self, record, status):
        assert "Resume" in ending_sentence(dataclasses.replace(record, status=status, error="It broke."))


class TestFiles:
    ROWS = (
        {"row": "a", "text": "=1+1", "value": 3, "flag": True, "edits": [{"operation": "x"}], "mixed": "one"},
        {"row": "b", "values": [1, 2], "value": 0.5, "flag": None, "groups": {"a": None}, "mixed": 2, "ended": "drawn"},
    )

    def test_parquet_has_one_type_a_column(self):
        frame = pd.read_parquet(io.BytesIO(study_file(self.ROWS, "parquet")))
        assert list(frame["value"]) == [3.0, 0.5]
        assert list(frame["mixed"]) == ["one", "2"]
        assert json.loads(frame["values (JSON)"][1]) == [1, 2]
        assert frame["ended"][1] == "drawn"

    def test_csv_is_safe_in_a_spreadsheet(self):
        lines = list(csv.DictReader(io.StringIO(study_file(self.ROWS, "csv").decode("utf-8-sig"))))
        assert lines[0]["text"] == "'=1+1"
        assert json.loads(lines[0]["edits (JSON)"]) == [{"operation": "x"}]

    def test_a_column_that_a_file_of_a_run_names_is_no_formula(self):
        lines = list(csv.DictReader(io.StringIO(study_file([{"=1+1": "@x"}], "csv").decode("utf-8-sig"))))
        assert lines == [{"'=1+1": "'@x"}]

    @pytest.mark.parametrize("format", ["csv", "parquet", "json"])
    def test_any_rows_can_be_written(self, format):
        assert study_file(ROWS, format)
        assert study_file([], format) is not None


@pytest.mark.parametrize("kind", STUDIES)
def test_snippets_describe_the_same_study(kind):
    for study in presets(kind).values():
        specification = StudySpecification("some model", study)
        words = shlex.split(study_command(specification))
        assert words[:2] == ["relens", "study"]
        options = study_parser().parse_args(words[2:])
        assert study_of(options) == study
        assert (options.model == "some model") == study.needs_model
        assert ("load_model" in study_python(specification)) == study.needs_model
        scope: dict = {}
        built = re.search(r"study = (.*?)\nrun = ", study_python(specification), re.DOTALL)
        script = study_python(specification).split("study = ")[0].replace("from relens import load_model\n", "")
        exec(script + f"study = {built.group(1)}", scope)
        assert scope["study"] == study


def test_snippets_have_differing_settings_alone():
    assert differing_settings(BiasStudy()) == {}
    assert differing_settings(BiasStudy(boundary=Boundary.FREE, seed=3)) == {"boundary": "free", "seed": 3}


class TestReport:
    def made(self, record, rows=ROWS, status="done"):
        run = dataclasses.replace(record, status=status, row_count=len(rows), versions={"python": "3.<i>"})
        findings = STUDY.findings(rows)
        figures, tables = VIEW.figures(findings, STUDY), VIEW.tables(findings, STUDY)
        return study_report(run, SPECIFICATION, VIEW, findings.verdict, figures, tables).decode()

    def test_is_one_file_that_fetches_nothing(self, record):
        text = self.made(record)
        assert text.count("<script>/**\n* plotly.js") == 1 or text.count("* plotly.js v") == 1
        assert "default-src 'none'" in text
        assert not re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=", text.split("</script>", 1)[1])

    def test_has_verdict_figures_tables_and_how_to_repeat_it(self, record):
        text = self.made(record)
        for sentence in STUDY.verdict(ROWS):
            assert sentence.split("<b>")[0][:40] in text
        assert text.count('class="plotly-graph-div"') == len(VIEW.figures(STUDY.findings(ROWS), STUDY))
        assert "Cramér" in text
        assert "relens study bias" in text
        assert "BiasStudy.from_json" in text

    def test_every_text_is_escaped(self, record):
        table = Table("<i>t</i>", pd.DataFrame({"<i>c</i>": ["</table><script>alert(1)</script>"]}), {})
        body = study_report(
            record, SPECIFICATION, VIEW, ["<i>v</i>"], VIEW.figures(STUDY.findings(ROWS), STUDY), [table]
        ).decode()
        body = body.split("</style>", 1)[1].split("<body>", 1)[1]
        assert "<i>" not in body
        assert "<b>woman" not in body
        assert "alert(1)</script>" not in body

    def test_an_unfinished_study_says_so(self, record):
        assert "not finished" in self.made(record, rows_of(EXACT, FEW), "stopped")
        assert "not finished" not in self.made(record)


def test_a_study_of_one_variant_is_drawn_in_one_picture():
    rows = rows_of(Variant(exact=True), FEW)
    (share, _) = VIEW.figures(STUDY.findings(rows), STUDY)
    assert len(share.chart.figure.data) == 2
