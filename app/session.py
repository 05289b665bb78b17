"""Which browser window a page is drawn for."""

from __future__ import annotations

from streamlit.runtime.scriptrunner import get_script_run_ctx


def session_name() -> str:
    """A name that no other open window has; "" outside a page, as in a test of a function.

    It is the window's share of the queue that it names (`Store.submit`); a reload gives another one.
    """
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.session_id
