"""The worker: a process that owns the model and the accelerator, and answers the runs of a store one after another.

    python -m relens.runs.worker [--store URL] [--watch-parent PID]

The life of a run, as its row in the store sees it:

    queued --claim--> running: loading the model -> compiling -> searching --finish--> done | stopped | failed
                         |
                         +-- the worker has to end, or is killed --> interrupted, with every row written so far

No run may end the worker: a mistake in a query becomes the sentence of a failed run, a bug becomes a plain sentence and
a traceback in the log, and a store that cannot be written (a full disk) fails the run, as soon as that can be written.
The model stays loaded for the next run.
"""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import signal
import sys
import threading
from collections.abc import Callable

from relens import settings
from relens.errors import RelensError, StoppedError, StoreError
from relens.runs.background import Background, Left
from relens.runs.ceilings import within_ceilings
from relens.runs.complaints import Complaints
from relens.runs.ending import Ending
from relens.runs.lock import ANOTHER_WORKER, WorkerLock
from relens.runs.patience import patiently
from relens.runs.processes import ProcessMark
from relens.runs.pulse import Pulse
from relens.runs.records import RunRecord, Status
from relens.runs.searching import carry_out_search
from relens.runs.services import EngineServices, LoadedModel, RunningSearch, Services
from relens.runs.specification import (
    InspectSpecification,
    SearchSpecification,
    StudySpecification,
    specification_from_json,
)
from relens.runs.store import Store
from relens.runs.versions import versions
from relens.runs.warm_model import WarmModel
from relens.studies.resumed import check_same_model
from relens.studies.rows import done_units

#: How long an idle worker waits before it looks for runs again.
IDLE_SECONDS = 0.05
#: How long the worker waits after an error of the store.
STORE_REST_SECONDS = 1.0

INTERRUPTED = "The worker ended before the run was done; its rows so far are kept."

log = logging.getLogger("relens.runs.worker")


class Worker:
    """Claims runs and carries them out until `end` is called."""

    def __init__(self, store: Store, services: Services) -> None:
        self.id = secrets.token_hex(8)
        self._store = store
        self._services = services
        self._ending = threading.Event()
        self._pulse = Pulse(store, self.id)
        self._leave = threading.Event()
        self._models = WarmModel(services)
        self._complaints = Complaints(log)
        #: Ends of runs that the store has not taken yet, by run.
        self._unwritten: dict[str, tuple[Status, str | None]] = {}

    def end(self) -> None:
        """Leave the present run after its batch, mark it interrupted, and return from `serve`."""
        self._ending.set()

    def serve(self) -> None:
        """Work until `end` is called."""
        self._introduce()
        self._pulse.start()
        try:
            self._services.prepare()
            likely = self._services.likely_model()
            if likely is not None:
                self._models.expect(likely)
            self._pulse.state = "idle"
            while not self._ending.is_set():
                try:
                    worked = self._serve_one()
                except StoreError as error:
                    self._complaints.warn(error)
                    self._ending.wait(STORE_REST_SECONDS)
                else:
                    if not worked:
                        self._idle()
        finally:
            self._pulse.close()
            self._sign_off()
            self._services.close()

    def _idle(self) -> None:
        if not self._models.name:
            self._models.adopt()
            self._pulse.describe(self._models.name, self._models.device)
        self._ending.wait(IDLE_SECONDS)

    def _introduce(self) -> None:
        """Report before the first claim: a run whose worker never reported counts as abandoned."""
        while not self._ending.is_set():
            try:
                self._pulse.beat()
                self._store.purge()
            except StoreError as error:
                self._complaints.warn(error)
                self._ending.wait(STORE_REST_SECONDS)
            else:
                break

    def _serve_one(self) -> bool:
        """Carry out the next run; False where none waits."""
        for run_id, (status, error) in list(self._unwritten.items()):
            self._store.finish(run_id, status, error)
            del self._unwritten[run_id]
        run = self._store.claim(self.id)
        if run is None:
            return False
        log.info("Run %s (%s, %s) begins.", run.id, run.kind, run.model)
        self._leave = self._pulse.watch(run.id)
        self._pulse.state = "running"
        try:
            self._settle(run, self._outcome(run))
        finally:
            self._pulse.watch(None)
            self._pulse.state = "idle"
        if run.kind == InspectSpecification.kind:
            self._store.forget_inspections()
        return True

    def _outcome(self, run: RunRecord) -> tuple[Status, str | None]:
        """Carry out a run; how it ended, and the sentence where it failed."""
        try:
            return self._carry_out(run), None
        except (Left, StoppedError):
            return ("interrupted", INTERRUPTED) if self._ending.is_set() else ("stopped", None)
        except RelensError as error:
            return "failed", error.sentence
        except Exception as error:  # whatever it is, the worker must live on for the next run
            log.exception("Run %s failed.", run.id)
            if "CUDA error" in str(error):
                # After such an error nothing on the accelerator works in this process; a new one is started.
                self.end()
            return "failed", _sentence_for(error)

    def _settle(self, run: RunRecord, outcome: tuple[Status, str | None]) -> None:
        log.info("Run %s is %s. %s", run.id, outcome[0], outcome[1] or "")
        # If the store refuses, the end is written later, in `_serve_one`.
        self._unwritten[run.id] = outcome
        self._store.finish(run.id, *outcome)
        del self._unwritten[run.id]

    def _carry_out(self, run: RunRecord) -> Status:
        # Clamped here too: an earlier version or another program may have written the run into the store.
        specification = within_ceilings(specification_from_json(run.specification))
        if isinstance(specification, StudySpecification):
            return self._study(run, specification)
        model = self._model_named(specification.model, run)
        self._record(run, model)
        if isinstance(specification, InspectSpecification):
            self._inspect(run, specification, model)
            return "done"
        return self._search(run, specification, model)

    def _search(self, run: RunRecord, specification: SearchSpecification, model: LoadedModel) -> Status:
        self._report_stage(run, "compiling")
        leaving = self._leaving()
        search = Background(lambda: self._services.begin_search(model, specification, leaving)).wait(leaving)
        self._report_stage(run, "searching")
        return self._work_through(run, search, model)

    def _study(self, run: RunRecord, specification: StudySpecification) -> Status:
        # A study without a language model leaves the loaded model for the next run.
        model = self._model_named(specification.model, run) if specification.study.needs_model else None
        rows = self._store.rows(run.id)
        finished = done_units(rows)
        if finished:
            if model is not None:
                check_same_model(specification.model, [run.model_fingerprint], model.fingerprint)
            specification.study.check_resumed(rows)
        # Only now, because it replaces the record of the finished units.
        self._record(run, model)
        study = self._services.begin_study(model, specification, finished, self._leaving())
        self._report_stage(run, "working")
        return self._work_through(run, study, model)

    def _work_through(self, run: RunRecord, search: RunningSearch, model: LoadedModel | None) -> Status:
        """Work until the end, or until it is time to leave. model: None for a study without a language model."""
        carry_out_search(
            self._store,
            run.id,
            search,
            self._leaving(),
            lambda: self._pulse.figures,
            lambda: None if model is None else self._answer_inspections(run.model, model),
            run.row_count,
        )
        if not search.finished or search.progress.ended == "stopped":
            raise Left
        return "done"

    def _inspect(self, run: RunRecord, specification: InspectSpecification, model: LoadedModel) -> None:
        readings = self._services.inspect(model, specification)
        patiently(lambda: self._store.append(run.id, readings))

    def _answer_inspections(self, name: str, model: LoadedModel) -> None:
        """Carry out the inspections that wait for the model of the present search."""
        try:
            while (run := self._store.claim(self.id, kinds=(InspectSpecification.kind,), model=name)) is not None:
                self._settle(run, self._outcome_of_inspection(run, model))
        except StoreError as error:
            self._complaints.warn(error)

    def _outcome_of_inspection(self, run: RunRecord, model: LoadedModel) -> tuple[Status, str | None]:
        """Carry out an inspection during a search; no error of it may end the search."""
        try:
            specification = specification_from_json(run.specification)
            assert isinstance(specification, InspectSpecification)
            self._record(run, model)
            self._inspect(run, specification, model)
        except RelensError as error:
            return "failed", error.sentence
        except Exception as error:  # as in `_outcome`
            log.exception("Run %s failed.", run.id)
            return "failed", _sentence_for(error)
        return "done", None

    def _model_named(self, name: str, run: RunRecord) -> LoadedModel:
        """The model, kept from an earlier run or loaded now in place of another."""
        try:
            return self._models.get(
                name, self._leaving(), lambda stage, fraction: self._report_stage(run, stage, fraction)
            )
        finally:
            self._pulse.describe(self._models.name, self._models.device)

    def _report_stage(self, run: RunRecord, stage: str, fraction: float | None = None) -> None:
        """Report the stage of a run; a stage that cannot be written does not fail the run."""
        try:
            self._store.report(run.id, stage=stage, stage_fraction=fraction)
        except StoreError as error:
            self._complaints.warn(error)

    def _record(self, run: RunRecord, model: LoadedModel | None) -> None:
        """Record fingerprint, versions and device of a run; a study without a language model has rows for its own."""
        fingerprint = None if model is None else model.fingerprint
        patiently(
            lambda: self._store.report(
                run.id, model_fingerprint=fingerprint, versions=versions(), device=self._pulse.figures
            )
        )

    def _leaving(self) -> Callable[[], bool]:
        """A function that says whether to leave the present run; a thread that outlasts the run keeps its own."""
        leave = self._leave
        return lambda: leave.is_set() or self._ending.is_set()

    def _sign_off(self) -> None:
        try:
            for run_id, (status, error) in self._unwritten.items():
                self._store.finish(run_id, status, error)
            self._store.forget_worker(self.id)
        except StoreError as error:
            log.warning("%s", error)


def _sentence_for(error: Exception) -> str:
    # torch has an error class of its own, known here by name only: this module does not import torch.
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return "There was not enough memory for this run."
    return f"Something went wrong inside Relens ({type(error).__name__}); the worker's log has the particulars."


def main(arguments: list[str] | None = None, services: Callable[[], Services] = EngineServices) -> int:
    """Serve a store until SIGTERM, SIGINT, or the end of the watched parent; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m relens.runs.worker", description="Answer the runs of a store.")
    parser.add_argument("--store", default=settings.store_url(), help="database URL of the runs (RELENS_STORE)")
    parser.add_argument("--watch-parent", type=int, metavar="PID", help="end when this process has ended")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    parent = None if options.watch_parent is None else ProcessMark.of(options.watch_parent)
    workers: list[Worker] = []

    def ask_to_end() -> None:
        for worker in workers:
            worker.end()

    ending = Ending(lambda: parent is not None and parent.has_ended, ask_to_end)
    ending.start()
    try:
        with WorkerLock(options.store, options.watch_parent) as lock:
            if not lock.acquire(patience=2.0):
                log.warning("Another worker serves this store already.")
                return ANOTHER_WORKER
            worker = Worker(Store(options.store), services())
            workers.append(worker)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: ending.begin())
            log.info("Worker %s, process %d, serves.", worker.id, os.getpid())
            worker.serve()
            log.info("Worker %s ends.", worker.id)
    except RelensError as error:
        log.error("%s", error)
        return 1
    finally:
        ending.close()
    return 0


if __name__ == "__main__":
    status = main()
    logging.shutdown()
    # A model that is still loading, for a run that was left, would hold up an orderly exit for minutes.
    os._exit(status)
