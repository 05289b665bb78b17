"""A study from a terminal.

    relens study                                  the studies and their presets
    relens study cloze --set 'variants=["words"]' --output cloze.jsonl

Each row is one line of JSON, written as soon as it is there. With --output the rows go to a file; its first line holds
the settings and the fingerprint of the model:

    {"unit": "", "row": "settings", "study": {"kind": "cloze", ...}, "model": "smollm2-135m", "fingerprint": "..."}

If the file exists, from a run that was cut short, its finished units are not done again. If its settings differ, or the
model of that name has changed, nothing is done. The verdict comes last: to standard output, or to standard error if the
rows go to standard output.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from relens.errors import QueryError, RelensError, StoreError
from relens.language.isolation import isolated_compiler
from relens.setting import described
from relens.settings import chosen_device
from relens.studies.catalogue import STUDIES, presets, study_class
from relens.studies.resumed import check_same_model
from relens.studies.rows import ROW, UNIT, Row, done_units
from relens.studies.study import Study, StudyContext, StudyRun

if TYPE_CHECKING:
    from relens.models.language_model import LanguageModel


#: The language model without --model.
DEFAULT_MODEL = "smollm2-135m"

#: The name of the first row of a file, and its field with the model's fingerprint.
SETTINGS, FINGERPRINT = "settings", "fingerprint"


def study_parser(name: str = "") -> argparse.ArgumentParser:
    """The options of `relens study`; the help describes the settings of the named study."""
    parser = argparse.ArgumentParser(
        prog="relens study",
        description="Carry out a study of a language model. Without a name: list the studies.",
        epilog=_settings_of(name),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("name", nargs="?", choices=STUDIES, metavar="name", help=f"which study: {', '.join(STUDIES)}")
    parser.add_argument("--preset", help="one of the study's presets, to begin from")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="FIELD=JSON",
        help="a setting of the study, such as 'seed=3'; a value that is not JSON is taken as text (repeatable)",
    )
    parser.add_argument("--model", help=f"name of a language model, or its folder ({DEFAULT_MODEL})")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the rows to FILE; continue where it ends")
    parser.add_argument("--device", help="cpu, cuda, cuda:1 or mps (the best available)")
    parser.add_argument("--dtype", help="of the language model, float32 or bfloat16 (by device)")
    return parser


def _settings_of(name: str) -> str:
    if name not in STUDIES:
        return "The settings of one study: relens study NAME --help"
    study = study_class(name)
    lines = [f"{study.title}: {study.question}", "", f"settings of {name} (--set NAME=VALUE):", *described(study())]
    return "\n".join(lines)


def study_of(options: argparse.Namespace) -> Study:
    """The study that the options describe. Raises `QueryError`."""
    settings: dict[str, Any] = {}
    if options.preset is not None:
        known = presets(options.name)
        if options.preset not in known:
            names = ", ".join(map(repr, known)) or "none"
            raise QueryError(f"The study {options.name!r} has no preset {options.preset!r}; it has {names}.")
        settings = known[options.preset].to_json()
    for setting in options.set:
        name, sign, value = setting.partition("=")
        if not sign:
            raise QueryError(f"--set needs FIELD=VALUE, not {setting!r}.")
        try:
            settings[name] = json.loads(value)
        except json.JSONDecodeError:
            settings[name] = value
    return study_class(options.name).from_json(settings)


def study_main(arguments: Sequence[str]) -> int:
    """Run the command; 0 when done, 1 for a failure, 2 for settings without meaning, 130 when interrupted."""
    named = next((argument for argument in arguments if argument in STUDIES), "")
    options = study_parser(named).parse_args(arguments)
    if options.name is None:
        print("\n".join(_listing()))
        return 0
    try:
        study = study_of(options)
        study.units()
        _check_model_options(study, options)
        settings_row = _settings_row(study, options)
        stored_rows = [] if options.output is None else _read(options.output)
        rows = _rows_of(settings_row, stored_rows, options.output)
        with chosen_device(options.device):
            model = _model(study, options)
            _check_resumed(study, stored_rows, model)
            compiler = isolated_compiler(pool_size=1)
            try:
                run = StudyRun(study, StudyContext(cast("LanguageModel", model), compiler), done_units(rows))
                with _opened(options.output) as sink:
                    if options.output is not None and not stored_rows:
                        _write(
                            [settings_row if model is None else {**settings_row, FINGERPRINT: model.fingerprint}], sink
                        )
                    _finish(run, rows, sink)
            finally:
                compiler.close()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader is gone, as in `| head`; writing anything at exit would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except RelensError as error:
        print(error.sentence, file=sys.stderr)
        return 2 if isinstance(error, QueryError) else 1
    for sentence in study.verdict(rows):
        print(sentence, file=sys.stderr if options.output is None else sys.stdout)
    return 0


def _check_model_options(study: Study, options: argparse.Namespace) -> None:
    """Raise `QueryError` for options of a language model where the study uses none: they would change nothing."""
    given = [name for name in ("model", "dtype") if getattr(options, name) is not None]
    if study.needs_model or not given:
        return
    named = {item.name for item in dataclasses.fields(study)}  # type: ignore[arg-type]
    field = next((name for name in ("model", "name") if name in named), None)
    how = f"; its dialogue model is named by --set {field}=NAME" if field else ""
    raise QueryError(f"The study {study.kind!r} uses no language model, so --{given[0]} has no effect{how}.")


def _model(study: Study, options: argparse.Namespace) -> LanguageModel | None:
    """The language model; None for a study without one."""
    if not study.needs_model:
        return None
    from relens.models.loading import load_model

    return load_model(options.model or DEFAULT_MODEL, device=options.device, dtype=options.dtype)


def _check_resumed(study: Study, stored_rows: Sequence[Row], model: LanguageModel | None) -> None:
    """Raise `ModelError` where the model of that name has changed since the finished units of a file."""
    if not done_units(stored_rows):
        return
    if model is not None:
        check_same_model(model.name, [stored_rows[0].get(FINGERPRINT)], model.fingerprint)
    study.check_resumed(stored_rows)


def _finish(run: StudyRun, rows: list[Row], sink: IO[str]) -> None:
    """Carry out the study to its end; its rows go into `rows` and to the sink."""
    unit = ""
    while not run.finished:
        new_rows = run.poll(0.5)
        rows += new_rows
        _write(new_rows, sink)
        progress = run.progress
        if progress.unit and progress.unit != unit:
            unit = progress.unit
            print(f"{progress.units_done + 1} of {progress.units}: {unit}", file=sys.stderr)


def _write(rows: Sequence[Row], sink: IO[str]) -> None:
    try:
        sink.writelines(json.dumps(row) + "\n" for row in rows)
        sink.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StoreError(f"The rows cannot be written: {error.strerror or error}.") from error


def _listing() -> Iterator[str]:
    for kind in STUDIES:
        study = study_class(kind)
        yield f"{kind:14} {study.title}: {study.question}"
        names = ", ".join(presets(kind))
        fields = ", ".join(item.name for item in dataclasses.fields(study))  # type: ignore[arg-type]
        if names:
            yield f"{'':14} presets: {names}"
        yield f"{'':14} settings: {fields}"


def _settings_row(study: Study, options: argparse.Namespace) -> Row:
    row = {UNIT: "", ROW: SETTINGS, "study": study.to_json()}
    if study.needs_model:
        row["model"] = options.model or DEFAULT_MODEL
    return cast("Row", json.loads(json.dumps(row)))


def _rows_of(settings_row: Row, rows: list[Row], path: Path | None) -> list[Row]:
    """The rows of a file without its settings row. Raises `QueryError` where its settings differ."""
    if not rows or rows[0].get(ROW) != SETTINGS:  # older files have no settings row
        return rows
    stored, current = _settings(rows[0]), _settings(settings_row)
    changed = [name for name in {**stored, **current} if stored.get(name) != current.get(name)]
    if changed:
        there, here = (_briefly(settings.get(changed[0])) for settings in (stored, current))
        raise QueryError(
            f"The file {path} holds rows of other settings: {changed[0]} is {there} there, and {here} here."
            " Name another file."
        )
    return rows[1:]


def _settings(row: Row) -> dict[str, Any]:
    study = row.get("study")
    return {"model": row.get("model"), **(study if isinstance(study, dict) else {})}


def _briefly(value: object, most: int = 60) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else text[:most] + "…"


def _read(path: Path) -> list[Row]:
    """The rows of a file, none without a file; an unfinished last line is cut off the file."""
    try:
        # A device or a pipe is not read first: some never end.
        data = path.read_bytes() if path.is_file() or path.is_dir() else b""
        whole = data[: data.rfind(b"\n") + 1]
        rows = [_row(line, number, path) for number, line in enumerate(whole.splitlines(), 1)]
        if len(whole) < len(data) and rows:
            with path.open("r+b") as file:
                file.truncate(len(whole))
        elif len(whole) < len(data):
            raise StoreError(f"Line 1 of {path} is no row of a study.")
    except OSError as error:
        raise StoreError(f"The file of rows {path} cannot be read.") from error
    return rows


def _row(line: bytes, number: int, path: Path) -> Row:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict) or UNIT not in row:
        raise StoreError(f"Line {number} of {path} is no row of a study.")
    return row


@contextlib.contextmanager
def _opened(path: Path | None) -> Iterator[IO[str]]:
    if path is None:
        yield sys.stdout
        return
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"The file of rows {path} cannot be written.") from error
    try:
        yield file
    finally:
        with contextlib.suppress(OSError):  # a failed write has been reported already
            file.close()
