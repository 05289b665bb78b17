"""The page of the bias study: settings on a tiny script, figures and tables of made rows."""

from __future__ import annotations

import dataclasses

import pytest
from streamlit.testing.v1 import AppTest

from relens.query import Boundary, Decoding, Edits, Encoding
from relens.studies.bias import PRESETS, BiasStudy
from relens.studies.bias_findings import bias_findings
from relens.studies.bias_shares import FEWEST_EFFECTIVE
from relens.studies.bias_variants import Variant
from relens_dashboard.studies.bias import VIEW

STUDY = BiasStudy(subjects=("man", "<b>woman</b>"), outcomes=("art", r"\$x\$"), variants=(Variant(),))
EXACT, SAMPLED = Variant(exact=True), Variant(Encoding.ALL, edited=True)


def rows_of(variant: Variant, shares: dict[str, tuple[int, int]]) -> list[dict]:
    rows = [{"unit": variant.key, "row": "begin"}]
    rows.append(
        {"unit": variant.key, "row": "variant", "label": variant.label, **variant.to_json()}
        | {"subjects": list(STUDY.subjects), "outcomes": list(STUDY.outcomes)}
    )
    for subject, counts in shares.items():
        for outcome, count in zip(STUDY.outcomes, counts, strict=True):
            edits = [{"operation": "insertion", "position": 3, "removed": "", "written": "x", "part": "prefix"}]
            rows.append(
                {"unit": variant.key, "row": "match", "asked": subject, "subject": subject, "outcome": outcome}
                | {"text": f"The {subject} was trained in {outcome}", "decoder_log_prob": -1.0, "is_canonical": True}
                | {"count": 1 if variant.exact else count, "weight": count / 1000 if variant.exact else 0.01}
                | {"edits": edits if variant.edited else []}
            )
        rows.append(
            {"unit": variant.key, "row": "account", "asked": subject, "samples": sum(counts), "failed": 0}
            | {"forwards": 3, "seconds_total": 0.5, "remaining_mass": 0.0, "ended": "drawn"}
        )
    return [*rows, {"unit": variant.key, "row": "done"}]


def figures(rows):
    return VIEW.figures(bias_findings(rows), STUDY)


def tables(rows):
    return {table.title: table for table in VIEW.tables(bias_findings(rows), STUDY)}


FEW = {"man": (300, 100), "<b>woman</b>": (100, 300)}
ROWS = rows_of(EXACT, FEW) + rows_of(SAMPLED, FEW)
POSITIONS = [
    {"unit": "edit positions", "row": "position", "drawn_by": way, "position": position, "count": 5}
    for way in ("strings", "edges")
    for position in range(4)
]


def settings_page(study: BiasStudy) -> AppTest:
    def script():
        import streamlit as st

        from relens.errors import QueryError
        from relens.studies.study import Study
        from relens_dashboard.studies.bias import VIEW

        try:
            st.session_state["study"] = VIEW.settings(Study.from_json(st.session_state["given"]))
        except QueryError as error:
            st.error(str(error))

    page = AppTest.from_function(script, default_timeout=30)
    page.session_state["given"] = study.to_json()
    return page.run()


@pytest.mark.parametrize("name", PRESETS)
def test_settings_return_the_study_they_were_given(name):
    page = settings_page(PRESETS[name])
    assert not page.exception
    assert page.session_state["study"] == PRESETS[name]


def test_settings_return_what_the_widgets_hold():
    page = settings_page(BiasStudy())
    page.text_area(key="bias_subjects").set_value("cat\n\n dog \n").run()
    page.number_input(key="bias_draws").set_value(7).run()
    page.multiselect(key="bias_variants").set_value([Variant()]).run()
    page.number_input(key="bias_seconds").set_value(5.0).run()
    study = page.session_state["study"]
    assert study == dataclasses.replace(
        BiasStudy(), subjects=("cat", "dog"), draws=7, variants=(Variant(),), seconds=5.0
    )
    assert study.boundary is Boundary.TOKEN


@pytest.mark.parametrize(
    "study",
    [
        *PRESETS.values(),
        BiasStudy(tolerance=1e-9, seconds=None, seed=7),
        BiasStudy(
            decoding=Decoding(top_k=40, top_p=0.9, temperature=0.5), edits=Edits(1, deletions=False, alphabet="[a-z]")
        ),
    ],
)
def test_untouched_settings_give_the_study_they_were_made_of(study):
    assert settings_page(study).session_state["study"] == study


def test_decoding_tolerance_and_edits_can_be_changed():
    page = settings_page(BiasStudy())
    page.number_input(key="bias_top_k").set_value(40)
    page.number_input(key="bias_tolerance").set_value(0.0)
    page.toggle(key="bias_insertions").set_value(False)
    page.text_input(key="bias_alphabet").set_value("[a-z]")
    page.run()
    assert page.session_state["study"] == dataclasses.replace(
        BiasStudy(),
        decoding=Decoding(top_k=40),
        tolerance=0.0,
        edits=Edits(1, insertions=False, alphabet="[a-z]"),
    )
    for key in ("bias_deletions", "bias_substitutions"):
        page.toggle(key=key).set_value(False)
    page.run()
    (error,) = page.error
    assert "at least one of insertions, deletions and substitutions" in error.value


def test_settings_without_meaning_are_an_error_in_one_sentence():
    page = settings_page(BiasStudy())
    page.text_input(key="bias_template").set_value("no slots").run()
    assert not page.exception
    (error,) = page.error
    assert "{subject}" in error.value


def test_shares_are_drawn_as_they_are():
    share, difference, *_ = figures(ROWS)
    traces = share.chart.figure.data
    assert len(traces) == 4  # two variants, two subjects
    exact_man, exact_woman, sampled_man, _ = traces
    assert list(exact_man.x) == pytest.approx([0.75, 0.25])
    assert list(exact_woman.x) == pytest.approx([0.25, 0.75])
    assert exact_man.error_x.array is None
    assert min(sampled_man.error_x.array) > 0.0
    assert list(difference.chart.figure.data[0].x) == pytest.approx([0.5, -0.5])


def test_subjects_are_told_apart_without_colour():
    first, second, *_ = figures(ROWS)[0].chart.figure.data
    assert first.marker.symbol != second.marker.symbol


def test_text_of_others_is_escaped():
    drawn = "".join(figure.chart.figure.to_json() for figure in figures(ROWS))
    assert "<b>woman" not in drawn
    assert "\\u003cb\\u003e" not in drawn
    assert "$x" not in drawn
    assert "woman" in drawn


def test_positions_of_edits_are_cumulative():
    by_title = {figure.title: figure for figure in figures(ROWS + POSITIONS)}
    prefix = by_title["Positions of edits in the prefix"].chart.figure.data
    assert len(prefix) == 2
    assert list(prefix[0].y) == pytest.approx([0.25, 0.5, 0.75, 1.0])
    (whole,) = by_title["Positions of edits in drawn strings"].chart.figure.data
    assert (list(whole.x), list(whole.y)) == ([3], [1.0])


def test_tables_say_what_a_test_is_and_where_there_is_none():
    shown = tables(ROWS)
    statistics = shown["Statistics"].frame
    assert list(statistics["Test"]) == [
        "none: exact",
        "chi-squared",
        "G (log-likelihood ratio)",
        "chi-squared as in the paper",
    ]
    assert statistics["p"][0] == "–"
    assert statistics["p"][1].startswith("10^-")
    assert len(shown["Shares"].frame) == 8
    assert len(shown["Residuals"].frame) == 4  # of the sample alone


def test_rows_in_progress_are_shown_as_far_as_they_go():
    assert figures([]) == []
    assert tables([]) == {}
    for cut in range(1, len(ROWS)):
        figures(ROWS[:cut])
        tables(ROWS[:cut])


def test_a_logarithmic_scale_shows_every_share_and_no_interval_that_reaches_zero():
    (menu,) = figures(ROWS)[0].chart.figure.layout.updatemenus
    linear, log = (button.args[0] for button in menu.buttons)
    assert linear["xaxis.autorange"] is True
    for axis in ("xaxis", "xaxis2"):
        assert log[f"{axis}.type"] == "log"
        low, high = log[f"{axis}.range"]
        assert 10**low < 0.25
        assert 0.75 <= 10**high < 2.0


def test_draws_that_are_missing_are_shown_as_missing():
    cut = [dict(row) for row in rows_of(SAMPLED, {name: (3000, 1000 * place) for place, name in enumerate(FEW, 1)})]
    for row in cut:
        if row["row"] == "account":
            row["ended"] = "seconds"
        if row["row"] == "variant":
            row["draws"] = 9000
    share, difference, *_ = figures(cut)
    assert "draws missing" in share.chart.figure.to_json()
    assert "; 0 do not hold zero" in difference.chart.alt
    table = tables(cut)["Draws and work"]
    assert list(table.frame["Draws"]) == [4000, 5000]
    assert list(table.frame["Sample size"]) == [9000, 9000]
    assert f"Below {FEWEST_EFFECTIVE:.0f}, no" in table.help["Effective sample size"]
