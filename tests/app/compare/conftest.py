"""Pages on a real store, as in the tests of the history."""

from tests.app.runs.conftest import dashboard, store

__all__ = ["dashboard", "store"]
