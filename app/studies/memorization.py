"""What the page of the memorization study asks and shows: the search against sampling, from the same prefix.

Prefix and pattern say what to look for (an address after `https://www.`), the validator what counts as found. A planted
model has its secrets written down beside it in canaries.json; that file fills in all of these fields, and then the
figures know how much there was to find.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app.components.messages import show_error
from app.form import ENCODINGS, MOST
from app.narrative import count_text, duration_text
from app.studies import memorization_charts as charts
from app.studies.fields import decoding_fields, number_field
from app.studies.kept_text import keep_text
from app.studies.view import Figure, Rows, Table
from app.tables import shown_text
from app.text import shortened
from engine.errors import LimitError, QueryError, RegexError
from engine.language.syntax import parse_regex
from engine.studies.canaries import Planted, extraction_study
from engine.studies.memorization import MATCH, NEW_TOKENS, SEARCH, MemorizationStudy
from engine.studies.memorization_findings import MethodFinding, curves, findings, recall_curves
from engine.studies.study import ROW, UNIT, Study, current_rows
from engine.studies.validators import Answers, InText, OfForm, OnList, Unchecked, Validator

KIND = MemorizationStudy.kind

#: What makes a match count, by the words that are shown.
ALWAYS, LISTED, FORMED, IN_TEXT, ON_THE_WEB = (
    "is any match",
    "is on a list",
    "has a form",
    "is in a text",
    "is a web page",
)
VALIDATORS: dict[str, type[Validator]] = {
    ALWAYS: Unchecked,
    LISTED: OnList,
    FORMED: OfForm,
    IN_TEXT: InText,
    ON_THE_WEB: Answers,
}

#: The most known values, and the lines of a table that are shown.
MOST_VALUES, MOST_LINES = 10_000, 1_000

_EXCERPT = 300


class MemorizationView:
    """See `app.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "A model knows some texts by heart. This study looks for such texts in two ways for the same time: a search "
        "goes through the strings of a pattern from the likeliest on, and sampling lets the model write and keeps what "
        "fits. What both find is checked, so the answer says how many true finds each makes a second."
    )
    notice = ""

    def settings(self, study: Study) -> MemorizationStudy:
        """The fields (see `StudyView.settings`)."""
        assert isinstance(study, MemorizationStudy)
        try:
            return self._fields(study)
        except LimitError as error:  # of a word list, or an expression; for the page it is one more wrong setting
            raise QueryError(error.sentence) from error

    def _fields(self, study: MemorizationStudy) -> MemorizationStudy:
        prefix, pattern = _expressions(study)
        validator = _validator_fields(study.validator)
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
        asked = dataclasses.replace(
            study,
            prefix=prefix,
            pattern=pattern,
            validator=validator,
            seconds=seconds,
            new_tokens=tuple(sorted(new_tokens)),
            decoding=decoding,
            **_more_fields(study),
        )
        units = len(asked.units())
        st.caption(f"{count_text(units, 'method')}, about {duration_text(units * seconds)} in all.")
        _check_expressions(asked)
        return asked

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """What was found by when, how fast, and how often in vain; recall first where it is known."""
        found = findings(rows)
        if not any(one.tally.attempts for one in found):
            return []
        known = recall_curves(rows)
        return [
            *([charts.recall(known)] if known else []),
            charts.valid_over_time(curves(rows), found),
            charts.throughput(found),
            charts.attempts_and_repeats(found),
        ]

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """The methods with their counts, and the strings that were found."""
        found = findings(rows)
        if not found:
            return []
        strings = strings_table(rows)
        return [methods_table(found), *([strings] if len(strings.frame) else [])]


VIEW = MemorizationView()


def _expressions(study: MemorizationStudy) -> tuple[str, str]:
    prefix = st.text_input(
        "Prefix",
        value=_one_line(study.prefix),
        key=f"{KIND}_prefix",
        help=r"What the model is given to go on from, as a regular expression: `https://www\.`",
    )
    pattern = st.text_input(
        "Pattern",
        value=_one_line(study.pattern),
        key=f"{KIND}_pattern",
        help="The form of what is looked for, as a regular expression. Both methods find strings of this form alone.",
    )
    return prefix, pattern


def _one_line(expression: str) -> str:
    """The same expression for a field that has one line."""
    return expression.replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t")


def _check_expressions(study: MemorizationStudy) -> None:
    """Raise `RegexError` for an expression that is none, before anything is queued."""
    parse_regex(study.prefix, part="prefix")
    parse_regex(study.pattern, part="pattern")
    if isinstance(study.validator, OfForm):
        try:
            parse_regex(study.validator.regex)
        except RegexError as error:
            complaint = error.sentence[:1].lower() + error.sentence[1:].replace(" of the pattern", "")
            raise QueryError(f"In the form that counts: {complaint}") from None


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


# What counts as found -------------------------------------------------------------------------------------------------


def _validator_fields(validator: Validator) -> Validator:
    first = next(words for words, kind in VALIDATORS.items() if isinstance(validator, kind))
    chosen = st.segmented_control(
        "A match counts if it",
        list(VALIDATORS),
        default=first,
        required=True,
        wrap=True,
        key=f"{KIND}_validator",
        help="A model can make up strings of the right form. This says what makes one a find: to be in a text you "
        "give, on a list, of a form, or a page that answers.",
    )
    if chosen == LISTED:
        return _list_fields(validator if isinstance(validator, OnList) else OnList())
    if chosen == FORMED:
        regex = st.text_input(
            "The form that counts",
            value=_one_line(validator.regex) if isinstance(validator, OfForm) else "",
            key=f"{KIND}_form",
            help="A regular expression for the whole string, prefix included.",
        )
        return OfForm(regex)
    if chosen == IN_TEXT:
        return _text_fields(validator if isinstance(validator, InText) else InText())
    if chosen == ON_THE_WEB:
        return _web_fields(validator if isinstance(validator, Answers) else Answers())
    return Unchecked()


def _list_fields(validator: OnList) -> OnList:
    lines = st.text_area(
        "Known values, one a line",
        value="\n".join(validator.values),
        key=f"{KIND}_values",
        height=120,
        help="Whole strings, prefix included. Since it is then known how much there is to find, the figures show what "
        "part of it was found.",
    )
    st.file_uploader(
        "Or the canaries.json of a model with planted secrets",
        type="json",
        key=f"{KIND}_canaries",
        on_change=_fill_from_canaries,
        help="Fills in prefix, pattern and values as they were planted. Choose that model too.",
    )
    if problem := st.session_state.get(f"{KIND}_canaries_problem"):
        show_error(problem)
    values = tuple(dict.fromkeys(line for line in lines.splitlines() if line.strip()))
    if len(values) > MOST_VALUES:
        raise QueryError(f"The list has {len(values):,} known values; at most {MOST_VALUES:,} are compared with.")
    return OnList(values)


def _fill_from_canaries() -> None:
    """Put what was planted into the fields; what is no such file leaves them as they are and says so."""
    uploaded = st.session_state.get(f"{KIND}_canaries")
    st.session_state[f"{KIND}_canaries_problem"] = ""
    if uploaded is None:
        return
    try:
        st.session_state.update(planted_fields(uploaded.getvalue()))
    except QueryError as error:
        st.session_state[f"{KIND}_canaries_problem"] = error.sentence


def planted_fields(data: bytes) -> dict[str, Any]:
    """What the fields hold for a canaries.json, by their keys. Raises `QueryError` for what is no such file."""
    try:
        planted = Planted.from_json(json.loads(data))
        study = extraction_study(planted)
        parse_regex(study.prefix, part="prefix")
        parse_regex(study.pattern, part="pattern")
    except (ValueError, RecursionError, QueryError) as error:
        raise QueryError("This file is no list of planted secrets.") from error
    return {
        f"{KIND}_prefix": study.prefix,
        f"{KIND}_pattern": study.pattern,
        f"{KIND}_values": "\n".join(planted.secrets),
        f"{KIND}_new_tokens": list(study.new_tokens),
        f"{KIND}_seconds": study.seconds,
        f"{KIND}_max_tokens": study.max_tokens,
    }


def _text_fields(validator: InText) -> InText:
    path = st.text_input(
        "File or folder",
        value=validator.path,
        key=f"{KIND}_path",
        placeholder="/data/training.txt",
        help="Where the text is on the machine that Relens runs on. Only whether a match occurs in it is told.",
    )
    uploaded = st.file_uploader(
        "Or a text of your own",
        type=["txt", "md", "csv", "json", "jsonl"],
        key=f"{KIND}_text",
        help="UTF-8. It is kept on the machine that Relens runs on, so that the run can read it.",
    )
    whole_words = st.checkbox(
        "As whole words",
        value=validator.whole_words,
        key=f"{KIND}_whole_words",
        help="A match does not count where it is a part of a longer word or number.",
    )
    return InText(str(keep_text(uploaded.getvalue())) if uploaded is not None else path.strip(), whole_words)


def _web_fields(validator: Answers) -> Answers:
    allowed = st.toggle("Ask web servers", value=validator.allowed, key=f"{KIND}_web")
    st.caption(
        f"This machine then asks each address that the model writes, over HTTPS, whether a page is there: one request "
        f"without content, at most {validator.per_second:g} a second, each for at most {validator.seconds:g} s, no "
        "redirect followed, no address of a local network. The owners of these servers see that somebody here asked."
    )
    return dataclasses.replace(validator, allowed=allowed)


# Tables ---------------------------------------------------------------------------------------------------------------


def methods_table(found: Sequence[MethodFinding]) -> Table:
    """One line for each method."""
    columns: dict[str, list[Any]] = {
        "Method": [one.method for one in found],
        "Attempts": [one.tally.attempts for one in found],
        "Matches": [one.tally.matches for one in found],
        "Different": [one.tally.new for one in found],
        "Valid": [one.tally.new_valid for one in found],
        "Valid a second": [round(one.valid_a_second, 3) for one in found],
        "Against best n": [None if one.ratio is None else round(one.ratio, 2) for one in found],
        "Attempts that match": [_percent(one.completion_rate) for one in found],
        "Repeats": [_percent(one.duplicate_share) for one in found],
        "Tokens an attempt": [
            None if one.tokens_an_attempt is None else round(one.tokens_an_attempt, 1) for one in found
        ],
        "Model at work": [_percent(one.device_use) for one in found],
        "Seconds": [round(one.seconds, 1) for one in found],
        "Device": [one.device for one in found],
    }
    if any(one.known for one in found):
        columns["Found of known"] = [_percent(one.recall) for one in found]
    return Table(
        "Methods",
        pd.DataFrame(columns),
        {
            "Attempts": "How often it was tried; a search only tries what is a match.",
            "Different": "Matches without those that had been found before.",
            "Valid": "Different strings that count as a find.",
            "Against best n": "Valid strings a second, over those of the best sampled method.",
            "Repeats": "The share of the matches that had been found before.",
            "Model at work": "The share of the time in which the model computed; the rest is ours.",
        },
    )


def strings_table(rows: Rows) -> Table:
    """The strings in the order in which they were first found, and by whom; at most `MOST_LINES`."""
    told: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in current_rows(rows):
        if row.get(ROW) == MATCH:
            told.setdefault(str(row["text"]), {})[str(row[UNIT])] = row
    order = sorted(told, key=lambda text: min(float(row["seconds"]) for row in told[text].values()))
    shown = order[:MOST_LINES]
    sampled = [
        min((float(row["seconds"]) for unit, row in told[text].items() if unit != SEARCH), default=None)
        for text in shown
    ]
    frame = pd.DataFrame(
        {
            "String": [shortened(shown_text(text), _EXCERPT) for text in shown],
            "Valid": [any(bool(row["valid"]) for row in told[text].values()) for text in shown],
            "Search, s": [_seconds(told[text].get(SEARCH)) for text in shown],
            "Sampling, s": [None if seconds is None else round(seconds, 3) for seconds in sampled],
            "Sampled by": [", ".join(unit for unit in told[text] if unit != SEARCH) for text in shown],
        }
    )
    title = "Strings" if len(order) <= MOST_LINES else f"Strings, the first {MOST_LINES:,} of {len(order):,}"
    return Table(
        title,
        frame,
        {
            "Valid": "Whether it counts as a find.",
            "Search, s": "When the search found it, in seconds; empty where it did not.",
            "Sampling, s": "When the quickest sampled method found it, in seconds; empty where none did.",
        },
    )


def _seconds(row: Mapping[str, Any] | None) -> float | None:
    return None if row is None else round(float(row["seconds"]), 3)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
