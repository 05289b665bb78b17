"""Names, folders, and what the operator's list lets through."""

from pathlib import Path

import pytest

from relens.errors import ModelError
from relens.models.catalogue import KNOWN, Kind, available_models, check_allowed, is_allowed, resolve


@pytest.fixture
def allow(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv("RELENS_MODELS", raising=False)
    return monkeypatch


def test_three_kinds_of_names(tmp_path: Path) -> None:
    assert resolve("smollm2-135m").kind is Kind.EMBEDDED
    assert resolve("gpt2").kind is Kind.HUB
    assert resolve("Some/Model-1.5B").location == "Some/Model-1.5B"
    assert resolve(str(tmp_path)).location == str(tmp_path.resolve())
    assert resolve("/nowhere/at/all").kind is Kind.FOLDER
    assert len({entry.name for entry in KNOWN}) == len(KNOWN)


@pytest.mark.parametrize(
    "name", ["", "a/b/c", "../x/y z", "name with spaces", "a/..", "-x", "x\n", "http://x/y", "a..b/c"]
)
def test_bad_names_are_refused_or_folders(name: str) -> None:
    if name.startswith("../"):
        assert resolve(name).kind is Kind.FOLDER
        return
    with pytest.raises(ModelError, match="neither a known model"):
        resolve(name)


def test_the_default_list(allow: pytest.MonkeyPatch) -> None:
    assert is_allowed("smollm2-135m")
    assert is_allowed("HuggingFaceTB/SmolLM2-360M")
    assert not is_allowed("evil/model")
    assert not is_allowed("/etc")
    with pytest.raises(ModelError, match="not among those that this server may load"):
        check_allowed("evil/model")
    assert [entry.name for entry in available_models()] == [entry.name for entry in KNOWN]


def test_folders_are_compared_by_their_real_path(allow: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "models" / "mine" / "inner").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "models" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "alias").symlink_to(tmp_path / "models")
    allow.setenv("RELENS_MODELS", f"smollm2-135m,{tmp_path}/models/*")
    assert is_allowed(f"{tmp_path}/models/mine")
    assert is_allowed(f"{tmp_path}/alias/mine")
    assert is_allowed(f"{tmp_path}/secret/../models/mine")
    assert not is_allowed(f"{tmp_path}/models/../secret")
    assert not is_allowed(f"{tmp_path}/models/link")
    assert not is_allowed(f"{tmp_path}/models/mine/../../secret")
    assert not is_allowed(f"{tmp_path}/secret")
    assert not is_allowed("gpt2")
    # A pattern may lead through a link too.
    allow.setenv("RELENS_MODELS", f"{tmp_path}/alias/*")
    assert is_allowed(f"{tmp_path}/models/mine")


def test_a_hub_pattern_never_lets_a_folder_through(allow: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "gpt3").mkdir()
    allow.chdir(tmp_path)
    allow.setenv("RELENS_MODELS", "*")
    assert is_allowed("anybody/anything")
    assert not is_allowed(str(tmp_path))
    assert not is_allowed("gpt3"), "this name is a folder here"


def test_allowed_folders_and_names_are_offered(allow: pytest.MonkeyPatch, tmp_path: Path) -> None:
    allow.setenv("RELENS_MODELS", f"gpt2, {tmp_path}, /data/*, Me/mine")
    offered = available_models()
    assert [entry.name for entry in offered] == ["gpt2", str(tmp_path), "Me/mine"]
    assert [entry.kind for entry in offered] == [Kind.HUB, Kind.FOLDER, Kind.HUB]


@pytest.mark.parametrize(
    "name", ["word " * 2000, "/" + "a" * 5000, "~nobody-of-this-name/m", "a\0b", "/a\0b", "\ud800"]
)
def test_names_that_no_file_system_takes_are_a_sentence(name):
    assert not is_allowed(name)
    with pytest.raises(ModelError):
        check_allowed(name)
