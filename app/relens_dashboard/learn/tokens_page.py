"""The page of encodings: all encodings of a text, their probabilities, and non-canonical samples of the model.

Counts and drawings need only the tokenizer: a child process makes them at each key press. What needs the model is a run
that a button submits.
"""

from __future__ import annotations

import streamlit as st

from relens.errors import RelensError
from relens.learn.text_encodings import TextEncodings
from relens.runs.specification import StudySpecification
from relens.studies.encodings import EncodingsStudy
from relens.tokens.token_lattice import MOST_CHARACTERS
from relens_dashboard.answers import Answer
from relens_dashboard.components.automaton_view import automaton_view
from relens_dashboard.components.pin_button import pin_button
from relens_dashboard.components.status import status_line
from relens_dashboard.components.ticker import ticker
from relens_dashboard.glossary import term
from relens_dashboard.learn.sources import DrawnText, get_texts
from relens_dashboard.learn.tokens_drawing import count_sentence, pieces_html
from relens_dashboard.learn.tokens_runs import PROBABILITIES, SAMPLES, model_question
from relens_dashboard.lesson_parameters import TOKENS_MODEL as MODEL
from relens_dashboard.lesson_parameters import TOKENS_PREFIX as PREFIX
from relens_dashboard.lesson_parameters import TOKENS_TEXT as TEXT
from relens_dashboard.messages import show_error, show_no_model
from relens_dashboard.present.pinned import page_finding
from relens_dashboard.services import Services
from relens_dashboard.setting_fields import SettingFields
from relens_dashboard.text import as_markdown, shortened

_SHOWN = "tokens_shown"
_EXAMPLES = ("The cat", "I'm  42 running.", "internationalization", "café", "George Washington was born on")
_WAIT_SECONDS, _LOOK_AGAIN = 0.4, 0.4


def tokens_page(services: Services, models: list[str]) -> None:
    """Heading, the text with its lattice and its run, and the run of samples."""
    status_line(services)
    st.html(
        '<h1 class="relens-title study">One text, many encodings</h1>'
        '<p class="relens-lead small">A model reads tokens, not letters. The tokenizer always cuts a text in the same '
        "way, its canonical encoding, but the vocabulary has other tokens that spell the same. Write a text to see all "
        "its encodings, and ask the model for the probability of each.</p>"
    )
    if not models:
        show_no_model()
        return
    with st.container():
        st.fragment(_text_part, key="tokens_text_part")(services, models)
    st.divider()
    with st.container():
        st.fragment(_samples_part, key="tokens_samples_part")(services, models)


def _text_part(services: Services, models: list[str]) -> None:
    if TEXT not in st.session_state and TEXT not in st.query_params:
        st.session_state[TEXT], st.session_state[PREFIX] = _first_text(services)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        text = st.text_input(
            "Text",
            key=TEXT,
            bind="query-params",
            live="250ms",
            max_chars=MOST_CHARACTERS,
            placeholder="for example:  The cat",
            help="Its encodings are counted and drawn while you type; blanks count too.",
        )
        model = st.selectbox(
            "Model",
            models,
            key=MODEL,
            bind="query-params",
            accept_new_options=True,
            width=210,
            help="The model whose tokens are used. Another vocabulary makes other encodings.",
        )
    with st.container(horizontal=True, gap="small"):
        for place, example in enumerate(_EXAMPLES):
            st.button(
                example,
                key=f"tokens_example_{place}",
                type="tertiary",
                on_click=_take,
                args=(example,),
                help="Puts this text into the field.",
            )
    answer = get_texts().ask((text, model or models[0]), _WAIT_SECONDS) if text else Answer()
    if text:
        _lattice(services, answer, text, model or models[0])
        st.divider()
        _probabilities(services, text, model or models[0], answer)
    else:
        st.caption("Write a text above, or take one of the examples.")
    ticker(_LOOK_AGAIN if text and answer.is_pending else None, key="tokens_typing")


def _first_text(services: Services) -> tuple[str, str]:
    """Text and prefix of the run in the address, or an example."""
    try:
        run = services.store.get(st.query_params.get(PROBABILITIES.parameter, ""))
        study = StudySpecification.from_json(run.specification).study if run is not None else None
    except RelensError:
        study = None
    return (study.text, study.prefix) if isinstance(study, EncodingsStudy) and study.text else (_EXAMPLES[0], "")


def _take(example: str) -> None:
    st.session_state[TEXT] = example


def _lattice(services: Services, answer: Answer[DrawnText], text: str, model: str) -> None:
    if answer.error is not None:
        show_error(answer.error)
        return
    if answer.value is not None:
        st.session_state[_SHOWN] = answer.value
    shown: DrawnText | None = st.session_state.get(_SHOWN)
    if answer.is_pending:
        st.caption("Counting …" + ("" if shown is None else " Below is the last text."))
    if shown is None:
        return
    encodings = shown.encodings
    st.header("The canonical encoding", anchor=False, help=term("canonical"))
    if encodings.canonical:
        st.html(pieces_html(encodings.canonical))
    else:
        st.caption("The tokenizer changes this text before it encodes it, so none of its encodings is canonical.")
    st.header("All encodings", anchor=False, help=term("all encodings"))
    st.markdown(as_markdown(count_sentence(encodings)))
    if not encodings.count:
        return
    automaton_view(
        shown.picture,
        key="tokens_lattice",
        name="encodings",
        alt=_alt(encodings),
        question=repr((encodings.text, text)),
        height=340,
    )
    notes = ["Every path from left to right is an encoding", "bold: the canonical one"]
    notes += [encodings.graph.note] if encodings.graph.note else []
    notes += [shown.picture.note] if shown.picture.note and shown.picture.note != encodings.graph.note else []
    st.caption(as_markdown(" · ".join([*notes, "click a token for the reason why it is not canonical"])))
    picture = shown.picture
    if picture.svg is not None:
        pin_button(
            services,
            lambda: page_finding(
                f"All encodings of “{shortened(encodings.text, 60)}”",
                [count_sentence(encodings), _alt(encodings)],
                picture.svg,
                _alt(encodings),
                page="tokens",
                question=f"how many encodings does “{shortened(encodings.text, 60)}” have?",
                model=model,
                look_at="Every path from left to right is an encoding; the bold one is canonical.",
                not_shown="How likely each encoding is.",
            ),
            key="pin_lattice",
        )
    with st.expander("The encodings with the fewest tokens", icon=":material/short_text:"):
        for pieces in encodings.fewest:
            st.html(pieces_html(pieces))


def _alt(encodings: TextEncodings) -> str:
    canonical = ", ".join(piece.label for piece in encodings.canonical) or "none"
    return (
        f"Lattice of the encodings of the text: {len(encodings.graph.arcs)} tokens between"
        f" {encodings.graph.shown_states} places; the canonical encoding is {canonical}."
    )


def _probabilities(services: Services, text: str, model: str, answer: Answer[DrawnText]) -> None:
    st.header(
        "Their probabilities",
        anchor=False,
        help="Each encoding is a sequence of tokens with a probability of its own. Their sum is that of the text.",
    )
    first, second, third = st.columns([5, 2, 2], vertical_alignment="bottom")
    prefix = first.text_input(
        "Text before it",
        key=PREFIX,
        bind="query-params",
        max_chars=1_000,
        placeholder="optional: The word is",
        help="The text that the model reads first, in its canonical encoding.",
    )
    fields = SettingFields(EncodingsStudy(samples=0), "tokens")
    fields.draw("matches", second)
    fields.draw("expansions", third)
    specification = None
    if answer.error is None:
        specification = _specification(model, fields, text=text, prefix=prefix)
    model_question(services, PROBABILITIES, specification)


def _samples_part(services: Services, models: list[str]) -> None:
    st.header("Non-canonical samples", anchor=False)
    st.caption(
        "A model can write “running” as “run” and “ning”. Here it samples texts, from the beginning or after a prompt, "
        "at temperature 1 with every token allowed; each is encoded again and compared. An unfinished character, "
        "blanks at the very end and all after an end-of-text token are left out. In ReLM, section 3.2, about 3 % of "
        "the samples of GPT-2 and 2 % of those of GPT-2 XL were not canonical."
    )
    first, second, third = st.columns([2, 2, 5])
    fields = SettingFields(EncodingsStudy(text=""), "tokens")
    fields.draw("samples", first, key="tokens_samples_count", min_value=1)
    fields.draw("sample_tokens", second, key="tokens_samples_length")
    fields.draw("prompts", third, height=68)
    model = st.session_state.get(MODEL) or models[0]
    model_question(services, SAMPLES, _specification(model, fields))


def _specification(model: str, fields: SettingFields[EncodingsStudy], **others: object) -> StudySpecification | None:
    try:
        return StudySpecification(model, fields.record(**others))
    except RelensError as error:
        show_error(error)
        return None
