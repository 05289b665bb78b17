"""Fetching from a hub on this machine: reported sizes, refusals, and local files without a request."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants as constants
import pytest
from huggingface_hub.utils import close_session

from relens.errors import ModelError, NotFetchedError
from relens.models import hub as hub_module
from relens.models.loading import load_encoder_decoder, load_model, load_tokenizer
from tests.engine.models.fake_hub import COMMIT, FakeHub, fake_hub

NAME = "me/tiny"


@pytest.fixture
def hub(tiny_model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with fake_hub({NAME: tiny_model_folder}) as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        )
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        close_session()  # a client that was made offline stays offline
        yield hub
    close_session()


def test_a_missing_tokenizer_is_not_fetched_for_a_page(hub: FakeHub) -> None:
    with pytest.raises(NotFetchedError, match=r"tokenizer of 'me/tiny' is not on this server yet; a run .* fetches"):
        load_tokenizer(NAME, fetch=False)
    assert hub.requests == []
    assert isinstance(NotFetchedError(""), ModelError)


def test_the_size_is_reported_before_the_download(hub: FakeHub, tiny_model_folder: Path) -> None:
    size = sum(file.stat().st_size for file in tiny_model_folder.iterdir())
    reports: list[tuple[str, list[str]]] = []
    model = load_model(NAME, device="cpu", progress=lambda stage, fraction: reports.append((stage, hub.requests[:])))
    sentence, requests_before = reports[1]
    assert sentence == f"Fetching {size / 1e6:,.1f} MB from the hub"
    assert not any(request.startswith("GET /me/tiny/resolve") for request in requests_before)
    assert model.tokenizer.encode("cat") == load_tokenizer(str(tiny_model_folder)).encode("cat")

    # Fetched files are there for `fetch=False` too, and are not fetched again.
    hub.requests.clear()
    assert load_tokenizer(NAME, fetch=False).encode("cat") == model.tokenizer.encode("cat")
    assert hub.requests == []
    reports.clear()
    load_model(NAME, device="cpu", progress=lambda stage, fraction: reports.append((stage, [])))
    assert not any("Fetching" in stage for stage, _ in reports)
    assert not any("resolve" in request for request in hub.requests)


def test_a_tokenizer_is_fetched_without_the_weights(hub: FakeHub) -> None:
    load_tokenizer(NAME)
    assert not any("safetensors" in request for request in hub.requests)
    assert load_tokenizer(NAME, fetch=False).begin_of_text == 0


@pytest.mark.parametrize("load", [load_model, load_encoder_decoder])
def test_a_model_too_large_for_the_disk_is_refused(hub: FakeHub, tmp_path: Path, load) -> None:
    hub.claimed_bytes = 145_000_000_000_000
    with pytest.raises(ModelError, match=r"'me/tiny' needs 145,000\.0 GB from the hub, .* has room for [\d,.]+ .B\.$"):
        load(NAME, device="cpu")
    assert not any(request.startswith("GET /me/tiny/resolve") for request in hub.requests)
    assert not list(tmp_path.glob("cache/**/blobs/*"))


def test_some_room_is_left_for_the_store(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")._replace(free=hub_module.SPARE_BYTES + 1000)
    monkeypatch.setattr(hub_module.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(ModelError, match=r"has room for 0\.0 MB"):
        load_model(NAME, device="cpu")


def test_a_model_that_is_fetched_only_in_part_is_not_here(hub: FakeHub) -> None:
    folder = hub_module.fetch(NAME, weights=True, report=lambda stage: None)
    assert hub_module.here(NAME, weights=True) == folder
    (folder / "tokenizer_config.json").unlink()
    assert hub_module.here(NAME, weights=False) is None


def test_files_of_another_program_count_if_they_suffice(hub: FakeHub, tiny_model_folder: Path, tmp_path: Path) -> None:
    snapshot = tmp_path / "cache" / "models--me--tiny" / "snapshots" / COMMIT
    shutil.copytree(tiny_model_folder, snapshot)
    (tmp_path / "cache" / "models--me--tiny" / "refs").mkdir()
    (tmp_path / "cache" / "models--me--tiny" / "refs" / "main").write_text(COMMIT)
    assert hub_module.here(NAME, weights=True) == snapshot
    (snapshot / "model.safetensors").unlink()
    assert hub_module.here(NAME, weights=True) is None
    assert hub_module.here(NAME, weights=False) == snapshot
    (snapshot / "tokenizer.json").unlink()
    assert hub_module.here(NAME, weights=False) is None


@pytest.mark.parametrize("name", ["me/other", "a--b"])
def test_names_that_the_hub_does_not_have(hub: FakeHub, name: str) -> None:
    with pytest.raises(ModelError, match=f"no model called '{name}' on the hub"):
        load_model(name, device="cpu")
    with pytest.raises(NotFetchedError):
        load_tokenizer(name, fetch=False)


def test_without_a_hub_local_files_have_to_do(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    load_tokenizer(NAME)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    assert load_tokenizer(NAME).begin_of_text == 0
    with pytest.raises(ModelError, match="not on this machine and the hub cannot be reached"):
        load_model(NAME, device="cpu")
