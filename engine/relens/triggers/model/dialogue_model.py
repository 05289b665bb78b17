"""A trained dialogue model as one folder, with everything that a search for triggers needs.

    dialogue-models/chitchat/
        model.json                  shapes, thresholds T_out and T_in, and its training
        vocabulary.json             its words
        seq2seq.safetensors         the dialogue model
        sentence_model.safetensors  the model of inputs
        texts.safetensors           the replies of the training, and the held-out pairs, as ids

The texts answer questions about a trigger: was the target seen in training, which replies have new inputs? A folder may
come from a stranger, so it is JSON and safetensors only, within limits. Each tensor must have the name, shape and type
that model.json asks for, and each number must be finite.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from relens.errors import ModelError, QueryError
from relens.record import Record
from relens.triggers.hits import Thresholds
from relens.triggers.model.batches import SOURCE_LENGTH, EncodedPairs
from relens.triggers.model.dialogue_losses import DialogueLosses, DialoguePrompt, SentenceCosts
from relens.triggers.model.model_list import MODEL, MOST_JSON_BYTES, VOCABULARY, Training, model_folder, model_names
from relens.triggers.model.sentence_model import SentenceModel, SentenceModelConfiguration
from relens.triggers.model.seq2seq import Seq2Seq, Seq2SeqConfiguration
from relens.triggers.model.vocabulary import BEGIN, END, PAD, WordVocabulary

SEQ2SEQ, SENTENCE_MODEL, TEXTS = "seq2seq.safetensors", "sentence_model.safetensors", "texts.safetensors"

#: Bytes of a file of tensors.
MOST_TENSOR_BYTES = 4 << 30


@dataclass(frozen=True)
class DialogueConfiguration(Record):
    """The shapes of both models; source_length: ids of an input."""

    seq2seq: Seq2SeqConfiguration
    sentence_model: SentenceModelConfiguration
    source_length: int = SOURCE_LENGTH

    def __post_init__(self) -> None:
        if self.seq2seq.vocabulary_size != self.sentence_model.vocabulary_size:
            raise QueryError("The two parts of a dialogue model have the same vocabulary.")
        if not 2 <= self.source_length <= 1000:
            raise QueryError(f"An input has between 2 and 1,000 ids, not {self.source_length}.")


@dataclass(frozen=True)
class DialogueTexts:
    """Text of the corpus as ids. responses: int32 (ids,), the replies of the training, each with `END` behind it.

    test_sources: int32 (pairs, n); test_targets: int32 (pairs, m + 1), as in `relens.triggers.model.batches`.
    """

    responses: torch.Tensor
    test_sources: torch.Tensor
    test_targets: torch.Tensor

    @classmethod
    def of_pairs(cls, replies: Iterable[Sequence[int]], test: EncodedPairs) -> Self:
        """The texts of the replies of the training, whole and without `END`, and of the held-out pairs."""
        ids = [number for reply in replies for number in (*reply, END)]
        longest = max(map(len, test.targets))
        targets = [[*row, *[PAD] * (longest - len(row))] for row in test.targets]
        return cls(*(torch.tensor(rows, dtype=torch.int32) for rows in (ids, list(test.sources), targets)))

    @cached_property
    def replies(self) -> list[tuple[int, ...]]:
        """The replies of the training, without `END`."""
        replies, begin = [], 0
        ids = self.responses.tolist()
        for place, number in enumerate(ids):
            if number == END:
                replies.append(tuple(ids[begin:place]))
                begin = place + 1
        return replies


@dataclass(frozen=True)
class DialogueModel:
    """A trained dialogue model; both networks in evaluation mode."""

    vocabulary: WordVocabulary
    seq2seq: Seq2Seq
    sentence_model: SentenceModel
    thresholds: Thresholds
    configuration: DialogueConfiguration
    texts: DialogueTexts
    training: Training = field(default_factory=Training)

    def __post_init__(self) -> None:
        if len(self.vocabulary) != self.configuration.seq2seq.vocabulary_size:
            raise ModelError("The dialogue model and its vocabulary have different numbers of words.")
        self.seq2seq.eval()
        self.sentence_model.eval()

    @property
    def device(self) -> torch.device:
        """The device of both networks."""
        return self.seq2seq.output.weight.device

    def losses(self, target: Sequence[int]) -> tuple[DialogueLosses, SentenceCosts]:
        """The losses of a target, ids with `END`, and the costs of inputs by themselves."""
        prompt = DialoguePrompt(self.vocabulary, target, self.configuration.source_length)
        return DialogueLosses.of_prompt(self.seq2seq, prompt), SentenceCosts(self.sentence_model, prompt)

    @cached_property
    def fingerprint(self) -> str:
        """A short name for exactly these words, weights and thresholds: 16 hexadecimal digits."""
        digest = hashlib.sha256(self.vocabulary.fingerprint.encode())
        digest.update(json.dumps([self.configuration.to_json(), self.thresholds.to_json()], sort_keys=True).encode())
        for model in (self.seq2seq, self.sentence_model):
            for name, tensor in sorted(model.state_dict().items()):
                digest.update(name.encode())
                digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()[:16]

    def save(self, folder: Path) -> None:
        """Write the folder, whole, in place of an older one. Raises `ModelError`."""
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
            before = unfinished.with_name(f"{unfinished.name}.before")
            try:
                self._write(unfinished)
                if folder.is_dir():
                    os.replace(folder, before)
                os.replace(unfinished, folder)
            except BaseException:
                if before.is_dir():
                    os.replace(before, folder)
                raise
            finally:
                shutil.rmtree(unfinished, ignore_errors=True)
                shutil.rmtree(before, ignore_errors=True)
        except OSError as error:
            raise ModelError(f"The dialogue model cannot be written to {folder} ({error.strerror}).") from error

    def _write(self, folder: Path) -> None:
        description = {
            "configuration": self.configuration.to_json(),
            "thresholds": self.thresholds.to_json(),
            "training": self.training.to_json(),
            "fingerprint": self.fingerprint,
        }
        (folder / MODEL).write_text(json.dumps(description, indent=1), encoding="utf-8")
        (folder / VOCABULARY).write_text(json.dumps(self.vocabulary.to_json()), encoding="utf-8")
        for name, model in ((SEQ2SEQ, self.seq2seq), (SENTENCE_MODEL, self.sentence_model)):
            save_file({key: value.cpu().contiguous() for key, value in model.state_dict().items()}, folder / name)
        save_file({name: getattr(self.texts, name) for name in _TEXT_NAMES}, folder / TEXTS)

    @classmethod
    def load(cls, folder: Path, device: torch.device | str = "cpu") -> Self:
        """The model in a folder. Raises `ModelError` for a folder that is wrong in any way."""
        if not folder.is_dir():
            raise ModelError(f"There is no dialogue model in {folder}.")
        description = _read_json(folder / MODEL)
        try:
            configuration = DialogueConfiguration.from_json(description.get("configuration", {}))
            thresholds = Thresholds.from_json(description.get("thresholds", {}))
            training = Training.from_json(description.get("training", {}))
            vocabulary = WordVocabulary.from_json(_read_json(folder / VOCABULARY))
        except QueryError as error:
            raise ModelError(f"The dialogue model in {folder} is described wrongly: {error.sentence}") from error
        if len(vocabulary) != configuration.seq2seq.vocabulary_size:
            raise ModelError(f"The dialogue model in {folder} and its vocabulary have different numbers of words.")
        with torch.device("meta"):  # shapes alone: a stranger's file allocates nothing
            seq2seq, sentence_model = Seq2Seq(configuration.seq2seq), SentenceModel(configuration.sentence_model)
        models: tuple[nn.Module, nn.Module] = (seq2seq, sentence_model)
        for model, name in zip(models, (SEQ2SEQ, SENTENCE_MODEL), strict=True):
            model.load_state_dict(_read_weights(folder / name, model), assign=True)
            model.to(device).requires_grad_(True)
        texts = _read_texts(folder / TEXTS, len(vocabulary), configuration.source_length)
        return cls(vocabulary, seq2seq, sentence_model, thresholds, configuration, texts, training)


def load_dialogue_model(name: str, device: torch.device | str = "cpu") -> DialogueModel:
    """The model of that name. Raises `QueryError` and `ModelError`."""
    folder = model_folder(name)
    if not folder.is_dir():
        known = ", ".join(model_names()) or "none"
        raise ModelError(f"There is no dialogue model called {name!r}; there are: {known}.")
    return DialogueModel.load(folder, device)


# --- reading a stranger's files ---------------------------------------------------------------------------

_TEXT_NAMES = ("responses", "test_sources", "test_targets")


def _read_json(path: Path) -> Mapping[str, Any]:
    try:
        if path.stat().st_size > MOST_JSON_BYTES:
            raise ModelError(f"The file {path} is larger than {MOST_JSON_BYTES:,} bytes.")
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"The file {path} cannot be read as JSON.") from error
    if not isinstance(read, dict):
        raise ModelError(f"The file {path} does not hold a JSON object.")
    return read


def _read_tensors(path: Path) -> dict[str, torch.Tensor]:
    try:
        if path.stat().st_size > MOST_TENSOR_BYTES:
            raise ModelError(f"The file {path} is larger than {MOST_TENSOR_BYTES:,} bytes.")
        tensors: dict[str, torch.Tensor] = load_file(path)
    except (OSError, SafetensorError, ValueError) as error:
        raise ModelError(f"The file {path} cannot be read as safetensors.") from error
    return tensors


def _read_weights(path: Path, model: nn.Module) -> dict[str, torch.Tensor]:
    """The weights in a file, exactly those of the model."""
    wanted = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    try:
        with safe_open(path, "pt") as file:
            shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise ModelError(f"The file {path} cannot be read as safetensors.") from error
    if shapes != wanted:
        odd = sorted(name for name in {*shapes, *wanted} if shapes.get(name) != wanted.get(name))
        raise ModelError(f"The weights in {path} are not those of its configuration: {odd[0][:80]!r} differs.")
    tensors = _read_tensors(path)
    for name, tensor in tensors.items():
        if tensor.dtype != torch.float32 or not bool(torch.isfinite(tensor).all()):
            raise ModelError(f"The weights in {path} are finite float32 numbers, but those of {name!r} are not.")
    return tensors


def _read_texts(path: Path, size: int, source_length: int) -> DialogueTexts:
    tensors = _read_tensors(path)
    dimensions = {name: tensor.dim() for name, tensor in tensors.items()}
    if dimensions != dict(zip(_TEXT_NAMES, (1, 2, 2), strict=True)):
        raise ModelError(f"The file {path} does not hold the texts of a dialogue model.")
    for tensor in tensors.values():
        if tensor.dtype != torch.int32 or (tensor.numel() and not 0 <= int(tensor.min()) <= int(tensor.max()) < size):
            raise ModelError(f"The texts in {path} are not words of its vocabulary.")
    sources, targets = tensors["test_sources"], tensors["test_targets"]
    fits = sources.shape[1] == source_length and len(sources) == len(targets) and targets.shape[1] > 1
    if not fits or bool((targets[:, 0] != BEGIN).any()):
        raise ModelError(f"The texts in {path} are no pairs of its configuration.")
    return DialogueTexts(*(tensors[name] for name in _TEXT_NAMES))
