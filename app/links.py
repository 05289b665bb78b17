"""A link that restores a query, and never runs it by itself.

    https://host/workbench?pattern=The+%28cat%7Cdog%29&top_k=40

Only what differs from an untouched form is in it. The widgets of the Workbench are bound to parameters of the same
names, so a link needs no code to be opened; this module writes links, for the gallery and for sharing, in the words
that the widgets themselves use.
"""

from __future__ import annotations

import dataclasses
from urllib.parse import urlencode, urlsplit, urlunsplit

from app.form import Form

#: The parameter that names the run to show; it is no part of a query.
RUN = "run"

#: The parameter that names the runs that are chosen in the history, or compared: their ids, by comma.
CHOSEN = "runs"

#: The parameters that say how results are viewed; they are no part of a query either.
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
