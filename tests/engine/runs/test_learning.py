"""The encodings of a text as a page asks for them."""

from __future__ import annotations

import pytest

from relens.errors import LimitError, ModelError, QueryError
from relens.learn.text_encodings import text_encodings
from relens.runs.learning import TextEncoder


def test_encodings_are_computed_once_and_survive_json(byte_tokenizer):
    texts = []

    def call(payload):
        texts.append(payload["text"])
        if not payload["text"]:
            raise QueryError("The text is empty.")
        return {"answer": text_encodings(payload["text"], byte_tokenizer).to_json()}

    encoder = TextEncoder(call=call)
    for _ in range(2):
        assert encoder.encodings("the cab", "bytes") == text_encodings("the cab", byte_tokenizer)
    assert texts == ["the cab"]
    with pytest.raises(QueryError, match="empty"):
        encoder.encodings("", "bytes")
    encoder.close()


def test_the_child_process_answers(tmp_path, monkeypatch, byte_tokenizer):
    (tmp_path / "tokenizer.json").write_text(byte_tokenizer.to_json())
    (tmp_path / "config.json").write_text('{"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}')
    monkeypatch.setenv("RELENS_MODELS", str(tmp_path))
    encoder = TextEncoder()
    try:
        expected = text_encodings("the cab", byte_tokenizer)
        assert encoder.encodings("the cab", str(tmp_path)).count == expected.count
        with pytest.raises(LimitError, match="201 characters"):
            encoder.encodings("a" * 201, str(tmp_path))
        with pytest.raises(ModelError):
            encoder.encodings("a", "somebody/elses-model")
    finally:
        encoder.close()
