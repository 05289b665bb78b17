"""Folders: irreplaceable files apart from replaceable ones, if RELENS_DATA is set."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from relens import settings
from relens.triggers.model.model_list import models_folder
from relens_dashboard.studies.kept_text import keep_text

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    for name in ("RELENS_DATA", "RELENS_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_by_default_everything_is_in_the_cache(folders):
    cache = folders / "cache"
    assert settings.data_folder() == settings.cache_folder() == cache
    assert models_folder() == cache / "dialogue-models"
    assert keep_text(b"text").parent == settings.uploads_folder() == cache / "texts"
    assert settings.store_url() == f"sqlite:///{cache / 'runs.db'}"


def test_irreplaceable_files_outlive_the_cache(folders, monkeypatch):
    monkeypatch.setenv("RELENS_DATA", str(folders / "data"))
    text = keep_text(b"text")
    settings.cache_folder()
    shutil.rmtree(folders / "cache")
    assert text.read_bytes() == b"text"
    assert settings.texts_folders()[0] == text.parent
    assert models_folder() == folders / "data" / "dialogue-models"
    assert settings.store_url() == f"sqlite:///{folders / 'data' / 'runs.db'}"
    assert settings.cache_folder() == folders / "cache"


def test_the_container_keeps_it_on_its_volume():
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    assert "VOLUME /data" in lines
    assert any(line.startswith("ENV ") and "RELENS_DATA=/data" in line.split() for line in lines)
    assert not any("RELENS_STORE" in line for line in lines)
