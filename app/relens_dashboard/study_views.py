"""The studies that have a page: those whose view can be imported.

A study of the catalogue has its view in the module of `relens_dashboard.studies` of its name (`module_name`). A study
with no view, or a broken one, is left out, so that the others work.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module

from relens.studies.catalogue import STUDIES
from relens_dashboard.studies.view import StudyView


@cache
def study_views() -> dict[str, StudyView]:
    """The views by the kind of their study, in the order of the catalogue."""
    views = {kind: _view(kind) for kind in STUDIES}
    return {kind: view for kind, view in views.items() if view is not None}


def module_name(kind: str) -> str:
    """The name of the modules of a study, its view and its page: "dialogue-model" is no name of a module."""
    return kind.replace("-", "_")


def _view(kind: str) -> StudyView | None:
    name = f"relens_dashboard.studies.{module_name(kind)}"
    try:
        view: StudyView = import_module(name).VIEW
    except Exception as error:  # whatever is wrong with it, the dashboard goes on without it
        if not (isinstance(error, ModuleNotFoundError) and error.name == name):
            logging.getLogger(__name__).exception("The view of the study %r cannot be imported.", kind)
        return None
    return view
