"""Readings of tokens against a sort of the whole distribution."""

import pytest
import torch

from relens.errors import ModelError
from relens.models.inspect import inspect_tokens
from relens.models.language_model import LanguageModel
from relens.models.loading import load_model
from tests.engine.models.tiny import CONTEXT, VOCABULARY, direct, save_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    return load_model(str(save_model("llama", tmp_path_factory.mktemp("llama"), begin="<s>")), device="cpu")


def top_ten(log_probs: torch.Tensor) -> torch.Tensor:
    return log_probs >= log_probs.topk(10, dim=1).values[:, -1:]


@pytest.mark.parametrize("begin", [True, False])
def test_each_token_is_read_in_its_place(model: LanguageModel, begin: bool) -> None:
    token_ids = model.tokenizer.encode("the cat sat on a mat")
    readings = inspect_tokens(model, token_ids, begin, top_ten)
    assert [reading.token_id for reading in readings] == token_ids
    assert "".join(reading.text for reading in readings).replace("␣", " ").endswith("mat")
    for place, reading in enumerate(readings):
        before = ([2] if begin else []) + token_ids[:place]
        if not before:
            assert (reading.log_prob, reading.rank, reading.allowed, reading.top) == (None, None, None, ())
            continue
        distribution = direct("llama", before)
        order = sorted(range(VOCABULARY), key=lambda token: -float(distribution[token]))
        assert reading.log_prob == pytest.approx(float(distribution[token_ids[place]]), abs=1e-4)
        assert reading.rank == order.index(token_ids[place]) + 1
        assert reading.allowed == (reading.rank <= 10)
        assert [other.token_id for other in reading.top] == order[:5]
        assert [other.log_prob for other in reading.top] == pytest.approx(
            [float(distribution[token]) for token in order[:5]], abs=1e-4
        )


def test_refusals(model: LanguageModel) -> None:
    assert inspect_tokens(model, [], True, top_ten) == ()
    with pytest.raises(ModelError, match="no token with the id 61"):
        inspect_tokens(model, [1, VOCABULARY], True, top_ten)
    with pytest.raises(ModelError, match="longer than the model"):
        inspect_tokens(model, [5] * (CONTEXT + 1), True, top_ten)
    assert len(inspect_tokens(model, [5] * CONTEXT, True, top_ten)) == CONTEXT
    assert len(inspect_tokens(model, [5], False, top_ten)) == 1
