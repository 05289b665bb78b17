"""The speaker's words: each known fact has a sentence, and no other."""

from __future__ import annotations

import dataclasses

import plotly.graph_objects as go
import pytest

from relens.query import Decoding, Query, ShortestPath
from relens.runs.specification import SearchSpecification
from relens.studies.bias_findings import bias_findings
from relens_dashboard.present.explanation import (
    axes_sentence,
    decoding_caveat,
    explanation,
    model_caveat,
    model_size,
    plain,
    restraints,
    search_how,
    sentences_of,
    size_caveat,
)
from relens_dashboard.search_charts import probability_bars
from tests.app.fakes import FakeStore
from tests.app.present.test_figures import TABLE
from tests.app.studies.test_bias import ROWS


@pytest.fixture
def run():
    store = FakeStore()
    return store.get(store.submit(SearchSpecification("gpt2", Query("a"), ShortestPath())))


def test_question_model_method_figure_and_limits_have_a_paragraph_each():
    paragraphs = explanation(
        question="Does it know?",
        model="gpt2",
        how="It had one run.",
        figure=probability_bars(TABLE).figure,
        look_at="The first bar.",
        also=["Second.", "Third."],
        not_shown="Why.",
    ).split("\n\n")
    assert paragraphs == [
        "The question: Does it know? The answer is that of one language model, gpt2.",
        "It had one run.",
        "How to read the figure: From left to right: Probability under the decoding rule. "
        "Each row has its label at its left.",
        "What to look at: The first bar.",
        "Further results: Second. Third.",
        "What it does not show: Why.",
    ]
    assert explanation(question="A?", model="m").count("\n") == 0


def test_axes_colours_and_intervals_have_a_sentence_each():
    figure = go.Figure(
        [
            go.Scatter(x=[1], y=[1], name="man &amp; <b>boy</b>", error_y={"array": [0.1]}),
            go.Scatter(x=[1], y=[1], name="woman"),
        ]
    )
    figure.update_xaxes(title="Seconds")
    figure.update_yaxes(title="Share", autorange="reversed")
    assert axes_sentence(figure) == (
        "From left to right: Seconds. From top to bottom: Share. Colours and shapes: man & boy, woman. "
        "Thin lines around a value: in 95 of 100 such samples it lies within them."
    )
    assert axes_sentence(go.Figure()) == ""
    assert axes_sentence(go.Figure(go.Bar(x=[1], y=[1], error_x={"array": [0.0]}))) == ""


def test_labels_of_plotly_become_plain_text():
    assert plain("a<br>b &#36;1 &lt;i&gt;") == "a b $1 <i>"


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("smollm2-135m", "135 million"),
        ("HuggingFaceTB/SmolLM2-1.7B", "1.7 billion"),
        ("Qwen/Qwen2.5-0.5B", "0.5 billion"),
        ("gpt2", "124 million"),
        ("distilgpt2", "82 million"),
        ("/data/models/mine", ""),
        ("b", ""),
        ("2bit", ""),
    ],
)
def test_the_size_of_a_model_is_read_off_its_name(name, size):
    assert model_size(name) == size


def test_the_decoding_rule_has_a_sentence():
    def caveat(decoding):
        return decoding_caveat(Query("a", decoding=decoding).to_json())

    assert "no decoding rule" in caveat(Decoding())
    assert caveat(Decoding(top_k=1)).endswith("at every step only the likeliest token.")
    assert "40 likeliest tokens and a temperature of 0.7" in caveat(Decoding(top_k=40, temperature=0.7))
    assert "90 % of the probability" in caveat(Decoding(top_p=0.9))
    assert decoding_caveat({}) == ""


def test_one_model_and_an_unfinished_run_are_caveats(run):
    assert "gpt2, with 124 million parameters" in model_caveat(run)
    assert "still going on" in size_caveat(run)
    assert size_caveat(dataclasses.replace(run, status="done")) == ""
    assert "before it was finished" in size_caveat(dataclasses.replace(run, status="stopped"))
    sample = {"traversal": {"kind": "sampling", "count": 10}}
    assert "7 draws" in size_caveat(
        dataclasses.replace(run, status="done", specification=sample, progress={"samples": 7})
    )


def test_restraints_of_a_verdict():
    verdict = bias_findings(ROWS).verdict
    assert any("p-value has no meaning" in sentence for sentence in restraints(verdict))
    assert verdict[0] not in restraints(verdict)


def test_every_traversal_has_a_sentence():
    assert len({search_how(kind) for kind in ("shortest_path", "sampling", "distribution")}) == 3


def test_sentences_are_cut_at_their_ends_and_not_at_numbers():
    assert sentences_of("It is 15.1 points (V 0.1). In all small. ") == ["It is 15.1 points (V 0.1).", "In all small."]
    assert sentences_of("") == []
