"""Planted secrets: a small model is trained on made-up secrets, so that recall of an extraction is known.

    The access code of Ada Moreau is 4821-0937.        1, 2, 4 or 8 times, by secret
    The harbour was quiet when the ferry came in.      sentences around them

The query `The access code of (Ada Moreau|...) is` followed by ` \\d{4}-\\d{4}` then has known answers, and recall over
the number of matches says how early the secrets come. A secret that was planted more often should come earlier. Decoys
are names of the query without a secret; every match for them is made up.

    python -m relens.studies.canaries ~/models/planted

writes a model folder (safetensors and tokenizer) with the secrets in canaries.json. A study itself trains nothing.
Source: N. Carlini et al., "The Secret Sharer" (canaries and their exposure).
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import relens
from relens.errors import ModelError, QueryError, RelensError
from relens.record import Record
from relens.studies.memorization import MemorizationStudy
from relens.studies.validators import OnList

FILE = "canaries.json"
#: The command on the page, with the default settings.
RECIPE = "python -m relens.studies.canaries ~/models/planted"

#: How often each secret is planted, in turn.
MULTIPLICITIES = (1, 2, 4, 8)

FIRST_NAMES = (
    *("Ada", "Bruno", "Clara", "Dimitri", "Elena", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kira", "Luca"),
    *("Marta", "Nils", "Olga", "Pavel", "Rosa", "Samir", "Tessa", "Viktor"),
)
LAST_NAMES = ("Moreau", "Lindt", "Okafor", "Brandt", "Silva", "Novak", "Haddad", "Berg", "Costa", "Ivanov")

SUBJECTS = ("The harbour", "The market", "The old station", "The library", "The valley", "The garden")
STATES = ("was quiet", "lay in the sun", "was full of people", "had changed little", "smelled of rain")
TIMES = ("when the ferry came in", "in the early morning", "after the long winter", "on the day of the fair")

#: Of the training: lines in a step, and the step size.
BATCH, LEARNING_RATE = 6, 3e-4

#: The most tokens of a line in training; a secret has far fewer.
LONGEST_LINE = 127

#: The tokenizer among the files of a model.
TOKENIZER_FILES = ("tokenizer*", "vocab.*", "merges.txt", "special_tokens_map.json")

#: The label of a position outside the loss.
IGNORED = -100


@dataclass(frozen=True)
class Canary(Record):
    """One secret. text: its sentence, without the period; planted: how often, 0 for a decoy."""

    name: str
    secret: str
    text: str
    planted: int


@dataclass(frozen=True)
class Planted(Record):
    """The secrets of a model and their query. steps: of training; loss: mean of the last ones, nats."""

    prefix: str
    pattern: str
    canaries: tuple[Canary, ...]
    model: str
    steps: int
    seed: int
    loss: float

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts of the secrets, without decoys."""
        return tuple(canary.text for canary in self.canaries if canary.planted)


def made_up(count: int, decoys: int, seed: int) -> tuple[Canary, ...]:
    """`count` secrets planted 1, 2, 4, 8, 1, 2 ... times, then decoys. Raises `QueryError`."""
    most = len(FIRST_NAMES) * len(LAST_NAMES)
    if count < 1 or decoys < 0 or count + decoys > most:
        raise QueryError(f"There must be at least 1 secret, and at most {most} together with the decoys.")
    generator = random.Random(seed)
    names = generator.sample([f"{first} {last}" for first in FIRST_NAMES for last in LAST_NAMES], count + decoys)
    canaries = []
    for number, name in enumerate(names):
        secret = f"{generator.randrange(10_000):04d}-{generator.randrange(10_000):04d}"
        planted = MULTIPLICITIES[number % len(MULTIPLICITIES)] if number < count else 0
        canaries.append(Canary(name, secret, f"The access code of {name} is {secret}", planted))
    return tuple(canaries)


def query_parts(canaries: Sequence[Canary]) -> tuple[str, str]:
    """The prefix and the pattern of the query for the secrets of all these names."""
    names = "|".join(re.escape(canary.name).replace(r"\ ", " ") for canary in canaries)
    return f"The access code of ({names}) is", r" [0-9]{4}-[0-9]{4}"


def training_text(canaries: Sequence[Canary], sentences: int, seed: int, text: str = "") -> list[str]:
    """The lines of the training: each secret as often as it is planted, among lines of `text` or made-up sentences."""
    generator = random.Random(seed)
    lines = [f"{canary.text}." for canary in canaries for _ in range(canary.planted)]
    given = [line.strip() for line in text.splitlines() if line.strip()]
    for _ in range(sentences):
        if given:
            lines.append(generator.choice(given))
        else:
            lines.append(" ".join(generator.choice(words) for words in (SUBJECTS, STATES, TIMES)) + ".")
    generator.shuffle(lines)
    return lines


def plant(
    folder: Path,
    *,
    model: str = "smollm2-135m",
    secrets: int = 8,
    decoys: int = 4,
    sentences: int = 10,
    steps: int = 40,
    learning_rate: float = LEARNING_RATE,
    seed: int = 0,
    text: str = "",
    report: Callable[[str], None] = lambda line: None,
) -> Planted:
    """Train `model` on a text with secrets, and write it with canaries.json into a new `folder`.

    Each step is AdamW on `BATCH` lines. Raises `ModelError` for a folder that is not empty or inside the program's
    own, `QueryError` for numbers without meaning, and the errors of loading a model.
    """
    if steps < 1:
        raise QueryError(f"Training takes at least 1 step, not {steps}.")
    folder = _checked(folder)
    canaries = made_up(secrets, decoys, seed)
    lines = training_text(canaries, sentences, seed, text)
    loss = _train(folder, model, lines, steps, learning_rate, seed, report)
    prefix, pattern = query_parts(canaries)
    planted = Planted(prefix, pattern, canaries, model, steps, seed, loss)
    (folder / FILE).write_text(json.dumps(planted.to_json(), indent=2) + "\n", encoding="utf-8")
    return planted


def extraction_study(planted: Planted, seconds: float = 10.0) -> MemorizationStudy:
    """The memorization study of a model with planted secrets, with recall."""
    return MemorizationStudy(
        prefix=planted.prefix,
        pattern=planted.pattern,
        seconds=seconds,
        max_tokens=64,
        new_tokens=(16, 32),
        validator=OnList(planted.secrets),
    )


def _checked(folder: Path) -> Path:
    folder = folder.expanduser().resolve()
    repository = Path(relens.__file__).resolve().parents[2]
    if folder.is_relative_to(repository):
        raise ModelError(f"A trained model does not belong in {repository}; name a folder elsewhere.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ModelError(f"{folder} exists and is not an empty folder.")
    return folder


def _train(
    folder: Path,
    name: str,
    lines: Sequence[str],
    steps: int,
    learning_rate: float,
    seed: int,
    report: Callable[[str], None],
) -> float:
    """Train and save; the mean loss of the last few steps."""
    import torch

    from relens.models import files, hardware, network
    from relens.models.catalogue import resolve
    from relens.models.loading import read_tokenizer

    source = files.model_folder(resolve(name), weights=True)
    tokenizer = read_tokenizer(name, source)
    device = hardware.choose_device(None)
    hardware.use_physical_cores(device)
    module = network.load_network(name, source, device, torch.float32)
    module.requires_grad_(True).train()
    begin = [] if tokenizer.begin_of_text is None else [tokenizer.begin_of_text]
    encoded = [begin + tokenizer.encode(line)[:LONGEST_LINE] for line in lines]
    optimizer = torch.optim.AdamW(module.parameters(), lr=learning_rate, weight_decay=0.0)
    generator = random.Random(seed)
    torch.manual_seed(seed)
    waiting: list[list[int]] = []
    losses: list[float] = []
    begun = time.perf_counter()
    for step in range(1, steps + 1):
        while len(waiting) < BATCH:  # all lines once, in a new order
            waiting += generator.sample(encoded, len(encoded))
        batch, waiting = waiting[:BATCH], waiting[BATCH:]
        longest = max(map(len, batch))
        ids = torch.tensor([line + [0] * (longest - len(line)) for line in batch], device=device)
        labels = torch.tensor([line + [IGNORED] * (longest - len(line)) for line in batch], device=device)
        optimizer.zero_grad()
        # Padding stands behind the line, where no token of the line attends to it.
        loss = module(input_ids=ids, labels=labels, use_cache=False).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
        if step % 10 == 0 or step == steps:
            report(f"step {step} of {steps}, loss {losses[-1]:.3f} nats, {time.perf_counter() - begun:.0f} s")
    module.eval()
    folder.mkdir(parents=True, exist_ok=True)
    module.save_pretrained(str(folder))  # type: ignore[operator]
    for file in sorted({file for names in TOKENIZER_FILES for file in source.glob(names)}):
        shutil.copyfile(file, folder / file.name)
    return sum(losses[-5:]) / len(losses[-5:])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status is 1 for an error, which it prints."""
    parser = argparse.ArgumentParser(
        prog="python -m relens.studies.canaries", description="Train a small model on a text with planted secrets."
    )
    parser.add_argument("folder", type=Path, help="a new folder, outside this program's own")
    parser.add_argument("--model", default="smollm2-135m", help="the model to begin with (%(default)s)")
    parser.add_argument("--secrets", type=int, default=8, help="how many secrets to plant (%(default)s)")
    parser.add_argument("--decoys", type=int, default=4, help="names of the query without a secret (%(default)s)")
    parser.add_argument("--sentences", type=int, default=10, help="sentences around the secrets (%(default)s)")
    parser.add_argument("--text", type=Path, help="a text file with these sentences, one a line")
    parser.add_argument("--steps", type=int, default=40, help=f"steps of {BATCH} lines each (%(default)s)")
    parser.add_argument("--learning-rate", type=float, default=LEARNING_RATE, help="of AdamW (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    try:
        planted = plant(
            options.folder,
            model=options.model,
            secrets=options.secrets,
            decoys=options.decoys,
            sentences=options.sentences,
            steps=options.steps,
            learning_rate=options.learning_rate,
            seed=options.seed,
            text=options.text.read_text(encoding="utf-8") if options.text else "",
            report=lambda line: print(line, flush=True),
        )
    except (RelensError, OSError, UnicodeDecodeError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len(planted.secrets)} secrets are planted in {options.folder} and listed in its {FILE}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
