"""The page of the memorization study: search against sampling, from the same prefix.

Prefix and pattern say what to extract (an address after `https://www.`), the validator which matches count. Where the
validator is a list, the figures show recall.
"""

from __future__ import annotations

import streamlit as st

from relens.counted import counted
from relens.runs.study_checks import Checked
from relens.studies.memorization import NEW_TOKENS, MemorizationStudy
from relens.studies.memorization_findings import MemorizationFindings
from relens_dashboard.narrative import duration_text
from relens_dashboard.setting_fields import SettingFields, all_fields, attempt
from relens_dashboard.studies.memorization_charts import attempts_and_repeats, recall, throughput, valid_over_time
from relens_dashboard.studies.memorization_tables import methods_table, strings_table
from relens_dashboard.studies.memorization_validators import KIND, validator_fields
from relens_dashboard.studies.view import Figure, StudyView, Table


class MemorizationView(StudyView[MemorizationStudy, MemorizationFindings]):
    """See `relens_dashboard.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "A model knows some texts by heart. This study extracts such texts in two ways, for the same time. A search "
        "goes through the strings of a pattern from the likeliest on; sampling lets the model write and keeps the "
        "matches. You choose which matches count: any match, which nobody checks and the model may have made up, or "
        "only a match in a text, on a list, of a form or on the web. The result is the number of different strings a "
        "second of each method."
    )
    notice = ""

    def settings(self, study: MemorizationStudy) -> MemorizationStudy:
        """The fields (see `StudyView.settings`)."""
        with all_fields():
            return self._fields(study)

    def extent(self, study: MemorizationStudy, checked: Checked) -> str:
        """The number of methods, and their time."""
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

    def figures(self, findings: MemorizationFindings, study: MemorizationStudy) -> list[Figure]:
        """Recall where it is known, valid strings over time, throughput, and failed and repeated attempts."""
        if not any(method.tally.attempts for method in findings.methods):
            return []
        has_recall = any(method.recall_curve for method in findings.methods)
        return [
            *([recall(findings)] if has_recall else []),
            valid_over_time(findings),
            throughput(findings),
            attempts_and_repeats(findings),
        ]

    def tables(self, findings: MemorizationFindings, study: MemorizationStudy) -> list[Table]:
        """The methods with their counts, and the different strings."""
        tables = [methods_table(findings)] if findings.methods else []
        if any(method.matches for method in findings.methods):
            tables.append(strings_table(findings))
        return tables


VIEW = MemorizationView()
