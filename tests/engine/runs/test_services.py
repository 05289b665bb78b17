"""A real worker process with a real model, which is tiny and knows nothing: searches, inspections, and its death."""

from __future__ import annotations

import signal
import subprocess
import sys

import psutil
import pytest

from relens.query import Distribution, Encoding, Limits, Query, Sampling
from relens.runs.specification import InspectSpecification, SearchSpecification
from tests.engine.runs.conftest import ROOT
from tests.engine.runs.helpers import wait_until

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory, byte_tokenizer) -> str:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = tmp_path_factory.mktemp("tiny model")
    torch.manual_seed(1)
    size = byte_tokenizer.size
    configuration = GPT2Config(
        vocab_size=size, n_positions=64, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
    )
    GPT2LMHeadModel(configuration).save_pretrained(folder)
    (folder / "tokenizer.json").write_text(byte_tokenizer.to_json())
    return str(folder)


@pytest.fixture
def start_real_worker(url, monkeypatch, model_folder):
    monkeypatch.setenv("RELENS_MODELS", model_folder)
    started = []

    def start():
        command = [sys.executable, "-m", "relens.runs.worker", "--store", url]
        started.append(subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def search(model: str, pattern: str, **limits) -> SearchSpecification:
    return SearchSpecification(model, Query(pattern), limits=Limits(**limits))


def test_a_real_worker_searches_inspects_dies_and_is_replaced(store, start_real_worker, model_folder):
    worker = start_real_worker()
    done = store.submit(search(model_folder, "(ab|c)[abc]", matches=4))
    wait_until(lambda: not store.get(done).is_live)
    run = store.get(done)
    assert run.error is None
    assert (run.status, run.error, run.progress["ended"]) == ("done", None, "matches")
    rows = store.rows(done)
    assert [row["number"] for row in rows] == [1, 2, 3, 4]
    ranks = [row["prefix_log_prob"] + row["decoder_log_prob"] for row in rows]
    assert ranks == sorted(ranks, reverse=True)
    assert len(run.model_fingerprint) > 8

    endless = store.submit(search(model_folder, "[ab]+", matches=None, expansions=None, seconds=None))
    wait_until(lambda: store.get(endless).row_count >= 20)
    # A match is opened while the search goes on: its tokens have the log-probabilities that the search gave them.
    looked_at = store.submit(InspectSpecification(model_folder, tuple(rows[0]["token_ids"])))
    wait_until(lambda: not store.get(looked_at).is_live)
    assert store.get(looked_at).error is None
    assert [row["log_prob"] for row in store.rows(looked_at)] == pytest.approx(rows[0]["token_log_probs"], abs=1e-4)
    assert all(row["top"] and row["rank"] >= 1 for row in store.rows(looked_at))
    assert store.get(endless).status == "running"

    worker.send_signal(signal.SIGKILL)
    worker.wait()
    kept = store.rows(endless)
    worker = start_real_worker()
    wait_until(lambda: not store.get(endless).is_live)
    interrupted = store.get(endless)
    assert (interrupted.status, interrupted.row_count) == ("interrupted", len(kept))
    assert store.rows(endless) == kept
    assert interrupted.progress["matches"] == len(kept)

    again = store.repeat(done)
    wait_until(lambda: not store.get(again).is_live)
    scores = [(row["text"], pytest.approx(row["log_prob"], abs=1e-5)) for row in rows]
    assert [(row["text"], row["log_prob"]) for row in store.rows(again)] == scores
    assert store.get(again).model_fingerprint == run.model_fingerprint

    for traversal, ended in ((Sampling(count=40, seed=2), "drawn"), (Distribution(tolerance=0.0), "exhausted")):
        query = Query("(?P<first>ab|c)[abc]", "(b|a)", encoding=Encoding.CANONICAL)
        run_id = store.submit(SearchSpecification(model_folder, query, traversal))
        wait_until(lambda run_id=run_id: not store.get(run_id).is_live)
        run, rows = store.get(run_id), store.rows(run_id)
        assert (run.status, run.error, run.progress["ended"]) == ("done", None, ended)
        assert {row["groups"]["first"] for row in rows} <= {"ab", "c"}
        if isinstance(traversal, Sampling):
            assert sum(row["count"] for row in rows) == 40 - run.progress["failed"] > 0
        else:
            assert sum(row["weight"] for row in rows) == pytest.approx(run.progress["found_mass"])
        repeated = store.repeat(run_id)
        wait_until(lambda repeated=repeated: not store.get(repeated).is_live)
        drawn = [
            [(row["text"], row["token_ids"], row["count"]) for row in store.rows(each)] for each in (run_id, repeated)
        ]
        assert sorted(drawn[0]) == sorted(drawn[1])

    # Bad questions are answered by sentences, and a hostile one can be stopped while it compiles.
    for pattern, model, sentence in (
        ("(a", model_folder, "Missing )"),
        ("a", "/etc", "RELENS_MODELS"),
    ):
        refused = store.submit(search(model, pattern))
        wait_until(lambda refused=refused: not store.get(refused).is_live)
        assert store.get(refused).status == "failed"
        assert sentence in store.get(refused).error
    hostile = store.submit(search(model_folder, "[ab]*a[ab]{40}", compile_seconds=60.0))
    wait_until(lambda: store.get(hostile).stage == "compiling")
    children = psutil.Process(worker.pid).children(recursive=True)
    wait_until(lambda: any(child.cpu_percent(0.2) for child in children))
    busy = max(children, key=lambda child: child.cpu_percent(0.3))
    store.request_stop(hostile)
    wait_until(lambda: not store.get(hostile).is_live)
    assert store.get(hostile).status == "stopped"
    wait_until(lambda: not busy.is_running(), patience=5.0)
