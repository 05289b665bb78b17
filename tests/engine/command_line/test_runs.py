"""Listing, exporting and importing runs from a terminal."""

from __future__ import annotations

import pytest

from relens.command_line.main import main
from relens.query import Query
from relens.runs.specification import SearchSpecification
from relens.runs.store import Store


@pytest.fixture
def urls(tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_STORE", f"sqlite:///{tmp_path / 'one.db'}")
    return f"sqlite:///{tmp_path / 'one.db'}", f"sqlite:///{tmp_path / 'two.db'}"


@pytest.fixture
def runs(urls):
    """Two runs that are over, of different patterns."""
    store = Store(urls[0])
    made = [store.submit(SearchSpecification("m", Query(pattern))) for pattern in ("cats\x1b[2J", "dogs")]
    for run in made:
        store.request_stop(run)
    store.close()
    return made


def test_runs_are_listed_newest_first_and_cannot_drive_the_terminal(runs, capsys):
    assert main(["runs", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == runs[::-1]
    assert "\x1b" not in lines[1]
    assert main(["runs", "list", "DOGS"]) == 0
    assert capsys.readouterr().out.split()[0] == runs[1]
    assert main(["runs", "list", "--limit", "1"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_run_is_carried_from_store_to_store(runs, urls, tmp_path, capsys):
    path = tmp_path / "run.relens"
    assert main(["runs", "export", runs[1][:6], str(path)]) == 0
    assert main(["runs", "import", str(path), "--store", urls[1]]) == 0
    there = Store(urls[1]).get(capsys.readouterr().out.strip())
    assert (there.origin["id"], there.specification["query"]["pattern"]) == (runs[1], "dogs")


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        (["export", "zz", "x"], 2, "no run whose id"),
        (["export", "", "x"], 2, "no run whose id"),
        (["import", "nothing"], 1, "cannot be read"),
        (["list", "--store", "nonsense"], 1, "not a database URL"),
    ],
)
@pytest.mark.usefixtures("runs")
def test_mistakes_are_sentences(words, status, complaint, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["runs", *words]) == status
    assert complaint in capsys.readouterr().err


def test_unwritable_paths_and_files_that_hold_no_run_are_refused(runs, tmp_path, capsys):
    assert main(["runs", "export", runs[0], str(tmp_path / "no" / "folder")]) == 1
    assert "cannot be written" in capsys.readouterr().err
    (tmp_path / "junk").write_bytes(b"junk")
    assert main(["runs", "import", str(tmp_path / "junk")]) == 2
    assert "no file of a run" in capsys.readouterr().err
