"""The part that both pages of checks share: one table, and one card at a time.

Pair    [ ✓ how are you => i am good . ]
the score of that pair (`relens_dashboard.studies.trigger_score`)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from relens.studies.masking import Masker
from relens.triggers.check import CheckFindings, CheckRow
from relens_dashboard.masks import shown
from relens_dashboard.studies.masked_view import MaskedView
from relens_dashboard.studies.trigger_score import revealed, show_score
from relens_dashboard.studies.trigger_tables import checks_table
from relens_dashboard.studies.trigger_words import ARROW, trigger_masker
from relens_dashboard.studies.view import Figure, StudyT, Table
from relens_dashboard.text import shortened

if TYPE_CHECKING:
    from relens.runs.records import RunRecord
    from relens_dashboard.services import Services


class CheckView(MaskedView[StudyT, CheckFindings]):
    """See `StudyView`. noun: of a checked text; heading: of the texts in the table."""

    noun: str
    heading: str
    notice = (
        "A hit by sampling is a claim about a probability; no reply was sampled. Rude words, and the words of the "
        "targets, are masked unless you switch them on."
    )
    masked_help = (
        "Without this, rude words, and the words of the targets, are masked: on this page, and in the report and the "
        "files."
    )

    def masker(self, study: StudyT) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def figures(self, findings: CheckFindings, study: StudyT) -> list[Figure]:
        """None: each text has its figures on its card."""
        return []

    def tables(self, findings: CheckFindings, study: StudyT) -> list[Table]:
        """A line for each text."""
        if not findings.scores:
            return []
        return [checks_table(f"{self.noun.capitalize()}s", findings, self.mask(study), text=self.heading)]

    def draw_details(self, services: Services, run: RunRecord, study: StudyT, findings: CheckFindings) -> bool:
        """The choice of a text, and its card."""
        scores, mask = findings.scores, self.mask(study)
        if not scores:
            return False
        st.header(f"One {self.noun} at a time", anchor=False)
        chosen = st.selectbox(
            self.noun.capitalize(),
            range(len(scores)),
            format_func=lambda place: _label(scores[place], findings.hit_type, mask),
            key=f"{self.kind}_card_{run.id}",
            help=f"The {self.noun} of the card below.",
        )
        row = scores[min(chosen or 0, len(scores) - 1)]
        with st.container(border=True, key="trigger_check_card"):
            own = revealed(row, mask, f"{self.kind}_reveal_{run.id}_{row.pair}")
            show_score(row, findings.hit_type, own, f"{self.kind}_{run.id}")
        return False


def _label(row: CheckRow, hit_type: str, mask: Masker | None) -> str:
    text, target = (shortened(shown(mask, one), 50) for one in (row.score.text, row.target_text))
    return f"{'✓' if row.score.is_hit(hit_type) else '✗'} {text} {ARROW} {target}"
