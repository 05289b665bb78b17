"""The package as somebody installs it: the wheel's files, the command in another folder, and the old name."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import relens

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "uv", "build", "--quiet", "--no-build-isolation", "--offline", "--out-dir", folder]
    subprocess.run([*command, ROOT], check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder with the packages of the wheel."""
    folder = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


@pytest.fixture
def run(installed, tmp_path):
    """Runs Python with the installed packages, in a folder that has nothing to do with the repository."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": str(installed), "RELENS_DATA": str(tmp_path)}
        return subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
        )

    return run


def test_the_wheel_brings_two_packages_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {
        "relens",
        "relens_dashboard",
        f"relens-{relens.__version__}.dist-info",
    }
    assert "relens/py.typed" in names
    assert "relens_dashboard/.streamlit/config.toml" in names
    assert not [name for name in names if "__pycache__" in name]


@pytest.mark.parametrize(("folder", "packaged"), [("assets", "relens/_assets"), ("pages", "relens_dashboard/_pages")])
def test_the_wheel_has_the_files_of_the_top_folders(wheel, folder, packaged):
    kept = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [name.removeprefix(folder) for name in kept.split()]
    assert files
    assert {f"{packaged}{name}" for name in files} <= set(zipfile.ZipFile(wheel).namelist())


def test_the_command_answers_from_another_folder(run, installed, tiny_model_folder):
    done = run("-m", "relens", "query", "(cat|dog)", "--model", str(tiny_model_folder), "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert "cat" in done.stdout
    assert "the language is exhausted" in done.stderr
    where = run(
        "-c", "import relens, relens.assets as a; print(relens.__file__, (a.ASSETS / 'passages.jsonl').is_file())"
    )
    assert where.stdout.split() == [str(installed / "relens" / "__init__.py"), "True"]


def test_the_dashboard_finds_its_pages_and_assets(run):
    program = (
        "from streamlit.testing.v1 import AppTest; import relens_dashboard, pathlib\n"
        "page = AppTest.from_file(pathlib.Path(relens_dashboard.__file__).with_name('main.py'), default_timeout=100)\n"
        "page.run(); assert not page.exception, page.exception\n"
        "page.switch_page('_pages/glossary.py').run(); assert not page.exception, page.exception\n"
        "print('Glossary' in str([each.proto.body for each in page.get('html')]))"
    )
    done = run("-c", program)
    assert done.stdout.strip() == "True", done.stderr


def test_a_studys_own_texts_are_there(run):
    program = (
        "from relens.studies.passages import own_passages; from relens.triggers.search.targets import own_prototypes\n"
        "print(bool(own_passages()) and bool(own_prototypes()))"
    )
    assert run("-c", program).stdout.strip() == "True"


def test_what_is_not_installed_is_a_sentence(run):
    program = (
        "import importlib.util as util; find = util.find_spec\n"
        "util.find_spec = lambda name: None if name == 'streamlit' else find(name)\n"
        "import sys; from relens.command_line.main import main; sys.exit(main(['run']))"
    )
    done = run("-c", program)
    assert done.returncode == 1
    assert done.stderr.strip() == "The dashboard is not installed: pip install 'relens[dashboard]'."


def test_the_old_name_still_works_and_says_the_new_one():
    words = [sys.executable, "-m", "engine"]
    done = subprocess.run([*words, "study", "knowledge", "--help"], cwd=ROOT, capture_output=True, text=True)
    assert "usage: relens study" in done.stdout
    assert "is now the command `relens`: relens study ..." in done.stderr
    done = subprocess.run([*words, "(cat"], cwd=ROOT, capture_output=True, text=True)
    assert "relens query ..." in done.stderr
    assert "unterminated" in done.stderr
    assert done.returncode == 2
