"""What tests of several rooms share: a tiny causal model of random weights, and tokenizers learnt from little text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.examples import examples

# The first example of a property pays for imports, so none has a deadline.
settings.register_profile("relens", deadline=None, derandomize=bool(os.environ.get("CI")), max_examples=examples())
settings.load_profile("relens")

# No test may reach for a model hub, whatever it asks for.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# Processes that tests start import the packages of this checkout, wherever others are installed.
ROOT = Path(__file__).resolve().parents[1]
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, (str(ROOT / "engine"), str(ROOT / "app"), os.environ.get("PYTHONPATH")))
)
# Where tests run side by side, one on each core, a test that took all cores for itself would hold up the others.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

TEXT = """
The cat sat on the mat, and the dog sat on the log. The cats and the dogs were trained in art and science.
George Washington was born on July 4, 1732; call 555-1234 or write to cat.dog@example.com, see https://www.example.com.
"""


@pytest.fixture(scope="session")
def tiny_model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with safetensors, configuration and tokenizer of a two-layer GPT-2 with 400 tokens."""
    return make_tiny_model(tmp_path_factory.mktemp("tiny-gpt2"))


def make_tiny_model(folder: Path) -> Path:
    """The same in an existing folder of a program's own."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT.splitlines() * 4, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text('{"eos_token": "<|endoftext|>"}')
    torch.manual_seed(0)
    configuration = GPT2Config(
        vocab_size=tokenizer.get_vocab_size(),
        n_embd=32,
        n_layer=2,
        n_head=4,
        n_positions=128,
        bos_token_id=0,
        eos_token_id=0,
        initializer_range=0.4,
    )
    GPT2LMHeadModel(configuration).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def byte_tokenizer():  # type: ignore[no-untyped-def]
    """A byte-level BPE tokenizer with every byte, and merges learnt from very little text."""
    import tokenizers

    from relens.tokens.tokenizer import Tokenizer

    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
        special_tokens=["<|endoftext|>"],
        show_progress=False,
    )
    model.train_from_iterator(["ab abc abab cab the cat sat, a dog ran " * 20], trainer)
    return Tokenizer.from_json(model.to_str(), name="bytes", begin_of_text=0, end_of_text=0)
