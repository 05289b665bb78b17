"""The pages on fakes: what a person sees and does, without a browser."""

import dataclasses
import html
import math
import re
from urllib.parse import parse_qs

import pytest

from relens.errors import LimitError, StoreError
from relens.query import Decoding, Distribution, Edits, Exclude, Query, Sampling
from relens.runs.specification import InspectSpecification, SearchSpecification
from relens.tokens.boundary_advice import BoundaryAdvice
from relens_dashboard.components.edit_settings import popover_label
from relens_dashboard.form import Form
from relens_dashboard.gallery import load_gallery
from relens_dashboard.places import places
from relens_dashboard.study_views import study_views
from relens_dashboard.text import as_html
from tests.app.fakes import bias_rows, match_row

WORKBENCH = "../../pages/workbench.py"


def html_of(page):
    return "\n".join(element.proto.body for element in page.get("html"))


def plain(markdown):
    """The text that escaped Markdown shows."""
    return markdown.replace("\\", "")


def captions(page):
    return "\n".join(caption.value for caption in page.caption)


@pytest.fixture
def workbench(dashboard, monkeypatch):
    # A busy machine may take longer over a preview than a page waits at once.
    monkeypatch.setattr("relens_dashboard.components.query_panel._WAIT_SECONDS", 20.0)
    dashboard.run()
    page = dashboard.switch_page(WORKBENCH).run()
    assert not page.exception
    return page


#: What the widgets are that are not numbers.
_KINDS = {
    "prefix": "text_input",
    "exclude": "text_input",
    "edit_alphabet": "text_input",
    "exclude_words": "text_area",
    "greedy": "toggle",
    "stop_words": "checkbox",
    "deletions": "checkbox",
    "edits": "segmented_control",
    "edit_where": "segmented_control",
    "traversal": "segmented_control",
    "prefix_by": "segmented_control",
}


def specification_of(run):
    """The specification of a run."""
    return SearchSpecification.from_json(run.specification)


def filling_links(page):
    """The parameters in the address of each link on the page."""
    links = re.findall(r'<a class="relens-link" href="\?([^"]*)"[^>]*><span[^>]*>.</span> ([^<]*)</a>', html_of(page))
    return {html.unescape(label): parse_qs(html.unescape(query)) for query, label in links}


def ask(page, pattern, **values):
    page.text_input(key="pattern").set_value(pattern)
    for key, value in values.items():
        getattr(page, _KINDS.get(key, "number_input"))(key=key).set_value(value)
    page.run()
    assert not page.exception
    return page


def start_run(page, services, pattern="cat"):
    ask(page, pattern).button(key="run_button").click().run()
    return run_of(page)


def run_of(page):
    """The run in the page's address."""
    value = page.query_params["run"]
    return value if isinstance(value, str) else value[0]


PROGRESS = {"found_mass": 0.12, "remaining_mass": 0.22, "seconds_total": 1.5, "expansions": 9, "forwards": 3}


class TestStart:
    def test_introduces_relens_and_offers_the_gallery(self, dashboard):
        page = dashboard.run()
        assert not page.exception
        words = html_of(page)
        assert "regular expression" in words
        begun = [example for example in load_gallery() if as_html(example.question) in words]
        assert 1 <= len(begun) <= 6
        page.pills(key="topic").set_value("All").run()
        assert not page.exception
        words = html_of(page)
        for entry in (*load_gallery(), *places(study_views())):
            assert as_html(entry.question) in words

    def test_a_topic_leaves_its_own_alone(self, dashboard):
        dashboard.query_params["topic"] = "Studies"
        words = html_of(dashboard.run())
        for entry in (*load_gallery(), *places(study_views())):
            assert (as_html(entry.question) in words) == (entry.topic == "Studies")

    def test_shows_worker_model_and_queue(self, dashboard, services):
        services.store.submit(SearchSpecification("m", Query("a")))
        words = html_of(dashboard.run())
        assert "Ready" in words
        assert "smollm2-135m" in words
        assert "1 waiting" in words

    def test_looking_keeps_the_worker_alive(self, dashboard, services):
        dashboard.run()
        assert services.supervisor.ensured >= 1

    def test_a_store_that_cannot_be_read_is_one_sentence(self, dashboard, services, monkeypatch):
        def fail():
            raise StoreError("The disk is full.")

        monkeypatch.setattr(services.store, "workers", fail)
        page = dashboard.run()
        assert not page.exception
        assert [plain(error.value) for error in page.error] == ["The disk is full."]


class TestQuestion:
    def test_an_empty_form_offers_a_way_on_and_no_run(self, workbench):
        assert workbench.button(key="run_button").disabled
        assert "Write a pattern" in html_of(workbench)

    def test_a_pattern_is_counted_explained_and_can_be_run(self, workbench):
        ask(workbench, "cat", prefix="The ")
        words = html_of(workbench)
        assert "1 string" in words
        assert "<code>cat</code>" in words
        assert "this text" in words
        assert not workbench.button(key="run_button").disabled

    def test_without_a_tokenizer_here_the_rest_is_shown_and_a_run_can_fetch_it(self, workbench, services, monkeypatch):
        preview = services.previewer.preview
        sentence = "The tokenizer is not on this server yet; a run fetches it."
        monkeypatch.setattr(
            services.previewer,
            "preview",
            lambda *question: dataclasses.replace(preview(*question), token_graph=None, notes=(sentence,)),
        )
        ask(workbench, "cat", prefix="The ")
        assert "<b>1 string</b>" in html_of(workbench)
        assert sentence in plain(captions(workbench))
        assert "Drawn once the tokenizer of this model is on this server" in captions(workbench)
        assert not workbench.button(key="run_button").disabled
        # What was not there may be there when the page looks again.
        monkeypatch.setattr(services.previewer, "preview", preview)
        workbench.run()
        assert sentence not in plain(captions(workbench))
        assert "Drawn once" not in captions(workbench)

    def test_an_error_shows_its_sentence_and_the_caret_and_keeps_the_text(self, workbench):
        ask(workbench, "ab(c", prefix="The")
        assert [plain(error.value) for error in workbench.error] == [
            "Missing ), unterminated subpattern, at position 2 of the pattern."
        ]
        assert "ab(c\n  ^" in [code.value for code in workbench.code]
        assert workbench.button(key="run_button").disabled
        assert workbench.text_input(key="pattern").value == "ab(c"
        assert workbench.text_input(key="prefix").value == "The"

    def test_hostile_text_is_escaped(self, workbench):
        ask(workbench, "<img src=x onerror=alert(1)>")
        assert "<img" not in html_of(workbench)
        assert "&lt;img" in html_of(workbench)

    def test_a_pattern_that_is_too_large_says_so(self, workbench):
        ask(workbench, "slow")
        assert "not ready in time" in plain(workbench.error[0].value)

    def test_the_same_query_as_code(self, workbench):
        workbench.session_state["share"] = True
        ask(workbench, "cat", top_k=40)
        codes = [code.value for code in workbench.code]
        assert any("decoding=Decoding(top_k=40)" in code for code in codes)
        assert any(code.startswith("relens query cat") and "--top-k 40" in code for code in codes)

    def test_a_link_fills_the_form_and_runs_nothing(self, dashboard, services):
        dashboard.query_params.update({"pattern": "a+b|c&d", "top_k": "40", "greedy": "false"})
        page = dashboard.switch_page(WORKBENCH).run()
        assert page.text_input(key="pattern").value == "a+b|c&d"
        assert page.number_input(key="top_k").value == 40
        assert services.store.runs == {}


class TestRun:
    def test_run_submits_the_form(self, workbench, services):
        ask(workbench, "cat", prefix="The ", top_k=40, matches=7)
        workbench.button(key="run_button").click().run()
        (run,) = services.store.runs.values()
        specification = specification_of(run)
        assert specification.query == Query("cat", prefix="The ", decoding=Decoding(top_k=40))
        assert specification.limits.matches == 7
        assert specification.traversal.rank == "conditional"
        assert run_of(workbench) == run.id

    def test_a_full_queue_is_one_sentence(self, workbench, services, monkeypatch):
        def full(specification, session):
            raise LimitError("32 runs wait already.", limit="RELENS_QUEUE")

        monkeypatch.setattr(services.store, "submit", full)
        ask(workbench, "cat").button(key="run_button").click().run()
        assert "32 runs wait already." in [plain(error.value) for error in workbench.error]
        assert workbench.text_input(key="pattern").value == "cat"

    def test_matches_arrive_with_each_look(self, workbench, services):
        run_id = start_run(workbench, services)
        services.store.change(run_id, status="running", stage="searching", progress=PROGRESS)
        workbench.run()
        assert "No match yet" in captions(workbench)
        for count, text in enumerate((" cat", " dog"), 1):
            services.store.add_rows(run_id, [match_row(text, "The", -float(count))])
            workbench.run()
            assert not workbench.exception
            (table,) = [frame.value for frame in workbench.dataframe]
            assert len(table) == count
        assert list(table["Text"]) == ["cat", "dog"]
        assert table["Probability"].tolist() == pytest.approx([math.exp(-1), math.exp(-2)])
        assert "Between 12 % and 34 %" in html_of(workbench)

    def test_a_store_that_cannot_be_read_for_a_moment_is_read_again(self, workbench, services, monkeypatch):
        def busy(*_, **__):
            raise StoreError("The store of runs is too busy to answer.")

        run_id = start_run(workbench, services)
        services.store.change(run_id, status="running", stage="searching", progress=PROGRESS)
        workbench.run()
        looks = workbench.session_state["looking_looks"]
        services.store.change(run_id, row_count=1)
        with monkeypatch.context() as patched:
            patched.setattr(services.store, "rows", busy)
            workbench.run()
        assert "The store of runs is too busy to answer." in [plain(error.value) for error in workbench.error]
        assert workbench.session_state["looking_looks"] == looks + 1
        workbench.run()
        assert not workbench.error
        assert "No match yet" in captions(workbench)

    def test_stop_asks_for_the_end(self, workbench, services):
        run_id = start_run(workbench, services)
        services.store.change(run_id, status="running", stage="searching")
        workbench.run()
        assert not workbench.button(key="stop_button").disabled
        workbench.button(key="stop_button").click().run()
        assert services.store.stopped == [run_id]

    def test_stop_is_idle_when_nothing_runs(self, workbench, services):
        run_id = start_run(workbench, services)
        services.store.change(run_id, status="done", progress=PROGRESS | {"ended": "exhausted"})
        workbench.run()
        workbench.run()
        assert workbench.button(key="stop_button").disabled

    def test_an_interrupted_run_keeps_its_rows_and_can_be_repeated(self, workbench, services):
        run_id = start_run(workbench, services)
        services.store.add_rows(run_id, [match_row(" cat", "The")])
        services.store.change(run_id, status="interrupted", progress=PROGRESS)
        workbench.run()
        workbench.run()
        assert "1 match found so far are kept" in html_of(workbench)
        assert len(workbench.dataframe[0].value) == 1
        workbench.button(key="repeat_button").click().run()
        assert len(services.store.runs) == 2
        assert run_of(workbench) == "run2"

    def test_a_failed_run_says_why(self, workbench, services):
        run_id = start_run(workbench, services)
        services.store.change(run_id, status="failed", error="The model '<b>' is unknown.")
        workbench.run()
        assert "The model &#x27;&lt;b&gt;&#x27; is unknown." in html_of(workbench)

    def test_results_are_by_string_or_by_encoding(self, workbench, services):
        run_id = start_run(workbench, services)
        rows = [match_row(" cat", "The", -1.0), match_row(" cat", "The", -2.0, canonical=False)]
        services.store.add_rows(run_id, rows)
        services.store.change(run_id, status="done", progress=PROGRESS)
        workbench.run()
        assert workbench.dataframe[0].value["Encodings"].tolist() == [2]
        workbench.segmented_control(key="by").set_value("Encodings").run()
        assert len(workbench.dataframe[0].value) == 2

    def test_the_address_brings_back_the_run_and_its_query(self, dashboard, services):
        run_id = services.store.submit(SearchSpecification("smollm2-135m", Query("do[gt]", prefix="A")))
        services.store.add_rows(run_id, [match_row("dog", "A")])
        dashboard.query_params["run"] = run_id
        page = dashboard.switch_page(WORKBENCH).run()
        assert not page.exception
        assert page.text_input(key="pattern").value == "do[gt]"
        assert run_of(page) == run_id
        assert len(page.dataframe[0].value) == 1

    def test_an_address_of_no_run_is_a_warning_and_keeps_the_query(self, dashboard, services):
        dashboard.query_params.update({"run": "nowhere", "pattern": "cat"})
        page = dashboard.switch_page(WORKBENCH).run()
        assert not page.exception
        assert "not in the store" in plain(page.warning[0].value)
        assert page.text_input(key="pattern").value == "cat"

    def test_matches_of_another_query_have_a_link_back(self, workbench, services):
        run_id = start_run(workbench, services)
        services.store.change(run_id, status="done", progress=PROGRESS)
        workbench.run()
        assert "Matches belong to another query" not in filling_links(workbench)
        ask(workbench, "dog")
        assert filling_links(workbench)["Matches belong to another query"] == {"pattern": ["cat"], "run": [run_id]}


BIAS = Query(" (?P<outcome>art|math)", prefix="The (?P<subject>man|woman) was trained in", edits=Edits(1))
SAMPLED = {"samples": 110, "failed": 10, "seconds_total": 2.0, "prefixes": 2, "ended": "drawn"}
SETTLED = {"found_mass": 0.1, "remaining_mass": 0.0001, "seconds_total": 2.0, "prefixes": 2, "ended": "tolerance"}


def finished(dashboard, services, traversal, progress, **parameters):
    """A run of `traversal` with the matches `bias_rows`, opened by its address."""
    run_id = services.store.submit(SearchSpecification("smollm2-135m", BIAS, traversal))
    services.store.add_rows(run_id, bias_rows())
    services.store.change(run_id, status="done", progress=progress)
    dashboard.query_params.update({"run": run_id, **parameters})
    page = dashboard.switch_page(WORKBENCH).run()
    assert not page.exception
    return run_id, page


class TestTraversals:
    def test_every_setting_reaches_the_run(self, workbench, services):
        ask(workbench, "cat", prefix="The ", traversal="Sample", edits=1)
        ask(
            workbench,
            "cat",
            samples=500,
            seed=7,
            prefix_by="Edges",
            edit_where="Prefix",
            deletions=False,
            edit_alphabet="[a-z]",
            exclude=".*x",
            exclude_words="art, New York",
            stop_words=True,
        )
        workbench.button(key="run_button").click().run()
        specification = specification_of(services.store.runs[run_of(workbench)])
        assert specification.traversal == Sampling(500, 7, "edges")
        assert specification.query.edits == Edits(1, "prefix", deletions=False, alphabet="[a-z]")
        assert specification.query.exclude == Exclude(".*x", ("art", "New York"), True)
        assert specification.limits.matches is None

    def test_only_what_the_traversal_uses_is_there(self, workbench):
        shown = {}
        for traversal in ("Best first", "Sample", "Distribution"):
            ask(workbench, "cat", traversal=traversal)
            keys = {field.key for field in workbench.number_input}
            shown[traversal] = keys & {"matches", "samples", "seed", "tolerance"}
        assert shown == {"Best first": {"matches"}, "Sample": {"samples", "seed"}, "Distribution": {"tolerance"}}

    def test_hidden_settings_are_not_forgotten(self, workbench):
        ask(workbench, "cat", traversal="Sample")
        ask(workbench, "cat", seed=7)
        ask(workbench, "cat", traversal="Best first")
        ask(workbench, "cat", traversal="Sample")
        assert workbench.number_input(key="seed").value == 7

    def test_a_link_sets_everything(self, dashboard):
        dashboard.query_params.update({"pattern": "cat", "traversal": "Sample", "seed": "5", "edits": "2"})
        page = dashboard.switch_page(WORKBENCH).run()
        assert page.number_input(key="seed").value == 5
        assert page.segmented_control(key="edits").value == 2
        assert not page.segmented_control(key="edit_where").disabled
        assert not page.segmented_control(key="prefix_by").disabled
        assert page.segmented_control(key="rank").disabled

    def test_the_popover_says_what_is_set(self):
        assert popover_label(Form()) == "Edits and exclusions"
        assert popover_label(Form(edits=2)) == "Edits and exclusions :blue-badge[2 edits]"
        assert "[1 edit, 3 exclusions]" in popover_label(Form(edits=1, exclude="a", exclude_words="b,c"))

    @pytest.mark.parametrize(("field", "key"), [("exclude", "exclude"), ("alphabet", "edit_alphabet")])
    def test_an_error_in_the_popover_has_its_caret_there(self, workbench, field, key):
        ask(workbench, "cat", edits=1)
        ask(workbench, "cat", **{key: "(b"})
        assert [plain(error.value) for error in workbench.error] == [f"Missing ) in the {field}."] * 2
        assert [code.value for code in workbench.code] == ["(b\n^"] * 2

    def test_an_example_of_an_exclusion_goes_into_the_field(self, workbench):
        ask(workbench, "cat")
        workbench.button(key="exclude_anything").click().run()
        assert workbench.text_input(key="exclude").value == r".*\d.*"

    def test_a_sample_is_counted_by_its_groups(self, dashboard, services):
        _, page = finished(dashboard, services, Sampling(110), SAMPLED)
        words = html_of(page)
        assert "Complete: 110 draws, 6 different matches among them." in words
        assert "Given woman, outcome is math in 75 % (" in words
        assert "10 draws failed" in words
        assert "of this mass is spelled in other tokens" in words
        assert "About 9.1 % (" in words
        assert "not looked at yet" not in words
        table = page.dataframe[0].value
        assert table["Share"].sum() == pytest.approx(2.0)
        assert {"subject", "outcome", "95 %", "Draws"} <= set(table)

    def test_a_distribution_has_exact_shares_and_bounds(self, dashboard, services):
        _, page = finished(dashboard, services, Distribution(), SETTLED)
        words = html_of(page)
        assert "Settled with 6 matches" in words
        assert "Given woman, outcome is math in 75 % and art in 25 %." in words
        assert "10 % of what this decoder writes here is a match." in words
        assert "95 %" not in page.dataframe[0].value

    def test_the_view_is_in_the_address(self, dashboard, services):
        _, page = finished(dashboard, services, Distribution(), SETTLED, by="Groups", groups="outcome")
        assert list(page.dataframe[0].value["outcome"]) == ["math", "art"]
        assert "subject" not in page.dataframe[0].value
        assert page.text_input(key="pattern").value == BIAS.pattern
        page.segmented_control(key="by").set_value("Strings").run()
        assert "Edits" in page.dataframe[0].value

    def test_nothing_is_concluded_while_a_sample_runs(self, dashboard, services):
        run_id = services.store.submit(SearchSpecification("smollm2-135m", BIAS, Sampling(1000)))
        services.store.add_rows(run_id, bias_rows())
        services.store.change(run_id, status="running", stage="sampling", progress=SAMPLED | {"ended": ""})
        dashboard.query_params["run"] = run_id
        page = dashboard.switch_page(WORKBENCH).run()
        assert "Given woman" not in html_of(page)
        assert "of what this decoder writes" not in html_of(page)
        assert "wait for the last" in captions(page)
        assert "Exact distribution" not in filling_links(page)

    @pytest.mark.parametrize(
        ("traversal", "progress", "label", "settings"),
        [
            (Sampling(110), SAMPLED, "Exact distribution", {"traversal": ["Distribution"], "samples": ["110"]}),
            (Distribution(), SETTLED, "Sample it", {"traversal": ["Sample"]}),
        ],
    )
    def test_the_other_traversal_is_offered(self, dashboard, services, traversal, progress, label, settings):
        run_id, page = finished(dashboard, services, traversal, progress, by="Strings")
        address = filling_links(page)[label]
        assert address == {
            "prefix": [BIAS.prefix],
            "pattern": [BIAS.pattern],
            "edits": ["1"],
            "run": [run_id],
            "by": ["Strings"],
            **settings,
        }

    def test_a_repeat_has_the_same_seed(self, dashboard, services):
        run_id, page = finished(dashboard, services, Sampling(110, seed=9), SAMPLED)
        services.store.change(run_id, status="stopped")
        page.run().button(key="repeat_button").click().run()
        assert specification_of(services.store.runs[run_of(page)]).traversal == Sampling(110, seed=9)

    def test_charts_of_every_kind_are_drawn(self, dashboard, services):
        _, page = finished(dashboard, services, Sampling(110), SAMPLED)
        for by in ("Encodings", "Strings", "Groups"):
            page.segmented_control(key="by").set_value(by).run()
            for tab in ("Shares", "Against exact", "Edits", "Spelling"):
                tab = "Probability" if (by, tab) == ("Encodings", "Shares") else tab
                page.session_state["result_charts_sampling_4"] = tab
                page.run()
                assert not page.exception


class TestBoundaryHelp:
    def test_a_link_moves_the_space(self, workbench, services):
        services.previewer.advice = BoundaryAdvice("The prefix ends with a space.", "The", " cat")
        ask(workbench, "cat", prefix="The ")
        assert "The prefix ends with a space." in plain(captions(workbench))
        address = filling_links(workbench)["Move the space to the pattern"]
        assert address == {"prefix": ["The"], "pattern": [" cat"]}

    def test_without_a_correction_there_is_no_link(self, workbench, services):
        services.previewer.advice = BoundaryAdvice("The pattern continues a word.", "", "")
        ask(workbench, "s", prefix="cat")
        assert "continues a word" in captions(workbench)
        assert "Move the space to the pattern" not in filling_links(workbench)


class TestOpenedMatch:
    def opened(self, workbench, services):
        run_id = start_run(workbench, services)
        services.store.add_rows(run_id, [match_row(" cat", "The", -1.0)])
        services.store.change(run_id, status="done", progress=PROGRESS)
        workbench.run()
        # A selection is made in the browser; here it is put where the browser puts it.
        workbench.session_state[f"matches_{run_id}_Strings"] = {"selection": {"rows": [0], "columns": [], "cells": []}}
        return run_id, workbench.run()

    def test_the_worker_reads_its_tokens_and_they_are_shown(self, workbench, services):
        _, page = self.opened(workbench, services)
        (inspected,) = [run for run in services.store.runs.values() if run.kind == InspectSpecification.kind]
        assert inspected.specification["token_ids"] == [1, 2, 3]
        assert "Asking the model" in captions(page)
        top = [{"token_id": 9, "text": " <i>", "log_prob": math.log(0.5)}]
        readings = [
            {"token_id": 1, "text": "The", "log_prob": None, "rank": None, "allowed": None, "top": []},
            {"token_id": 2, "text": " <b>", "log_prob": math.log(0.25), "rank": 3, "allowed": True, "top": top},
            {"token_id": 3, "text": "at", "log_prob": -0.1, "rank": 1, "allowed": False, "top": top},
        ]
        services.store.add_rows(inspected.id, readings)
        services.store.change(inspected.id, status="done")
        page.run()
        assert not page.exception
        table = page.dataframe[1].value
        assert table["Token"].tolist() == ["The", "␣<b>", "at"]
        assert table["Rank"].tolist()[1:] == [3, 1]
        assert table["Probability"].tolist()[1] == pytest.approx(0.25)
        assert table["Likeliest here"].tolist()[1] == "‹␣<i>› 50 %"
        words = html_of(page)
        assert "␣&lt;b&gt;" in words
        assert "<b>at" not in words
        assert len([run for run in services.store.runs.values() if run.kind == "inspect"]) == 1

    def test_edits_are_marked_in_the_text(self, dashboard, services):
        run_id, page = finished(dashboard, services, Sampling(110), SAMPLED, by="Encodings")
        page.session_state[f"matches_{run_id}_Encodings"] = {"selection": {"rows": [4], "columns": [], "cells": []}}
        page.run()
        words = html_of(page)
        assert "mat<del>h</del><ins>s</ins>" in words
        assert "1 edit: h→s at 26, from" in words
        assert "5 times" in words

    def test_an_inspection_that_fails_says_why(self, workbench, services):
        _, page = self.opened(workbench, services)
        (inspected,) = [run for run in services.store.runs.values() if run.kind == InspectSpecification.kind]
        services.store.change(inspected.id, status="failed", error="The model is gone.")
        page.run()
        assert "The model is gone." in [plain(warning.value) for warning in page.warning]


@pytest.mark.parametrize("name", ["automata", "tokens", "replay", "memorization", "bias"])
def test_a_page_without_an_allowed_model_shows_the_error(dashboard, monkeypatch, name):
    monkeypatch.setenv("RELENS_MODELS", ",")
    dashboard.run()
    page = dashboard.switch_page(f"../../pages/{name}.py").run()
    assert not page.exception
    assert any("This server may load no model" in error.value for error in page.error)
