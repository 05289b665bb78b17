"""What the page of the memorization study asks and shows: the search against sampling, from the same prefix.

Prefix and pattern say what to look for (an address after `https://www.`), the validator what counts as found; where it
is a list, the figures know how much there was to find.
"""

from __future__ import annotations

import streamlit as st

from app.narrative import duration_text
from app.setting_fields import SettingFields, all_fields, attempt
from app.studies import memorization_charts as charts
from app.studies.memorization_tables import methods_table, strings_table
from app.studies.memorization_validators import KIND, validator_fields
from app.studies.view import Figure, Rows, StudyView, Table
from engine.counted import counted
from engine.runs.study_checks import Checked
from engine.studies.find_words import find_words
from engine.studies.memorization import NEW_TOKENS, MemorizationStudy
from engine.studies.memorization_findings import curves, findings, recall_curves
from engine.studies.study import Study


class MemorizationView(StudyView):
    """See `app.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "A model knows some texts by heart. This study looks for such texts in two ways, for the same time. A search "
        "goes through the strings of a pattern from the likeliest on; sampling lets the model write and keeps what "
        "fits. What counts as a find is for you to choose: any match, which nobody checks and the model may have made "
        "up, or only what is in a text, on a list, of a form or on the web. The answer says how many finds each makes "
        "a second."
    )
    notice = ""

    def settings(self, study: Study) -> MemorizationStudy:
        """The fields (see `StudyView.settings`)."""
        assert isinstance(study, MemorizationStudy)
        with all_fields():
            return self._fields(study)

    def extent(self, study: Study, checked: Checked) -> str:
        """The methods, and how long they take."""
        assert isinstance(study, MemorizationStudy)
        return f"{counted(checked.units, 'method')}, about {duration_text(checked.units * study.seconds)} in all."

    def _fields(self, study: MemorizationStudy) -> MemorizationStudy:
        fields = SettingFields(study, KIND)
        fields.draw("prefix")
        fields.draw("pattern")
        validator = attempt(lambda: validator_fields(study.validator), study.validator)
        first, second = st.columns([1, 3])
        fields.draw("seconds", first)
        fields.draw("new_tokens", second, options=sorted({*NEW_TOKENS, 128, *study.new_tokens}))
        fields.inner("decoding")
        with st.popover("More", icon=":material/tune:", key=f"{KIND}_more"), st.container(width=640):
            fields.row("encoding", "max_tokens", "matches")
            fields.row("batch", "seed", widths=[1, 1, 1])
        return fields.record(validator=validator)

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """What was found by when, how fast, and how often in vain; recall first where it is known."""
        found = findings(rows)
        if not any(one.tally.attempts for one in found):
            return []
        known, words = recall_curves(rows), find_words(rows)
        return [
            *([charts.recall(known)] if known else []),
            charts.finds_over_time(curves(rows), found, words),
            charts.throughput(found, words),
            charts.attempts_and_repeats(found),
        ]

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """The methods with their counts, and the strings that were found."""
        found = findings(rows)
        if not found:
            return []
        strings = strings_table(rows)
        return [methods_table(found, find_words(rows)), *([strings] if len(strings.frame) else [])]


VIEW = MemorizationView()
