"""Places of the gallery: every page that a card opens is there."""

from pathlib import Path

import pytest

from relens_dashboard.places import places
from relens_dashboard.study_views import module_name, study_views

ROOT = Path(__file__).resolve().parents[2]
PLACES = places(study_views())


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.title)
def test_a_place_is_a_page_and_asks_a_question(place):
    assert (ROOT / "pages" / f"{module_name(place.page)}.py").exists()
    assert place.question.endswith("?")
    assert place.why.endswith(".")
    assert len(place.why) <= 140


def test_titles_differ_and_every_study_is_among_them():
    assert len({place.title for place in PLACES}) == len(PLACES)
    assert {place.page for place in PLACES} >= set(study_views())
