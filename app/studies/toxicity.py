"""What the page of the toxicity study asks and shows: which rude words and sentences can be drawn out of a model.

Words of the list, and spellings of them one edit away, are masked in the tables and in all that leaves the page, unless
a reader switches that off. The switch is not a setting of the study: it belongs to whoever looks, and a run that is
opened by a link starts masked.
"""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from app.setting_fields import SettingFields, all_fields, attempt
from app.studies import toxicity_charts as charts
from app.studies.masked_view import MaskedView
from app.studies.toxicity_tables import masker_of, tables
from app.studies.view import Figure, Rows, Table
from app.text import as_markdown
from engine.counted import counted
from engine.errors import QueryError
from engine.studies.masking import Masker
from engine.studies.sentences import MOST_SENTENCES, Sentence, Sentences, find_sentences
from engine.studies.study import Study
from engine.studies.toxicity import DEMONSTRATION, VARIANTS, ToxicityStudy, demonstration
from engine.studies.toxicity_findings import CONTENT_NOTICE, toxicity_findings
from engine.studies.word_lists import MILD_WORDS, read_words

KIND = ToxicityStudy.kind

BUILT_IN, PASTED, UPLOADED, AS_THEY_ARE = "Built-in letters", "Pasted text", "A file", "As they are"
MILD, OWN_WORDS = "Built-in", "My own"


class ToxicityView(MaskedView):
    """See `app.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "Given the beginning of a rude sentence, can the model finish it? And can it write the whole sentence by "
        "itself? The study asks for the exact text first, then also for other spellings: other tokens, and one "
        "character changed. What only the wider search finds is what a plain test of the model misses."
    )
    notice = f"{CONTENT_NOTICE} The switch for that stands above what was found."
    masked_help = (
        "Without this, words of the list and spellings close to them are masked: in the tables, and in the "
        "report, the files and the commands below."
    )

    def settings(self, study: Study) -> ToxicityStudy:
        """The fields (see `StudyView.settings`)."""
        assert isinstance(study, ToxicityStudy)
        with all_fields():
            asked = self._fields(study)
        searches = len(asked.inputs) * sum(len(VARIANTS[mode]) for mode in asked.modes)
        st.caption(f"{counted(len(asked.inputs), 'input')}, {counted(searches, 'search', 'searches')}.")
        return asked

    def _fields(self, study: ToxicityStudy) -> ToxicityStudy:
        inputs, words = attempt(lambda: _text_fields(study), (study.inputs, study.words))
        first, second = st.columns([1, 2])
        most = first.number_input(
            "Inputs at most",
            1,
            MOST_SENTENCES,
            max(100, len(study.inputs)),
            key=f"{KIND}_most_inputs",
            help="The first so many sentences are asked about. Each takes about as long as the others; twenty are the "
            "least that say something of other texts.",
        )
        fields = SettingFields(study, KIND)
        fields.draw("modes", second)
        fields.inner("decoding")
        with st.popover("Limits", icon=":material/timer:", key=f"{KIND}_limits"), st.container(width=480):
            fields.row("prompted_expansions", "unprompted_expansions")
            fields.row("most_matches", "max_tokens")
        return fields.record(inputs=inputs[:most], words=words)

    def masker(self, study: Study) -> Masker:
        """Hides the words of the list and of the inputs."""
        assert isinstance(study, ToxicityStudy)
        return masker_of(study)

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """Success by variant, kinds of match, characters of edits."""
        found = toxicity_findings(rows)
        figures = []
        if found.prompted:
            figures.append(charts.success("prompted", found.prompted))
        if found.unprompted:
            figures.append(charts.success("unprompted", found.unprompted))
        if any(kind.matches for kind in found.kinds):
            figures.append(charts.kinds(found.kinds))
        if found.written:
            figures.append(charts.characters(found.written, written=True))
        if found.removed:
            figures.append(charts.characters(found.removed, written=False))
        return figures

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """The variants, the inputs and the matches, masked unless this reader chose to see the words."""
        assert isinstance(study, ToxicityStudy)
        return tables(rows, study, masked=self.mask(study) is not None)


VIEW = ToxicityView()


# The text and the words -----------------------------------------------------------------------------------------------


def _text_fields(study: ToxicityStudy) -> tuple[tuple[Sentence, ...], tuple[str, ...]]:
    """The inputs and the words they are found by."""
    is_demonstration = study.inputs == demonstration() and study.words == MILD_WORDS
    sources = [BUILT_IN, PASTED, UPLOADED] if is_demonstration else [AS_THEY_ARE, BUILT_IN, PASTED, UPLOADED]
    source = st.segmented_control(
        "Sentences from",
        sources,
        default=sources[0],
        required=True,
        wrap=True,
        key=f"{KIND}_source",
        help="Where sentences with one of the words are looked for. **Built-in letters**: letters of complaint, made "
        "up for this, in mild words. **As they are**: the sentences that this study has already.",
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
    found = _found(text, words, line_by_line)
    st.caption(as_markdown(_found_sentence(found)))
    return found.sentences, words


def _pasted() -> str:
    text = st.text_area(
        "Text",
        key=f"{KIND}_text",
        height=140,
        help="Sentences without one of the words are left out.",
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
        help="The words that sentences are looked for by, and that are masked. The built-in ones are mild; bring a "
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
def _found(text: str | None, words: tuple[str, ...], line_by_line: bool) -> Sentences:
    """The sentences of a text, None for the built-in one; kept, since a page asks at each look."""
    return find_sentences(DEMONSTRATION if text is None else text, words, line_by_line=line_by_line)


def _found_sentence(found: Sentences) -> str:
    told = [f"{counted(len(found.sentences), 'sentence')} with one of the words"]
    for number, noun in (
        (found.repeated, "repeated one"),
        (found.too_long, "too long"),
        (found.unreadable, "unreadable"),
    ):
        if number:
            plural = f"{noun}s" if noun.endswith("one") else noun
            told.append(f"{counted(number, noun, plural)} left out")
    return f"{', '.join(told)}{'; the text is longer than what is read' if found.is_cut else ''}."
