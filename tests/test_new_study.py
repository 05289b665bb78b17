"""A new study costs two modules, a line in the catalogue and a page of two lines; everything else follows.

The two modules of `tests/new_study` are put into a copy of the house, and there the tests of all studies cover them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[1]
PARTS = ROOT / "tests" / "new_study"

#: What every study must do, and where the tests of it are.
CONTRACT = [
    "tests/engine/studies/test_catalogue.py",
    "tests/engine/test_setting.py",
    "tests/app/studies/test_views.py",
    "tests/app/test_setting_fields.py",
    "tests/app/test_study_page.py",
    "tests/app/test_frame.py",
    "tests/app/test_places.py",
    "tests/app/test_help.py",
]


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the house with the new study."""
    copy = tmp_path_factory.mktemp("house")
    for name in ("app", "engine", "pages", "assets", "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "browser", "attacks"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    shutil.copy(PARTS / "next_word.py", copy / "engine" / "relens" / "studies" / "next_word.py")
    shutil.copy(PARTS / "next_word_view.py", copy / "app" / "relens_dashboard" / "studies" / "next_word.py")
    shutil.copy(PARTS / "checks.py", copy / "tests" / "app" / "test_next_word.py")
    page = (copy / "pages" / "knowledge.py").read_text()
    (copy / "pages" / "next_word.py").write_text(page.replace('"knowledge"', '"next-word"'))
    catalogue = copy / "engine" / "relens" / "studies" / "catalogue.py"
    line = '    "next-word": "relens.studies.next_word:NextWordStudy",\n'
    catalogue.write_text(catalogue.read_text().replace("_HOME = {\n", f"_HOME = {{\n{line}"))
    return copy


def test_the_two_modules_are_short():
    lines = [len((PARTS / name).read_text().splitlines()) for name in ("next_word.py", "next_word_view.py")]
    assert sum(lines) <= 120


def test_a_new_study_has_all_that_studies_have(house):
    words = [sys.executable, "-m", "pytest", "-p", "no:xdist", *CONTRACT, "tests/app/test_next_word.py"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        [*words, "-k", "next_word or next-word or NextWord"], cwd=house, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = int(done.stdout.rsplit(" passed", 1)[0].split()[-1])
    assert passed >= 19, done.stdout
