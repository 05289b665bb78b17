"""Every run opens on its own page."""

from __future__ import annotations

import dataclasses

import pytest

from relens.query import Decoding, Query
from relens.runs.specification import SearchSpecification, StudySpecification
from relens.studies.catalogue import STUDIES, study_class
from relens.studies.decoder_view import DecoderStudy
from relens.studies.encodings import EncodingsStudy
from relens_dashboard.runs.addresses import Address, address_of
from tests.app.fakes import FakeStore


def record(study, variety=None):
    store = FakeStore()
    return dataclasses.replace(store.get(store.submit(StudySpecification("m", study))), variety=variety or study.kind)


@pytest.fixture
def pages(dashboard):
    return dashboard.run().session_state["pages"]


def test_every_study_of_the_catalogue_has_a_page_that_shows_its_runs(pages):
    for kind in STUDIES:
        run = record(study_class(kind)())
        address = address_of(run)
        assert address.page in pages, kind
        assert run.id in address.parameters.values(), kind


def test_a_search_is_opened_in_the_workbench():
    store = FakeStore()
    run = store.get(store.submit(SearchSpecification("m", Query("a"))))
    assert address_of(run) == Address("workbench", {"run": run.id})


def test_a_run_without_a_page_has_no_address():
    run = record(DecoderStudy())
    assert address_of(dataclasses.replace(run, kind="other", variety="")) is None
    assert address_of(dataclasses.replace(run, specification={"study": {"kind": "decoder", "stars": 1}})) is None
    # From a terminal one can ask what no field of the page holds.
    for study in (DecoderStudy(paths=7), DecoderStudy(decoding=Decoding(top_p=0.5))):
        assert address_of(record(study)) is None


def test_an_address_fills_the_fields_of_a_lesson():
    text = record(EncodingsStudy("A cat", prefix="See:", samples=0))
    filled = {"tokens_text": "A cat", "tokens_prefix": "See:", "tokens_model": "m"}
    assert address_of(text) == Address("tokens", {"run": text.id, **filled})
    drawn = record(EncodingsStudy("", samples=20))
    assert address_of(drawn) == Address("tokens", {"samples": drawn.id, "tokens_model": "m"})
    decoder = record(DecoderStudy("a|b", edits=True, decoding=Decoding(top_k=7)))
    filled = {"lesson": "a|b", "lesson_model": "m", "lesson_top_k": "7", "lesson_edits": "true"}
    assert address_of(decoder) == Address("automata", {"run": decoder.id, **filled})
