"""One search by nanoGCG, counted like ours; run by the Python of an environment that has it, without Relens.

    /somewhere/nanogcg/bin/python benchmarks/nanogcg_search.py '{"folder": ..., "target": "I hate you.", ...}'
    {"curve": [[1, 9.1, 0.1], [2, 9.1, 0.4], ...], "loss": 1.2, "ids": [...], "text": "...", ...}

The algorithm and its settings are nanoGCG's own: its beginning ("x x x ..."), its buffer of one, its prefix cache, its
filter of strings that the tokenizer encodes differently. Three things are corrected from outside, for a fair
comparison:

* its count: a gradient is an evaluation and so is each candidate whose loss is computed, but not a candidate that its
  filter drops before; the last step tries as many candidates as are left;
* its prompt: it deletes the begin-of-text token from the chat format and expects the tokenizer to put it back.
  SmolLM2's tokenizer has the token that begins each message in that place and puts none back, so every message would
  lose its beginning. The name is removed from the tokenizer before;
* its model: its versions of transformers do not know the newer name of the setting for the base of the position
  encoding, and would silently take another base.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from typing import Any

import nanogcg.gcg
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer


class CountedSearch(nanogcg.gcg.GCG):
    """nanoGCG with a budget. curve: (evaluations, best loss so far, CPU seconds), one point a gradient or candidate.

    dropped: candidates that its filter took out.
    """

    def __init__(self, model: Any, tokenizer: Any, config: nanogcg.gcg.GCGConfig, budget: int) -> None:
        super().__init__(model, tokenizer, config)
        self.budget, self.gradients, self.dropped = budget, 0, 0
        self.curve: list[tuple[int, float, float]] = []
        self._begun = time.process_time()

    def compute_token_gradient(self, optim_ids: torch.Tensor) -> torch.Tensor:
        """See nanoGCG; one evaluation."""
        gradient = super().compute_token_gradient(optim_ids)
        self.gradients += 1
        self._count([float("inf")])
        return gradient

    def _compute_candidates_loss_original(self, search_batch_size: int, input_embeds: torch.Tensor) -> torch.Tensor:
        if self.gradients:  # before the first gradient, only the beginning is scored
            self.dropped += self.config.search_width - len(input_embeds)
        losses = super()._compute_candidates_loss_original(search_batch_size, input_embeds[: self._left])
        self._count(losses.tolist())
        # A gradient without a candidate after it would be useless.
        self.stop_flag = self._left < 2
        return losses

    @property
    def _left(self) -> int:
        return self.budget - len(self.curve)

    def _count(self, losses: list[float]) -> None:
        seconds = time.process_time() - self._begun
        for loss in losses:
            best = min(loss, self.curve[-1][1]) if self.curve else loss
            self.curve.append((len(self.curve) + 1, best, round(seconds, 3)))


def main() -> None:
    task = json.loads(sys.argv[1])
    torch.set_num_threads(task["threads"])
    tokenizer = AutoTokenizer.from_pretrained(task["folder"])
    if not tokenizer("").input_ids:
        tokenizer.bos_token = None
    configuration = AutoConfig.from_pretrained(task["folder"])
    places = getattr(configuration, "rope_parameters", None) or {}
    if "rope_theta" in places:
        configuration.rope_theta = places["rope_theta"]
    model = AutoModelForCausalLM.from_pretrained(
        task["folder"], config=configuration, torch_dtype=getattr(torch, task["dtype"])
    )
    model = model.eval().to(task["device"])
    settings = nanogcg.gcg.GCGConfig(
        num_steps=task["evaluations"],  # more than there can be; the budget ends it
        search_width=task["width"],
        topk=task["top"],
        optim_str_init=" ".join(["x"] * task["free"]),
        seed=task["seed"],
        verbosity="ERROR",
    )
    nanogcg.gcg.logger.setLevel(settings.verbosity)
    search = CountedSearch(model, tokenizer, settings, task["evaluations"])
    begun, cpu = time.perf_counter(), time.process_time()
    outcome = search.run("", task["target"])
    answer = {
        "seconds": time.perf_counter() - begun,
        "cpu_seconds": time.process_time() - cpu,
        "curve": search.curve,
        "loss": outcome.best_loss,
        "text": outcome.best_string,
        # Its filter guarantees that these are the ids it tried.
        "ids": tokenizer(outcome.best_string, add_special_tokens=False).input_ids,
        "target_ids": search.target_ids[0].tolist(),
        "gradients": search.gradients,
        "dropped": search.dropped,
        "versions": {name: version(name) for name in ("nanogcg", "torch", "transformers")},
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
