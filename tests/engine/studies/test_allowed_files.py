"""A dashboard reads uploads and what its operator allows, and nothing else."""

from __future__ import annotations

import pytest

from relens import settings
from relens.errors import QueryError
from relens.studies.allowed_files import check_files
from relens.studies.cloze import ClozeStudy
from relens.studies.memorization import MemorizationStudy
from relens.studies.validators import InText


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("RELENS_TEXTS", raising=False)


def studies(path):
    return ClozeStudy(path=str(path)), MemorizationStudy(validator=InText(str(path)))


def test_uploads_are_read_and_other_files_are_not(tmp_path):
    for study in studies(settings.uploads_folder() / "abc.txt"):
        check_files(study)
    outside = [
        "/etc/passwd",
        tmp_path / "cache" / "runs.db",
        settings.uploads_folder() / ".." / "runs.db",
        tmp_path / "cache" / "texts-of-others" / "a.txt",
    ]
    for path in outside:
        for study in studies(path):
            with pytest.raises(QueryError, match="may not read"):
                check_files(study)
    check_files(ClozeStudy())
    check_files(MemorizationStudy())


def test_a_link_leads_where_it_leads(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    settings.uploads_folder().mkdir(parents=True)
    (settings.uploads_folder() / "link.txt").symlink_to(secret)
    with pytest.raises(QueryError, match="may not read"):
        check_files(studies(settings.uploads_folder() / "link.txt")[0])


def test_the_operator_may_allow_a_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_TEXTS", f"{tmp_path / 'corpus'}, /nowhere")
    for study in studies(tmp_path / "corpus" / "part" / "a.txt"):
        check_files(study)


@pytest.mark.parametrize("path", ["a\x00b", "~nobody-of-this-name/a.txt", "x" * 100_000, "/".join("ab" * 9_000)])
def test_what_is_no_path_is_refused_in_one_sentence(path):
    for study in studies(path):
        with pytest.raises(QueryError, match="may not read") as refused:
            check_files(study)
        assert len(refused.value.sentence) < 400
