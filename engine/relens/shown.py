"""What a notebook shows of a query, a match, a run and its automata, instead of their names in memory.

    Query("(cat|dog)")._repr_html_()        "<table>...(cat|dog)...</table>"

A thing that is shown knows nothing of HTML: `relens.notebook` knows all of them, and is imported when a notebook asks.
"""

from __future__ import annotations

import importlib


class Shown:
    """A thing that notebooks show as HTML; `relens.notebook.html_of` says how."""

    def _repr_html_(self) -> str:
        shown: str = importlib.import_module("relens.notebook").html_of(self)
        return shown
