"""The one model that a worker keeps loaded, so that the next run with it begins at once.

    get("gpt2")          loads
    get("gpt2")          the same object, at once
    get("smollm2-135m")  lets go of gpt2 first: two models at once may be more than the memory holds

A name that is refused does not cost the loaded model. Stopping a run while its model loads does not stop the loading:
the next run with the same model waits only for the rest.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from relens.runs.background import Background, Left
from relens.runs.services import LoadedModel, Services

log = logging.getLogger(__name__)

#: Takes the present stage in words, and the fraction done, 0 to 1, where it is known.
StageReport = Callable[[str, float | None], None]


class WarmModel:
    """At most one model in memory."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._model: LoadedModel | None = None
        self._loading: Background[LoadedModel] | None = None
        self._loading_name = ""
        self._latest: list[tuple[str, float]] = []

    def expect(self, name: str) -> None:
        """Begin to load a model that the next run will probably use."""
        if self._model is None and self._loading is None:
            self._begin(name)

    def adopt(self) -> None:
        """Take over the expected model if it has been loaded meanwhile."""
        if self._model is None and self._loading is not None and self._loading.is_finished:
            try:
                self._model = self._finished_loading(lambda: False, lambda: None)
            except Exception as error:  # a run with this model will raise it again
                log.info("The model %s could not be loaded: %s", self._loading_name, error)

    @property
    def name(self) -> str:
        """Name of the model that is loaded, "" for none."""
        return self._model.name if self._model is not None else ""

    @property
    def device(self) -> str:
        """Where the loaded model computes, "" for none."""
        return str(self._model.device) if self._model is not None else ""

    def get(self, name: str, should_leave: Callable[[], bool], report: StageReport) -> LoadedModel:
        """The model of that name. Raises `Left` when `should_leave` says so first, and what loading raises."""
        if self._model is not None and self.name == name:
            return self._model
        self._services.check_model(name)
        if self._loading is not None and self._loading_name != name:
            self._let_go_of_other(should_leave, report)
        if self._model is not None:
            self._model = None
            self._services.reclaim_memory()
        if self._loading is None:
            self._begin(name)
        assert self._loading is not None
        report("loading the model", 0.0)

        def pass_on() -> None:
            if self._latest:
                stage, fraction = self._latest[-1]
                self._latest.clear()
                report(f"loading the model: {stage[:1].lower()}{stage[1:]}", fraction)

        self._model = self._finished_loading(should_leave, pass_on)
        return self._model

    def _begin(self, name: str) -> None:
        self._latest.clear()
        self._loading_name = name
        self._loading = Background(
            lambda: self._services.load_model(name, lambda stage, fraction: self._latest.append((stage, fraction)))
        )

    def _finished_loading(self, should_leave: Callable[[], bool], meanwhile: Callable[[], None]) -> LoadedModel:
        """The model that is being loaded, once it is. A load that is left goes on, and can be waited for again."""
        loading = self._loading
        assert loading is not None
        try:
            return loading.wait(should_leave, meanwhile)
        finally:
            if loading.is_finished:
                self._loading = None

    def _let_go_of_other(self, should_leave: Callable[[], bool], report: StageReport) -> None:
        report(f"waiting until {self._loading_name}, of an earlier run, is loaded", None)
        try:
            self._finished_loading(should_leave, lambda: None)
        except Left:
            raise
        except Exception as error:
            log.info("The model %s could not be loaded: %s", self._loading_name, error)
        self._services.reclaim_memory()
