"""Figures of a toxicity study: inputs with a match by variant, kinds of match, and characters of edits.

    canonical encoding, exact text   ████████ 36 %  ├──┤
    all encodings, exact text        ████████ 36 %  ├──┤        hatched: other encodings count too
    all encodings, one edit          ██████████████ 64 %        orange: one edit is allowed

Pure functions of the findings. No figure shows a word: only counts, and single characters.
"""

from __future__ import annotations

from collections.abc import Sequence

from relens.counted import counted
from relens.percent import percent
from relens.query import Encoding
from relens.studies.toxicity import BASELINE, MODE_LABELS, WIDEST, Mode
from relens.studies.toxicity_counts import CharacterCount, Kind, Success
from relens_dashboard.charts import BLUE, FROM_ZERO, GREEN, ORANGE, PINK, SHARE, STYLES, Style, bars, chart, labelled
from relens_dashboard.narrative import estimate_text
from relens_dashboard.studies.view import Figure
from relens_dashboard.text import visible

#: Characters that a figure shows.
MOST_CHARACTERS = 12


def success_figure(mode: Mode, successes: Sequence[Success]) -> Figure:
    """The share of the inputs with a match of each variant, with intervals (ReLM section 4.3)."""
    variants = [one.variant for one in successes]
    styles = [
        Style(ORANGE if variant.edits else BLUE, "/" if variant.encoding is Encoding.ALL else "")
        for variant in variants
    ]
    hover = [f"{one.variant.label}: {one.found} of {one.inputs}, {estimate_text(one.rate)}" for one in successes]
    sentence = _success_sentence(mode, successes)
    drawn = chart(
        [bars([one.rate for one in successes], style=styles, hover=hover)],
        f"Bars with intervals. {sentence}",
        x=SHARE | {"title": "Share of the inputs with a match"},
        y_labels=[variant.label.replace(", ", "\n") for variant in variants],
        row_height=48,
    )
    return Figure(MODE_LABELS[mode], sentence, drawn)


def _success_sentence(mode: Mode, successes: Sequence[Success]) -> str:
    by_variant = {one.variant: one for one in successes}
    phrases = [
        f"on {one.found} of {counted(one.inputs, 'input')} {how}"
        for one, how in (
            (by_variant.get(BASELINE), "letter for letter"),
            (by_variant.get(WIDEST), "with one edit and all encodings"),
        )
        if one is not None
    ]
    text = "the word after its prompt" if mode == "prompted" else "the whole sentence, unprompted,"
    return f"The model can write {text} {' and '.join(phrases)}."


def kinds_figure(kinds: Sequence[Kind]) -> Figure:
    """The matches of whole sentences by edit and encoding (ReLM section 4.3.2)."""
    marks = []
    for is_canonical, name, style in ((True, "canonical encoding", STYLES[0]), (False, "other encodings", STYLES[1])):
        own = [kind for kind in kinds if kind.is_canonical is is_canonical]
        marks.append(
            bars(
                [kind.matches for kind in own],
                at=["edited" if kind.is_edited else "exact" for kind in own],
                name=name,
                style=style,
                text=[f"{kind.matches:,} ({percent(kind.share)})" for kind in own],
                hover="%{x}, %{text}",
                upright=True,
            )
        )
    highest = max((kind.matches for kind in kinds), default=0)
    total = sum(kind.matches for kind in kinds)
    exact = sum(kind.matches for kind in kinds if kind.is_canonical and not kind.is_edited)
    sentence = (
        f"Of {counted(total, 'match', 'matches')} of whole sentences, {exact:,} {'is' if exact == 1 else 'are'} the"
        " exact text in its canonical encoding; the others have an edit, another encoding, or both."
    )
    y = {"title": "Matches", "range": [0, 1.15 * highest or 1.0]}
    return Figure("Matches by edit and encoding", sentence, chart(marks, sentence, y=y))


def characters_figure(counts: Sequence[CharacterCount], *, written: bool) -> Figure:
    """The most frequent characters that edits write, or remove."""
    top = counts[:MOST_CHARACTERS]
    names = [visible(one.character) for one in top]
    series = (
        ("insertion" if written else "deletion", [one.alone for one in top], Style(GREEN)),
        ("substitution", [one.replacing for one in top], Style(PINK, "/")),
    )
    verb = "write" if written else "remove"
    most = ", ".join(f"“{visible(one.character)}” ({one.count:,})" for one in top[:3])
    sentence = f"Edits {verb} these characters most often: {most}." if most else f"No edit {verb}s a character."
    drawn = chart(
        [
            bars(
                values,
                name=name,
                style=style,
                hover=[f"{each}, {name}: {counted(value, 'time')}" for each, value in zip(names, values, strict=True)],
                upright=True,
            )
            for name, values, style in series
        ],
        sentence,
        x=labelled(names) | {"title": "Character", "tickfont": {"size": 15}},
        y=FROM_ZERO | {"title": "Edits"},
        barmode="stack",
    )
    return Figure(f"Characters that edits {verb}", sentence, drawn)
