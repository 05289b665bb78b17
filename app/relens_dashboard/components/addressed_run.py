"""The run in a page's address.

/tokens?run=4f3a...      the record of that run; None, and a sentence, where it is gone or of another kind
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from relens.errors import RelensError
from relens.runs.records import RunRecord
from relens.runs.specification import SearchSpecification
from relens_dashboard import links
from relens_dashboard.messages import show_error, show_warning
from relens_dashboard.services import Services

_GONE = "The run in this page's address is not in the store"


def addressed_search(services: Services) -> RunRecord | None:
    """The search that the address names, or None."""
    return _addressed(
        services, links.RUN, lambda run: run.kind == SearchSpecification.kind, f"{_GONE}. The query is kept."
    )


def addressed_study(
    services: Services, kind: str, parameter: str = links.RUN, otherwise: str = "is of another study"
) -> RunRecord | None:
    """The study of this kind with its id in `parameter`, or None. otherwise: the warning's words for another run."""
    return _addressed(
        services,
        parameter,
        lambda run: run.specification.get("study", {}).get("kind") == kind,
        f"{_GONE}, or {otherwise}.",
    )


def _addressed(
    services: Services, parameter: str, is_expected: Callable[[RunRecord], bool], complaint: str
) -> RunRecord | None:
    run_id = st.query_params.get(parameter)
    if not run_id:
        return None
    try:
        run = services.store.get(run_id)
    except RelensError as error:
        show_error(error)
        return None
    if run is None or not is_expected(run):
        show_warning(complaint)
        return None
    return run
