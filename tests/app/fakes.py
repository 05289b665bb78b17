"""Fakes of the store, the previews and the worker, without a model.

The fake store runs nothing; a test moves a run along by hand. The fake preview draws the automaton of a literal.
"""

from __future__ import annotations

import dataclasses
import math
import time
from concurrent.futures import Executor, Future
from typing import Any

from relens.errors import LimitError, RegexError
from relens.query import Limits, Query
from relens.runs.database import to_text
from relens.runs.preview import ExplainedPart, Graph, GraphArc, Preview
from relens.runs.records import QueueState, RunRecord, WorkerRecord
from relens.runs.row_pages import RowPage, memory_of
from relens.runs.specification import Specification, specification_to_json
from relens.runs.study_checks import StudyChecks, check_job
from relens.runs.supervisor import WorkerState
from relens.tokens.boundary_advice import BoundaryAdvice


def graph_of(text: str, prefix_length: int = 0) -> Graph:
    """A chain of states that spells `text`."""
    arcs = tuple(
        GraphArc(place, place + 1, character.replace(" ", "␣"), 1, place < prefix_length)
        for place, character in enumerate(text)
    )
    size = len(text) + 1
    return Graph(0, (len(text),), size, arcs, (), size, len(text), "")


class FakePreviewer:
    """Draws the query's text as if it were a literal; refuses an unclosed parenthesis; can be slow."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.patterns: list[str] = []
        self.advice: BoundaryAdvice | None = None
        self.closed = False

    def close(self) -> None:
        self.closed = True

    def preview(self, query: Query, model_name: str, limits: Limits | None = None) -> Preview:
        self.patterns.append(query.pattern)
        time.sleep(self.seconds)
        if query.pattern.startswith("slow"):
            raise LimitError("The pattern is too large: its automaton was not ready in time.", limit="compile_seconds")
        if query.pattern.count("(") != query.pattern.count(")"):
            position = query.pattern.rfind("(")
            raise RegexError(
                f"Missing ), unterminated subpattern, at position {position} of the pattern.",
                source=query.pattern,
                position=position,
            )
        for part, source in (("exclude", query.exclude.regex), ("alphabet", query.edits.alphabet)):
            if source.startswith("("):
                raise RegexError(f"Missing ) in the {part}.", source=source, position=0, part=part)
        text = query.prefix + query.pattern
        graph = graph_of(text, len(query.prefix))
        return Preview(
            prefix_parts=(ExplainedPart(0, len(query.prefix), 0, query.prefix, "this text"),) if query.prefix else (),
            pattern_parts=(ExplainedPart(0, len(query.pattern), 0, query.pattern, "this text"),),
            strings="1",
            finite=True,
            examples=(text,),
            language_graph=graph,
            token_graph=graph,
            language_states=graph.shown_states,
            language_arcs=len(graph.arcs),
            token_states=None,
            token_arcs=None,
            notes=(),
            advice=self.advice,
            seconds=self.seconds,
        )


class AtOnce(Executor):
    """An executor that runs each call at once."""

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(function(*arguments, **named))
        except Exception as error:
            done.set_exception(error)
        return done


def checks_here() -> dict[str, Any]:
    """Checks of settings in this process, as fields of `Services`."""
    return {"study_checks": StudyChecks(call=check_job), "checkers": AtOnce()}


class FakeStore:
    """Runs in a dictionary; nobody works on them unless a test does."""

    def __init__(self) -> None:
        self.runs: dict[str, RunRecord] = {}
        self.rows_by_run: dict[str, list[dict[str, Any]]] = {}
        self.stopped: list[str] = []
        self.worker = WorkerRecord("w1", "here", 1, "idle", "smollm2-135m", "cpu", time.time(), {}, True)

    def submit(self, specification: Specification, session: str = "") -> str:
        run_id = f"run{len(self.runs) + 1}"
        self.runs[run_id] = RunRecord(
            id=run_id,
            kind=specification.kind,
            status="queued",
            specification=specification_to_json(specification),
            progress={},
            error=None,
            stage="",
            stage_fraction=None,
            created=time.time(),
            started=None,
            ended=None,
            row_count=0,
            stop_requested=False,
            model=specification.model,
            model_fingerprint=None,
            versions={},
            worker_id=None,
            device={},
        )
        self.rows_by_run[run_id] = []
        return run_id

    def change(self, run_id: str, **changes: Any) -> None:
        self.runs[run_id] = dataclasses.replace(self.runs[run_id], **changes)

    def add_rows(self, run_id: str, rows: list[dict[str, Any]]) -> None:
        known = self.rows_by_run[run_id]
        known += [{**row, "number": len(known) + place} for place, row in enumerate(rows, 1)]
        self.change(run_id, row_count=len(known))

    def get(self, run_id: str) -> RunRecord | None:
        return self.runs.get(run_id)

    def rows(self, run_id: str, after: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
        return [row for row in self.rows_by_run.get(run_id, []) if row["number"] > after][:limit]

    def row_page(self, run_id: str, after: int = 0, most_rows: int = 2_000, most_bytes: int = 1 << 24) -> RowPage:
        rows = self.rows(run_id, after, most_rows)
        return RowPage(rows, sum(memory_of(to_text(row)) for row in rows), len(rows) < most_rows)

    def queue_position(self, run_id: str) -> int | None:
        return 1 if self.runs[run_id].status == "queued" else None

    def queue(self) -> QueueState:
        statuses = [run.status for run in self.runs.values()]
        return QueueState(statuses.count("queued"), statuses.count("running"))

    def workers(self) -> list[WorkerRecord]:
        return [self.worker]

    def request_stop(self, run_id: str) -> None:
        self.stopped.append(run_id)
        self.change(run_id, stop_requested=True)

    def repeat(self, run_id: str, session: str = "") -> str:
        again = f"run{len(self.runs) + 1}"
        self.runs[again] = dataclasses.replace(self.runs[run_id], id=again, status="queued", progress={}, row_count=0)
        self.rows_by_run[again] = []
        return again


class FakeSupervisor:
    """A worker that is always there."""

    def __init__(self) -> None:
        self.ensured = 0
        self.stopped = False

    def ensure(self) -> None:
        self.ensured += 1

    def stop(self) -> None:
        self.stopped = True

    def state(self) -> WorkerState:
        return WorkerState(True, False, 0, None, 1, "")


def match_row(
    text: str, prefix: str = "", log_prob: float = -1.0, *, canonical: bool = True, **more: Any
) -> dict[str, Any]:
    """A row as a search writes it; `more` overrides or adds fields."""
    return {
        "text": prefix + text,
        "prefix_text": prefix,
        "token_ids": [1, 2, 3 if canonical else 4],
        "prefix_tokens": 1 if prefix else 0,
        "prefix_log_prob": -2.0 if prefix else 0.0,
        "log_prob": log_prob - 0.5,
        "decoder_log_prob": log_prob,
        "token_log_probs": [-1.0, -1.0, log_prob],
        "token_decoder_log_probs": [0.0, 0.0, log_prob],
        "is_canonical": canonical,
        "seconds": 0.1,
        "ended": False,
        "groups": {},
        "edits": [],
        "unedited": None,
        "count": 1,
        "weight": math.exp(log_prob),
    } | more


def bias_rows() -> list[dict[str, Any]]:
    """A sample of 100 draws: 60 of "The man", 40 of "The woman"; one of their texts is edited, one not canonical.

    Given man, art has 30 of the weighted 60; given woman, 10 of 40.
    """
    drawn = [
        ("man", " art", 30, True),
        ("man", " math", 25, True),
        ("man", " mats", 5, True),
        ("woman", " art", 8, True),
        ("woman", " art", 2, False),
        ("woman", " math", 30, True),
    ]
    rows = []
    for number, (subject, text, count, canonical) in enumerate(drawn, 1):
        prefix = f"The {subject} was trained in"
        outcome = " math" if text == " mats" else text
        edit = {"operation": "substitution", "position": len(prefix) + 4, "removed": "h", "written": "s"}
        rows.append(
            match_row(
                text,
                prefix,
                math.log(count / 1000),
                canonical=canonical,
                number=number,
                token_ids=[1, 2, 2 + number],
                prefix_tokens=2,
                groups={"subject": subject, "outcome": outcome},
                edits=[edit | {"part": "pattern"}] if text == " mats" else [],
                unedited=prefix + outcome,
                count=count,
                weight=0.1,
            )
        )
    return rows
