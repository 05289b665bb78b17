"""Import of a run's file."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from relens.errors import RelensError
from relens.runs.intake import take_in_run
from relens.runs.run_file import SUFFIX
from relens_dashboard.messages import show_error
from relens_dashboard.services import Services

#: The largest file that a browser may send, in megabytes; files of runs are packed about ten to one.
LARGEST_UPLOAD = 64


def import_run(services: Services, choose: Callable[[str], None]) -> None:
    """A button that opens a field for a file; the imported run becomes the chosen one."""
    with st.popover("Import", icon=":material/upload:", key="import_popover"):
        uploads = st.session_state.get("imports", 0)
        sent = st.file_uploader(
            "File of a run",
            type=[SUFFIX.removeprefix(".")],
            key=f"import_file_{uploads}",
            max_upload_size=LARGEST_UPLOAD,
            help="A run that was exported here or elsewhere. It is checked and listed as imported. It is not run, but "
            "you can repeat it with a model of this server.",
        )
        if sent is None:
            return
        try:
            with st.spinner("Reading the file"):
                run_id = take_in_run(sent.getvalue(), services.store.url)
        except RelensError as error:
            show_error(error)
            return
    st.session_state["imports"] = uploads + 1  # an empty field again, or the file would be imported at every look
    st.toast("Imported. It is chosen in the list.", icon=":material/upload:")
    choose(run_id)
    st.rerun()
