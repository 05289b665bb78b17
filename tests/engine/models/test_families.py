"""Begin and end of text, from the shapes that real configuration files have."""

from typing import Any

import pytest

from relens.models.families import begin_of_text, end_of_text


def tokenizer(*tokens: str, post_processor: dict[str, Any] | None = None) -> dict[str, Any]:
    added = [{"id": 10 + index, "content": token} for index, token in enumerate(tokens)]
    return {"added_tokens": added, "post_processor": post_processor}


def template(*tokens: tuple[str, int]) -> dict[str, Any]:
    return {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": token, "type_id": 0}} for token, _ in tokens]
        + [{"Sequence": {"id": "A", "type_id": 0}}],
        "special_tokens": {token: {"id": token, "ids": [number], "tokens": [token]} for token, number in tokens},
    }


@pytest.mark.parametrize(
    ("configuration", "description", "expected"),
    [
        ({"model_type": "gpt2", "bos_token_id": 50256}, tokenizer("<|endoftext|>"), 10),
        ({"model_type": "gpt_neox"}, tokenizer("<|endoftext|>", "<|padding|>"), 10),
        # SmolLM2: its bos_token_id is <|im_start|>, and its texts begin with <|endoftext|> all the same.
        ({"model_type": "llama", "bos_token_id": 1}, tokenizer("<|endoftext|>", "<|im_start|>", "<repo_name>"), 10),
        # Qwen2: has a bos_token_id, and was trained without any.
        ({"model_type": "qwen2", "bos_token_id": 151643}, tokenizer("<|endoftext|>", "<|im_start|>"), None),
        # Llama 3: the template comes second, after ByteLevel.
        (
            {"model_type": "llama"},
            tokenizer(
                "<|begin_of_text|>",
                post_processor={
                    "type": "Sequence",
                    "processors": [{"type": "ByteLevel"}, template(("<|begin_of_text|>", 128000))],
                },
            ),
            128000,
        ),
        ({"model_type": "mistral"}, tokenizer("<s>", post_processor=template(("<s>", 1))), 1),
        ({"model_type": "llama"}, tokenizer(post_processor=template()), None),
        ({"model_type": "gpt2"}, tokenizer("[END]"), None),
        ({}, {}, None),
    ],
)
def test_begin_of_text(configuration: dict[str, Any], description: dict[str, Any], expected: int | None) -> None:
    assert begin_of_text(configuration, description) == expected


@pytest.mark.parametrize(
    ("configuration", "tokenizer_configuration", "expected"),
    [
        ({"eos_token_id": 2}, {"eos_token": "</s>"}, 10),
        ({"eos_token_id": 2}, {"eos_token": {"content": "</s>", "lstrip": False}}, 10),
        ({"eos_token_id": 2}, {}, 2),
        ({"eos_token_id": [7, 8]}, {"eos_token": "<unlisted>"}, 7),
        ({"eos_token_id": 0}, {}, 0),
        ({"eos_token_id": []}, {"eos_token": None}, None),
        ({}, {}, None),
    ],
)
def test_end_of_text(
    configuration: dict[str, Any], tokenizer_configuration: dict[str, Any], expected: int | None
) -> None:
    assert end_of_text(configuration, tokenizer("</s>"), tokenizer_configuration) == expected
