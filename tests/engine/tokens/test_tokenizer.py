"""A tokenizer as the engine sees it, against the library's own decoding."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.errors import ModelError
from relens.tokens.tokenizer import BYTE_LEVEL, SENTENCEPIECE, UNIGRAM, WORDPIECE, Tokenizer
from tests.engine.tokens.conftest import OTHERS
from tests.engine.tokens.helpers import KINDS, random_string


def test_real_vocabularies(gpt2: Tokenizer, smollm2: Tokenizer) -> None:
    assert (gpt2.size, smollm2.size) == (50257, 49152)
    assert gpt2.family == smollm2.family == BYTE_LEVEL
    assert gpt2.vocabulary.single_bytes.all()
    assert int((~smollm2.vocabulary.single_bytes).sum()) == 21
    assert gpt2.vocabulary[50256] is None
    assert gpt2.special_tokens == {50256: "<|endoftext|>"}
    assert len(smollm2.special_tokens) == 17
    assert gpt2.fingerprint != smollm2.fingerprint
    assert len(gpt2.fingerprint) == 64


def test_decoding_is_the_librarys(real: Tokenizer) -> None:
    library = tokenizers.Tokenizer.from_str(real.to_json())
    source = random.Random(1)
    for _ in range(300):
        tokens = [source.randrange(20, real.size - 1) for _ in range(source.randint(1, 6))]
        assert real.decode(tokens) == library.decode(tokens, skip_special_tokens=False)


def test_names_of_special_tokens_are_plain_text(real: Tokenizer) -> None:
    tokens = real.encode("a<|endoftext|>b")
    assert not set(tokens) & set(real.special_tokens)
    assert real.decode(tokens) == "a<|endoftext|>b"
    special = next(iter(real.special_tokens))
    assert real.decode_bytes([special]) == b""
    assert real.token_text(special) == "<|endoftext|>"


@given(st.integers(0, 2**32), st.sampled_from(KINDS))
@settings(deadline=None)
def test_canonical_is_what_encode_gives(small: Tokenizer, seed: int, kind: str) -> None:
    text = random_string(kind, random.Random(seed))
    tokens = small.encode(text)
    assert small.decode(tokens) == text
    assert small.is_canonical(tokens)
    letters = [small.encode(character)[0] for character in text if character.isascii()]
    if small.decode(letters) == text:
        assert small.is_canonical(letters) == (letters == tokens)


@pytest.mark.parametrize(
    ("name", "family"),
    [("sentencepiece", SENTENCEPIECE), ("metaspace", SENTENCEPIECE), ("unigram", UNIGRAM), ("wordpiece", WORDPIECE)],
)
def test_other_families(name: str, family: str) -> None:
    tokenizer = OTHERS[name]()
    assert tokenizer.family == family
    assert tokenizer.drops_first_space
    tokens = tokenizer.encode("the press")
    assert tokenizer.decode(tokens) == "the press"
    assert tokenizer.is_canonical(tokens)
    if family != WORDPIECE:
        inside = tokenizer.encode(" press", continues=True)
        assert tokenizer.decode(inside, continues=True) == " press"
        assert tokenizer.decode_bytes(tokenizer.encode("the") + inside) == b"the press"
        assert tokenizer.encode("press", continues=True) != tokenizer.encode("press")


def test_bytes_of_fallback_tokens() -> None:
    tokenizer = OTHERS["sentencepiece"]()
    assert tokenizer.decode(tokenizer.encode("日")) == "日"
    assert tokenizer.vocabulary.single_bytes.all()


def test_added_text_tokens_are_text() -> None:
    backend = tokenizers.Tokenizer.from_str(OTHERS["unigram"]().to_json())
    backend.add_tokens(["<call>"])
    tokenizer = Tokenizer.from_json(backend.to_str(), name="added")
    (token,) = tokenizer.text_tokens
    assert tokenizer.vocabulary[token] == b"<call>"
    assert token not in tokenizer.special_tokens


def test_from_file_and_back(small: Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(small.to_json(), encoding="utf-8")
    again = Tokenizer.from_file(tmp_path, end_of_text=0)
    assert again.fingerprint == small.fingerprint
    assert again.name == tmp_path.name
    assert again.end_of_text == 0
    assert again.vocabulary.token_bytes == small.vocabulary.token_bytes


@pytest.mark.parametrize("text", ["", "[]", '{"model": 1}', json.dumps({"model": {"type": "BPE", "vocab": 3}})])
def test_bad_tokenizers_are_refused(text: str) -> None:
    with pytest.raises(ModelError, match="broken"):
        Tokenizer.from_json(text, name="broken")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no tokenizer\.json"):
        Tokenizer.from_file(tmp_path)
