"""Imported runs, whose rows may be anything that their file contains.

Pages rely on rows in the form that our own studies write. The file of an imported run is checked, but a figure may
still need a missing field. Then the page shows a sentence instead of breaking; the same in a run of our own is a bug
and is raised.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from relens.errors import QueryError, RelensError
from relens.runs.records import RunRecord

_UNFIT = (
    "The rows of this imported run do not fit the study, so its findings cannot be shown. Repeat the run to see them."
)

log = logging.getLogger(__name__)


@contextmanager
def made_of(run: RunRecord) -> Iterator[None]:
    """Around work with a run's rows: any error from the rows of an imported run becomes a `QueryError`."""
    try:
        yield
    except RelensError:
        raise
    except Exception as error:
        if run.origin is None:
            raise
        log.info("The imported run %s cannot be shown: %r", run.id, error)
        raise QueryError(_UNFIT) from error
