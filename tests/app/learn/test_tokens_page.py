"""The page on fakes: a text and its count; a run submitted, followed and opened again."""

from __future__ import annotations

import shutil

import pytest

from relens.learn.text_encodings import text_encodings
from relens.runs.screens import ScreenStore
from relens.runs.specification import StudySpecification
from relens.studies.encodings import EncodingsStudy
from relens_dashboard.learn import tokens_page
from relens_dashboard.learn.sources import text_source


class Encoder:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def encodings(self, text, model):
        return text_encodings(text, self.tokenizer)


@pytest.fixture
def page(dashboard, monkeypatch, byte_tokenizer):
    source = text_source(Encoder(byte_tokenizer))
    monkeypatch.setattr(tokens_page, "get_texts", lambda: source)
    yield dashboard
    source.threads.shutdown()


def opened(page):
    page.run().switch_page("../../pages/tokens.py").run()
    return page


def text_of(page):
    return " ".join(element.value for element in (*page.markdown, *page.caption))


def test_a_text_is_counted(page, byte_tokenizer):
    opened(page)
    assert not page.exception
    assert page.text_input(key="tokens_text").value == "The cat"
    count = text_encodings("The cat", byte_tokenizer).count
    assert f"7 bytes has {count:,} encodings" in text_of(page).replace("\\", "")
    page.text_input(key="tokens_text").set_value("é").run()
    assert "2 bytes has" in text_of(page)
    page.text_input(key="tokens_text").set_value("").run()
    assert not page.exception
    assert "Write a text above" in text_of(page)


def test_the_two_questions_are_separate_runs(page, services):
    opened(page)
    page.button(key="tokens_ask_run").click().run()
    page.button(key="tokens_ask_samples").click().run()
    assert not page.exception
    first, second = (StudySpecification.from_json(run.specification).study for run in services.store.runs.values())
    assert first == EncodingsStudy(text="The cat", samples=0)
    assert second == EncodingsStudy(text="")
    assert page.query_params["run"] in ("run1", ["run1"])
    assert page.query_params["samples"] in ("run2", ["run2"])


def test_findings_are_shown(page, services, byte_tokenizer):
    study = EncodingsStudy(text="ab", prefix="x", samples=0)
    run = services.store.submit(StudySpecification("smollm2-135m", study))
    own = {
        "unit": "probabilities",
        "row": "own",
        "tokens": [1],
        "labels": ["ab"],
        "log_prob": -1.0,
        "token_log_probs": [],
    }
    rows = [{"unit": "probabilities", "row": "begin"}, own]
    for rank, (labels, log_prob) in enumerate([(["ab"], -1.0), (["a", "b"], -3.0)], 1):
        rows.append(
            own | {"row": "encoding", "rank": rank, "labels": labels, "log_prob": log_prob, "is_canonical": rank == 1}
        )
    rows.append(
        {
            "unit": "probabilities",
            "row": "all",
            "encodings": "2",
            "found": 2,
            "found_mass": 0.4,
            "remaining_mass": 0.0,
            "expansions": 2,
            "ended": "exhausted",
        }
    )
    services.store.add_rows(run, rows)
    services.store.change(run, status="done", progress={"seconds_total": 1.0})
    page.query_params["run"] = run
    opened(page)
    assert not page.exception
    assert page.text_input(key="tokens_text").value == "ab", "the text of the run in the address"
    assert page.text_input(key="tokens_prefix").value == "x"
    shown = " ".join(element.value for element in page.get("html"))
    assert "holds 88.1 % of the text&#x27;s probability; the other 1 share 11.9 %" in shown


def test_a_run_of_something_else_is_refused_in_words(page):
    page.query_params["run"] = "nothing"
    opened(page)
    assert any("not in the store" in warning.value for warning in page.warning)


def test_the_glossary_is_searched(page):
    page.run().switch_page("../../pages/glossary.py").run()
    assert not page.exception
    page.text_input(key="glossary_search").set_value("lattice").run()
    assert not page.exception


@pytest.mark.skipif(shutil.which("dot") is None, reason="pictures are pinned where they are laid out")
def test_the_lattice_is_pinned(page, byte_tokenizer, tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_STORE", f"sqlite:///{tmp_path / 'screens.db'}")
    opened(page).button(key="pin_lattice").click().run()
    assert not page.exception
    (screen,) = ScreenStore(f"sqlite:///{tmp_path / 'screens.db'}").all()
    assert f"{text_encodings('The cat', byte_tokenizer).count:,} encodings" in screen.sentences[0].replace("\\", "")
    assert screen.figure.startswith("<svg")
