"""Stores in a folder of the test's own, and workers that run in a thread or in a process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy
import tokenizers

from engine.runs.database import metadata
from engine.runs.store import Store
from engine.runs.worker import Worker
from engine.tokens.tokenizer import Tokenizer
from tests.engine.runs.fakes import FakeServices

ROOT = Path(__file__).parents[3]
FAKE_WORKER = (sys.executable, "-m", "tests.engine.runs.fakes")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("RELENS_STORE", raising=False)
    # Nothing to load ahead: the embedded model would have to be converted into this new cache first.
    monkeypatch.setenv("RELENS_MODELS", "none")


POSTGRES = os.environ.get("RELENS_TEST_POSTGRES")
sqlite_only = pytest.mark.skipif(bool(POSTGRES), reason="is about SQLite's files")


@pytest.fixture
def url(tmp_path) -> str:
    """SQLite, or the PostgreSQL database that RELENS_TEST_POSTGRES names: its tables are dropped first."""
    if not POSTGRES:
        return f"sqlite:///{tmp_path / 'runs.db'}"
    engine = sqlalchemy.create_engine(POSTGRES)
    metadata.drop_all(engine)
    engine.dispose()
    return POSTGRES


@pytest.fixture
def store(url) -> Iterator[Store]:
    store = Store(url)
    yield store
    store.close()


@pytest.fixture
def services() -> FakeServices:
    return FakeServices()


@pytest.fixture
def worker(store, services) -> Iterator[Worker]:
    """A worker that serves the store in a thread of this process."""
    worker = Worker(store, services)
    thread = threading.Thread(target=worker.serve, daemon=True)
    thread.start()
    yield worker
    services.may_load.set()
    worker.end()
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def start_worker(url) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts worker processes with the fake services; they are killed at the end of the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([*FAKE_WORKER, "--store", url, *arguments], cwd=ROOT, stderr=subprocess.DEVNULL)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def byte_tokenizer() -> Tokenizer:
    """A byte-level BPE tokenizer with every byte, and merges learnt from very little text."""
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
        special_tokens=["<|endoftext|>"],
        show_progress=False,
    )
    model.train_from_iterator(["ab abc abab cab the cat sat, a dog ran " * 20], trainer)
    return Tokenizer.from_json(model.to_str(), name="bytes", begin_of_text=0, end_of_text=0)
