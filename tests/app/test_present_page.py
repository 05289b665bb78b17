"""Pinning and the page Present, on fakes but with a real store of screens."""

from __future__ import annotations

import json
from types import SimpleNamespace

import plotly.graph_objects as go
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from relens.runs.screens import LONGEST_FILE, LONGEST_PREVIEW, Screen
from relens.runs.specification import StudySpecification
from relens.studies.encodings import EncodingsStudy
from relens_dashboard.components import arrange_deck, show_deck
from relens_dashboard.components.study_findings import remembered_findings
from relens_dashboard.present.finding import Finding
from relens_dashboard.present.previews import preview_of
from relens_dashboard.run_rows import read_rows
from relens_dashboard.study_views import study_views
from tests.app.studies.test_bias import ROWS, STUDY

PAGE = "../../pages/present.py"
FIGURE = '{"data": [{"type": "bar", "x": [1], "y": [2]}], "layout": {}}'


@pytest.fixture
def screens(services, tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_STORE", f"sqlite:///{tmp_path / 'runs.db'}")
    return services.screens


def html_of(page):
    return "\n".join(element.proto.body for element in page.get("html"))


def titles(screens, deck=""):
    return [screen.title for screen in screens.all(deck)]


@pytest.fixture
def present(dashboard, screens):
    """A function that opens the page on a deck with these screens."""

    def opened(*names, **parameters):
        for name in names:
            screens.add(
                Screen(
                    name, (f"{name} is so.",), ("But.",), "Say.", FIGURE, "bars", source={"page": "bias", "run": "r1"}
                )
            )
        dashboard.run()
        dashboard.switch_page(PAGE)
        for name, value in parameters.items():
            dashboard.query_params[name] = value
        page = dashboard.run()
        assert not page.exception
        return page

    return opened


class TestPin:
    @pytest.fixture
    def bias(self, dashboard, services, screens):
        run_id = services.store.submit(StudySpecification("smollm2-135m", STUDY))
        services.store.add_rows(run_id, ROWS)
        services.store.change(run_id, status="done", progress={"units": 2, "units_done": 2})
        dashboard.run()
        dashboard.switch_page("../../pages/bias.py")
        dashboard.query_params["run"] = run_id
        page = dashboard.run()
        assert not page.exception
        return page

    def test_a_figure_of_a_study_is_pinned_with_its_verdict_and_once(self, bias, services, screens):
        bias.button(key="pin_figure_0").click().run()
        assert "First deck" in bias.toast[0].value
        (kept,) = screens.all()
        (run,) = services.store.runs.values()
        findings = remembered_findings(study_views()["bias"], STUDY, read_rows(services.store, run), ())
        assert kept.title == findings.figures[0].title
        assert findings.verdict[0].startswith(kept.sentences[0])
        assert any("smollm2-135m, with 135 million parameters" in caveat for caveat in kept.caveats)
        assert any("says nothing about people" in caveat for caveat in kept.caveats)
        assert STUDY.question in kept.explanation
        assert json.loads(kept.figure)["data"]
        assert kept.source["page"] == "bias"
        bias.button(key="pin_figure_0").click().run()
        assert "already" in bias.toast[0].value
        assert len(screens.all()) == 1
        bias.button(key="pin_figure_1").click().run()
        assert [one.title for one in screens.all()] == [figure.title for figure in findings.figures[:2]]

    def test_a_pin_goes_to_the_chosen_deck(self, bias, screens):
        bias.session_state["pin_to_deck"] = "Monday"
        bias.button(key="pin_figure_0").click().run()
        assert screens.decks() == {"": 0, "Monday": 1}
        assert "present?deck=Monday" in bias.toast[0].value

    def test_a_full_deck_is_one_sentence(self, bias, screens, monkeypatch):
        monkeypatch.setattr("relens.runs.screens.MOST_SCREENS", 0)
        bias.button(key="pin_figure_0").click().run()
        assert "the most that a deck may have" in bias.error[0].value
        assert not bias.exception


class TestArrange:
    def test_an_empty_deck_says_how_to_fill_it(self, present):
        page = present()
        assert "Pin" in page.info[0].value
        assert page.button(key="present_button").disabled

    def test_screens_are_listed_with_their_numbers(self, present):
        page = present("one", "two")
        assert html_of(page).index("Screen 1") < html_of(page).index("one is so.") < html_of(page).index("two is so.")

    def test_a_screen_is_moved(self, present, screens):
        page = present("one", "two")
        first, second = screens.all()
        assert page.button(key=f"move_up_{first.id}").disabled
        page.button(key=f"move_up_{second.id}").click().run()
        assert titles(screens) == ["two", "one"]

    def test_a_screen_is_taken_out_and_brought_back(self, present, screens):
        page = present("one", "two")
        page.button(key=f"delete_{screens.all()[0].id}").click().run()
        assert titles(screens) == ["two"]
        page.button(key="undo_delete").click().run()
        assert titles(screens) == ["one", "two"]
        assert not [button for button in page.button if button.key == "undo_delete"]

    def test_a_new_deck_is_begun_and_is_in_the_address(self, present):
        page = present("one")
        page.text_input(key="new_deck_name").set_value("Monday")
        next(button for button in page.button if button.label == "Begin it").click().run()
        assert page.query_params["deck"] in ("Monday", ["Monday"])
        assert page.session_state["pin_to_deck"] == "Monday"

    def test_the_browser_may_send_as_large_a_deck_as_is_read(self, present, monkeypatch):
        sizes = []
        monkeypatch.setattr(st, "file_uploader", lambda *_, max_upload_size=None, **__: sizes.append(max_upload_size))
        page = present("A")
        page.session_state["import_deck"] = True
        page.run()
        assert not page.exception
        assert sizes[-1] * 1_000_000 >= LONGEST_FILE

    def test_a_screen_links_to_the_page_that_shows_its_run(self, present, screens, services):
        run_id = services.store.submit(StudySpecification("m", EncodingsStudy("", samples=20)))
        services.store.change(run_id, variety="encodings")
        screens.add(Screen("Sampled", ("So.",), source={"page": "tokens", "run": run_id}))
        captions = [caption.value for caption in present("A").caption]
        assert [text for text in captions if "The run it comes from" in text] == [  # that of A is in no store
            f"[The run it comes from](tokens?samples={run_id}&tokens_model=m)"
        ]

    def test_hostile_text_is_text(self, present, screens):
        screens.add(
            Screen("<img src=x>", ("<script>",), figure="<svg onload=x", source={"label": "<b>", "page": "../x"})
        )
        page = present()
        assert "<img" not in html_of(page)
        assert "<script>" not in html_of(page)


class TestLargeFigures:
    """Of a deck whose figures are large: what is sent is small, and what is made is made once."""

    @pytest.fixture
    def large(self, screens):
        """Three screens, each with a mark of its own in its figure."""
        for number in range(1, 4):
            trace = {"type": "scatter", "y": list(range(20_000)), "text": [f"mark {number}"] * 20_000}
            screens.add(Screen(f"large {number}", ("So.",), figure=json.dumps({"data": [trace]}), alt="a line"))
        return screens

    def test_small_pictures_are_made_once_and_a_few_at_a_look(self, present, large, monkeypatch):
        made = []
        monkeypatch.setattr(arrange_deck, "_PATIENCE", 0.0)
        monkeypatch.setattr(arrange_deck, "preview_of", lambda figure: made.append(1) or preview_of(figure))
        page = present()
        for look in (1, 2, 3):
            assert (len(page.get("plotly_chart")), len(page.get("skeleton"))) == (look, 3 - look)
            page.run()
        assert len(made) == 3
        assert [bool(card.preview) for card in large.cards()] == [True] * 3
        sent = b"".join(chart.proto.SerializeToString() for chart in page.get("plotly_chart"))
        assert len(sent) < 3 * LONGEST_PREVIEW
        assert not any(f"mark {number}".encode() in sent for number in (1, 2, 3))

    def test_a_pinned_figure_has_its_small_picture(self, services, screens):
        finding = Finding("t", ["s"], figure=go.Figure(go.Bar(x=["a"], y=[1.0])))

        def page(services, finding):
            from relens_dashboard.components.pin_button import pin_button

            pin_button(services, finding, key="pin")

        at = AppTest.from_function(page, args=(services, finding)).run()
        at.button(key="pin").click().run()
        (card,) = screens.cards()
        assert card.preview == preview_of(screens.all()[0].figure) != ""

    def test_only_the_figure_of_the_screen_that_is_shown_is_sent(self, present, large, monkeypatch):
        sent = []
        monkeypatch.setattr(show_deck, "_VIEW", lambda data, **_: sent.append(data) or SimpleNamespace(left=False))
        page = present(screen="2")
        assert (sent[0]["number"], sent[0]["screen"], sent[0]["figures"]) == (2, 2, [1, 2, 3])
        assert [f"mark {number}" in sent[0]["figure"] for number in (1, 2, 3)] == [False, True, False]
        assert "mark 2" not in sent[0]["html"]
        page.session_state["show_deck"] = {"wanted": {"number": 3, "at": 1.0}}
        page.run()
        assert sent[1]["number"] == 3
        assert "mark 3" in sent[1]["figure"]
        assert sent[1]["version"] == sent[0]["version"]

    @pytest.mark.parametrize(
        "request_of_browser", [{"number": 99}, {"number": -1}, {"number": "2"}, {"number": None}, [], "x", 0]
    )
    def test_a_browser_may_request_anything(self, present, large, monkeypatch, request_of_browser):
        sent = []
        monkeypatch.setattr(show_deck, "_VIEW", lambda data, **_: sent.append(data) or SimpleNamespace(left=False))
        page = present(screen="1")
        page.session_state["show_deck"] = {"wanted": request_of_browser}
        page.run()
        assert not page.exception


class TestShow:
    def test_present_shows_the_first_screen_and_the_address_says_so(self, present):
        page = present("one", "two")
        page.button(key="present_button").click().run()
        assert page.query_params["screen"] in ("1", ["1"])
        assert not page.exception
        assert not [button for button in page.button if button.key == "present_button"]

    @pytest.mark.parametrize("number", ["2", "99", "x", "-1", "9" * 400])
    def test_any_number_in_the_address_shows_the_deck(self, present, number):
        page = present("one", "two", screen=number)
        assert not [button for button in page.button if button.key == "present_button"]

    def test_an_empty_deck_cannot_be_shown(self, present):
        assert "Nothing is pinned" in present(screen="1").info[0].value
