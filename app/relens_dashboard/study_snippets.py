"""How to repeat a study without the dashboard: in Python, and in a terminal.

Both have exactly the settings that differ from the study's defaults. With masked words neither can be run, and a first
line says so.
"""

from __future__ import annotations

import json
import shlex
from typing import Any

from relens.runs.specification import StudySpecification
from relens.studies.masking import DOT, Masker
from relens.studies.study import Study

#: The first line of a snippet with masked words; a comment in Python and in a shell.
MASKED_REMARK = f"# Words are masked ({DOT}). To run this, switch on “Show the words” and copy it again.\n"


def differing_settings(study: Study) -> dict[str, Any]:
    """The settings as JSON that are not the study's defaults."""
    untouched = type(study)().to_json()
    return {name: value for name, value in study.to_json().items() if name != "kind" and value != untouched.get(name)}


def study_python(specification: StudySpecification, mask: Masker | None = None) -> str:
    """A script that carries the study out and prints its verdict; with a mask, one to read only."""
    study = specification.study
    home = type(study).__module__
    name = type(study).__name__
    settings, remark = _shown_settings(study, mask)
    built = f"{name}()"
    if settings:
        lines = [f"        {key!r}: {value!r}," for key, value in settings.items()]
        built = "\n".join([f"{name}.from_json(", "    {", *lines, "    }", ")"])
    model = f"load_model({specification.model!r})" if study.needs_model else None
    return remark + "\n".join(
        [
            *(["from relens import load_model"] if study.needs_model else []),
            f"from {home} import {name}",
            "from relens.studies.study import StudyContext, StudyRun",
            "",
            f"study = {built}",
            f"run = StudyRun(study, StudyContext({model}))",
            "rows = list(run)",
            "for sentence in study.verdict(rows):",
            "    print(sentence)",
            "",
        ]
    )


def study_command(specification: StudySpecification, mask: Masker | None = None) -> str:
    """A command line that carries the study out and writes its rows to a file; with a mask, one to read only."""
    study = specification.study
    words = ["relens", "study", study.kind]
    words += ["--model", specification.model] if study.needs_model else []
    settings, remark = _shown_settings(study, mask)
    for name, value in settings.items():
        words += ["--set", f"{name}={json.dumps(value, ensure_ascii=not remark)}"]
    return remark + shlex.join([*words, "--output", f"{study.kind}.jsonl"])


def _shown_settings(study: Study, mask: Masker | None) -> tuple[dict[str, Any], str]:
    """The settings that differ, through the mask, and the remark if the mask changed them."""
    settings = differing_settings(study)
    if mask is None:
        return settings, ""
    shown = next(mask.rows([settings]))
    return shown, "" if shown == settings else MASKED_REMARK
