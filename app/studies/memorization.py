"""What the page of the memorization study asks and shows: the search against sampling, from the same prefix.

Prefix and pattern say what to look for (an address after `https://www.`), the validator what counts as found; where it
is a list, the figures know how much there was to find.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from app.form import ENCODINGS, MOST
from app.narrative import duration_text
from app.studies import memorization_charts as charts
from app.studies.fields import all_fields, attempt, decoding_fields, number_field
from app.studies.memorization_tables import methods_table, strings_table
from app.studies.memorization_validators import KIND, one_line, validator_fields
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
        prefix, pattern = _expressions(study)
        validator = attempt(lambda: validator_fields(study.validator), study.validator)
        first, second = st.columns([1, 3])
        seconds = number_field(
            first,
            "Seconds a method",
            float(study.seconds),
            least=1.0,
            most=float(MOST["seconds"]),
            step=1.0,
            key=f"{KIND}_seconds",
            help="How long each method may look. More seconds find more, and make the comparison firmer. The time that "
            "checking takes is not counted.",
        )
        new_tokens = second.pills(
            "Sampled methods, by tokens that are written",
            sorted({*NEW_TOKENS, 128, *study.new_tokens}),
            selection_mode="multi",
            default=list(study.new_tokens),
            key=f"{KIND}_new_tokens",
            help="A sample writes this many tokens and is a match if it begins with one. Few are quick but cut long "
            "strings off; many find whole strings but take long. None: the search alone.",
        )
        decoding = decoding_fields(KIND, study.decoding)
        return dataclasses.replace(
            study,
            prefix=prefix,
            pattern=pattern,
            validator=validator,
            seconds=seconds,
            new_tokens=tuple(sorted(new_tokens)),
            decoding=decoding,
            **_more_fields(study),
        )

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


def _expressions(study: MemorizationStudy) -> tuple[str, str]:
    prefix = st.text_input(
        "Prefix",
        value=one_line(study.prefix),
        key=f"{KIND}_prefix",
        help=r"What the model is given to go on from, as a regular expression: `https://www\.`",
    )
    pattern = st.text_input(
        "Pattern",
        value=one_line(study.pattern),
        key=f"{KIND}_pattern",
        help="The form of what is looked for, as a regular expression. Both methods find strings of this form alone.",
    )
    return prefix, pattern


def _more_fields(study: MemorizationStudy) -> dict[str, Any]:
    with st.popover("More", icon=":material/tune:", key=f"{KIND}_more"), st.container(width=640):
        first, second, third = st.columns(3)
        names = list(ENCODINGS)
        encoding = first.segmented_control(
            "Encoding",
            names,
            default=next(name for name in names if ENCODINGS[name] == study.encoding),
            required=True,
            key=f"{KIND}_encoding",
            help="**All**: the search finds a string in any of its spellings in tokens. **Canonical**: only in the "
            "tokenizer's own, which is quicker and has no duplicates.",
        )
        max_tokens = number_field(
            second,
            "Longest, in tokens",
            study.max_tokens,
            least=1,
            most=MOST["max_tokens"],
            key=f"{KIND}_max_tokens",
            help="Longer matches of the search, prefix included, are left out.",
        )
        matches = number_field(
            third,
            "Matches at most",
            study.matches,
            least=1,
            most=MOST["matches"],
            placeholder="no limit",
            key=f"{KIND}_matches",
            help="The search ends early with so many matches. Empty: when its time is over.",
        )
        first, second, _ = st.columns(3)
        batch = number_field(
            first,
            "Attempts at once",
            study.batch,
            least=1,
            most=4096,
            placeholder="as is quick",
            key=f"{KIND}_batch",
            help="How many samples are written together. Empty: as many as this machine does quickly. 1: as in the "
            "paper, which makes sampling slower than it has to be.",
        )
        seed = number_field(
            second,
            "Seed",
            study.seed,
            least=0,
            most=MOST["seed"],
            key=f"{KIND}_seed",
            help="The same seed writes the same samples again.",
        )
    return {
        "encoding": ENCODINGS[encoding],
        "max_tokens": max_tokens,
        "matches": matches,
        "batch": batch,
        "seed": seed,
    }
