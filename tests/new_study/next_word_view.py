"""The likeliest words after a prompt, as bars and as a table."""

from __future__ import annotations

import math

import pandas as pd
from relens.studies.next_word import NextWordFindings, NextWordStudy

from relens_dashboard.charts import bars, chart
from relens_dashboard.setting_fields import SettingFields, all_fields
from relens_dashboard.studies.view import Figure, StudyView, Table


class NextWordView(StudyView[NextWordStudy, NextWordFindings]):
    """See `relens_dashboard.studies.view`."""

    kind = "next-word"
    introduction = "The model goes on with a text. Shown are the words that it finds likeliest, and how likely."
    notice = ""

    def settings(self, study: NextWordStudy) -> NextWordStudy:
        """See `StudyView`."""
        with all_fields():
            fields = SettingFields(study, "next-word")
            fields.row("prompt", "words", "letters", "canonical")
            return fields.record()

    def figures(self, findings: NextWordFindings, study: NextWordStudy) -> list[Figure]:
        """The probability of each word."""
        texts, values = [word.text for word in findings.words], [math.exp(word.log_prob) for word in findings.words]
        drawn = chart(
            [bars(values)], f"Bars of the words {', '.join(texts)}.", x={"title": "Probability"}, y_labels=texts
        )
        return [Figure("Words", f"The likeliest word is “{texts[0]}”.", drawn)] if texts else []

    def tables(self, findings: NextWordFindings, study: NextWordStudy) -> list[Table]:
        """The same as a table."""
        lines = [(word.text, math.exp(word.log_prob)) for word in findings.words]
        return [Table("Words", pd.DataFrame(lines, columns=["Word", "Probability"]), {})] if lines else []


VIEW = NextWordView()
