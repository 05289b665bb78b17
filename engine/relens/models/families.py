"""Which token begins a text and which one ends it, by how a model's family was trained.

Asked for the first word of a text, GPT-2 needs something to stand on. In training, documents were joined by
`<|endoftext|>`, so that token is what "the beginning" looks like to it. Llama has a token of its own, which its
tokenizer puts before every text; Qwen2 was trained without any. Getting it wrong is not a detail. For the embedded
SmolLM2-135M-Instruct, ten openings of texts (prose, code, a letter, a title) have these mean log-probabilities in nats:

    before the text      first token     tokens 2 to 5 together     each token after the first
    <|endoftext|>            -9.3                 -9.6                        -1.72
    <|im_start|>            -11.0                -21.5                        -2.74
    <|im_end|>              -11.0                -20.5                        -2.70
    nothing                   -                  -20.5                        -2.58

so its texts begin with `<|endoftext|>`, whatever the "bos_token" of its configuration says. After five finished texts
it gives `<|im_end|>` a probability of 0.5 to 11 %, `<|endoftext|>` and `<|im_start|>` less than 0.01 %: the end of a
text is `<|im_end|>`.

Everything here reads JSON only, so that a tokenizer can be had without importing torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Family:
    """Models trained alike: recognised by `model_type` and by special tokens that all must exist."""

    model_types: tuple[str, ...]
    special_tokens: tuple[str, ...]
    begin_of_text: str


FAMILIES = (
    Family(("gpt2", "gpt_neo", "gptj", "gpt_neox"), ("<|endoftext|>",), "<|endoftext|>"),
    # SmolLM and SmolLM2, whose special tokens those of StarCoder are; the measurement above.
    Family(("llama",), ("<|endoftext|>", "<|im_start|>", "<repo_name>"), "<|endoftext|>"),
)


def special_token_ids(tokenizer: Mapping[str, Any]) -> dict[str, int]:
    """Ids of the added tokens in the contents of a tokenizer.json."""
    return {token["content"]: int(token["id"]) for token in tokenizer.get("added_tokens") or ()}


def begin_of_text(configuration: Mapping[str, Any], tokenizer: Mapping[str, Any]) -> int | None:
    """Id of the token before every text in training, or None where the family has none.

    `configuration` and `tokenizer` are the contents of config.json and tokenizer.json. A family of the table above
    goes first; otherwise it is the token that the tokenizer itself puts before a text (Llama, Mistral, Gemma, OPT).
    """
    ids = special_token_ids(tokenizer)
    for family in FAMILIES:
        if configuration.get("model_type") in family.model_types and all(name in ids for name in family.special_tokens):
            return ids[family.begin_of_text]
    return _leading_token(tokenizer.get("post_processor"))


def end_of_text(
    configuration: Mapping[str, Any], tokenizer: Mapping[str, Any], tokenizer_configuration: Mapping[str, Any]
) -> int | None:
    """Id of the token after a finished text, or None: the tokenizer's `eos_token`, else the model's `eos_token_id`."""
    token = tokenizer_configuration.get("eos_token")
    if isinstance(token, Mapping):
        token = token.get("content")
    if token is not None and token in (ids := special_token_ids(tokenizer)):
        return ids[token]
    number = configuration.get("eos_token_id")
    if isinstance(number, list):
        number = number[0] if number else None
    return None if number is None else int(number)


def _leading_token(post_processor: Mapping[str, Any] | None) -> int | None:
    """The token that a post-processor puts before a single text."""
    if post_processor is None:
        return None
    if post_processor["type"] == "Sequence":
        tokens = (_leading_token(processor) for processor in post_processor["processors"])
        return next((token for token in tokens if token is not None), None)
    if post_processor["type"] == "TemplateProcessing" and post_processor["single"]:
        first = post_processor["single"][0].get("SpecialToken")
        if first is not None:
            return int(post_processor["special_tokens"][first["id"]]["ids"][0])
    return None
