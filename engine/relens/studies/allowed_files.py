"""Which files a study may read when somebody asks for it over the web.

From Python and from a terminal a study reads whatever its caller can. The dashboard's worker reads for strangers:

    /etc/passwd                         refused
    ~/.cache/relens/texts/3fa9...txt    an upload
    /data/corpus/pile.txt               where the operator has put /data/corpus into RELENS_TEXTS
"""

from __future__ import annotations

from pathlib import Path

from relens import settings
from relens.errors import QueryError
from relens.studies.study import Study

#: Characters of a name that a complaint repeats.
_LONGEST_SHOWN = 200


def check_files(study: Study) -> None:
    """Raises `QueryError` for a file outside the folders of `relens.settings.texts_folders`, links followed."""
    folders = [folder.resolve() for folder in settings.texts_folders()]
    for name in study.files():
        path = _resolved(name)
        if path is None or not any(path.is_relative_to(folder) for folder in folders):
            shown = name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…"
            raise QueryError(
                f"The dashboard may not read {shown!r}: upload the text, or let the operator name its folder in"
                " RELENS_TEXTS."
            )


def _resolved(name: str) -> Path | None:
    """The path without links; None for what is no path, such as one with a null character or of nobody's home."""
    try:
        return Path(name).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        return None
