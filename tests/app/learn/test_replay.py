"""The page of a recorded search on a recording written by hand."""

from __future__ import annotations

import shutil

import pytest

from relens.pictures.drawing import arc_name
from relens.runs.screens import ScreenStore
from relens.runs.specification import StudySpecification
from relens.studies.replay import PRESETS, ReplayStudy
from relens.studies.replay_findings import replay_findings
from relens_dashboard.learn.replay_figures import automaton_marks, frontier_table, search_tree, shown_table
from relens_dashboard.learn.replay_sentences import headline, mass_text, sentences
from tests.app.learn.replay_made import GRAPH, replay_rows

SPECIFICATION = StudySpecification("smollm2-135m", ReplayStudy(top_k=40))


def findings_of(rows):
    return replay_findings(rows, ReplayStudy())


@pytest.fixture
def replay():
    return findings_of(replay_rows())


class TestRows:
    def test_a_recording_without_a_round_has_no_steps(self):
        assert not findings_of([]).has_steps
        assert not findings_of(replay_rows()[:2]).has_steps
        begun = findings_of(replay_rows()[:3])
        assert begun.has_steps
        assert begun.end is None

    def test_marks_are_the_states_of_the_rows(self, replay):
        assert automaton_marks(replay, 0).states == {1: "frontier"}
        asking = automaton_marks(replay, 1)
        assert asking.states == {1: "current", 2: "frontier", 3: "frontier"}
        assert asking.arcs == {(0, 1, "The"): "current"}
        assert asking.arc_notes == {(1, 3, "␣cat, ␣dog"): "Cut here: ␣dog."}
        # The arc that the rule cut is drawn by itself, so it is marked; the way to the expanded node is too.
        cut = automaton_marks(replay, 2)
        assert cut.states == {2: "current", 3: "frontier"}
        assert cut.arcs == {(0, 1, "The"): "current", (1, 2, "␣c"): "current", (2, 3, "at"): "cut"}
        end = automaton_marks(replay, 3)
        assert end.states == {3: "match"}
        assert end.arcs[1, 3, "␣cat, ␣dog"] == "match"
        names = {arc_name(arc) for arc in GRAPH.arcs}
        assert all(set(automaton_marks(replay, step).arcs) <= names for step in range(4))

    def test_the_tree_has_its_nodes_open_children_and_cut_tokens(self, replay):
        graph, marks = search_tree(replay, 1)
        assert {(arc.source, arc.target, arc.label) for arc in graph.arcs} == {
            (0, 1, "The"),
            (1, 2, "␣cat"),
            (1, 3, "␣c"),
            (1, 4, "␣dog"),
        }
        assert marks.state_names == {0: "start", 1: "1.00", 2: "3.00", 3: "1.50", 4: "rank 213"}
        assert marks.states == {1: "current", 2: "frontier", 3: "frontier", 4: "cut"}
        assert graph.finals == (2,)
        graph, marks = search_tree(replay, 3)
        assert marks.states == {2: "match"}

    def test_tables(self, replay):
        frontier = frontier_table(replay, 1)
        assert list(frontier["Path"]) == ["The · ␣c", "The · ␣cat"]
        assert list(frontier["Cost"]) == [1.5, 3.0]
        assert list(shown_table(replay, 2)["Text"]) == []
        assert list(shown_table(replay, 3)["Text"]) == ["The cat"]
        assert list(frontier_table(replay, 3).columns) == list(frontier.columns)


class TestWords:
    def test_a_match_that_waits_names_its_rival(self, replay):
        text = " ".join(sentences(replay, 1))
        assert "The model expands “The”, the cheapest open path (cost 1.00)" in text
        assert "“The · ␣cat” (cost 3.00) is a match, but may not be shown yet" in text
        assert "the open path “The · ␣c” costs 1.50 and could still lead to a cheaper string" in text
        assert "top-k 40, cuts 1 token of the 3" in text
        assert "“␣dog”, has rank 213" in text

    def test_a_path_whose_tokens_are_all_cut_ends(self, replay):
        text = " ".join(sentences(replay, 2))
        assert "“The · ␣c” ends here" in text
        assert "may be shown next" in text

    def test_a_shown_match_has_a_reason(self, replay):
        assert sentences(replay, 3) == [
            "“The cat” (cost 3.00) is match number 1.",
            "It may be shown because no other path is open.",
        ]
        assert headline(replay, 3) == "1 match may be shown"
        assert headline(replay, 1) == "Forward 1: 1 path for the model"
        assert headline(replay, 0) == "Before the first forward"

    def test_mass(self, replay):
        assert "No match is shown yet" in mass_text(replay, 1)
        assert (
            mass_text(replay, 3)
            == "The matches shown hold 10 % of what the decoder may write, and no path is left open."
        )


def html_of(page):
    return "\n".join(element.proto.body for element in page.get("html"))


def opened(dashboard, run_id="", step=None):
    dashboard.run()
    dashboard.switch_page("../../pages/replay.py")
    if run_id:
        dashboard.query_params["run"] = run_id
    if step is not None:
        dashboard.query_params["step"] = step
    page = dashboard.run()
    assert not page.exception
    return page


class TestPage:
    @pytest.fixture
    def run_id(self, services):
        run_id = services.store.submit(SPECIFICATION)
        services.store.add_rows(run_id, replay_rows())
        progress = {"units": 1, "units_done": 1, "unit": "", "rows": 8, "seconds_total": 1.0, "ended": "done"}
        services.store.change(run_id, status="done", progress=progress)
        return run_id

    def test_record_submits_what_the_fields_hold(self, dashboard, services):
        page = opened(dashboard)
        assert list(page.selectbox(key="study_preset_replay").options) == list(PRESETS)
        page.text_input(key="replay_pattern").set_value(" (a|b)").run()
        page.number_input(key="replay_batch").set_value(1).run()
        page.button(key="replay_record").click().run()
        (record,) = services.store.runs.values()
        study = StudySpecification.from_json(record.specification).study
        assert study == ReplayStudy(pattern=" (a|b)", batch=1)

    @pytest.mark.skipif(shutil.which("dot") is None, reason="pictures are pinned where they are laid out")
    def test_the_tree_of_a_step_is_pinned(self, dashboard, run_id, tmp_path, monkeypatch):
        monkeypatch.setenv("RELENS_STORE", f"sqlite:///{tmp_path / 'screens.db'}")
        page = opened(dashboard, run_id, 2)
        page.button(key="pin_tree").click().run()
        assert not page.exception
        (screen,) = ScreenStore(f"sqlite:///{tmp_path / 'screens.db'}").all()
        assert screen.source["run"] == run_id
        assert screen.figure.startswith("<svg")

    def test_a_malformed_pattern_cannot_be_recorded(self, dashboard):
        page = opened(dashboard)
        page.text_input(key="replay_pattern").set_value("(").run()
        assert page.error
        assert page.button(key="replay_record").disabled

    def test_steps_go_forwards_and_backwards_and_end_at_the_ends(self, dashboard, run_id):
        page = opened(dashboard, run_id)
        assert 'data-replay-step="0"' in html_of(page)
        assert page.button(key="replay_previous").disabled
        for step in (1, 2, 3):
            page.button(key="replay_next").click().run()
            assert f'data-replay-step="{step}"' in html_of(page)
        assert page.button(key="replay_next").disabled
        page.button(key="replay_previous").click().run()
        assert 'data-replay-step="2"' in html_of(page)
        assert not page.exception

    @pytest.mark.parametrize(("address", "shown"), [("2", 2), ("99", 0), ("<b>", 0)])
    def test_the_address_opens_a_step(self, dashboard, run_id, address, shown):
        page = opened(dashboard, run_id, address)
        assert f'data-replay-step="{shown}"' in html_of(page)

    def test_text_of_a_model_is_escaped(self, dashboard, services):
        rows = replay_rows()
        rows[5]["shown"][0]["text"] = "<img src=x onerror=alert(1)>"
        run_id = services.store.submit(SPECIFICATION)
        services.store.add_rows(run_id, rows)
        services.store.change(run_id, status="done", progress={"units": 1, "units_done": 1})
        words = html_of(opened(dashboard, run_id, "3"))
        assert "<img" not in words
        assert "&lt;img" in words

    def test_a_run_of_another_kind_is_not_shown(self, dashboard):
        page = opened(dashboard, "none")
        assert "not in the store" in page.warning[0].value.replace("\\", "")

    def test_a_recording_in_progress_is_followed(self, dashboard, services):
        run_id = services.store.submit(SPECIFICATION)
        services.store.change(run_id, status="running", stage="working")
        page = opened(dashboard, run_id)
        assert "data-replay-step" not in html_of(page)
        assert page.button(key="study_stop_button")
