"""Loading from folders written by transformers, and every way in which a model cannot be had."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from relens.errors import ModelError
from relens.models import loading
from relens.models.loading import load_model, load_tokenizer
from tests.engine.models.tiny import CONTEXT, VOCABULARY, direct, grow, network, save_model


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model("llama", tmp_path_factory.mktemp("llama"), begin="<s>")


@pytest.fixture
def broken(llama: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    for file in llama.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def test_a_folder_becomes_a_model_that_scores_like_transformers(llama: Path) -> None:
    stages: list[tuple[str, float]] = []
    model = load_model(str(llama), device="cpu", progress=lambda stage, fraction: stages.append((stage, fraction)))
    assert (model.context_length, model.vocabulary_size) == (CONTEXT, VOCABULARY)
    assert (model.device.type, model.dtype) == ("cpu", torch.float32)
    assert not model.fallback, model.fallback_reason
    assert model.begin_of_text == model.tokenizer.begin_of_text == 2
    assert model.end_of_text == 1
    fractions = [fraction for _, fraction in stages]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    token_ids = model.tokenizer.encode("the cat sat")
    for begin in (True, False, None):
        scorer = model.scorer(begin_of_text=begin, pool_bytes=1 << 20)
        node = grow(scorer.tree, [(0, token) for token in token_ids])[-1]
        expected = direct("llama", ([] if begin is False else [2]) + token_ids)
        assert torch.allclose(scorer.log_probs([node])[0], expected, atol=1e-4)


def test_the_number_format_is_a_choice(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_model(str(llama), device="cpu", dtype="bfloat16").dtype is torch.bfloat16
    assert load_model(str(llama), device="cpu", dtype=torch.bfloat16).dtype is torch.bfloat16
    monkeypatch.setenv("RELENS_DTYPE", "bfloat16")
    assert load_model(str(llama), device="cpu").dtype is torch.bfloat16
    with pytest.raises(ModelError, match="must be one of float32"):
        load_model(str(llama), device="cpu", dtype="int8")


def test_a_model_that_must_be_recomputed_says_so(tmp_path: Path) -> None:
    model = load_model(str(save_model("mamba", tmp_path)), device="cpu")
    assert model.fallback
    assert "a state" in model.fallback_reason
    scorer = model.scorer(begin_of_text=False, pool_bytes=1 << 20)
    node = grow(scorer.tree, [(0, 5), (0, 6)])[-1]
    assert torch.allclose(scorer.log_probs([node])[0], direct("mamba", [5, 6]), atol=1e-4)


def test_a_begin_of_text_token_that_does_not_exist_cannot_be_demanded(tmp_path: Path) -> None:
    model = load_model(str(save_model("qwen2", tmp_path)), device="cpu")
    assert model.begin_of_text is None
    assert not model.scorer().scores_root
    with pytest.raises(ModelError, match="without a begin-of-text token"):
        model.scorer(begin_of_text=True)


def test_the_fingerprint_changes_with_the_weights_and_the_tokenizer_only(broken: Path) -> None:
    def fingerprint() -> str:
        return load_model(str(broken), device="cpu").fingerprint

    before = fingerprint()
    (broken / "README.md").write_text("Nothing that matters.")
    assert fingerprint() == before
    tokenizer = json.loads((broken / "tokenizer.json").read_text())
    tokenizer["model"]["merges"].pop()
    (broken / "tokenizer.json").write_text(json.dumps(tokenizer))
    other = fingerprint()
    assert other != before
    weights = bytearray((broken / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (broken / "model.safetensors").write_bytes(weights)
    assert fingerprint() not in (before, other)


def test_a_tokenizer_alone_needs_no_weights_and_no_torch(broken: Path) -> None:
    (broken / "model.safetensors").unlink()
    program = (
        "import sys; from relens.models.loading import load_tokenizer; "
        f"print(load_tokenizer({str(broken)!r}).encode('cat'), 'torch' in sys.modules, 'transformers' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(loading.__file__).parents[2])}
    output = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == f"{load_tokenizer(str(broken)).encode('cat')} False False"


def refusal(name: str) -> str:
    with pytest.raises(ModelError) as caught:
        load_model(name, device="cpu")
    sentence = caught.value.sentence
    assert sentence.endswith((".", "?"))
    assert "\n" not in sentence
    return sentence


def test_folders_that_are_no_model(broken: Path) -> None:
    name = str(broken)
    assert "does not exist" in refusal(f"{name}/nothing")
    (broken / "model.safetensors").rename(broken / "pytorch_model.bin")
    assert "pickled weights are not loaded" in refusal(name)
    (broken / "pytorch_model.bin").unlink()
    assert "has no weights" in refusal(name)
    (broken / "config.json").unlink()
    assert "no config.json" in refusal(name)


def test_weights_that_cannot_be_read(broken: Path) -> None:
    (broken / "model.safetensors").write_bytes(b"not at all")
    assert "cannot be read" in refusal(str(broken))


def test_weights_that_are_incomplete_or_of_another_shape(broken: Path) -> None:
    configuration = json.loads((broken / "config.json").read_text())
    (broken / "config.json").write_text(json.dumps(configuration | {"num_hidden_layers": 3}))
    assert "incomplete" in refusal(str(broken))
    (broken / "config.json").write_text(json.dumps(configuration | {"hidden_size": 64}))
    assert "do not fit its configuration" in refusal(str(broken))


def test_tokenizers_that_are_missing_or_broken(broken: Path) -> None:
    (broken / "tokenizer.json").write_text("{")
    assert "cannot be read as JSON" in refusal(str(broken))
    (broken / "tokenizer.json").unlink()
    assert "has no tokenizer" in refusal(str(broken))


def test_models_of_other_kinds(broken: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert "does not continue text" in refusal(str(save_model("encoder", tmp_path_factory.mktemp("encoder"))))
    for configuration, reason in [
        ({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"]}, "one sequence into another"),
        ({"model_type": "bert", "architectures": ["BertForMaskedLM"]}, "does not continue text"),
        (
            {"model_type": "never-heard-of", "auto_map": {"AutoConfig": "evil.Config"}},
            "without running code of its own",
        ),
    ]:
        (broken / "config.json").write_text(json.dumps(configuration))
        assert reason in refusal(str(broken))


def test_code_that_comes_with_a_model_is_never_run(broken: Path) -> None:
    configuration = json.loads((broken / "config.json").read_text())
    mark = broken / "was-run"
    (broken / "evil.py").write_text(f"open({str(mark)!r}, 'w')\n")
    custom = {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Config", "AutoModelForCausalLM": "evil.Model"}}
    (broken / "config.json").write_text(json.dumps(configuration | custom))
    refusal(str(broken))
    assert not mark.exists()


def test_names_on_the_hub_without_a_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    assert "not on this machine and the hub cannot be reached" in refusal("nobody/nothing")
    assert "neither a known model" in refusal("not a name")


def test_a_hub_name_in_the_cache_needs_no_network(llama: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub.constants

    snapshot = tmp_path / "models--me--mine" / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    for file in llama.iterdir():
        (snapshot / file.name).write_bytes(file.read_bytes())
    (tmp_path / "models--me--mine" / "refs").mkdir()
    (tmp_path / "models--me--mine" / "refs" / "main").write_text("0" * 40)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    assert load_tokenizer("me/mine").begin_of_text == 2
    assert load_model("me/mine", device="cpu").vocabulary_size == VOCABULARY


def test_the_allow_list_is_enforced_on_demand(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RELENS_MODELS", raising=False)
    for load in (load_model, load_tokenizer):
        with pytest.raises(ModelError, match="not among those"):
            load(str(llama), enforce_allow_list=True)
    monkeypatch.setenv("RELENS_MODELS", str(llama))
    assert load_model(str(llama), device="cpu", enforce_allow_list=True).name == str(llama)


def test_a_model_too_large_for_memory(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **keywords: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(type(network("llama")), "to", full)
    assert "does not fit in the memory of cpu" in refusal(str(llama))
