"""The file of a deck: whatever stands in a screen is text there, and nothing can leave or enter the file."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser

import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.runs.screens import MOST_CELLS, Card, Screen
from relens.studies.toxicity import ToxicityStudy
from relens_dashboard.present.deck_file import deck_html, deck_name, shown_deck, shown_figure
from relens_dashboard.present.finding import Finding
from relens_dashboard.search_charts import probability_bars
from relens_dashboard.studies.toxicity_tables import masker_of
from tests.app.present.test_figures import SVG, TABLE

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"' onload='x' &amp; \ud800 \u2028"
FIGURE = json.dumps({"data": [{"type": "bar", "x": [1], "hovertext": [HOSTILE]}], "layout": {"title": HOSTILE}})


class Parts(HTMLParser):
    """The elements of a file with their attributes, and the text in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        (self.scripts if self._inside == "script" else self.texts).append(data)


def screen(**changes):
    values = {"title": "t", "sentences": ("s",), "figure": FIGURE, "alt": "a"} | changes
    return Screen(**values)


def full(text):
    return Screen(
        text, (text, text), (text,), f"{text}\n\n{text}", FIGURE, text, ((text,), (text,)), {"label": text, "run": text}
    )


def test_a_hostile_screen_adds_no_element_and_no_attribute():
    plain, hostile = Parts(deck_html([full("x")], "x")), Parts(deck_html([full(HOSTILE)], HOSTILE))
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in plain.elements]
    assert [set(attributes) for _, attributes in hostile.elements] == [
        set(attributes) for _, attributes in plain.elements
    ]
    assert len(hostile.scripts) == len(plain.scripts) == 3
    assert any("<img src=x onerror=alert(2)>" in text for text in hostile.texts)


def test_figures_are_json_that_a_script_can_read():
    figures = json.loads(next(text for text in Parts(deck_html([full(HOSTILE)])).scripts if text.startswith("[{")))
    assert figures[0]["data"][0]["hovertext"] == [HOSTILE]


@settings(max_examples=30, deadline=None)
@given(st.text(st.characters(codec=None), max_size=30))
def test_no_text_changes_the_elements_of_the_file(text):
    made = Parts(deck_html([Screen(f"t{text}", (text,), (text,), text, "", text, ((text,),), {"label": text})], text))
    assert made.elements.count(("h1", {"class": ""})) == 1
    assert not [tag for tag, _ in made.elements if tag in ("img", "iframe", "object", "link", "base", "form")]


def test_nothing_is_fetched_and_plotly_is_there_once():
    text = deck_html([screen(), screen()])
    policy = next(attributes["content"] for _, attributes in Parts(text).elements if "http-equiv" in attributes)
    assert policy.startswith("default-src 'none'")
    assert not [attributes for _, attributes in Parts(text).elements if {"src", "href"} & set(attributes)]
    assert text.count("plotly.js v") == 1
    assert "plotly.js v" not in deck_html([screen(figure="")])


def test_every_screen_has_its_headline_caveats_notes_and_number():
    screens = [
        screen(title=f"title {n}", sentences=(f"head {n}",), caveats=("but",), explanation="say") for n in (1, 2)
    ]
    texts = "\n".join(Parts(deck_html(screens, "Monday")).texts)
    for word in ("title 1", "head 2", "but", "say", "1 / 2", "2 / 2", "Monday"):
        assert word in texts


def test_a_drawing_is_cleaned_and_a_broken_figure_is_a_sentence():
    drawn = Parts(deck_html([screen(figure=SVG)]))
    assert "ellipse" in [tag for tag, _ in drawn.elements]
    assert not [1 for _, attributes in drawn.elements if any(name.startswith("on") for name in attributes)]
    assert "cannot be read" in deck_html([screen(figure="<svg")])
    assert "cannot be read" in deck_html([screen(figure="{}")])


def test_an_empty_deck_has_a_sentence():
    assert "Nothing is pinned" in deck_html([])
    assert deck_name("") == "First deck"


def test_a_finding_is_cut_to_the_limits_of_a_screen():
    made = Finding("t" * 5000, ["s" * 5000] * 9, ["c"] * 99, "e" * 99_999, probability_bars(TABLE).figure, "a").screen(
        "d"
    )
    assert len(made.title) == 600
    assert (len(made.sentences), len(made.caveats), made.deck) == (3, 5, "d")
    assert len(made.explanation) == 5000
    assert json.loads(made.figure)["data"][0]["type"] == "bar"
    assert "template" not in json.loads(made.figure)["layout"] or not json.loads(made.figure)["layout"]["template"].get(
        "data"
    )
    assert MOST_CELLS > 0


def test_masked_words_are_masked_in_every_text_of_a_screen():
    study = ToxicityStudy()
    mask, word = masker_of(study), study.words[0]
    figure = go.Figure(go.Bar(x=[word], y=[1], name=word, hovertext=[f"a {word}"]))
    finding = Finding(word, [word], [word], word, figure, word, [[word]])
    assert word not in json.dumps(finding.screen("", mask).to_json())
    assert json.dumps(finding.screen().to_json()).count(word) == 9


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_theme_is_begun_with(theme):
    for text in (deck_html([screen()], theme=theme), shown_deck([card()], "", theme)):
        assert Parts(text).elements[0][1]["data-theme"] == theme


def card(**changes):
    whole = screen(**changes)
    return Card(replace(whole, figure=""), None, bool(whole.figure))


def test_inside_the_page_there_is_a_place_for_each_figure_and_none_of_them():
    text = shown_deck([card(figure=""), card(), card(figure=SVG)], "Monday", "light")
    made = Parts(text)
    assert [attributes["data-figure"] for _, attributes in made.elements if "data-figure" in attributes] == ["1", "2"]
    assert "[null,null,null]" in made.scripts
    assert made.elements[0][1]["data-shown"] == "yes"
    assert "plotly.js v" in text
    assert "plotly.js v" not in shown_deck([card(figure="")], "", "light")


def test_a_figure_that_is_sent_alone_is_the_one_of_the_file():
    in_file = next(text for text in Parts(deck_html([full(HOSTILE)])).scripts if text.startswith("[{"))
    assert json.loads(shown_figure(FIGURE)) == json.loads(in_file)[0]
    assert json.loads(shown_figure(SVG))["svg"].startswith("<svg")
    for broken in ("<svg", "{}", ""):
        assert "cannot be read" in json.loads(shown_figure(broken))["missing"]
