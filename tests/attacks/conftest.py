"""A server that is only looked at, shared by all tests of a run, and servers of a test's own to be killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.server import Target, attacked, processes_of


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever is in this folder is an attack."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.attack)


@pytest.fixture(scope="session")
def tiny(tiny_model_folder: Path) -> str:
    """The name of a model of random weights, which loads in a moment."""
    return str(tiny_model_folder)


@pytest.fixture(scope="session")
def target(tiny: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A dashboard that is warm; what a test puts into its store stays there. Nothing is left of it in the end."""
    folder = tmp_path_factory.mktemp("attacked")
    with attacked(folder, tiny) as running:
        running.warm()
        yield running
    assert processes_of(folder) == []


@pytest.fixture
def own_target(tiny: str, tmp_path: Path) -> Callable[..., AbstractContextManager[Target]]:
    """Starts a dashboard for this test alone; arguments as for `attacked`."""

    def start(model: str = tiny, **options: Any) -> AbstractContextManager[Target]:
        return attacked(tmp_path / "own", model, **options)

    return start
