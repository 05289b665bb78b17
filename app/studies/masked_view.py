"""A view whose words are masked until a reader asks to see them: one switch, and what it hides.

Show the words [ ]      you are a l····
Show the words [x]      you are a loser
"""

from __future__ import annotations

from abc import abstractmethod

import streamlit as st

from app.studies.view import StudyView
from engine.studies.masking import Masker
from engine.studies.study import Study


class MaskedView(StudyView):
    """See `StudyView`; the switch stands above the findings and goes off when the page is left."""

    #: What is masked, and where: the beginning of the switch's help.
    masked_help: str

    @property
    def shown_key(self) -> str:
        """The key of the switch."""
        return f"{self.kind}_words_shown"

    def switches(self) -> tuple[bool, ...]:
        """Whether this reader wants to see the words."""
        is_shown = st.toggle(
            "Show the words",
            key=self.shown_key,
            help=f"{self.masked_help} It changes what you see, not what was asked.",
        )
        return (is_shown,)

    def mask(self, study: Study) -> Masker | None:
        """What hides the words, unless this reader chose to see them."""
        return None if st.session_state.get(self.shown_key, False) else self.masker(study)

    @abstractmethod
    def masker(self, study: Study) -> Masker:
        """What hides the words of this study."""
