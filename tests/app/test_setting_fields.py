"""A record's fields show it, keep to its bounds, and give back their values."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from relens.query import Decoding, Distribution, Limits, Sampling
from relens.setting import declared
from relens_dashboard.setting_fields import LARGEST, bounds


def form(kind: str, values: dict) -> None:
    """A page with nothing but the fields of a record."""
    import streamlit as st

    from relens.errors import QueryError
    from relens.setting import settings_of
    from relens.studies.catalogue import study_class
    from relens_dashboard.setting_fields import SettingFields, all_fields

    fields = SettingFields(study_class(kind).from_json(values), "form")
    try:
        with all_fields():
            for one in settings_of(study_class(kind)):
                options = {"options": [1, 2, 4, 128]} if one.name == "new_tokens" else {}
                fields.draw(one.name, **options)
            st.session_state["made"] = fields.record()
    except QueryError as error:
        st.error(error.sentence)


def drawn(kind: str, **values: object) -> AppTest:
    page = AppTest.from_function(form, kwargs={"kind": kind, "values": values}, default_timeout=30).run()
    assert not page.exception
    return page


@pytest.mark.parametrize("kind", ["bias", "cloze", "decoder", "encodings", "knowledge", "replay"])
def test_untouched_fields_give_the_record_back(kind):
    from relens.studies.catalogue import study_class

    assert drawn(kind).session_state["made"] == study_class(kind)()


def test_fields_give_their_new_values():
    page = drawn("bias")
    page.text_area(key="form_subjects").set_value("cat\n\n dog ")
    page.number_input(key="form_draws").set_value(12)
    page.toggle(key="form_end_of_text").set_value(True)
    page.segmented_control(key="form_boundary").set_value("Free")
    made = page.run().session_state["made"]
    assert (made.subjects, made.draws, made.end_of_text, made.boundary.value) == (("cat", "dog"), 12, True, "free")


def test_a_number_that_may_be_missing_can_be_emptied_and_stays_so():
    page = drawn("bias")
    page.number_input(key="form_seconds").set_value(None)
    assert page.run().session_state["made"].seconds is None
    assert page.run().session_state["made"].seconds is None


def test_a_wrong_setting_is_one_sentence_and_all_fields_stay():
    page = drawn("bias")
    before = len(page.main)
    page.text_area(key="form_subjects").set_value("cat")
    (error,) = page.run().error
    assert error.value == "“Subjects” must have at least 2, not 1."
    assert len(page.main) >= before


def test_a_value_beyond_a_pages_bounds_is_shown_unchanged():
    page = drawn("knowledge", matches=50_000, expansions=2_000_000)
    assert page.session_state["made"].matches == 50_000
    assert page.number_input(key="form_matches").max == 50_000


def test_a_number_that_no_browser_can_hold_opens_as_the_largest_that_one_can():
    assert drawn("bias", seed=2**60).session_state["made"].seed == LARGEST


def test_open_bounds_end_just_inside():
    assert bounds(declared(Decoding, "top_p")) == (0.0001, 1.0)
    assert bounds(declared(Distribution, "tolerance")) == (0.0, 0.9999)
    assert bounds(declared(Limits, "matches")) == (1, 100_000)
    assert bounds(declared(Sampling, "seed")) == (0, LARGEST)


def list_that_opens() -> None:
    """A page with one choice, as a list that opens."""
    import streamlit as st

    from relens.setting import declared
    from relens.triggers.model.training_study import DialogueModelStudy
    from relens_dashboard.setting_fields import setting_field

    one = declared(DialogueModelStudy, "form")
    st.session_state["made"] = setting_field(st, one, "eou", key="form", widget="selectbox")


def test_a_choice_may_be_a_list_that_opens():
    page = AppTest.from_function(list_that_opens, default_timeout=30).run()
    assert not page.exception
    assert page.session_state["made"] == "eou"
    assert "a dialogue on a line, <eou> between" in page.selectbox(key="form").options
    page.selectbox(key="form").set_value("json").run()
    assert page.session_state["made"] == "json"
