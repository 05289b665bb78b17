"""What a forward knows of its network before anything is scored."""

from __future__ import annotations

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from relens.models.forward import Forward


@pytest.mark.parametrize(
    ("rotation", "length"),
    [
        ({"rope_type": "default", "rope_theta": 10_000.0}, 128),
        ({"rope_type": "linear", "rope_theta": 10_000.0, "factor": 2.0}, 128),
        (
            {
                "rope_type": "dynamic",
                "rope_theta": 10_000.0,
                "factor": 2.0,
                "original_max_position_embeddings": 64,
            },
            64,
        ),
    ],
)
def test_the_context_ends_where_positions_change_their_meaning(rotation, length):
    configuration = LlamaConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=128,
        rope_parameters=rotation,
    )
    torch.manual_seed(0)
    assert Forward(LlamaForCausalLM(configuration).eval()).context_length == length
