"""Triggers for a causal model: the loss after so many evaluations, two searches side by side.

    python -m benchmarks.triggers_causal [--targets 5] [--seeds 3] [--evaluations 512 1024 2048] [--output curves.jsonl]

Twenty free tokens in the chat format of the embedded model, five mild targets, three seeds. Both searches run in one
harness: the same costs, the same tokens allowed, the same check that a trigger is what the tokenizer makes of its text,
and the same count, in which a gradient is an evaluation too. The loss is the mean cost of the target's tokens, in nats,
without the end of the text. Each search is one line of JSON as soon as it is done, with its whole curve; a run that was
cut short goes on where it was, when `--output` names the same file.

To compare with nanoGCG itself, install it in an environment of its own, because it needs other versions,

    python -m venv /somewhere/nanogcg && /somewhere/nanogcg/bin/pip install nanogcg==0.3.0 torch==2.13.0
    python -m benchmarks.triggers_causal --methods coordinate nanoGCG --nanogcg /somewhere/nanogcg/bin/python

and it is run there (`benchmarks.nanogcg_search`) on the same model folder, targets and seeds, with as many candidates
a step as our "gcg", on one thread as here. Both clocks start when model and alphabet are ready.

The best trigger of every search is scored again, plainly and in float32 (`scored_again`). If that differs from
nanoGCG's own loss by more than rounding, the two did not do the same and the benchmark ends there. `--dtype bfloat16`
is for processors that are faster with it, and for accelerators; both searches then use it.

`bars` gives the number of pairs of target and seed in which the coordinate search has the lower loss at each count, and
in which it took less time; all pairs are reported.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks import machine
from relens import load_model
from relens.models.language_model import LanguageModel
from relens.triggers.causal.causal_study import TARGETS, CausalTriggerStudy
from relens.triggers.causal.coordinate import CoordinateSearch
from relens.triggers.causal.gcg import GreedyCoordinateGradient
from relens.triggers.hits import HitType, Thresholds

MODEL = "smollm2-135m"
METHODS = {
    "coordinate": CoordinateSearch(),
    "coordinate, plain": CoordinateSearch(temperature=0.0, kick=1.0, tries_again=True),
    "gcg": GreedyCoordinateGradient(),
}
OURS, OTHER = "coordinate", "nanoGCG"

#: Nats between nanoGCG's loss of a trigger and ours in float32 that are still rounding.
ROUNDING = {"float32": 1e-3, "bfloat16": 0.3}

#: The fields that identify a search.
KEY = ("method", "target", "seed", "allowed", "dtype")

#: Evaluations, the best loss so far, and CPU seconds.
Curve = list[tuple[int, float, float]]


def study_of(target: str, method: CoordinateSearch | GreedyCoordinateGradient, evaluations: int) -> CausalTriggerStudy:
    """The study of one search: with epsilon 1 the cost is the plain mean, and no trigger reaches a threshold of 0."""
    return CausalTriggerStudy(
        targets=(target,),
        hit_type=HitType("o", "avg"),
        ends=False,
        method=method,
        evaluations=evaluations,
        epsilon=1.0,
        thresholds=Thresholds(0.0, 0.0),
    )


def scored_again(trigger: Sequence[int], target: str, exact: LanguageModel) -> dict[str, Any]:
    """A trigger scored again: by the model in float32, with nothing shared or cut off."""
    trial, _ = study_of(target, METHODS[OURS], 1).prepare(target, 0, exact)
    reply = trial.losses.greedy(trigger, len(trial.prompt.target) + 8)
    return {
        "ids": list(trigger),
        "text": trial.prompt.text(trigger),
        "survives": trial.prompt.survives(trigger),
        "scored_again": float(trial.losses.plainly(trigger).costs.mean()),
        "reply": exact.tokenizer.decode([token for token in reply if token < exact.tokenizer.size], continues=True),
    }


def searched(
    model: LanguageModel, method: CoordinateSearch | GreedyCoordinateGradient, target: str, seed: int, evaluations: int
) -> dict[str, Any]:
    """One search by one of our methods."""
    trial, _ = study_of(target, method, evaluations).prepare(target, seed, model)
    begun, cpu = time.perf_counter(), time.process_time()
    curve: Curve = []
    for _ in method.steps(trial):
        curve.append((trial.evaluations, trial.value, round(time.process_time() - cpu, 3)))
    return {
        "curve": curve,
        "ids": list(trial.best),
        "loss": trial.value,
        "evaluations": trial.evaluations,
        "gradients": trial.gradients,
        "dropped": trial.dropped,
        "restarts": trial.restarts,
        "seconds": round(time.perf_counter() - begun, 2),
        "cpu_seconds": curve[-1][2],
    }


def nanogcg(python: str, model: LanguageModel, target: str, seed: int, evaluations: int) -> dict[str, Any]:
    """One search by nanoGCG in its own environment."""
    from relens.models.catalogue import resolve
    from relens.models.files import model_folder

    ours = GreedyCoordinateGradient()
    task = {
        "folder": str(model_folder(resolve(model.name), weights=True)),
        "device": str(model.device),
        "dtype": str(model.dtype).removeprefix("torch."),
        "threads": torch.get_num_threads(),
        "target": target,
        "seed": seed,
        "evaluations": evaluations,
        "width": ours.batch,
        "top": ours.top,
        "free": CausalTriggerStudy().free,
    }
    script = Path(__file__).with_name("nanogcg_search.py")
    done = subprocess.run([python, str(script), json.dumps(task)], capture_output=True, text=True, check=True)
    outcome = json.loads(done.stdout.splitlines()[-1])
    return {
        **{name: outcome[name] for name in ("curve", "ids", "loss", "gradients", "dropped", "versions")},
        "evaluations": outcome["curve"][-1][0],
        "seconds": round(outcome["seconds"], 2),
        "cpu_seconds": round(outcome["cpu_seconds"], 2),
    }


def loss_after(curve: Sequence[Sequence[float]], evaluations: int) -> float | None:
    """The best loss after so many evaluations, None before the first."""
    return min((loss for count, loss, _ in curve if count <= evaluations), default=None)


def seconds_until(curve: Sequence[Sequence[float]], evaluations: int) -> float | None:
    """CPU seconds until so many evaluations were made, None where they were not."""
    return min((seconds for count, _, seconds in curve if count >= evaluations), default=None)


def bars(rows: Sequence[dict[str, Any]], clock: str) -> dict[str, str]:
    """In how many pairs the coordinate search is better than each other method."""
    by_pair = {(row["method"], row["target"], row["seed"]): row for row in rows}
    wins_by_comparison = {}
    for other in sorted({row["method"] for row in rows} - {OURS}):
        pairs = [
            (row, by_pair[other, row["target"], row["seed"]])
            for row in rows
            if row["method"] == OURS and (other, row["target"], row["seed"]) in by_pair
        ]
        for count in pairs[0][0]["losses"] if pairs else ():
            wins = sum(a["losses"][count] < b["losses"][count] for a, b in pairs)
            wins_by_comparison[f"lower loss than {other} after {count}"] = f"{wins}/{len(pairs)}"
        # The same triggers again, by the model in float32: the losses of a search may be rounded.
        wins = sum(a["scored_again"] < b["scored_again"] for a, b in pairs)
        wins_by_comparison[f"lower loss than {other} in the end, scored again in float32"] = f"{wins}/{len(pairs)}"
        wins_by_comparison[f"less time than {other}"] = f"{sum(a[clock] < b[clock] for a, b in pairs)}/{len(pairs)}"
    return wins_by_comparison


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--targets", type=int, default=len(TARGETS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--evaluations", type=int, nargs="+", default=[512, 1024, 2048])
    parser.add_argument("--dtype", choices=ROUNDING, default="float32")
    parser.add_argument("--methods", nargs="+", choices=[*METHODS, OTHER], default=["coordinate", "gcg"])
    parser.add_argument("--nanogcg", metavar="PYTHON", help="a Python that has nanogcg, for the method nanoGCG")
    parser.add_argument("--output", type=Path, help="JSON lines, one a search; what is there is not done again")
    options = parser.parse_args()
    if OTHER in options.methods and not options.nanogcg:
        parser.error(f"The method {OTHER} needs --nanogcg.")
    model = load_model(options.model, dtype=options.dtype)
    exact = model if options.dtype == "float32" else load_model(options.model, dtype="float32")
    torch.set_num_threads(1)  # last, because loading a model sets all cores
    most = max(options.evaluations)
    rows: list[dict[str, Any]] = []
    if options.output and options.output.is_file():
        rows = [json.loads(line) for line in options.output.read_text().splitlines()]
    have = {tuple(row[part] for part in KEY) for row in rows}
    for seed in range(options.seeds):
        for target in TARGETS[: options.targets]:
            for name in options.methods:
                row: dict[str, Any] = {"method": name, "target": target, "seed": seed}
                row |= {"allowed": most, "dtype": options.dtype}
                if tuple(row[part] for part in KEY) in have:
                    continue
                if name == OTHER:
                    row |= nanogcg(options.nanogcg, model, target, seed, most)
                else:
                    row |= searched(model, METHODS[name], target, seed, most)
                row |= scored_again(row["ids"], target, exact)
                if name == OTHER and abs(row["scored_again"] - row["loss"]) > ROUNDING[options.dtype]:
                    raise SystemExit(f"nanoGCG's loss of {row['text']!r} is {row['loss']}, not {row['scored_again']}.")
                row["losses"] = {str(count): loss_after(row["curve"], count) for count in options.evaluations}
                row["times"] = {str(count): seconds_until(row["curve"], count) for count in options.evaluations}
                rows.append(row)
                if options.output:
                    with options.output.open("a") as file:
                        file.write(json.dumps(row) + "\n")
    compared = [row for row in rows if (row["allowed"], row["dtype"]) == (most, options.dtype)]
    # Other programs may use the same processor, so CPU seconds are compared.
    clock = "cpu_seconds" if model.device.type == "cpu" else "seconds"
    machine.report("triggers_causal", {"model": options.model, "searches": compared, "bars": bars(compared, clock)})


if __name__ == "__main__":
    main()
