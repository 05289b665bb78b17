"""Memory for keys and values, one row per token, shared by every path that contains the token.

A transformer's attention reads, for each earlier token, a key and a value in every layer. transformers keeps them in a
`Cache` whose `update` is called once a layer with the new tokens' keys and values and returns everything to attend to.
`TreeCache` answers that call from a pool: it writes the new rows to their slots, then gathers the rows of whatever
nodes this forward attends to, in any order. The order carries no meaning, because positions were rotated or added into
the keys before they came here, and the mask says who may see whom.

`KeyValuePool` grows by doubling up to its budget, so a small search never holds a large pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from transformers.cache_utils import Cache


@dataclass(frozen=True)
class LayerShape:
    """What one layer keeps of one token: `heads` keys of `key_size` numbers and as many values of `value_size`."""

    heads: int
    key_size: int
    value_size: int


@dataclass(frozen=True)
class SlotShape:
    """What a model keeps of one token, all layers together."""

    layers: tuple[LayerShape, ...]
    dtype: torch.dtype

    @property
    def bytes(self) -> int:
        """Memory of one slot in bytes."""
        numbers = sum(layer.heads * (layer.key_size + layer.value_size) for layer in self.layers)
        return numbers * self.dtype.itemsize


class KeyValuePool:
    """Keys and values of each layer: tensors of shape (slots, heads, size), at most `limit` slots."""

    def __init__(self, shape: SlotShape, device: torch.device, budget_bytes: int) -> None:
        self.limit = budget_bytes // shape.bytes
        self.slots = 0
        self.keys = [_empty(0, layer.heads, layer.key_size, shape.dtype, device) for layer in shape.layers]
        self.values = [_empty(0, layer.heads, layer.value_size, shape.dtype, device) for layer in shape.layers]

    def ensure(self, slots: int) -> None:
        """Make room for the first `slots` slots, which must be within the limit."""
        if slots <= self.slots:
            return
        self.slots = min(self.limit, max(slots, 2 * self.slots, 256))
        # One layer at a time, so that the peak is one layer above the budget and not twice the budget.
        for tensors in (self.keys, self.values):
            for layer, old in enumerate(tensors):
                tensors[layer] = _empty(self.slots, old.shape[1], old.shape[2], old.dtype, old.device)
                tensors[layer][: len(old)] = old


class TreeCache(Cache):  # type: ignore[misc]  # transformers has no types
    """One forward's view of a pool: new tokens go to the slots `write`, attention sees the slots `read`.

    write: (new,) and read: (seen,), int64 on the pool's device; `read` contains all of `write`.
    """

    def __init__(self, pool: KeyValuePool, write: torch.Tensor, read: torch.Tensor) -> None:
        super().__init__(layers=[])
        self.pool = pool
        self.write = write
        self.read = read

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: object, **kwargs: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Store (1, heads, new, size) keys and values; return those of shape (1, heads, seen, size) to attend to."""
        return (
            self._exchange(self.pool.keys[layer_idx], key_states),
            self._exchange(self.pool.values[layer_idx], value_states),
        )

    def _exchange(self, rows: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        rows.index_copy_(0, self.write, new[0].transpose(0, 1))
        return rows.index_select(0, self.read).transpose(0, 1).unsqueeze(0)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Number of tokens seen that are not new."""
        return len(self.read) - len(self.write)

    def get_mask_sizes(self, query_length: int, layer_idx: int = 0) -> tuple[int, int]:
        """Length and offset of what attention sees; the mask itself is always given, so these only describe it."""
        return len(self.read), 0


def slot_shape(keys_and_values: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> SlotShape:
    """The shape of a slot from one forward's keys and values, (1, heads, tokens, size) each, one pair a layer."""
    return SlotShape(
        layers=tuple(
            LayerShape(heads=keys.shape[1], key_size=keys.shape[3], value_size=values.shape[3])
            for keys, values in keys_and_values
        ),
        dtype=keys_and_values[0][0].dtype,
    )


def _empty(slots: int, heads: int, size: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    return torch.empty((slots, heads, size), dtype=dtype, device=device)
