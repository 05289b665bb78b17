"""Loading a tokenizer, or a whole model, by name.

    tokenizer = load_tokenizer("smollm2-135m")      # a fraction of a second, torch is not imported
    model = load_model("smollm2-135m")              # seconds; device and number format chosen for the machine

Importing this module is light too: torch and transformers are imported when a model is loaded, so a process that only
compiles queries never pays for them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from relens.errors import ModelError, NotFetchedError
from relens.models import families, files, hub
from relens.models.catalogue import Kind, check_allowed, resolve
from relens.tokens.tokenizer import Tokenizer

if TYPE_CHECKING:
    import torch

    from relens.models.encoder_decoder import EncoderDecoder
    from relens.models.language_model import LanguageModel

#: Called with a few words about the present stage and the fraction done, 0 to 1.
ProgressReport = Callable[[str, float], None]


def load_tokenizer(name: str, *, enforce_allow_list: bool = False, fetch: bool = True) -> Tokenizer:
    """The tokenizer of the model called `name` (a catalogue name, a folder, or a name on the hub).

    Raises `ModelError` for a model that is unknown, not allowed, cannot be fetched or has no tokenizer, and
    `NotFetchedError`, one of these, where `fetch` is False and the tokenizer would have to come from the hub.
    """
    if enforce_allow_list:
        check_allowed(name)
    entry = resolve(name)
    if fetch or entry.kind is not Kind.HUB:
        return read_tokenizer(name, files.model_folder(entry, weights=False))
    folder = hub.here(entry.location, weights=False)
    if folder is None:
        raise NotFetchedError(
            f"The tokenizer of {entry.location!r} is not on this server yet; a run with this model fetches it."
        )
    return read_tokenizer(name, folder)


@lru_cache(maxsize=4)
def tokenizer_for_page(name: str) -> Tokenizer:
    """The tokenizer of an allowed model whose files are here already: typing, or following a link, sends no request.

    The last few stay in memory. Raises the errors of `load_tokenizer`.
    """
    return load_tokenizer(name, enforce_allow_list=True, fetch=False)


def read_tokenizer(name: str, folder: Path) -> Tokenizer:
    """The tokenizer in a model folder, with the begin and end of text of its family.

    A folder without a tokenizer.json, which some older models lack, has its tokenizer converted by transformers.
    """
    path = folder / "tokenizer.json"
    contents = files.read_json(path) or files.parse_json(_converted_tokenizer(folder), path)
    configuration = files.read_json(folder / "config.json")
    tokenizer_configuration = files.read_json(folder / "tokenizer_config.json")
    return Tokenizer(
        contents,
        name=name,
        begin_of_text=families.begin_of_text(configuration, contents),
        end_of_text=families.end_of_text(configuration, contents, tokenizer_configuration),
    )


def load_model(
    name: str,
    *,
    device: str | torch.device | None = None,
    dtype: str | torch.dtype | None = None,
    progress: ProgressReport | None = None,
    enforce_allow_list: bool = False,
) -> LanguageModel:
    """The causal language model called `name`, ready for scoring.

    `device` is cpu, cuda, cuda:1 or mps (default: RELENS_DEVICE, else the best available); `dtype` is float32, bfloat16
    or float16 (default: RELENS_DTYPE, else float32 on a CPU and bfloat16 elsewhere). `progress` gets each stage, and
    the size of a download from the hub.
    Raises `ModelError`, with one sentence, for any model that cannot be loaded.
    """
    report = progress or (lambda stage, fraction: None)
    if enforce_allow_list:
        check_allowed(name)
    entry = resolve(name)
    report("Finding the model's files", 0.0)
    folder = files.model_folder(entry, weights=True, report=lambda stage: report(stage, 0.0))
    report("Reading the tokenizer", 0.1)
    tokenizer = read_tokenizer(name, folder)
    report("Starting the machinery", 0.2)
    from relens.models import hardware, network
    from relens.models.language_model import LanguageModel

    chosen_device = hardware.choose_device(device)
    chosen_dtype = hardware.choose_dtype(dtype, chosen_device)
    hardware.use_physical_cores(chosen_device)
    report("Loading the weights", 0.3)
    module = network.load_network(name, folder, chosen_device, chosen_dtype)
    report("Checking how the model can be scored", 0.8)
    model = LanguageModel(name, tokenizer, module, fingerprint=files.fingerprint(folder, tokenizer.fingerprint))
    report("Ready", 1.0)
    return model


def load_encoder_decoder(
    name: str,
    *,
    device: str | torch.device | None = None,
    dtype: str | torch.dtype | None = None,
    enforce_allow_list: bool = False,
) -> EncoderDecoder:
    """The model called `name` that turns one sequence into another (T5, BART); all else is as for `load_model`."""
    if enforce_allow_list:
        check_allowed(name)
    folder = files.model_folder(resolve(name), weights=True)
    tokenizer = read_tokenizer(name, folder)
    from relens.models import hardware, network
    from relens.models.encoder_decoder import EncoderDecoder

    chosen_device = hardware.choose_device(device)
    chosen_dtype = hardware.choose_dtype(dtype, chosen_device)
    hardware.use_physical_cores(chosen_device)
    module = network.load_encoder_decoder_network(name, folder, chosen_device, chosen_dtype)
    return EncoderDecoder(name, tokenizer, module, fingerprint=files.fingerprint(folder, tokenizer.fingerprint))


def _converted_tokenizer(folder: Path) -> str:
    """The contents of a tokenizer.json made by transformers from older files."""
    if not any((folder / file).is_file() for file in ("vocab.json", "vocab.txt", "tokenizer.model")):
        raise ModelError(f"The folder {folder} has no tokenizer: there is no tokenizer.json in it.")
    from transformers import AutoTokenizer

    try:
        converted = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
        return str(converted.backend_tokenizer.to_str())
    except Exception as error:  # transformers raises whatever its many converters raise
        raise ModelError(f"The tokenizer in {folder} cannot be read ({type(error).__name__}).") from error
