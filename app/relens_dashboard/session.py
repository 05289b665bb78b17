"""The browser window that a page is drawn for."""

from __future__ import annotations

from streamlit.runtime.scriptrunner import get_script_run_ctx


def session_name() -> str:
    """A name that no other open window has; "" outside a page, as in a test of a function.

    The queue limits the waiting runs of each name (`Store.submit`). A reload gives another name.
    """
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.session_id
