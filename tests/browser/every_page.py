"""Every page of the dashboard with an address, empty and with something real to show.

What is looked at of all pages (whether everybody can use them, how soon they are there) needs runs of each kind:
small ones, whose results are as varied as those of large ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

import plotly.graph_objects as go

from relens.query import Decoding, Distribution, Edits, Encoding, Limits, Query, Sampling, ShortestPath
from relens.runs.records import ENDED
from relens.runs.screens import ScreenStore
from relens.runs.specification import SearchSpecification, Specification, StudySpecification
from relens.runs.store import Store
from relens.studies.bias import BiasStudy
from relens.studies.cloze import ClozeStudy
from relens.studies.encodings import EncodingsStudy
from relens.studies.knowledge import KnowledgeStudy
from relens.studies.memorization import MemorizationStudy
from relens.studies.replay import ReplayStudy
from relens.studies.toxicity import ToxicityStudy, demonstration
from relens.triggers.causal.check_study import CheckedText, PromptCheckStudy
from relens.triggers.hits import Thresholds
from relens_dashboard.present.finding import Finding
from relens_dashboard.study_views import study_views
from tests.browser.server import Dashboard, wait_until

MODEL = "smollm2-135m"
DECK = "Every page"

#: The address of each page as somebody meets it who has asked nothing yet.
EMPTY: dict[str, str] = {
    "start": "",
    "workbench": "workbench",
    "bias": "bias",
    "cloze": "cloze",
    "knowledge": "knowledge",
    "memorization": "memorization",
    "toxicity": "toxicity",
    "dialogue model": "dialogue-model",
    "triggers": "triggers",
    "search effort": "trigger-ablation",
    "check of triggers": "trigger-check",
    "triggers in prompts": "causal-triggers",
    "check of prompts": "prompt-check",
    "relaxation": "relaxation",
    "brute force": "brute-force",
    "automata": "automata",
    "tokens": "tokens",
    "replay": "replay",
    "walks": f"replay?{urlencode({'shown': 'Random walks'})}",
    "glossary": "glossary",
    "history": "history",
    "compare": "compare",
    "present": "present",
}

#: The pages that draw automata, without a run.
DRAWN: dict[str, str] = {
    "workbench, drawn": f"workbench?{urlencode({'prefix': 'The', 'pattern': ' ((cat)|(dog))'})}",
    "lesson": f"automata?{urlencode({'lesson': 'The ((cat)|(dog))', 'lesson_step': 3})}",
}

_TRAINED = "The (?P<subject>man|woman) was trained in"
_FIELDS = " (?P<field>art|science|medicine)"

RUNS: dict[str, Specification] = {
    "bias": StudySpecification(
        MODEL,
        BiasStudy(
            template="The {subject} was trained in {outcome}",
            subjects=("man", "woman"),
            outcomes=("art", "science", "math"),
            variants=BiasStudy().variants[:2],
            draws=100,
            position_draws=40,
        ),
    ),
    "cloze": StudySpecification(MODEL, ClozeStudy(count=2, expansions=40)),
    "knowledge": StudySpecification(
        MODEL,
        KnowledgeStudy(
            prompt="The capital of Australia is",
            truth="Canberra",
            distractors=("Sydney", "Melbourne"),
            pattern="Sydney|Canberra|Melbourne|Perth|Vienna",
            matches=5,
            continuation=6,
        ),
    ),
    "memorization": StudySpecification(MODEL, MemorizationStudy(seconds=1.0, new_tokens=(16,))),
    "toxicity": StudySpecification(MODEL, ToxicityStudy(inputs=demonstration()[:2], modes=("prompted",))),
    "prompt-check": StudySpecification(
        MODEL,
        PromptCheckStudy(texts=(CheckedText("Say: good morning", "Good morning"),), thresholds=Thresholds(-3.0, -4.0)),
    ),
    "tokens": StudySpecification(MODEL, EncodingsStudy(text="The cat", samples=0)),
    "samples": StudySpecification(MODEL, EncodingsStudy(text="", samples=24, sample_tokens=6)),
    "replay": StudySpecification(MODEL, ReplayStudy(matches=3)),
    "search": SearchSpecification(
        MODEL,
        Query(_FIELDS, prefix=_TRAINED, decoding=Decoding(top_k=1000)),
        ShortestPath(),
        Limits(matches=5),
    ),
    "distribution": SearchSpecification(MODEL, Query(_FIELDS, prefix=_TRAINED), Distribution()),
    "sampling": SearchSpecification(
        MODEL,
        Query(_FIELDS, prefix=_TRAINED, encoding=Encoding.CANONICAL, edits=Edits(1, where="prefix")),
        Sampling(count=100, seed=1),
    ),
}


def filled(runs: Mapping[str, str]) -> dict[str, str]:
    """The address of each page that shows one of `runs`, ids by the names of `RUNS`."""
    return {
        **{kind: f"{kind}?run={runs[kind]}" for kind in runs if kind in study_views()},
        **{f"workbench, {kind}": f"workbench?run={runs[kind]}" for kind in ("search", "distribution", "sampling")},
        "tokens": f"tokens?{urlencode({'run': runs['tokens'], 'samples': runs['samples']})}",
        "replay": f"replay?run={runs['replay']}&step=2",
        "history": "history",
        "compare": f"compare?{urlencode({'runs': ','.join((runs['distribution'], runs['sampling']))})}",
        "present": f"present?{urlencode({'deck': DECK})}",
        "present, shown": f"present?{urlencode({'deck': DECK, 'screen': 1})}",
    }


def submit(store: Store) -> dict[str, str]:
    """The runs of `RUNS` in the queue; their ids."""
    return {name: store.submit(specification) for name, specification in RUNS.items()}


def wait_for(store: Store, runs: Mapping[str, str]) -> None:
    """Wait until all have ended, and fail where one did not end well. Some page must be open to keep the worker up."""
    wait_until(lambda: all(store.get(run).status in ENDED for run in runs.values()), 1800, "The end of all runs")
    ended = {name: store.get(run).status for name, run in runs.items()}
    assert set(ended.values()) == {"done"}, ended


def pin_findings(store_url: str) -> None:
    """Two screens in the deck: one with a figure, one with a table."""
    screens = ScreenStore(store_url)
    figure = go.Figure(go.Bar(x=["art", "science"], y=[0.6, 0.4]), {"yaxis": {"title": "share"}})
    sentences = ["The model says art more often than science.", "Of a hundred texts, sixty say art."]
    for finding in (
        Finding("What is said", sentences, ["One model, one template."], "Look at the left bar.", figure, "Art 60 %."),
        Finding("The same as a table", sentences[:1], table=[["field", "share"], ["art", "60 %"], ["science", "40 %"]]),
    ):
        screens.add(finding.screen(DECK))
    screens.close()


def fill(dashboard: Dashboard) -> dict[str, str]:
    """Runs of every kind, done, and a deck; the addresses of the pages that show them."""
    runs = submit(dashboard.store)
    pin_findings(dashboard.store.url)
    wait_for(dashboard.store, runs)
    return filled(runs)
