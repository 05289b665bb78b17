"""The worker's interface to the rest of the engine: a few functions that a test can replace.

The worker itself handles the life of a run: claiming it, writing its rows, stopping it, failing with a sentence.
Searches and inspections stay behind this interface, and torch with them: importing this module imports neither.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from relens.record import Record
from relens.runs.specification import InspectSpecification, SearchSpecification, StudySpecification


class Account(Protocol):
    """The progress of a run; ended: why it is over, "" while it is not."""

    @property
    def ended(self) -> str:
        """Why it is over, "" while it is not."""
        ...

    def to_json(self) -> dict[str, Any]:
        """As the store keeps it."""
        ...


class RunningSearch(Protocol):
    """A search in progress, as `relens.search_run.SearchRun` is one, or a study, as `StudyRun`."""

    @property
    def progress(self) -> Account:
        """The progress so far."""
        ...

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        ...

    def poll(self, seconds: float) -> Sequence[Record] | Sequence[Mapping[str, Any]]:
        """Work for about `seconds`; the new matches or rows."""
        ...


class LoadedModel(Protocol):
    """The parts of a model that the worker itself uses."""

    @property
    def name(self) -> str:
        """The name it was loaded by."""
        ...

    @property
    def fingerprint(self) -> str:
        """A hash that changes with the weights, the configuration or the tokenizer."""
        ...

    @property
    def device(self) -> Any:
        """Where it computes; `str` of it is the device's name."""
        ...

    @property
    def dtype(self) -> Any:
        """The number format of its weights."""
        ...


class Services(Protocol):
    """Load a model, begin a search with it, look at a sequence with it."""

    def prepare(self) -> None:
        """Start in advance what is slow to start."""
        ...

    def likely_model(self) -> str | None:
        """The model that the first run will probably use."""
        ...

    def check_model(self, name: str) -> None:
        """Raise for a name that cannot be loaded, before any model is loaded or dropped."""
        ...

    def load_model(self, name: str, report: Callable[[str, float], None]) -> LoadedModel:
        """The model of that name; `report` takes a few words and a fraction, 0 to 1."""
        ...

    def begin_search(self, model: Any, specification: SearchSpecification, stop: Callable[[], bool]) -> RunningSearch:
        """Compile, and be ready for the first `poll`; `stop` is called between the forwards of the search."""
        ...

    def begin_study(
        self, model: Any, specification: StudySpecification, finished: Collection[str], stop: Callable[[], bool]
    ) -> RunningSearch:
        """Be ready for the first `poll`; `finished` are the keys of the units that are done."""
        ...

    def inspect(self, model: Any, specification: InspectSpecification) -> list[Mapping[str, Any]]:
        """The readings of the tokens, as JSON objects."""
        ...

    def reclaim_memory(self) -> None:
        """Give the memory of a dropped model back."""
        ...

    def close(self) -> None:
        """End what `prepare` started."""
        ...


class EngineServices:
    """The real services. Regular expressions are compiled in a limited child process, never here."""

    def __init__(self) -> None:
        from relens.language.isolation import isolated_compiler

        self._compiler = isolated_compiler(pool_size=2)

    def prepare(self) -> None:
        """Import torch, and start the compiler's child process."""
        import relens.search_run  # noqa: F401

    def likely_model(self) -> str | None:
        """See `relens.models.catalogue.likely_model`."""
        from relens.models.catalogue import likely_model

        return likely_model()

    def check_model(self, name: str) -> None:
        """Refuse a name that the operator does not allow, and one that is no model's."""
        from relens.models.catalogue import check_allowed, resolve

        check_allowed(name)
        resolve(name)

    def load_model(self, name: str, report: Callable[[str, float], None]) -> LoadedModel:
        """A model from the operator's allow-list."""
        from relens.models.loading import load_model

        return load_model(name, progress=report, enforce_allow_list=True)

    def begin_search(self, model: Any, specification: SearchSpecification, stop: Callable[[], bool]) -> RunningSearch:
        """See `relens.search_run.search`."""
        from relens.search_run import search

        return search(
            model,
            specification.query,
            specification.traversal,
            specification.limits,
            compiler=self._compiler.until(stop),
            stop=stop,
        )

    def begin_study(
        self, model: Any, specification: StudySpecification, finished: Collection[str], stop: Callable[[], bool]
    ) -> RunningSearch:
        """See `relens.studies.study.StudyRun`; the study may read only files that the operator allows."""
        from relens.studies.allowed_files import check_files
        from relens.studies.study import StudyContext, StudyRun

        check_files(specification.study)
        return StudyRun(specification.study, StudyContext(model, self._compiler.until(stop), stop), finished)

    def inspect(self, model: Any, specification: InspectSpecification) -> list[Mapping[str, Any]]:
        """See `relens.models.inspect.inspect_tokens`."""
        from relens.models.inspect import inspect_tokens
        from relens.traversal.decoding import allowed_tokens

        begin_of_text = specification.begin_of_text
        readings = inspect_tokens(
            model,
            specification.token_ids,
            model.begin_of_text is not None if begin_of_text is None else begin_of_text,
            lambda log_probs: allowed_tokens(log_probs, specification.decoding),
        )
        return [dataclasses.asdict(reading) for reading in readings]

    def reclaim_memory(self) -> None:
        """Hand the accelerator's cached memory back too."""
        import gc

        import torch

        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def close(self) -> None:
        """End the compiler's child process."""
        self._compiler.close()
