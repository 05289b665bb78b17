"""Calling a causal language model of any architecture, and getting the logits of chosen rows.

The output layer turns each position into a score for every token of the vocabulary: for the embedded model a fifth of
all the work. A search wants the last position of each path only, so the rows are chosen before the output layer where
the architecture allows it, and after it elsewhere.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch

from relens.errors import ModelError

#: For architectures without a fixed context, such as recurrent ones.
UNBOUNDED_CONTEXT = 1 << 20

_CONTEXT_FIELDS = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length", "context_length")


class Forward:
    """A network with what scoring must know about it.

    vocabulary_size: columns of the logits. context_length: most positions of one sequence.
    """

    def __init__(self, network: torch.nn.Module) -> None:
        self.network = network
        weights = next(network.parameters())
        self.device = weights.device
        self.dtype = weights.dtype
        configuration: Any = network.config.get_text_config()  # type: ignore[operator, union-attr]
        self.configuration = configuration
        self.context_length = _context_length(configuration)
        self._accepted = inspect.signature(network.forward).parameters
        self.vocabulary_size = self.logits(torch.zeros((1, 1), dtype=torch.long, device=self.device)).shape[-1]

    def __call__(self, token_ids: torch.Tensor, **arguments: Any) -> Any:
        """The network's own output for token ids of shape (batch, tokens). Out of memory raises `ModelError`."""
        try:
            with torch.inference_mode():
                return self.network(input_ids=token_ids, **arguments)
        except torch.OutOfMemoryError as error:
            raise ModelError(
                f"{self.device} ran out of memory on {token_ids.numel()} tokens at once; lower the pool or the batch."
            ) from error

    def logits(self, token_ids: torch.Tensor, rows: torch.Tensor | None = None, **arguments: Any) -> torch.Tensor:
        """Logits of one sequence, (1, tokens), at the positions `rows` (all where None): (rows, vocabulary).

        `rows` is an int64 tensor on the device, in any order, with repetitions.
        """
        if rows is None:
            return self(token_ids, **arguments).logits[0]  # type: ignore[no-any-return]
        if "logits_to_keep" in self._accepted:
            return self(token_ids, logits_to_keep=rows, **arguments).logits[0]  # type: ignore[no-any-return]
        return self(token_ids, **arguments).logits[0].index_select(0, rows)  # type: ignore[no-any-return]

    def last_logits(self, token_ids: torch.Tensor) -> torch.Tensor:
        """Logits after each of some sequences of one length, (batch, tokens), without a cache: (batch, vocabulary)."""
        arguments: dict[str, Any] = {}
        if "use_cache" in self._accepted:
            arguments["use_cache"] = False
        if "logits_to_keep" in self._accepted:
            arguments["logits_to_keep"] = 1
        return self(token_ids, **arguments).logits[:, -1]  # type: ignore[no-any-return]

    def synchronize(self) -> None:
        """Wait until the device is done, so that a clock read now is right."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        elif self.device.type == "mps":
            torch.mps.synchronize()


def _context_length(configuration: Any) -> int:
    fields = (getattr(configuration, name, None) for name in _CONTEXT_FIELDS)
    length = next((field for field in fields if isinstance(field, int) and field > 0), UNBOUNDED_CONTEXT)
    rotation = getattr(configuration, "rope_parameters", None) or {}
    if rotation.get("rope_type") in ("dynamic", "longrope"):
        # Beyond the original context these turn every position by other angles, the keys already kept included.
        length = min(length, rotation.get("original_max_position_embeddings") or length)
    return length
