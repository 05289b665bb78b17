"""The history on a real store: runs are searched, named, pinned, deleted, restored, repeated, imported."""

from __future__ import annotations

import pytest
import streamlit as st

from relens.errors import LimitError, StoreError
from relens.query import Query, Sampling
from relens.runs import run_file
from relens.runs.run_file import read_run, write_run
from relens.runs.specification import SearchSpecification, StudySpecification
from relens.studies.bias import BiasStudy
from relens.studies.encodings import EncodingsStudy
from tests.app.fakes import match_row

PAGE = "../../pages/history.py"


def finished(store, pattern="a", rows=2, **more):
    run_id = store.submit(SearchSpecification("m", Query(pattern), **more))
    store.claim("w")
    store.append(run_id, [match_row(text) for text in "xyz"[:rows]], {"matches": rows, "seconds_total": 2.0})
    store.finish(run_id, "done")
    return run_id


def opened(dashboard, **parameters):
    dashboard.run()
    dashboard.switch_page(PAGE)
    for name, value in parameters.items():
        dashboard.query_params[name] = value
    page = dashboard.run()
    assert not page.exception
    return page


def html_of(page):
    return "\n".join(element.proto.body for element in page.get("html"))


def listed(page):
    return list(page.dataframe[0].value["Run"]) if page.dataframe else []


def test_an_empty_history_offers_examples(dashboard):
    page = opened(dashboard)
    assert "No run yet" in page.info[0].value
    assert "relens-card" in html_of(page)


def test_runs_are_listed_and_searched(dashboard, store):
    finished(store, "cats")
    named = finished(store, "dogs", traversal=Sampling(5))
    store.rename(named, "Mine <b>")
    store.submit(StudySpecification("n", BiasStudy(draws=12)))
    page = opened(dashboard)
    assert listed(page) == ["Bias (draws 12)", "Mine <b>", "cats"]
    assert list(page.dataframe[0].value["Time"]) == ["", "2.0 s", "2.0 s"]
    page.text_input(key="find").set_value("DOGS").run()
    assert listed(page) == ["Mine <b>"]
    page.text_input(key="find").set_value("nobody has this").run()
    assert listed(page) == []
    assert "No run fits" in page.caption[0].value
    page.text_input(key="find").set_value("").run()
    page.multiselect(key="kind").select("Bias").run()
    assert listed(page) == ["Bias (draws 12)"]
    page.multiselect(key="kind").unselect("Bias").run()
    page.multiselect(key="of_model").select("m").run()
    page.multiselect(key="ended").select("Done").run()
    assert listed(page) == ["Mine <b>", "cats"]


def test_a_run_of_the_address_is_named_noted_and_pinned(dashboard, store):
    run = finished(store, "<b>cats")
    page = opened(dashboard, runs=run)
    assert "&lt;b&gt;cats" in html_of(page)
    assert "<b>cats" not in html_of(page).replace("<b>&lt;", "")
    page.text_input(key=f"name_{run}").set_value("Felines").run()
    page.text_area(key=f"note_{run}").set_value("for the talk").run()
    page.button(key="history_pin").click().run()
    kept = store.get(run)
    assert (kept.name, kept.note, kept.pinned) == ("Felines", "for the talk", True)
    assert listed(page) == ["Felines"]
    page.button(key="history_pin").click().run()
    assert not store.get(run).pinned


def test_runs_of_the_lessons_can_be_opened_too(dashboard, store):
    run = store.submit(StudySpecification("m", EncodingsStudy("", samples=20)))
    page = opened(dashboard, runs=run)
    linked = [link.proto for link in page.get("page_link")]
    assert {link.label for link in linked} >= {"Open"}
    assert any(link.page == "tokens" and f"samples={run}" in link.query_string for link in linked)


@pytest.mark.parametrize("typed", ["two  blanks", "two\tblanks", " two\N{NO-BREAK SPACE}blanks "])
def test_a_name_is_shown_as_it_is_stored(dashboard, store, typed):
    run = finished(store)
    page = opened(dashboard, runs=run)
    for _ in range(2):  # the second time, what is stored stays the same
        page.text_input(key=f"name_{run}").set_value(typed).run()
        assert store.get(run).name == page.text_input(key=f"name_{run}").value == "two blanks"


def test_another_persons_text_stays_and_is_shown(dashboard, store):
    run = finished(store)
    page = opened(dashboard, runs=run)
    page.text_input(key=f"name_{run}").set_value("mine").run()
    store.rename(run, "theirs")
    store.annotate(run, "their note")
    page.run()
    assert (store.get(run).name, store.get(run).note) == ("theirs", "their note")
    assert page.text_input(key=f"name_{run}").value == "theirs"
    assert page.text_area(key=f"note_{run}").value == "their note"


def test_a_refused_name_stays_in_the_field(dashboard, store, monkeypatch):
    run = finished(store)
    page = opened(dashboard, runs=run)

    def refuse(*_):
        raise StoreError("The store is busy.")

    with monkeypatch.context() as patched:
        patched.setattr(type(store), "rename", refuse)
        page.text_input(key=f"name_{run}").set_value("mine").run()
    assert "The store is busy" in page.error[0].value
    page.run()
    assert page.text_input(key=f"name_{run}").value == "mine"
    page.text_input(key=f"name_{run}").set_value("mine again").run()
    assert store.get(run).name == "mine again"
    assert not page.error


def test_delete_undo_and_the_bin(dashboard, store):
    run, other = finished(store, "cats"), finished(store, "dogs")
    page = opened(dashboard, runs=run)
    page.button(key="history_delete").click().run()
    assert store.get(run) is None
    assert listed(page) == ["dogs"]
    assert "cats" in html_of(page)
    page.button(key="undo_button").click().run()
    assert len(store.rows(run)) == 2
    assert listed(page) == ["dogs", "cats"]
    assert "undo_button" not in {button.key for button in page.button}
    store.delete(run)
    page.toggle(key="deleted").set_value(True).run()
    assert listed(page) == ["cats"]
    assert page.button(key="restore_button").disabled
    page.button(key="purge_button").click().run()
    assert store.find(deleted=True) == []
    assert store.get(other) is not None


def test_a_live_run_is_stopped_and_repeated(dashboard, store):
    run = store.submit(SearchSpecification("m", Query("cats"), Sampling(5, seed=9)))
    page = opened(dashboard, runs=run)
    assert "history_repeat" not in {button.key for button in page.button}
    page.button(key="history_stop").click().run()
    assert store.get(run).status == "stopped"
    page.button(key="history_repeat").click().run()
    (again,) = store.find(statuses=("queued",))
    assert again.specification == store.get(run).specification


def test_a_study_is_resumed_but_not_one_from_elsewhere(dashboard, store):
    run = store.submit(StudySpecification("m", BiasStudy()))
    store.request_stop(run)
    page = opened(dashboard, runs=run)
    assert "history_resume" in {button.key for button in page.button}
    elsewhere = store.import_run(read_run(write_run(store.get(run), [])))
    page = opened(dashboard, runs=elsewhere)
    assert "history_resume" not in {button.key for button in page.button}
    assert "Imported" in page.info[0].value
    page = opened(dashboard, runs=run)
    page.button(key="history_resume").click().run()
    assert store.get(run).status == "queued"


def test_a_failed_export_shows_its_reason(dashboard, store, monkeypatch):
    run = finished(store)
    refusing = []
    button = st.download_button

    def looked_at(label, data, **more):
        refusing.append(data)
        return button(label, data, **more)

    monkeypatch.setattr(st, "download_button", looked_at)
    page = opened(dashboard, runs=run)
    assert not page.error
    with monkeypatch.context() as patched:
        patched.setattr(run_file, "MOST_BYTES", 10)
        with pytest.raises(LimitError):  # beside the page, where the button makes its file
            refusing[-1]()
    page.run()
    assert "before it is packed" in page.error[0].value
    assert read_run(refusing[-1]()).id == run
    page.run()
    assert not page.error


def test_several_are_chosen_across_pages_of_the_list(dashboard, store):
    runs = [finished(store, f"cats {place}") for place in range(30)]
    chosen = f"{runs[0]},{runs[29]}"  # one on the last page, one on the first
    page = opened(dashboard, runs=chosen)
    assert "1. cats 0" in html_of(page)
    assert "2. cats 29" in html_of(page)
    page.button(key="choose_none").click().run()
    assert "cats 29" not in html_of(page)
    page = opened(dashboard, runs=chosen)
    page.button(key="history_delete").click().run()
    assert store.count() == 28
    page.button(key="undo_button").click().run()
    assert store.count() == 30


@pytest.mark.parametrize("runs", ["nothing", "<b>", ",,,", "a" * 5000])
def test_an_address_without_a_run_does_no_harm(dashboard, store, runs):
    finished(store)
    page = opened(dashboard, runs=runs)
    assert listed(page) == ["a"]
    assert "name_" not in " ".join(field.key for field in page.text_input)
