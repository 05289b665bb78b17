"""Every block of code of the README and the documentation is run, page by page, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from relens.models import loading

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

#: Commands that a test cannot run, as they begin: they install, build, serve until Ctrl+C, take minutes, or need a file
#: of the reader's own. Only these stand in blocks of the kind `console`.
CANNOT_RUN = (
    "make ",
    "pip install ",
    "docker ",
    "relens run",
    "RELENS_MODELS=",
    "STREAMLIT_SERVER_ALLOWED_HOSTS=",
    'relens query " (cat|dog)" --prefix "I have a" --model ~/models/mine',
    "relens runs export 4f2a",
    "relens runs import run.relens",
    "relens study dialogue-model",
    "relens study triggers",
    "relens study trigger-ablation",
    "python -m relens.studies.canaries ~/models/planted",
)


def blocks(page: Path) -> list[tuple[str, str]]:
    """(kind, code) of each fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_is_of_a_kind_that_is_checked(page):
    for kind, code in blocks(page):
        assert kind in ("python", "sh", "console", "text")
        if kind == "console":
            assert all(line.startswith(CANNOT_RUN) for line in code.splitlines()), code


def pages_with(kind: str) -> list[Path]:
    return [page for page in PAGES if any(each == kind for each, _ in blocks(page))]


@pytest.fixture(scope="module")
def loaded():
    """One embedded model for all pages."""
    return cache(loading.load_model)


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("python"), ids=name)
def test_the_python_of_a_page_runs(page, loaded, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loading, "load_model", loaded)
    code = "\n".join(code for kind, code in blocks(page) if kind == "python")
    exec(compile(code, name(page), "exec"), {"__name__": "__main__"})


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("sh"), ids=name)
def test_the_commands_of_a_page_run(page, tmp_path):
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RELENS_STORE": f"sqlite:///{tmp_path / 'runs.db'}",
    }
    code = "\n".join(code for kind, code in blocks(page) if kind == "sh")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
