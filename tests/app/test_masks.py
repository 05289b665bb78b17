"""Masks of pages: kept, the same as elsewhere, and only for the shown part of a text."""

from __future__ import annotations

from relens.studies import masking
from relens.studies.masking import Masker
from relens_dashboard import masks
from relens_dashboard.masks import LONGEST_SHOWN, mask_of, shown

WORDS = ("idiot", "jerk")
TEXTS = ["An idiot.", "An id*iot, a jrk", "nobody", "", "a jerk " * 200]


def test_a_page_masks_as_everybody_does():
    for text in TEXTS * 2:
        assert mask_of(WORDS)(text) == Masker(WORDS)(text)
    assert mask_of(WORDS).pieces(["an id", "iot"]) == ["an i·", "···"]
    assert list(mask_of(WORDS).rows([{"text": "a jerk"}])) == [{"text": "a j···"}]


def test_a_mask_and_its_short_texts_are_kept(monkeypatch):
    assert mask_of(WORDS) is mask_of(("idiot", "jerk"))
    mask = masks.PageMask(WORDS)
    assert mask("a jerk") == "a j···"
    monkeypatch.setattr(masking, "_masked", None)
    assert mask("a jerk") == "a j···"


def test_a_text_is_shortened_before_it_is_masked(monkeypatch):
    read = []
    monkeypatch.setattr(masks.PageMask, "__call__", lambda mask, text: read.append(len(text)) or text)
    assert len(shown(mask_of(WORDS), "x" * 400_000)) == LONGEST_SHOWN
    assert shown(mask_of(WORDS), "x" * 400_000, 50) == "x" * 49 + "…"
    assert read == [LONGEST_SHOWN, 50]
    assert shown(None, "an idiot") == "an idiot"
    assert len(shown(None, "x" * 400_000)) == LONGEST_SHOWN
