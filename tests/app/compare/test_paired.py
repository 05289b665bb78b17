"""Ways of asking are named as in their studies."""

from __future__ import annotations

import pytest

from relens.studies.cloze import LABELS
from relens.studies.toxicity import VARIANTS
from relens_dashboard.compare.paired import way_label


@pytest.mark.parametrize("variant", [variant for variants in VARIANTS.values() for variant in variants])
def test_a_way_of_toxicity_is_called_as_its_variant(variant):
    assert way_label("toxicity", variant.key) == variant.label


def test_other_ways_are_called_as_their_studies_call_them():
    assert [way_label("cloze", way) for way in LABELS] == list(LABELS.values())
    assert way_label("toxicity", "unknown") == "unknown"
