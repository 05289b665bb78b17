"""The toxicity study on its page: settings, figures and tables.

Words of the list, and spellings of them one edit away, are masked in the tables and in all that leaves the page, unless
the reader switches that off. The switch belongs to the reader, not to the study: a run that opens by a link is masked.
"""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from relens.counted import counted
from relens.errors import QueryError
from relens.studies.masking import Masker
from relens.studies.sentences import MOST_SENTENCES, Sentence, Sentences, find_sentences
from relens.studies.toxicity import DEMONSTRATION, VARIANTS, ToxicityStudy, demonstration
from relens.studies.toxicity_findings import ToxicityFindings
from relens.studies.word_lists import MILD_WORDS, read_words
from relens_dashboard.setting_fields import SettingFields, all_fields, attempt
from relens_dashboard.studies.masked_view import MaskedView
from relens_dashboard.studies.toxicity_figures import characters_figure, kinds_figure, success_figure
from relens_dashboard.studies.toxicity_tables import masker_of, tables
from relens_dashboard.studies.view import Figure, Table
from relens_dashboard.text import as_markdown

KIND = ToxicityStudy.kind

BUILT_IN, PASTED, UPLOADED, AS_THEY_ARE = "Built-in letters", "Pasted text", "A file", "As they are"
MILD, OWN_WORDS = "Built-in", "My own"


class ToxicityView(MaskedView[ToxicityStudy, ToxicityFindings]):
    """See `relens_dashboard.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "Given the beginning of a rude sentence, can the model finish it? And can it write the whole sentence by "
        "itself? The study searches for the exact text first, then also for other spellings: other tokens, and one "
        "character changed. A plain test of the model misses the matches that only the wider search has."
    )
    notice = (
        "This study looks for rude and offensive language. Its inputs and matches may hurt. The words of the list, and "
        "spellings one edit away from them, are masked; a switch above the findings shows them."
    )
    masked_help = (
        "While it is off, words of the list and spellings close to them are masked in the tables, the report, the "
        "files and the commands below."
    )

    def settings(self, study: ToxicityStudy) -> ToxicityStudy:
        """See `StudyView`."""
        with all_fields():
            study = self._fields(study)
        searches = len(study.inputs) * sum(len(VARIANTS[mode]) for mode in study.modes)
        st.caption(f"{counted(len(study.inputs), 'input')}, {counted(searches, 'search', 'searches')}.")
        return study

    def _fields(self, study: ToxicityStudy) -> ToxicityStudy:
        inputs, words = attempt(lambda: _text_fields(study), (study.inputs, study.words))
        first, second = st.columns([1, 2])
        most = first.number_input(
            "Inputs at most",
            1,
            MOST_SENTENCES,
            max(100, len(study.inputs)),
            key=f"{KIND}_most_inputs",
            help="The first so many sentences. Each takes about as long as the others; with fewer than twenty the "
            "shares say little of other texts.",
        )
        fields = SettingFields(study, KIND)
        fields.draw("modes", second)
        fields.inner("decoding")
        with st.popover("Limits", icon=":material/timer:", key=f"{KIND}_limits"), st.container(width=480):
            fields.row("prompted_expansions", "unprompted_expansions")
            fields.row("most_matches", "max_tokens")
        return fields.record(inputs=inputs[:most], words=words)

    def masker(self, study: ToxicityStudy) -> Masker:
        """See `MaskedView`: of the words of the list and of the inputs."""
        return masker_of(study)

    def figures(self, findings: ToxicityFindings, study: ToxicityStudy) -> list[Figure]:
        """Success by variant, kinds of match, characters of edits."""
        figures = []
        if findings.prompted:
            figures.append(success_figure("prompted", findings.prompted))
        if findings.unprompted:
            figures.append(success_figure("unprompted", findings.unprompted))
        if any(kind.matches for kind in findings.kinds):
            figures.append(kinds_figure(findings.kinds))
        if findings.written:
            figures.append(characters_figure(findings.written, written=True))
        if findings.removed:
            figures.append(characters_figure(findings.removed, written=False))
        return figures

    def tables(self, findings: ToxicityFindings, study: ToxicityStudy) -> list[Table]:
        """The variants, the inputs and the matches, as the switch stands."""
        return tables(findings, self.mask(study))


VIEW = ToxicityView()


# The text and the words -----------------------------------------------------------------------------------------------


def _text_fields(study: ToxicityStudy) -> tuple[tuple[Sentence, ...], tuple[str, ...]]:
    """The inputs, and the words of their search."""
    is_demonstration = study.inputs == demonstration() and study.words == MILD_WORDS
    sources = [BUILT_IN, PASTED, UPLOADED] if is_demonstration else [AS_THEY_ARE, BUILT_IN, PASTED, UPLOADED]
    source = st.segmented_control(
        "Sentences from",
        sources,
        default=sources[0],
        required=True,
        wrap=True,
        key=f"{KIND}_source",
        help="The text to search for sentences with one of the words. **Built-in letters**: letters of complaint in "
        "mild words, written for Relens. **As they are**: the sentences that this study has already.",
    )
    if source == AS_THEY_ARE:
        return study.inputs, study.words
    text: str | None = None
    line_by_line = False
    if source != BUILT_IN:
        text = _pasted() if source == PASTED else _uploaded()
        line_by_line = st.checkbox(
            "A line break ends a sentence",
            key=f"{KIND}_line_by_line",
            help="Every line break ends a sentence. Off: only full stops and blank lines do.",
        )
    words = _word_fields(study.words)
    if text is not None and not text.strip():
        raise QueryError("Paste a text." if source == PASTED else "Choose a file with the text.")
    sentences = _sentences(text, words, line_by_line)
    st.caption(as_markdown(_count_sentence(sentences)))
    return sentences.sentences, words


def _pasted() -> str:
    text = st.text_area(
        "Text",
        key=f"{KIND}_text",
        height=140,
        help="Only sentences with one of the words become inputs.",
    )
    return str(text or "")


def _uploaded() -> str:
    uploaded = st.file_uploader("Text file", type=["txt", "md"], key=f"{KIND}_file", help="UTF-8.")
    return "" if uploaded is None else uploaded.getvalue().decode("utf-8-sig", errors="replace")


def _word_fields(words: tuple[str, ...]) -> tuple[str, ...]:
    chosen = st.segmented_control(
        "Words",
        [MILD, OWN_WORDS],
        default=MILD if words == MILD_WORDS else OWN_WORDS,
        required=True,
        key=f"{KIND}_words",
        help="Sentences with one of these words are inputs; masks hide the words. The built-in ones are mild; bring a "
        "list to study strong language.",
    )
    if chosen == MILD:
        return MILD_WORDS
    typed = st.text_area(
        "One word a line",
        value="" if words == MILD_WORDS else "\n".join(words),
        key=f"{KIND}_own_words",
        height=120,
        help="Upper and lower case alike. A line that begins with # is a remark.",
    )
    uploaded = st.file_uploader("Or a file with them", type=["txt"], key=f"{KIND}_word_file", help="UTF-8.")
    return read_words(uploaded.getvalue() if uploaded is not None else typed or "")


@lru_cache(maxsize=8)
def _sentences(text: str | None, words: tuple[str, ...], line_by_line: bool) -> Sentences:
    """The sentences of a text, None for the built-in one; kept, since a page is drawn often."""
    return find_sentences(DEMONSTRATION if text is None else text, words, line_by_line=line_by_line)


def _count_sentence(sentences: Sentences) -> str:
    parts = [f"{counted(len(sentences.sentences), 'sentence')} with one of the words"]
    for number, why in (
        (sentences.repeated, "repeated"),
        (sentences.too_long, "too long"),
        (sentences.unreadable, "unreadable"),
    ):
        if number:
            parts.append(f"{number:,} {why} left out")
    return f"{', '.join(parts)}{'; the text is longer than the limit of a text' if sentences.is_cut else ''}."
