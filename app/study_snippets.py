"""How to repeat a study without the dashboard: in Python, and in a terminal.

Both say only what differs from the study's defaults, and both carry every setting that does.
"""

from __future__ import annotations

import json
import shlex
from typing import Any

from engine.runs.specification import StudySpecification
from engine.studies.study import Study


def differing_settings(study: Study) -> dict[str, Any]:
    """The settings as JSON that are not the study's defaults."""
    untouched = type(study)().to_json()
    return {name: value for name, value in study.to_json().items() if name != "kind" and value != untouched.get(name)}


def study_python(specification: StudySpecification) -> str:
    """A script that carries the study out and prints its verdict."""
    study = specification.study
    home = type(study).__module__
    name = type(study).__name__
    settings = differing_settings(study)
    built = f"{name}()"
    if settings:
        lines = [f"        {key!r}: {value!r}," for key, value in settings.items()]
        built = "\n".join([f"{name}.from_json(", "    {", *lines, "    }", ")"])
    return "\n".join(
        [
            "from engine import load_model",
            f"from {home} import {name}",
            "from engine.studies.study import Bench, StudyRun",
            "",
            f"study = {built}",
            f"run = StudyRun(study, Bench(load_model({specification.model!r})))",
            "rows = list(run)",
            "for sentence in study.verdict(rows):",
            "    print(sentence)",
            "",
        ]
    )


def study_command(specification: StudySpecification) -> str:
    """A command line that carries the study out and writes its rows to a file."""
    study = specification.study
    words = ["python", "-m", "engine", "study", study.kind, "--model", specification.model]
    for name, value in differing_settings(study).items():
        words += ["--set", f"{name}={json.dumps(value)}"]
    return shlex.join([*words, "--output", f"{study.kind}.jsonl"])
