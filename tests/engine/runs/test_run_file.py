"""A run in a file: there and back, carried to another store, repeated there; and files that are refused."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import math
import threading
from contextlib import contextmanager

import pytest

from relens.errors import LimitError, QueryError
from relens.query import Distribution, Limits, Query, Sampling
from relens.runs import run_file as run_file_module
from relens.runs.run_file import read_run, write_run
from relens.runs.specification import InspectSpecification, SearchSpecification, StudySpecification
from relens.runs.store import Store
from relens.runs.worker import Worker
from relens.studies import catalogue
from tests.engine.runs.counting import CountingStudy
from tests.engine.runs.fakes import FakeServices, match, specification
from tests.engine.runs.helpers import wait_until


@pytest.fixture
def done(store):
    """A run that is over, with two rows, a name and a note."""
    run_id = store.submit(specification("3", traversal=Sampling(5, seed=7)))
    store.claim("w")
    store.report(run_id, model_fingerprint="0123abcd", versions={"relens": "0.1.0"})
    rows = [dataclasses.replace(match(number), groups={"a": None, "b": "\ud800é"}).to_json() for number in (1, 2)]
    rows[1]["log_prob"] = -math.inf
    store.append(run_id, rows, {"matches": 2, "ended": "drawn", "samples": 5})
    store.finish(run_id, "done")
    store.rename(run_id, "Mine")
    store.annotate(run_id, "a\nnote")
    return run_id


@pytest.fixture
def other(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'other.db'}")
    yield store
    store.close()


@contextmanager
def worker_of(store):
    worker = Worker(store, FakeServices())
    thread = threading.Thread(target=worker.serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        worker.end()
        thread.join(20)


def file_of(store, run_id):
    return write_run(store.get(run_id), store.rows(run_id))


def without(rows, *names):
    return [{name: value for name, value in row.items() if name not in names} for row in rows]


def test_a_run_is_the_same_in_another_store_and_marked_as_imported(store, other, done):
    there = other.import_run(read_run(file_of(store, done)))
    ours, theirs = store.get(done), other.get(there)
    same = ("kind", "variety", "status", "specification", "error", "created", "started", "ended", "row_count", "model")
    for name in (*same, "model_fingerprint", "versions", "name", "note"):
        assert getattr(theirs, name) == getattr(ours, name), name
    assert theirs.progress["matches"] == ours.progress["matches"]
    assert theirs.origin["id"] == done
    assert theirs.origin["imported"] >= theirs.origin["exported"] > 0
    assert ours.origin is None
    assert other.rows(there) == store.rows(done)
    assert [run.id for run in other.find("mine")] == [there]
    assert other.fingerprint_here("fake") is None


def test_it_can_be_imported_where_it_is_from_and_exported_again(store, done):
    again = store.import_run(read_run(file_of(store, done)))
    assert again != done
    first, second = read_run(file_of(store, done)), read_run(file_of(store, again))
    assert dataclasses.replace(second, id=done, exported=0.0, progress={}) == dataclasses.replace(
        first, exported=0.0, progress={}
    )


def test_the_same_run_makes_the_same_file(store, done, monkeypatch):
    monkeypatch.setattr(run_file_module.time, "time", lambda: 1.0)
    assert file_of(store, done) == file_of(store, done)


@pytest.mark.parametrize("script", ["7", "draw", "settle"])
def test_repeated_elsewhere_it_gives_the_same_rows(store, other, script):
    run_id = store.submit(specification(script))
    with worker_of(store):
        wait_until(lambda: not store.get(run_id).is_live)
    there = other.import_run(read_run(file_of(store, run_id)))
    again = other.repeat(there)
    with worker_of(other):
        wait_until(lambda: not other.get(again).is_live)
    assert other.get(again).origin is None
    assert other.get(again).specification == store.get(run_id).specification
    assert without(other.rows(again), "seconds") == without(store.rows(run_id), "seconds")
    assert other.fingerprint_here("fake") == store.get(run_id).model_fingerprint


@pytest.fixture
def _counting(monkeypatch):
    homes = {**catalogue._HOME, "counting": "tests.engine.runs.counting:CountingStudy"}
    monkeypatch.setattr(catalogue, "_HOME", homes)


@pytest.mark.usefixtures("_counting")
def test_a_study_goes_the_same_way_and_is_not_resumed_elsewhere(store, other):
    run_id = store.submit(StudySpecification("fake", CountingStudy((1, 400), pause=0.02)))
    with worker_of(store):
        wait_until(lambda: store.get(run_id).row_count > 5)
        store.request_stop(run_id)
        wait_until(lambda: store.get(run_id).status == "stopped")
    there = other.import_run(read_run(file_of(store, run_id)))
    assert other.rows(there) == store.rows(run_id)
    with pytest.raises(QueryError, match="could be resumed"):
        other.resume(there)
    assert other.get(other.repeat(there)).status == "queued"


def test_live_runs_and_inspections_go_into_no_file(store):
    live = store.submit(specification("a"))
    with pytest.raises(QueryError, match="not over"):
        file_of(store, live)
    looked_at = store.submit(InspectSpecification("fake", (1,)))
    store.request_stop(looked_at)
    with pytest.raises(QueryError, match="Inspections"):
        file_of(store, looked_at)


# ------------------------------------------------------------------------------------- files from anywhere


def lines_of(data):
    return [json.loads(line) for line in gzip.decompress(data).splitlines()]


def packed(items, checksum=None):
    """A file of these lines (the last, the checksum's, left out) with a checksum that fits."""
    body = b"".join(json.dumps(item).encode() + b"\n" for item in items)
    end = {"end": True, "sha256": checksum or hashlib.sha256(body).hexdigest()}
    return gzip.compress(body + json.dumps(end).encode() + b"\n")


STUDY = {"kind": "study", "model": "m", "study": {"kind": "knowledge"}}


@pytest.fixture
def items(store, done):
    return lines_of(file_of(store, done))[:-1]


def test_the_tests_own_file_is_read(items):
    assert len(read_run(packed(items)).rows) == 2


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"\x1f\x8b",
        gzip.compress(b"", mtime=0),
        gzip.compress(b"[]\n", mtime=0),
        gzip.compress(b"\xff\n", mtime=0),
    ],
)
def test_another_file_is_refused(data):
    with pytest.raises(QueryError, match="no file of a run"):
        read_run(data)


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9, 0.99])
def test_a_truncated_file_is_refused(store, done, kept):
    data = file_of(store, done)
    with pytest.raises(QueryError, match=r"damaged|too soon"):
        read_run(data[: int(kept * len(data))])
    with pytest.raises(QueryError, match="too soon"):
        read_run(gzip.compress(b"\n".join(gzip.decompress(data).splitlines()[:-1]) + b"\n"))


def test_a_changed_byte_is_refused(items):
    with pytest.raises(QueryError, match="checksum"):
        read_run(packed(items, checksum="0" * 64))
    with pytest.raises(QueryError, match="checksum"):
        read_run(packed(items[:-1]))  # a row less than the head says


@pytest.mark.parametrize(
    "more",
    [
        {"log_prob": 1e4},
        {"log_prob": "-1"},
        {"log_prob": float("nan")},
        {"arcs": [{"target": 1, "log_prob": True}]},
        {"token_log_probs": [-1.0, 0.5]},
        {"rank": 10**400},
        {"choices": {"a": [-(10**30)]}},
    ],
)
def test_numbers_that_no_study_writes_are_refused(items, more):
    head = items[0] | {"rows": 1, "specification": STUDY, "progress": {}}
    row = {"unit": "structured", "row": "match", "rank": 2**63, "text": "a", "is_truth": False, "log_prob": -math.inf}
    row |= {"decoder_log_prob": None}
    assert read_run(packed([head, row])).rows == (row,)
    with pytest.raises(QueryError, match=r"no row of a study"):
        read_run(packed([head, row | more]))


def test_a_newer_version_is_refused(items):
    with pytest.raises(QueryError, match="newer version"):
        read_run(packed([items[0] | {"relens_run": 2}, *items[1:]]))


HEADS = [
    ({"specification": {"kind": "inspect", "model": "m", "token_ids": [1]}}, "Inspections"),
    ({"specification": {"kind": "horoscope"}}, "A run is one of"),
    ({"specification": {"kind": "search", "model": "m", "query": {"pattern": "a", "stars": 1}}}, "no field"),
    ({"specification": None}, "A run is one of"),
    ({"status": "running"}, "is over"),
    ({"created": "yesterday"}, "no time"),
    ({"created": math.nan}, "no time"),
    ({"ended": -1}, "no time"),
    ({"versions": []}, "versions"),
    ({"versions": {"relens": 1}}, "versions"),
    ({"name": "x" * 201}, "'name'"),
    ({"name": ["x"]}, "'name'"),
    ({"id": None}, "'id'"),
    ({"error": 3}, "'error'"),
    ({"progress": {"matches": "many"}}, "progress"),
    ({"progress": {"seconds_total": math.inf}}, "cannot be"),
    ({"progress": {"found_mass": 10**400}}, "no file of a run"),
    ({"progress": 5}, "progress"),
]


@pytest.mark.parametrize(("change", "complaint"), HEADS)
def test_a_head_without_meaning_is_refused(items, change, complaint):
    with pytest.raises(QueryError, match=complaint):
        read_run(packed([items[0] | change, *items[1:]]))


ROWS = [
    {"log_prob": 1000.0},
    {"log_prob": math.nan},
    {"decoder_log_prob": "x"},
    {"token_log_probs": [5.0]},
    {"token_ids": [-1]},
    {"prefix_tokens": 9},
    {"count": 0},
    {"count": 10**30},
    {"weight": math.inf},
    {"weight": -1.0},
    {"groups": {"a": []}},
    {"groups": "x"},
    {"text": None},
    {"edits": [{"operation": "x"}]},
    {"stars": 1},
]


@pytest.mark.parametrize("change", ROWS)
def test_a_row_that_is_no_match_is_refused(items, change):
    with pytest.raises(QueryError, match=r"(?i)row 1"):
        read_run(packed([items[0], items[1] | change, *items[2:]]))


@pytest.mark.usefixtures("_counting")
@pytest.mark.parametrize(
    "row",
    [
        {"row": "count"},
        {"unit": "0", "row": 3},
        {"unit": "0", "row": "count", "x": math.nan},
        {"unit": "0", "row": "count", "x": [[[[[[[[[[[[[[1]]]]]]]]]]]]]]},
    ],
)
def test_rows_that_are_no_studys_are_refused(items, row):
    head = items[0] | {
        "specification": StudySpecification("m", CountingStudy()).to_json(),
        "progress": {},
        "rows": 1,
    }
    with pytest.raises(QueryError, match="no row of a study"):
        read_run(packed([head, row]))


@pytest.mark.usefixtures("_counting")
def test_rows_that_break_a_studys_verdict_are_refused(items, monkeypatch):
    monkeypatch.setattr(CountingStudy, "verdict", lambda self, rows: (f"{sum(row['count'] for row in rows)} in all",))
    head = items[0] | {"specification": StudySpecification("m", CountingStudy()).to_json(), "progress": {}, "rows": 1}
    row = {"unit": "0", "row": "count"}
    assert read_run(packed([head, row | {"count": 3}])).rows == (row | {"count": 3},)
    for wrong in (row, row | {"count": "three"}):
        with pytest.raises(QueryError, match="do not fit its study"):
            read_run(packed([head, wrong]))


def test_a_bomb_is_given_up_before_it_is_unpacked(items, monkeypatch):
    monkeypatch.setattr(run_file_module, "LONGEST_LINE", 10_000)
    long = gzip.compress(b'{"relens_run": 1, "x": "' + b"x" * 50_000_000 + b'"}\n', mtime=0)
    with pytest.raises(LimitError, match="before it is packed"):
        read_run(long)
    monkeypatch.setattr(run_file_module, "MOST_BYTES", 100_000)
    with pytest.raises(LimitError, match="before it is packed"):
        read_run(packed([items[0] | {"rows": 1000}, *items[1:2] * 1000]))
    monkeypatch.setattr(run_file_module, "MOST_ROWS", 3)
    with pytest.raises(LimitError, match="3 rows"):
        read_run(packed([items[0] | {"rows": 4}, *items[1:2] * 4]))


@pytest.mark.usefixtures("_counting")
@pytest.mark.parametrize(("value", "count"), [("[]", 2), ('{"":0}', 3), ("0", 1), ('{"a":[{}]}', 5)])
def test_values_are_counted_before_there_are_any(items, monkeypatch, value, count):
    """So many are allowed and no more, however few bytes they are, and a line with too many is never made into any."""
    study = StudySpecification("m", CountingStudy()).to_json()
    head = json.dumps(items[0] | {"specification": study, "progress": {}, "rows": 1}).encode() + b"\n"
    row = b'{"unit":"0","row":"other","x":[' + b",".join([value.encode()] * 1000) + b"]}\n"
    end = b'{"end":true,"sha256":"%s"}\n' % hashlib.sha256(head + row).hexdigest().encode()
    data = gzip.compress(head + row + end, mtime=0)
    around = sum(map((head + end).count, (b",", b":", b"[", b"{"))) + len("{:,:,:[")
    monkeypatch.setattr(run_file_module, "MOST_VALUES", around + 1000 * count - 1)  # no comma is before the first
    assert len(read_run(data).rows) == 1
    monkeypatch.setattr(run_file_module, "MOST_VALUES", around + 1000 * count - 2 - 4)  # the last line has four
    read = []
    monkeypatch.setattr(run_file_module, "_object", lambda line: read.append(line) or json.loads(line))
    with pytest.raises(LimitError, match="values; this run has more"):
        read_run(data)
    assert read == [head]


def test_no_file_is_written_that_could_not_be_read(store, done, monkeypatch):
    monkeypatch.setattr(run_file_module, "MOST_ROWS", 1)
    with pytest.raises(LimitError, match="1 rows"):
        file_of(store, done)
    monkeypatch.setattr(run_file_module, "MOST_ROWS", 2)
    monkeypatch.setattr(run_file_module, "MOST_BYTES", 900)
    with pytest.raises(LimitError, match="before it is packed"):
        file_of(store, done)
    monkeypatch.undo()
    monkeypatch.setattr(run_file_module, "MOST_VALUES", 100)
    with pytest.raises(LimitError, match="100 values"):
        file_of(store, done)


def test_json_that_is_nested_without_end_is_no_run(items):
    with pytest.raises(QueryError, match="no file of a run"):
        read_run(gzip.compress(b"[" * 200_000, mtime=0))


# ------------------------------------------------------------------------------------------- the real model


@pytest.mark.model
@pytest.mark.parametrize("traversal", [Sampling(count=200, seed=11), Distribution()])
def test_a_run_of_the_real_model_repeats_identically_elsewhere(store, other, monkeypatch, traversal):
    from relens.runs.services import EngineServices

    monkeypatch.delenv("RELENS_CACHE")
    monkeypatch.delenv("RELENS_MODELS")
    query = Query(" (?P<what>art|science|math)", prefix="The (man|woman) was trained in")
    specification = SearchSpecification("smollm2-135m", query, traversal, Limits(seconds=60.0))

    def carried_out(place, run_id):
        worker = Worker(place, EngineServices())
        thread = threading.Thread(target=worker.serve, daemon=True)
        thread.start()
        try:
            wait_until(lambda: not place.get(run_id).is_live)
        finally:
            worker.end()
            thread.join(60)
        assert place.get(run_id).status == "done", place.get(run_id).error

    first = store.submit(specification)
    carried_out(store, first)
    there = other.import_run(read_run(file_of(store, first)))
    again = other.repeat(there)
    carried_out(other, again)
    assert other.get(again).model_fingerprint == store.get(first).model_fingerprint
    assert len(store.rows(first)) > 2
    assert without(other.rows(again), "seconds") == without(store.rows(first), "seconds")
