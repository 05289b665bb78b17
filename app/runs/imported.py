"""Runs from elsewhere, whose rows may be anything that their file said.

What a page makes of rows relies on their being such as our own studies write. Of an imported run nobody knows that: its
file is checked, but a figure may still want a field that is not there. Such a run says so in a sentence, instead of
breaking its page; where a run of our own does not fit, that is a mistake of ours and stays loud.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from engine.errors import QueryError, RelensError
from engine.runs.records import RunRecord

_UNFIT = (
    "The rows of this imported run do not fit the study that they are said to be of, so what they say cannot be shown; "
    "repeat the run to see its findings."
)

log = logging.getLogger(__name__)


@contextmanager
def made_of(run: RunRecord) -> Iterator[None]:
    """Around what is made of a run's rows; raises `QueryError` for whatever those of an imported run break."""
    try:
        yield
    except RelensError:
        raise
    except Exception as error:
        if run.origin is None:
            raise
        log.info("The imported run %s cannot be shown: %r", run.id, error)
        raise QueryError(_UNFIT) from error
