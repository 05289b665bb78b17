"""A model that is on a hub only: no request before a run, and the requests of a run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from relens.errors import NotFetchedError
from relens.learn.steps import LessonOptions
from relens.query import Limits, Query
from relens.runs.learning import Lessons, TextEncoder, WalkAnswers
from relens.runs.preview import Previewer
from relens.runs.specification import SearchSpecification
from relens.runs.store import Store
from tests.engine.models.fake_hub import FakeHub, fake_hub
from tests.engine.runs.helpers import wait_until

pytestmark = pytest.mark.heavy

NAME = "me/tiny"


@pytest.fixture
def hub(tiny_model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setenv("RELENS_MODELS", NAME)
    with fake_hub({NAME: tiny_model_folder}) as hub:
        for variable, value in hub.environment(tmp_path / "hub").items():
            monkeypatch.setenv(variable, value)
        yield hub


@pytest.fixture
def previewer(hub: FakeHub) -> Iterator[Previewer]:
    previewer = Previewer(pool_size=1)
    yield previewer
    previewer.close()


def test_a_preview_sends_nothing_to_the_hub(hub: FakeHub, previewer: Previewer) -> None:
    preview = previewer.preview(Query(" (cat|dog)s?", prefix="The"), NAME)
    assert preview.token_graph is None
    assert (preview.strings, len(preview.examples), preview.language_states) == (
        "4",
        4,
        preview.language_graph.total_states,
    )
    assert preview.pattern_parts
    assert preview.notes == ("The tokenizer of 'me/tiny' is not on this server yet; a run with this model fetches it.",)
    lessons, encoder, walks = Lessons(), TextEncoder(), WalkAnswers()
    asks: list[Callable[[], object]] = [
        lambda: lessons.lesson("cat", NAME, LessonOptions()),
        lambda: encoder.encodings("cat", NAME),
        lambda: walks.walks("cat|dog", NAME),
    ]
    try:
        for ask in asks:
            with pytest.raises(NotFetchedError, match="not on this server yet"):
                ask()
    finally:
        for answers in (lessons, encoder, walks):
            answers.close()
    assert hub.requests == []


def test_a_run_fetches_and_says_how_much(hub: FakeHub, previewer: Previewer, store: Store, url: str) -> None:
    size = sum(file.stat().st_size for file in hub.models[NAME].iterdir())
    hub.weights_allowed.clear()
    query = Query(" (cat|dog)", prefix="The")
    assert previewer.preview(query, NAME).token_graph is None
    run_id = store.submit(SearchSpecification(NAME, query, limits=Limits(matches=1)))
    worker = subprocess.Popen([sys.executable, "-m", "relens.runs.worker", "--store", url], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: "etching" in store.get(run_id).stage)
        assert store.get(run_id).stage == f"loading the model: fetching {size / 1e6:.1f} MB from the hub"
        hub.weights_allowed.set()
        wait_until(lambda: not store.get(run_id).is_live)
        assert (store.get(run_id).status, store.get(run_id).error) == ("done", None)
    finally:
        worker.terminate()
        worker.wait(20)
    # The same question, which was answered before: its tokens are here now.
    hub.requests.clear()
    preview = previewer.preview(query, NAME)
    assert preview.token_graph is not None
    assert preview.notes == ()
    assert hub.requests == []
