"""Tiny causal models of two architectures, and prompts for them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from relens import load_model
from relens.models.language_model import LanguageModel
from relens.triggers.causal.losses import CausalLosses
from relens.triggers.causal.prompts import Prompt
from relens.triggers.causal.template import ChatFormat, Template, make_frame
from relens.triggers.causal.trial import Trial
from relens.triggers.hits import HitType, Thresholds
from relens.triggers.objective import Objective

#: A format like those of today's models, with the tiny tokenizer's only special token as its mark.
CHAT = ChatFormat(
    "{% for message in messages %}{{ eos_token + message['role'] + ' ' + message['content'] + eos_token }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant ' }}{% endif %}",
    {"eos_token": "<|endoftext|>"},
)


@pytest.fixture(scope="session")
def tiny(tiny_model_folder: Path) -> LanguageModel:
    return load_model(str(tiny_model_folder), device="cpu", dtype="float32")


@pytest.fixture(scope="session")
def chat_model_folder(tiny_model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model as a Llama, with rotary positions, and with a chat format."""
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("tiny-chat")
    shutil.copytree(tiny_model_folder, folder, dirs_exist_ok=True)
    torch.manual_seed(1)
    configuration = LlamaConfig(
        vocab_size=400,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        bos_token_id=0,
        eos_token_id=0,
        initializer_range=0.4,
    )
    LlamaForCausalLM(configuration).save_pretrained(folder)
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"eos_token": "<|endoftext|>", "chat_template": CHAT.program})
    )
    return folder


@pytest.fixture(scope="session")
def chat_model(chat_model_folder: Path) -> LanguageModel:
    return load_model(str(chat_model_folder), device="cpu", dtype="float32")


@pytest.fixture(scope="session", params=["GPT-2", "Llama", "recomputed"])
def model(request: pytest.FixtureRequest, tiny: LanguageModel, chat_model: LanguageModel) -> LanguageModel:
    """Each architecture, and one whose past is not kept."""
    if request.param != "recomputed":
        return tiny if request.param == "GPT-2" else chat_model
    recomputed = LanguageModel(tiny.name, tiny.tokenizer, tiny.network, fingerprint=tiny.fingerprint)
    recomputed.fallback = True
    return recomputed


def make_prompt(
    model: LanguageModel, text: str = "the cat{} sat on", target: str = " the log", free: int = 5
) -> Prompt:
    return Prompt(make_frame(Template(text), CHAT), model.tokenizer, target, free)


def make_trial(
    model: LanguageModel,
    hit_type: str = "o-sample-avg-k1",
    evaluations: int = 200,
    seed: int = 0,
    epsilon: float = 1.0,
    out: float = -3.0,
) -> Trial:
    from relens.triggers.causal.input_scores import InputScores

    losses = CausalLosses(model, make_prompt(model))
    objective = Objective(HitType.called(hit_type), Thresholds(out, -5.0), epsilon)
    return Trial(losses, objective, evaluations, seed, InputScores(model, losses.prompt, losses.network))
