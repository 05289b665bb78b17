"""Comparisons on a real store: settings, circumstances, strings, shares, verdicts."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from relens.query import Distribution, Query, Sampling, ShortestPath
from relens.runs.agreement import side_by_side
from relens.runs.comparison import ABSENT
from relens.runs.run_file import read_run, write_run
from relens.runs.screens import ScreenStore
from relens.runs.specification import SearchSpecification, StudySpecification
from relens.studies.cloze import ClozeStudy
from relens.studies.knowledge import KnowledgeStudy
from relens.studies.toxicity import ToxicityStudy
from relens_dashboard import tables
from relens_dashboard.compare import tables as tables_of_runs
from relens_dashboard.compare.charts import overlaid_shares, scatter
from relens_dashboard.compare.tables import setting_name, setting_value, shares_table, strings_table, wide_shares
from relens_dashboard.compare.words import letter, listed
from relens_dashboard.text import visible
from tests.app.fakes import match_row
from tests.app.runs.test_history_page import html_of
from tests.app.studies.test_bias import ROWS, STUDY

PAGE = "../../pages/compare.py"


def finished(store, rows, traversal=None, pattern="a", **facts):
    specification = SearchSpecification("m", Query(pattern), traversal or ShortestPath())
    return _done(store, store.submit(specification), rows, {"samples": sum(row["count"] for row in rows)}, **facts)


def _done(store, run_id, rows, progress, **facts):
    store.claim("w")
    store.report(run_id, **({"model_fingerprint": "f", "versions": {"torch": "2"}} | facts))
    store.append(run_id, rows, progress)
    store.finish(run_id, "done")
    return run_id


def drawn(counts, weight=0.5, prefix=""):
    return [
        match_row(f" {name}", prefix, count=count, weight=weight, groups={"what": name})
        for name, count in counts.items()
    ]


def opened(dashboard, *runs):
    dashboard.run()
    dashboard.switch_page(PAGE)
    dashboard.query_params["runs"] = ",".join(runs)
    page = dashboard.run()
    assert not page.exception
    return page


def frames(page):
    return [frame.value for frame in page.dataframe]


def test_a_study_from_elsewhere_that_cannot_be_drawn_breaks_no_comparison(dashboard, store):
    ours = _done(store, store.submit(StudySpecification("m", KnowledgeStudy())), [], {})
    rows = ({"unit": "structured", "row": "match", "rank": 2},)
    theirs = store.import_run(replace(read_run(write_run(store.get(ours), [])), rows=rows))
    page = opened(dashboard, ours, theirs)
    (error,) = page.error
    assert "The rows do not fit the study" in error.value
    assert html_of(page).count("Nothing is done yet.") == 1


def test_without_runs_there_is_a_hint(dashboard, store):
    run = finished(store, drawn({"art": 1}))
    page = opened(dashboard)
    assert "Choose two runs" in page.info[0].value
    page = opened(dashboard, run, "nothing")
    assert "nothing" in page.warning[0].value
    assert "Choose two runs" in page.info[0].value


def test_two_samples_differ(dashboard, store):
    first = finished(store, drawn({"art": 300, "math": 100}, prefix="The man"), Sampling(400, seed=1))
    second = finished(store, drawn({"art": 100, "math": 300}, prefix="The woman"), Sampling(400, seed=2))
    page = opened(dashboard, first, second)
    sentences = html_of(page)
    assert "A and B differ by more than chance explains: p = 10^-" in sentences
    assert "1 degree of freedom" in sentences
    assert "50 % of all probability lies elsewhere" in sentences
    assert "drawn with the same seed" not in sentences
    assert "2 strings are in both, 0 in A alone" in sentences
    assert list(frames(page)[0]["Setting"]) == ["Seed"]
    page.button_group(key="by").set_value(["Strings"]).run()
    assert not page.exception
    assert "differ by more than chance" in html_of(page)


def test_one_seed_is_a_warning_and_equal_samples_do_not_differ(dashboard, store):
    rows = drawn({"art": 200, "math": 200})
    page = opened(dashboard, *(finished(store, rows, Sampling(400, seed=1)) for _ in range(2)))
    assert "do not differ by more than chance explains: p = 1 " in html_of(page)
    assert "drawn with the same seed" in html_of(page)
    assert "All settings are the same" in html_of(page)


def test_exact_shares_have_no_p_value_and_three_runs_are_compared_with_the_first(dashboard, store):
    runs = [
        finished(
            store,
            [
                match_row(" art", weight=share, groups={"what": "art"}),
                match_row(" math", weight=1 - share, groups={"what": "math"}),
            ],
            Distribution(),
        )
        for share in (0.5, 0.75, 0.9)
    ]
    sentences = html_of(opened(dashboard, *runs))
    assert "Both are exact" in sentences
    assert "p =" not in sentences
    assert "Between A and B, 25 %" in sentences
    assert "Between A and C, 40 %" in sentences


def test_best_first_searches_have_strings_alone(dashboard, store):
    first = finished(store, [match_row(" a", log_prob=-1.0), match_row(" b", log_prob=-2.0)])
    second = finished(store, [match_row(" b", log_prob=-1.0), match_row(" c", log_prob=-2.0)])
    page = opened(dashboard, first, second)
    assert "1 string is in both, 1 in A alone and 1 in B alone." in html_of(page)
    assert "data-compared=" not in html_of(page)
    table = frames(page)[-1]
    assert list(table["Text"]) == ["a", "b", "c"]
    assert table["Rank A"].tolist()[:2] == [1, 2]
    assert math.isnan(table["Rank B"][0])


def test_other_circumstances_come_first(dashboard, store):
    rows = drawn({"art": 30, "math": 30})
    first, second = finished(store, rows), finished(store, rows, model_fingerprint="g", versions={"torch": "3"})
    second = store.import_run(read_run(write_run(store.get(second), store.rows(second))))
    warning = opened(dashboard, first, second).warning[0].value
    for words in ("same name had different weights", "A f, B g", "torch: A 2, B 3", "B was imported"):
        assert words in warning.replace("\\", "")


def test_studies_of_a_kind_have_verdicts_and_figures(dashboard, store):
    runs = [_done(store, store.submit(StudySpecification("m", STUDY)), list(ROWS), {}) for _ in range(2)]
    page = opened(dashboard, *runs)
    sentences = html_of(page)
    assert 'data-compared-verdict="A"' in sentences
    assert 'data-compared-verdict="B"' in sentences
    assert "<b>woman" not in sentences
    charts = page.get("plotly_chart")
    assert len(charts) >= 2
    assert len(charts) % 2 == 0


def passages(right):
    """Rows of a cloze study of as many passages as there are answers."""
    rows = [{"unit": "words", "row": "begin"}]
    for number, is_right in enumerate(right):
        word = "dog" if is_right else "cat"
        rows.append(
            {
                "unit": "words", "row": "answer", "variant": "words", "passage": number, "context": f"It is {number}",
                "truth": "dog", "right": is_right,
                "answers": [{"word": word, "text": f" {word}", "log_prob": -1.0, "decoder_log_prob": -1.0}],
                "rank": 1 if is_right else None, "expansions": 3, "cut": False, "error": "",
            }
        )  # fmt: skip
    return [*rows, {"unit": "words", "row": "done"}]


@pytest.mark.parametrize(("right", "differs"), [([False] * 12, True), ([False] * 2 + [True] * 10, False)])
def test_studies_of_the_same_questions_are_compared_question_by_question(dashboard, store, right, differs):
    study = ClozeStudy(count=12, variants=("words",))
    runs = [
        _done(store, store.submit(StudySpecification("m", study)), passages(answers), {})
        for answers in ([True] * 12, right)
    ]
    page = opened(dashboard, *runs)
    sentences = " ".join(element.value for element in page.markdown).replace("\\", "")
    assert ("12 A alone, 0 B alone (p = 0.00049, corrected): more than chance" in sentences) == differs
    assert ("In no variant do two runs differ" in sentences) != differs
    (table,) = [frame for frame in frames(page) if "Only the first" in frame.columns]
    assert table["Shared"].tolist() == [12]
    assert table["Only the first"].tolist() == [right.count(False)]


def test_runs_of_different_kinds_are_compared_by_settings(dashboard, store):
    study = store.submit(StudySpecification("m", STUDY))
    page = opened(dashboard, finished(store, drawn({"art": 1})), study)
    assert "different kinds" in page.warning[-1].value
    assert len(frames(page)[0]) > 5


def test_words_that_a_study_masks_are_masked_in_its_settings(dashboard, store):
    studies = [ToxicityStudy(words=("nitwit", word)) for word in ("blockhead", "fathead")]
    runs = [store.submit(StudySpecification("m", study)) for study in studies]
    page = opened(dashboard, *runs)
    shown = html_of(page) + json.dumps([frame.astype(str).to_dict() for frame in frames(page)])
    for word in ("nitwit", "blockhead", "fathead"):
        assert word not in shown


WORDS = [
    (ABSENT, "–"),
    (None, "off"),
    (True, "yes"),
    (0, "0"),
    ("", "(empty)"),
    ("a\n", "a↵"),
    ([1, "x"], '[1, "x"]'),
    (["a", "b c"], "a, b c"),
    (["a,b"], '["a,b"]'),
    (12345.5, "12,345.5"),
]


@pytest.mark.parametrize(("value", "shown"), WORDS)
def test_settings_in_words(value, shown):
    assert setting_value(value) == shown


@pytest.mark.parametrize(
    "value",
    ["a\n" * 500_000, " " * 1_000_000, ["a\n" * 10_000] * 100, [["a\n"] * 1_000] * 100],
    ids=["text", "blanks", "texts", "lists"],
)
def test_only_the_visible_part_of_a_long_setting_is_read(value, monkeypatch):
    read = []
    for module in (tables_of_runs, tables):
        monkeypatch.setattr(module, "visible", lambda text, **how: read.append(len(text)) or visible(text, **how))
    shown = setting_value(value)
    assert shown.endswith("…")
    assert len(shown) <= 300
    assert all(length <= 300 for length in read)


def test_names():
    assert setting_name("query.decoding.top_k") == "Decoding, top k"
    assert setting_name("traversal.kind") == "Traversal"
    assert setting_name("model") == "Model"
    assert (letter(0), listed([0, 1, 2]), listed([1])) == ("A", "A, B and C", "B")


def test_shares_add_up_in_each_run_and_missing_ones_are_none_of_it():
    rows = [drawn({"art": 30, "math": 10}), drawn({"math": 5, "<b>$x$": 15})]
    table = shares_table(rows, [40, 20], ["what"])
    assert table.groupby("Run")["Share"].sum().tolist() == pytest.approx([1.0, 1.0])
    wide = wide_shares(table, ["what"]).set_index("what")
    assert wide.loc["math"].tolist() == pytest.approx([0.25, 0.25])
    assert wide.loc["art"].tolist() == pytest.approx([0.75, 0.0])
    chart = overlaid_shares(table)
    assert len(chart.figure.data) == 2
    assert "<b>" not in chart.figure.to_json().replace("\\u003c", "<")
    assert "in A" in chart.alt


def test_points_are_the_shared_strings():
    strings = side_by_side(
        [
            [match_row(" a", log_prob=-1.0, number=1), match_row(" b", log_prob=-2.0, number=2)],
            [match_row(" a", log_prob=-0.5, number=1)],
        ],
        [False, False],
    )
    chart = scatter(strings, 0, 1)
    assert (list(chart.figure.data[1].x), list(chart.figure.data[1].y)) == ([-1.0], [-0.5])
    assert "1 string that both have; 1 are likelier in B" in chart.alt
    table = strings_table(strings, 2)
    assert table["Probability A"].tolist() == pytest.approx([math.exp(-1.0), math.exp(-2.0)])


def test_a_comparison_is_pinned(dashboard, store, monkeypatch):
    monkeypatch.setenv("RELENS_STORE", store.url)
    first = finished(store, drawn({"art": 300, "math": 100}, prefix="The man"), Sampling(400, seed=1))
    second = finished(store, drawn({"art": 100, "math": 300}, prefix="The woman"), Sampling(400, seed=2))
    page = opened(dashboard, first, second)
    page.button(key="pin_overlaid").click().run()
    assert not page.exception
    (screen,) = ScreenStore(store.url).all()
    assert "differ by more than chance" in " ".join(screen.sentences)


def test_a_figure_of_a_compared_study_is_pinned(dashboard, store, monkeypatch):
    monkeypatch.setenv("RELENS_STORE", store.url)
    runs = [_done(store, store.submit(StudySpecification("m", STUDY)), list(ROWS), {}) for _ in range(2)]
    page = opened(dashboard, *runs)
    key = next(
        button.key for button in page.button if str(button.key).startswith("pin_") and str(button.key).endswith("_1")
    )
    page.button(key=key).click().run()
    assert not page.exception
    (screen,) = ScreenStore(store.url).all()
    assert screen.source["run"] == runs[1]
