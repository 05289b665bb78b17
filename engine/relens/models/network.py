"""Reading a model's weights into memory, or saying in one sentence why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
from transformers.utils import logging

from relens.errors import ModelError


def load_network(name: str, folder: Path, device: torch.device, dtype: torch.dtype) -> torch.nn.Module:
    """The network in a model folder, on `device` in `dtype`, ready for inference.

    Raises `ModelError` for a model that is not a causal language model, that needs code of its own, that has damaged
    weights, or that does not fit in memory.
    """
    configuration = _configuration(name, folder)
    _check_causal(name, configuration)
    return _load(name, folder, device, dtype, configuration, AutoModelForCausalLM)


def load_encoder_decoder_network(name: str, folder: Path, device: torch.device, dtype: torch.dtype) -> torch.nn.Module:
    """The same of a model that turns one sequence into another. Raises `ModelError` for any other kind."""
    configuration = _configuration(name, folder)
    if not configuration.is_encoder_decoder:
        raise ModelError(f"The model {name!r} continues text; a model that turns one sequence into another is needed.")
    return _load(name, folder, device, dtype, configuration, AutoModelForSeq2SeqLM)


def _configuration(name: str, folder: Path) -> Any:
    try:
        return AutoConfig.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
    except Exception as error:  # whatever a broken configuration sets off inside transformers
        raise ModelError(
            f"The model {name!r} is of a kind that transformers does not know without running code of its own."
        ) from error


def _load(
    name: str, folder: Path, device: torch.device, dtype: torch.dtype, configuration: Any, kind: Any
) -> torch.nn.Module:
    """kind: the class of transformers that makes such models."""
    logging.disable_progress_bar()
    try:
        network, loaded = kind.from_pretrained(
            str(folder),
            config=configuration,
            dtype=dtype,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
        )
        if loaded["missing_keys"]:
            raise ModelError(f"The weights of {name!r} are incomplete: {min(loaded['missing_keys'])} is missing.")
        network.eval().requires_grad_(False)
        return network.to(device)  # type: ignore[no-any-return]
    except ModelError:
        raise
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise ModelError(f"The model {name!r} does not fit in the memory of {device}.") from error
    except RuntimeError as error:
        if "memory" in str(error):
            raise ModelError(f"The model {name!r} does not fit in the memory of {device}.") from error
        raise ModelError(f"The weights of {name!r} do not fit its configuration.") from error
    except Exception as error:  # safetensors and transformers have no common base of exceptions
        raise ModelError(f"The weights of {name!r} cannot be read ({type(error).__name__}).") from error


def _check_causal(name: str, configuration: Any) -> None:
    if configuration.is_encoder_decoder:
        raise ModelError(f"The model {name!r} turns one sequence into another; a model that continues text is needed.")
    causal = set(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values())
    architectures = configuration.architectures or [MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(configuration.model_type)]
    if not causal.intersection(architectures):
        raise ModelError(f"The model {name!r} does not continue text: it is an encoder or of another kind.")
