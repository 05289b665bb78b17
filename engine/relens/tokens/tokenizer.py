"""A tokenizer as the engine sees it: what its tokens spell, and how it encodes a text.

One and the same text ` café` is written in three ways inside vocabularies of the Hugging Face library:

    byte-level BPE (GPT-2)        Ġcaf Ã©          every byte is drawn as one printable character, the space as Ġ
    SentencePiece (Llama-2, T5)   ▁ca f <0xC3> <0xA9>   ▁ is the space, rare characters fall back to bytes
    WordPiece (BERT)              ca ##fe          a token begins a word unless it is marked as continuing one

Here all of them become bytes. Only the `tokenizers` library is imported, never a model, so a process that merely
compiles stays small.

SentencePiece puts a space in front of a text before it encodes it, and drops it when it decodes. WordPiece behaves
the same way once every word is spelled with the space before it. `drops_first_space` says so; a text that
`continues` another gets no such space.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import tokenizers

from relens.errors import ModelError
from relens.tokens.vocabulary import Vocabulary

BYTE_LEVEL = "byte-level BPE"
SENTENCEPIECE = "SentencePiece BPE"
UNIGRAM = "Unigram"
WORDPIECE = "WordPiece"
OTHER = "other"

_FALLBACK_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


def _printable_bytes() -> dict[str, int]:
    """GPT-2's drawing of bytes as printable characters: itself where printable, else 256 upwards."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in printable]
    drawing = {chr(byte): byte for byte in printable}
    drawing.update({chr(256 + position): byte for position, byte in enumerate(hidden)})
    return drawing


BYTE_OF_CHARACTER = _printable_bytes()


def bytes_of_drawing(piece: str) -> bytes | None:
    """The bytes that a byte-level token draws, or None where it draws none and so never encodes a text."""
    try:
        return bytes(BYTE_OF_CHARACTER[character] for character in piece)
    except KeyError:
        return None


def steps(part: Any) -> list[dict[str, Any]]:
    """The steps of a normalizer, pre-tokenizer or decoder of a tokenizer.json, with nested sequences opened up."""
    if not part:
        return []
    if part["type"] != "Sequence":
        return [part]
    for inner in ("normalizers", "pretokenizers", "decoders"):
        if inner in part:
            return [step for item in part[inner] for step in steps(item)]
    return []


class Tokenizer:
    """A tokenizer of the Hugging Face library, its vocabulary as bytes, and its name.

    `begin_of_text` and `end_of_text` are the ids of those tokens, or None: the tokenizer's file does not tell, the
    catalogue of models does. `configuration` is the parsed tokenizer.json; do not write to it.
    """

    def __init__(
        self,
        configuration: dict[str, Any],
        *,
        name: str,
        begin_of_text: int | None = None,
        end_of_text: int | None = None,
    ) -> None:
        self.name = name
        self.begin_of_text = begin_of_text
        self.end_of_text = end_of_text
        self.configuration = configuration
        self.family = _family(configuration)
        self._text = json.dumps(configuration, ensure_ascii=False, sort_keys=True)
        self._backend = _backend(self._text, name)

    @classmethod
    def from_json(
        cls, text: str, *, name: str, begin_of_text: int | None = None, end_of_text: int | None = None
    ) -> Tokenizer:
        """The tokenizer that the text of a tokenizer.json describes. Raises `ModelError` when it describes none."""
        try:
            configuration = json.loads(text)
        except ValueError as error:
            raise ModelError(f"The tokenizer of {name} is not valid JSON: {error}.") from None
        if not isinstance(configuration, dict) or not isinstance(configuration.get("model"), dict):
            raise ModelError(f"The tokenizer of {name} is not a tokenizer.json.")
        return cls(configuration, name=name, begin_of_text=begin_of_text, end_of_text=end_of_text)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        name: str | None = None,
        begin_of_text: int | None = None,
        end_of_text: int | None = None,
    ) -> Tokenizer:
        """The tokenizer in a tokenizer.json or in the folder that has one. Raises `ModelError` when there is none."""
        path = Path(path)
        if path.is_dir():
            path = path / "tokenizer.json"
        try:
            text = path.read_text(encoding="utf-8")
        except OSError:
            raise ModelError(f"There is no tokenizer.json that can be read at {path}.") from None
        return cls.from_json(text, name=name or path.parent.name, begin_of_text=begin_of_text, end_of_text=end_of_text)

    def to_json(self) -> str:
        """The text of the tokenizer.json, for a process that builds the same tokenizer again."""
        return self._text

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that decides how this tokenizer encodes: 64 hexadecimal digits."""
        return hashlib.sha256(self._text.encode()).hexdigest()

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The bytes that each token id spells."""
        return Vocabulary(_token_bytes(self.configuration, self.family, self.size))

    @cached_property
    def size(self) -> int:
        """One more than the greatest token id."""
        return max(self._backend.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    @cached_property
    def special_tokens(self) -> dict[int, str]:
        """The ids that are never text, such as `<|endoftext|>`, with the names they go by."""
        return {token["id"]: token["content"] for token in self._added_tokens if token["special"]}

    @cached_property
    def text_tokens(self) -> dict[int, str]:
        """Added tokens that are text all the same: the tokenizer finds them before it does anything else."""
        return {token["id"]: token["content"] for token in self._added_tokens if not token["special"]}

    @property
    def _added_tokens(self) -> list[dict[str, Any]]:
        return self.configuration.get("added_tokens") or []

    @cached_property
    def drops_first_space(self) -> bool:
        """Whether a text is encoded with a space put before it, which decoding drops."""
        return self.family == WORDPIECE or _adds_first_space(self.configuration)

    def encode(self, text: str, continues: bool = False) -> list[int]:
        """The canonical encoding of `text`: no special token is added, and the name of one is ordinary text.

        With `continues` the text goes on from another one, so no space is put before it.
        """
        backend = self._continuing if continues else self._backend
        return list(backend.encode(text, add_special_tokens=False).ids)

    @cached_property
    def _continuing(self) -> Any:
        if not _adds_first_space(self.configuration):
            return self._backend
        return _backend(json.dumps(_without_first_space(self.configuration)), self.name)

    def decode_bytes(self, token_ids: Sequence[int], continues: bool = False) -> bytes:
        """The bytes that the tokens spell; special tokens spell nothing."""
        spelled = self.vocabulary.token_bytes
        data = b"".join(spelled[token] or b"" for token in token_ids)
        return data[1:] if self.drops_first_space and not continues and data.startswith(b" ") else data

    def decode(self, token_ids: Sequence[int], continues: bool = False) -> str:
        """The text that the tokens spell; bytes that are not valid UTF-8 become U+FFFD."""
        return self.decode_bytes(token_ids, continues).decode("utf-8", errors="replace")

    def is_canonical(self, token_ids: Sequence[int], continues: bool = False) -> bool:
        """Whether the tokenizer itself gives exactly these tokens for the text that they spell."""
        try:
            text = self.decode_bytes(token_ids, continues).decode("utf-8")
        except UnicodeDecodeError:
            return False
        return self.encode(text, continues) == list(token_ids)

    def token_text(self, token: int) -> str:
        """A token for the eye: what it spells, or the name of a special token."""
        spelling = self.vocabulary[token]
        if spelling is not None:
            return spelling.decode("utf-8", errors="replace")
        return self.special_tokens.get(token) or self._backend.id_to_token(token) or ""


def _backend(text: str, name: str) -> Any:
    try:
        backend = tokenizers.Tokenizer.from_str(text)
    except Exception as error:  # the library raises bare Exception
        raise ModelError(f"The tokenizer of {name} cannot be read: {error}.") from None
    backend.no_truncation()
    backend.no_padding()
    backend.encode_special_tokens = True
    return backend


def _family(configuration: dict[str, Any]) -> str:
    model = configuration["model"]
    kind = model.get("type") or ("BPE" if "merges" in model else "")
    if kind == "Unigram":
        return UNIGRAM
    if kind == "WordPiece":
        return WORDPIECE
    if kind != "BPE":
        return OTHER
    parts = [*steps(configuration.get("pre_tokenizer")), *steps(configuration.get("decoder"))]
    if any(step["type"] == "ByteLevel" for step in parts):
        return BYTE_LEVEL
    marks = [*parts, *steps(configuration.get("normalizer"))]
    is_marked = any("▁" in json.dumps(step, ensure_ascii=False) or step["type"] == "Metaspace" for step in marks)
    return SENTENCEPIECE if is_marked else OTHER


def _token_bytes(configuration: dict[str, Any], family: str, size: int) -> list[bytes | None]:
    """What each id spells; see the module's example."""
    model = configuration["model"]
    vocabulary = model["vocab"]
    if isinstance(vocabulary, list):  # Unigram: pieces with their scores
        vocabulary = {piece: token for token, (piece, _) in enumerate(vocabulary)}
    unknown = model.get("unk_token")
    if family == UNIGRAM and model.get("unk_id") is not None:
        unknown = configuration["model"]["vocab"][model["unk_id"]][0]
    spelled: list[bytes | None] = [None] * size
    for piece, token in vocabulary.items():
        if piece != unknown:
            spelled[token] = _spelling(piece, family, model)
    for token in configuration.get("added_tokens") or []:
        spelled[token["id"]] = None if token["special"] else token["content"].encode()
    return spelled


def _spelling(piece: str, family: str, model: dict[str, Any]) -> bytes | None:
    if family == BYTE_LEVEL:
        return bytes_of_drawing(piece)
    if family in (SENTENCEPIECE, UNIGRAM):
        fallback = _FALLBACK_BYTE.fullmatch(piece) if model.get("byte_fallback") else None
        return bytes([int(fallback[1], 16)]) if fallback else piece.replace("▁", " ").encode()
    if family == WORDPIECE:
        mark = model.get("continuing_subword_prefix") or "##"
        return piece.removeprefix(mark).encode() if piece.startswith(mark) else b" " + piece.encode()
    suffix = model.get("end_of_word_suffix")
    return (piece.removesuffix(suffix) + " " if suffix and piece.endswith(suffix) else piece).encode()


def _adds_first_space(configuration: dict[str, Any]) -> bool:
    return any(
        _space_adder(step) for part in ("normalizer", "pre_tokenizer") for step in steps(configuration.get(part))
    )


def _space_adder(step: dict[str, Any]) -> bool:
    kind = step["type"]
    if kind == "Metaspace":
        scheme = step.get("prepend_scheme")
        return scheme in ("always", "first") if scheme is not None else bool(step.get("add_prefix_space", True))
    return kind == "Prepend" or (kind == "ByteLevel" and bool(step.get("add_prefix_space")))


def _without_first_space(configuration: dict[str, Any]) -> dict[str, Any]:
    """The same tokenizer for a text that goes on from another one."""
    changed = copy.copy(configuration)
    for part in ("normalizer", "pre_tokenizer"):
        kept = []
        for step in steps(configuration.get(part)):
            if step["type"] == "Prepend":
                continue
            if step["type"] == "Metaspace":
                step = {**step, "prepend_scheme": "never"}
                step.pop("add_prefix_space", None)
            elif step["type"] == "ByteLevel":
                step = {**step, "add_prefix_space": False}
            kept.append(step)
        inner = "normalizers" if part == "normalizer" else "pretokenizers"
        changed[part] = {"type": "Sequence", inner: kept} if kept else None
    return changed
