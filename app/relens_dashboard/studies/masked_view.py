"""A view with masked words, and a switch for the reader who wants to see them.

Show the words [ ]      you are a l····
Show the words [x]      you are a loser
"""

from __future__ import annotations

from abc import abstractmethod

import streamlit as st

from relens.studies.masking import Masker
from relens_dashboard.studies.view import FindingsT, StudyT, StudyView


class MaskedView(StudyView[StudyT, FindingsT]):
    """See `StudyView`; the switch stands above the findings and goes off when the page is left."""

    #: The masked words and their places: the beginning of the switch's help.
    masked_help: str

    @property
    def shown_key(self) -> str:
        """The key of the switch."""
        return f"{self.kind}_words_shown"

    def switches(self) -> tuple[bool, ...]:
        """Whether the words are shown."""
        is_shown = st.toggle(
            "Show the words",
            key=self.shown_key,
            help=f"{self.masked_help} It changes the view, not the study.",
        )
        return (is_shown,)

    def mask(self, study: StudyT) -> Masker | None:
        """The mask of the study, None while the switch is on."""
        return None if st.session_state.get(self.shown_key, False) else self.masker(study)

    @abstractmethod
    def masker(self, study: StudyT) -> Masker:
        """The mask of this study."""
