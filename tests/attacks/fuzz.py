"""Inputs that nobody thought of, through the doors that everybody uses, and what they cost.

    python -m tests.attacks.fuzz --seconds 600 [--seed 0]      a JSON report; status 1 where a bar is not met

Three kinds of input are drawn with Hypothesis, the same ones for the same seed:

    files            of runs: valid ones with pieces changed, doubled, nested, stretched, or swapped for other types
    links            query strings of every page, with values of the right and the wrong kinds, ids of runs too
    specifications   of searches and of every study, from the types of their own fields

A file is read and taken in as the page does it; a specification is put into the store, which may refuse it, and is
opened on its page with some rows; a link is opened. All the while the server's health is asked every 20 ms, and after
each round the memory of the server is taken. What is refused with a sentence is refused; a page that breaks is not.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import enum
import json
import random
import sys
import tempfile
import time
import types
import typing
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from relens.errors import RelensError
from relens.record import Record
from relens.runs.specification import SearchSpecification
from relens.studies.catalogue import STUDIES, study_class
from tests.attacks import made
from tests.attacks.server import LONGEST_FREEZE, Target, attacked, processes_of, settle
from tests.attacks.session import RefusedError
from tests.conftest import make_tiny_model

Json = Any

#: Inputs of a round, after which the memory is taken.
ROUND = 16
#: The longest file, before it is packed.
MOST_CHARACTERS = 6_000_000
#: What a round may leave behind, as the slope over the second half of the rounds, in bytes.
MOST_KEPT = 300_000

# --------------------------------------------------------------------------------------------------------- values

PATTERNS = [
    "a", "The (cat|dog)", r"\w{1,3}", "(a|b)*a(a|b){40}", "a{99999999999}", "(" * 90, "[", "a|" * 200, "(?=a)", "é{3}",
    "(?P<x>a|b)", r"[^\s\S]", "", "b{" + "1" * 3_000 + "x", "(a*)*" * 30, "\\", "(?i:ß)+", ".{1,200}", "a?" * 500,
]  # fmt: skip
ODD_TEXTS = [
    "", " ", "\0", "\ud800", "\u202e", "<script>alert(1)</script>", "=1+1", "../../etc/passwd", "NaN", "true", "1e999",
    "{}", "'", '"', "\\", "%00", "None", "x" * 2_000, "word " * 4_000, "ä" * 20_001, "\n" * 500, "🦊" * 100,
]  # fmt: skip

texts = st.one_of(st.sampled_from(ODD_TEXTS), st.sampled_from(PATTERNS), st.text(max_size=60))
integers = st.one_of(
    st.integers(-2, 70), st.sampled_from([0, 1, 10**3, 10**6, 10**9, 2**31, 2**53, 2**63, 2**64, -(2**63), 10**30])
)
floats = st.one_of(
    st.floats(-2.0, 2.0), st.sampled_from([0.0, -0.0, 1e-300, 1e9, 1e300, float("inf"), float("-inf"), float("nan")])
)
scalars = st.one_of(st.none(), st.booleans(), integers, floats, texts)
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(texts, inner, max_size=4),
        # Long lists of one thing, and things inside each other.
        inner.map(lambda item: [item] * 3_000),
        st.tuples(inner, st.integers(1, 300)).map(lambda pair: nested(*pair)),
    ),
    max_leaves=8,
).filter(lambda value: _size(value) < MOST_CHARACTERS // 4)


def nested(item: Json, depth: int) -> Json:
    """The item inside so many lists."""
    for _ in range(depth):
        item = [item]
    return item


# ------------------------------------------------------------------------------------------- of a record's own types


def of_type(hint: Any) -> st.SearchStrategy[Json]:
    """JSON for a field of this type: mostly what belongs there, now and then something else."""
    fitting = _fitting(hint)
    return st.integers(0, 19).flatmap(lambda dice: anything if dice == 0 else fitting)


def _fitting(hint: Any) -> st.SearchStrategy[Json]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*(st.none() if argument is type(None) else of_type(argument) for argument in arguments))
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        items = of_type(arguments[0])
        return st.one_of(st.lists(items, max_size=4), st.tuples(items).map(lambda one: list(one) * 2_000))
    if origin is dict:
        return st.dictionaries(texts, of_type(arguments[1]), max_size=3)
    if isinstance(hint, type) and issubclass(hint, Record):
        return of_record(hint)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return st.sampled_from([member.value for member in hint])
    return {bool: st.booleans(), int: integers, float: floats, str: texts}.get(hint, anything)


def of_record(record: type[Record]) -> st.SearchStrategy[Json]:
    """JSON of a record: some of its fields, the others left to their defaults."""
    hints = typing.get_type_hints(record)
    required: dict[str, st.SearchStrategy[Json]] = {}
    optional: dict[str, st.SearchStrategy[Json]] = {}
    for field in dataclasses.fields(record):  # type: ignore[arg-type]
        is_required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        (required if is_required else optional)[field.name] = st.deferred(lambda hint=hints[field.name]: of_type(hint))
    if record.kind:
        required["kind"] = st.just(record.kind)
    return st.fixed_dictionaries(required, optional=optional)


def specifications(model: str) -> st.SearchStrategy[Json]:
    """Searches and studies of every kind."""
    searches = of_record(SearchSpecification).map(lambda made_up: made_up | {"model": model})
    studies = st.sampled_from(STUDIES).flatmap(
        lambda kind: of_record(study_class(kind)).map(
            lambda made_up: {"kind": "study", "model": model, "study": made_up}
        )
    )
    return st.one_of(searches, studies)


# ----------------------------------------------------------------------------------------------------- files of runs


def valid_lines(model: str) -> list[list[Json]]:
    """Files to begin with: a search with matches, and studies with rows of their kinds."""
    rows = [made.match_row(number, f"text {number}", groups={"x": "a"}) for number in range(1, 6)]
    found = [made.run_lines(made.search("text [0-9]", model), rows, progress={"matches": 5, "ended": "exhausted"})]
    for kind in STUDIES:
        study = study_class(kind)().to_json()
        told = [
            {"unit": "1", "row": name, "text": "a", "log_prob": -1.0} for name in ("begin", "match", "answer", "done")
        ]
        found.append(made.run_lines({"kind": "study", "model": model, "study": study}, told))
    return found


def mutated(lines: list[Json], changes: int, dice: random.Random, values: Callable[[], Json]) -> list[Json]:
    """The lines with so many pieces changed, as long as they are not more than a browser may send."""
    for _ in range(changes):
        before = lines
        lines = _changed(json.loads(json.dumps(lines)), dice, values)
        if _size(lines) > MOST_CHARACTERS:
            lines = before
    return lines


def _size(value: Json) -> int:
    """About how many characters of JSON a value takes; what is many times in a list is counted so often."""
    if isinstance(value, (list, tuple)):
        return 2 + (len(value) * _size(value[0]) if len(set(map(id, value))) == 1 else sum(map(_size, value)))
    if isinstance(value, dict):
        return 2 + sum(len(name) + _size(item) for name, item in value.items())
    return len(value) if isinstance(value, str) else 8


def _changed(lines: list[Json], dice: random.Random, values: Callable[[], Json]) -> list[Json]:
    if lines:
        holder, key = _place(lines, dice)
        match dice.randrange(6):
            case 0:
                holder[key] = values()
            case 1:
                holder[key] = [holder[key]] * dice.choice([2, 50, 5_000])
            case 2:
                holder[key] = nested(holder[key], dice.choice([1, 5, 400]))
            case 3 if isinstance(holder[key], str):
                holder[key] = holder[key] * dice.choice([0, 2, 1_000, 200_000])
            case 3:
                holder[key] = None
            case 4:
                del holder[key]
            case _ if isinstance(holder, dict):
                holder[str(values())[:100]] = values()
            case _:
                holder.append(holder[key])
    return lines or [values()]


def _place(value: Json, dice: random.Random) -> tuple[Any, Any]:
    """Some list or object inside, and a key of it."""
    holder, key = value, dice.randrange(len(value))
    while True:
        inner = holder[key]
        if not isinstance(inner, (list, dict)) or not inner or dice.random() < 0.25:
            return holder, key
        holder, key = inner, dice.choice(list(inner)) if isinstance(inner, dict) else dice.randrange(len(inner))


# --------------------------------------------------------------------------------------------------------------- links

PARAMETERS = {
    "": ("topic", "tour"),
    "workbench": (
        *("prefix", "pattern", "model", "encoding", "prefix_encoding", "boundary", "greedy", "top_k", "top_p", "run"),
        *(
            "temperature",
            "end_of_text",
            "begin_of_text",
            "max_tokens",
            "edits",
            "edit_where",
            "edit_alphabet",
            "exclude",
        ),
        *(
            "exclude_words",
            "stop_words",
            "traversal",
            "rank",
            "matches",
            "samples",
            "seed",
            "tolerance",
            "seconds",
            "by",
        ),
        *("groups", "given", "view"),
    ),
    "history": ("find", "kind", "ended", "of_model", "pinned", "deleted", "sheet", "runs"),
    "compare": ("runs", "by"),
    "present": ("deck", "screen"),
    "automata": ("lesson", "lesson_model", "lesson_edits", "lesson_step", "lesson_text", "lesson_top_k", "run"),
    "tokens": ("tokens_text", "tokens_model", "tokens_prefix", "samples", "run"),
    "replay": ("run", "step", "shown", "walks_pattern", "walks_seed"),
    "glossary": ("glossary_search",),
    **{kind: ("run", "check", "dialogue") for kind in STUDIES if kind not in ("decoder", "encodings", "replay")},
}


def links(ids: list[str]) -> st.SearchStrategy[tuple[str, str]]:
    """A page and a query string."""
    values = st.one_of(
        texts,
        scalars.map(str),
        st.sampled_from(ids),
        st.lists(st.sampled_from(ids), max_size=8).map(",".join),
        st.sampled_from(
            ["Sample", "Distribution", "Best first", "Canonical", "Free", "Groups", "Strings", "-1", "Runs"]
        ),
    )
    return st.sampled_from(sorted(PARAMETERS)).flatmap(
        lambda page: st.tuples(
            st.just(page),
            st.dictionaries(st.sampled_from(PARAMETERS[page]), values, max_size=6).map(
                lambda chosen: urlencode(chosen, errors="replace")[:60_000]
            ),
        )
    )


# ------------------------------------------------------------------------------------------------------------ one run


class Fuzzer:
    """Draws inputs and carries them to a running server, round by round."""

    def __init__(self, target: Target, seed: int) -> None:
        self.target = target
        self.seed = seed
        self.counts: Counter[str] = Counter()
        self.broken: list[str] = []
        self.sizes: list[int] = []
        self.longest = 0.0
        self.slowest: tuple[float, str] = (0.0, "")
        self._files = valid_lines(target.model)
        self._ids = [made.take_in(target.store, made.packed(self._files[0]))]

    def run(self, seconds: float) -> None:
        """Go on for so long."""
        end = time.monotonic() + seconds
        number = 0
        with self.target.deafness_meter() as mark:
            while time.monotonic() < end:
                for kind, value in self._drawn(number):
                    self._carry(kind, value)
                    deaf = mark()
                    self.longest = max(self.longest, deaf)
                    if deaf > self.slowest[0]:
                        self.slowest = (deaf, f"{kind}: {str(value)[:300]}")
                    if time.monotonic() > end:
                        break
                self.sizes.append(self.target.memory(server_alone=True))
                number += 1

    def report(self, left: int) -> dict[str, Any]:
        """What came of it. left: processes that were there after the server's end."""
        return {
            "seed": self.seed,
            "inputs": sum(self.counts[kind] for kind in ("file", "link", "specification")),
            **{name: self.counts[name] for name in ("file", "link", "specification", "accepted", "refused")},
            "broken_pages": self.broken[:20],
            "longest_gap_seconds": round(self.longest, 3),
            "of": self.slowest[1],
            "rounds": len(self.sizes),
            "memory_at_start": self.sizes[0] if self.sizes else 0,
            "memory_at_end": self.sizes[-1] if self.sizes else 0,
            "kept_per_round": round(self.slope()),
            "processes_left": left,
        }

    def slope(self) -> float:
        """What a round leaves behind, in bytes. The first half does not count: much is made once and kept."""
        sizes = self.sizes[len(self.sizes) // 2 :]
        return float(np.polyfit(np.arange(len(sizes)), sizes, 1)[0]) if len(sizes) > 2 else 0.0

    def _drawn(self, number: int) -> list[tuple[str, Any]]:
        """The inputs of a round; the same ones for the same seed and number."""
        seed = 1_000_003 * self.seed + number
        dice = random.Random(seed)
        spare = iter(_examples(anything, 4 * ROUND, seed))
        inputs: list[tuple[str, Any]] = []
        inputs += [("specification", value) for value in _examples(specifications(self.target.model), ROUND // 4, seed)]
        inputs += [("link", value) for value in _examples(links(self._ids[-20:]), ROUND // 2, seed)]
        for _ in range(ROUND // 4):
            values = lambda: next(spare, None)  # noqa: E731
            inputs.append(("file", mutated(dice.choice(self._files), dice.randint(1, 3), dice, values)))
        dice.shuffle(inputs)
        return inputs

    def _carry(self, kind: str, value: Any) -> None:
        self.counts[kind] += 1
        try:
            getattr(self, f"_carry_{kind}")(value)
        except RefusedError:  # a message that is too long, say, ends the connection
            self.counts["refused"] += 1
        except RelensError as error:
            self.counts["refused"] += 1
            if "\n" in error.sentence:
                self.broken.append(f"a refusal that is no sentence: {error.sentence[:300]!r}")
        else:
            self.counts["accepted"] += 1

    def _carry_file(self, lines: list[Json]) -> None:
        # By the page's own field, where the file is read in the page's process.
        before = set(self._known())
        with self.target.visitor() as visitor:
            visitor.open("history")
            visitor.upload("import_file_0", "run.relens", made.packed(lines)[:4_900_000])
            self._look_at(visitor, f"import of {json.dumps(lines)[:200]}")
        new = [run_id for run_id in self._known() if run_id not in before]
        if not new:
            raise RelensError("The page refused the file.")
        self._ids += new
        self._open_run(new[0])

    def _carry_specification(self, described: Json) -> None:
        if _size(described) > MOST_CHARACTERS:
            raise RefusedError("It is too long to be written.")
        rows = [{"unit": "1", "row": "begin"}, {"unit": "1", "row": "answer", "text": "a"}]
        is_search = described.get("kind", "search") == "search"
        data = made.run_file({"kind": "search"} | described, [] if is_search else rows)
        run_id = made.take_in(self.target.store, data)
        self._ids.append(run_id)
        self._open_run(run_id)
        # Queued and at once stopped: it is the way into the queue that is of interest, not the work.
        self.target.store.request_stop(self.target.store.repeat(run_id))

    def _carry_link(self, link: tuple[str, str]) -> None:
        page, query = link
        with self.target.visitor() as visitor:
            visitor.open(page, query)
            self._look_at(visitor, f"/{page}?{query[:200]}")
            visitor.look()
            self._look_at(visitor, f"/{page}?{query[:200]}, looked at again")

    def _open_run(self, run_id: str) -> None:
        run = self.target.store.get(run_id)
        assert run is not None
        pages = {"search": "workbench", "encodings": "tokens", "decoder": "automata"}
        page = pages.get(run.variety if run.kind == "study" else run.kind, run.variety)
        with self.target.visitor() as visitor:
            for place, query in ((page, f"run={run_id}"), ("history", f"runs={run_id}")):
                visitor.open(place, query)
                self._look_at(visitor, f"/{place} of {json.dumps(run.specification)[:200]}")

    def _look_at(self, visitor: Any, what: str) -> None:
        found = visitor.exceptions()
        if found:
            self.broken.append(f"{what}: {found[0][:200]}")

    def _known(self) -> list[str]:
        return [run.id for run in self.target.store.find(limit=100_000)]


def _examples(strategy: st.SearchStrategy[Any], count: int, seed: int) -> list[Any]:
    """So many values of a strategy, the same for the same seed."""
    drawn: list[Any] = []

    @seeded(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def draw(value: Any) -> None:
        drawn.append(value)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        draw()
    return drawn[:count]


@contextlib.contextmanager
def fuzzed(folder: Path, model: str, seconds: float, seed: int) -> Iterator[dict[str, Any]]:
    """The report of a run of the fuzzer on a server of its own."""
    with attacked(folder, model) as target:
        target.warm()
        settle(target)
        fuzzer = Fuzzer(target, seed)
        fuzzer.run(seconds)
        target.end()
        end = time.monotonic() + 10.0
        while processes_of(folder) and time.monotonic() < end:
            time.sleep(0.1)
        report = fuzzer.report(len(processes_of(folder)))
    yield report


def faults(report: dict[str, Any]) -> list[str]:
    """The bars that a report does not meet."""
    found = []
    if report["longest_gap_seconds"] > LONGEST_FREEZE:
        found.append(f"the server was deaf for {report['longest_gap_seconds']} s by {report['of']}")
    if report["broken_pages"]:
        found.append(f"pages broke: {report['broken_pages'][0]}")
    if report["processes_left"]:
        found.append(f"{report['processes_left']} processes were left")
    if report["rounds"] >= 50 and report["kept_per_round"] > MOST_KEPT:
        found.append(f"each round left {report['kept_per_round'] / 1e6:.2f} MB")
    return found


def main() -> int:
    """Run from a command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks.fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="how long to go on (%(default)g)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed draws the same inputs (%(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        model = Path(name, "model")
        model.mkdir()
        with fuzzed(Path(name, "server"), str(make_tiny_model(model)), options.seconds, options.seed) as report:
            print(json.dumps(report, indent=1))
    found = faults(report)
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
