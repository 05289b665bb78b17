"""The embedded model against the file it came from, and against transformers."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from relens.errors import ModelError
from relens.models import embedded
from relens.models.embedded import CONTROL_TOKEN, CONVERSION, build_tokenizer
from relens.models.language_model import LanguageModel
from relens.models.loading import load_model, load_tokenizer
from tests.engine.models.tiny import grow

HEADS = {"attn_q": 9, "attn_k": 3}
NAMES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


def fields() -> dict[str, object]:
    tokens = ["<|endoftext|>", "1", "7", "17", "Ġ", "Ġ1"]
    return {
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [CONTROL_TOKEN] + [1] * (len(tokens) - 1),
        "tokenizer.ggml.merges": ["1 7", "Ġ 1"],
    }


def test_every_digit_is_a_token_of_its_own() -> None:
    tokenizer = build_tokenizer(fields())
    assert tokenizer.encode("17 1", add_special_tokens=False).tokens == ["1", "7", "Ġ", "1"]
    assert tokenizer.encode("<|endoftext|>").ids == [0]
    assert tokenizer.decode([1, 2, 5], skip_special_tokens=False) == "17 1"


def test_an_unknown_pre_tokenizer_is_refused() -> None:
    with pytest.raises(ModelError, match="'llama-bpe'"):
        build_tokenizer(fields() | {"tokenizer.ggml.pre": "llama-bpe"})


def test_a_missing_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path))
    monkeypatch.setattr(embedded, "PACKAGE", "no_such_package_at_all")
    with pytest.raises(ModelError, match="not installed"):
        embedded.convert()
    assert list(tmp_path.iterdir()) == []


def test_a_conversion_that_fails_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fill_the_disk(source: Path, target: Path) -> None:
        (target / "half").write_text("...")
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("RELENS_CACHE", str(tmp_path))
    monkeypatch.setattr(embedded, "gguf_file", lambda: tmp_path)
    monkeypatch.setattr(embedded, "_write_tokenizer", fill_the_disk)
    with pytest.raises(ModelError, match="No space left on device"):
        embedded.convert()
    assert list(tmp_path.iterdir()) == []


def test_the_first_of_two_conversions_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = tmp_path / "source.gguf"
    source.write_text("")

    def write_while_another_finishes(source: Path, target: Path) -> None:
        (target / "mine").write_text("")
        other = embedded.folder()
        other.mkdir()
        (other / "conversion.json").write_text(json.dumps({"conversion": CONVERSION}))

    monkeypatch.setenv("RELENS_CACHE", str(tmp_path))
    monkeypatch.setattr(embedded, "gguf_file", lambda: source)
    monkeypatch.setattr(embedded, "_write_tokenizer", lambda source, target: None)
    monkeypatch.setattr(embedded, "_write_network", write_while_another_finishes)
    folder = embedded.convert()
    assert [file.name for file in folder.iterdir()] == ["conversion.json"]
    assert sorted(file.name for file in tmp_path.iterdir()) == [embedded.NAME, "source.gguf"]


def test_a_conversion_of_an_older_version_is_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = tmp_path / "source.gguf"
    source.write_text("")
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path))
    monkeypatch.setattr(embedded, "gguf_file", lambda: source)
    monkeypatch.setattr(embedded, "_write_tokenizer", lambda source, target: None)
    monkeypatch.setattr(embedded, "_write_network", lambda source, target: None)
    embedded.folder().mkdir()
    (embedded.folder() / "old").write_text("")
    assert not embedded.is_converted()
    embedded.convert()
    assert embedded.is_converted()
    assert [file.name for file in embedded.folder().iterdir()] == ["conversion.json"]


def test_remains_of_a_killed_conversion_are_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path))
    monkeypatch.setattr(embedded, "gguf_file", lambda: tmp_path / "source.gguf")
    monkeypatch.setattr(embedded, "_write_tokenizer", lambda source, target: None)
    monkeypatch.setattr(embedded, "_write_network", lambda source, target: None)
    (tmp_path / "source.gguf").write_text("")
    for name, age in (("old", 4000.0), ("young", 10.0)):
        (tmp_path / f"{embedded.NAME}.{name}").mkdir()
        os.utime(tmp_path / f"{embedded.NAME}.{name}", (time.time() - age, time.time() - age))
    embedded.convert()
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        embedded.NAME,
        f"{embedded.NAME}.young",
        "source.gguf",
    ]


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return load_model("smollm2-135m", device="cpu", dtype="float32")


@pytest.mark.model
def test_the_tokenizer_has_the_known_properties() -> None:
    tokenizer = load_tokenizer("smollm2-135m")
    assert tokenizer.size == 49_152
    assert [tokenizer.token_text(token) for token in (0, 1, 2)] == ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    assert (tokenizer.begin_of_text, tokenizer.end_of_text) == (0, 2)
    backend = json.loads(tokenizer.to_json())
    assert [step["type"] for step in backend["pre_tokenizer"]["pretokenizers"]] == ["Digits", "ByteLevel"]
    for text in ("February 22, 1732", "x=1234567890", "٣٤ and ½", "the 1990s"):
        token_ids = tokenizer.encode(text)
        assert tokenizer.decode(token_ids) == text
        pieces = [tokenizer.decode([token]) for token in token_ids]
        assert not [piece for piece in pieces if any(map(str.isdigit, piece)) and len(piece) > 1]
    assert int((~tokenizer.vocabulary.single_bytes).sum()) == 21


@pytest.mark.model
def test_the_weights_are_the_files_own_to_the_last_bit(model: LanguageModel) -> None:
    gguf = pytest.importorskip("gguf")
    state = model.network.state_dict()
    kinds: Counter[str] = Counter()
    for tensor in gguf.GGUFReader(embedded.gguf_file()).tensors:
        kinds[tensor.tensor_type.name] += 1
        weights = gguf.dequantize(tensor.data, tensor.tensor_type)
        if tensor.name == "token_embd.weight":
            name = "model.embed_tokens.weight"
        elif tensor.name == "output_norm.weight":
            name = "model.norm.weight"
        else:
            _, layer, part, _ = tensor.name.split(".")
            name = f"model.layers.{layer}.{NAMES[part]}.weight"
            if part in HEADS:
                # llama.cpp interleaves the two halves of each head's rotation.
                weights = weights.reshape(HEADS[part], weights.shape[0] // HEADS[part] // 2, 2, -1)
                weights = weights.swapaxes(1, 2).reshape(-1, weights.shape[-1])
        assert np.array_equal(state[name].numpy(), weights), name
    assert kinds == {"Q4_1": 210, "F32": 61, "Q8_0": 1}


@pytest.mark.model
def test_the_output_layer_is_the_embedding_and_is_kept_once(model: LanguageModel) -> None:
    from safetensors import safe_open

    with safe_open(embedded.folder() / "model.safetensors", "pt") as weights:
        assert "lm_head.weight" not in weights.keys()  # noqa: SIM118
    assert model.network.lm_head.weight is model.network.model.embed_tokens.weight


@pytest.mark.model
def test_scores_equal_a_direct_computation(model: LanguageModel) -> None:
    assert not model.fallback
    token_ids = model.tokenizer.encode("George Washington was born on February 22, 1732")
    scorer = model.scorer(begin_of_text=True, pool_bytes=1 << 26)
    nodes = [0, *grow(scorer.tree, [(0, token) for token in token_ids])]
    with torch.inference_mode():
        expected = torch.log_softmax(model.network(torch.tensor([[0, *token_ids]])).logits[0].float(), dim=-1)
    scores = torch.cat([scorer.log_probs(nodes[start : start + 4]) for start in range(0, len(nodes), 4)])
    assert float((scores - expected).abs().max()) < 1e-3
    assert model.tokenizer.decode([int(expected[-2].argmax())]) == "2"


@pytest.mark.model
def test_texts_begin_with_end_of_text_and_end_with_im_end(model: LanguageModel) -> None:
    """The measurement behind `families.py`, on one opening and one ending."""
    token_ids = model.tokenizer.encode("Once upon a time, there was a little girl named Lily.")
    marks = {name: number for number, name in enumerate(("<|endoftext|>", "<|im_start|>", "<|im_end|>"))}
    with torch.inference_mode():
        after = {
            name: torch.log_softmax(model.network(torch.tensor([[mark, *token_ids]])).logits[0], dim=-1)
            for name, mark in marks.items()
        }
    sums = {name: float(rows[:-1].gather(1, torch.tensor(token_ids)[:, None]).sum()) for name, rows in after.items()}
    assert max(sums, key=lambda name: sums[name]) == "<|endoftext|>"
    ends = after["<|endoftext|>"][-1, :3]
    assert int(ends.argmax()) == model.end_of_text == 2


@pytest.mark.model
def test_the_converted_folder_loads_like_any_other(model: LanguageModel) -> None:
    again = load_model(str(embedded.folder()), device="cpu", dtype="float32")
    assert again.fingerprint == model.fingerprint
    assert (again.begin_of_text, again.end_of_text) == (0, 2)
    with torch.inference_mode():
        token_ids = torch.tensor([[0, 504, 2644]])
        assert torch.equal(again.network(token_ids).logits, model.network(token_ids).logits)


@pytest.mark.model
def test_converting_again_is_a_line_and_no_work() -> None:
    embedded.ensure()
    command = [sys.executable, "-m", "relens.models.embedded"]
    output = subprocess.run(command, cwd=Path(embedded.__file__).parents[2], capture_output=True, text=True, check=True)
    assert output.stdout.startswith("The embedded model is ready in")
