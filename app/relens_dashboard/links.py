"""A link that restores a query, and never runs it by itself.

    https://host/workbench?pattern=The+%28cat%7Cdog%29&top_k=40

It holds only values that differ from an untouched form. The widgets of the Workbench are bound to parameters of the
same names and read a link by themselves; this module writes links, for the gallery and for sharing.
"""

from __future__ import annotations

import dataclasses
from urllib.parse import urlencode, urlsplit, urlunsplit

from relens_dashboard.form import Form

#: The parameter with the run to show; no part of a query.
RUN = "run"

#: The parameter with the ids of the runs chosen in the history, or compared, separated by commas.
CHOSEN = "runs"

#: The parameters of the view of results; no part of a query either.
BY, GROUPS, GIVEN = "by", "groups", "given"
VIEW = (BY, GROUPS, GIVEN)


def parameters(form: Form) -> dict[str, str]:
    """The form's values that are not the defaults, as the widgets read them from a link."""
    untouched = Form()
    return {
        item.name: _written(getattr(form, item.name))
        for item in dataclasses.fields(form)
        if getattr(form, item.name) != getattr(untouched, item.name)
    }


def link(page_address: str, form: Form) -> str:
    """`page_address` (its own parameters dropped) with the form's values."""
    parts = urlsplit(page_address)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(parameters(form)), ""))


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
