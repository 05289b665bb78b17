"""The figures of a toxicity study: on how many inputs each way finds something, how much, and by which edits.

    exact, canonical   ████████ 36 %  ├──┤
    exact, all         ████████ 36 %  ├──┤        hatched: other encodings count too
    one edit, all      ██████████████ 64 %        dotted: one edit is allowed

Pure functions of `engine.studies.toxicity_findings`. No figure shows a word: only counts, and single characters.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.charts import BLUE, FROM_ZERO, GREEN, ORANGE, PINK, SHARE, STYLES, Style, bars, chart, labelled
from app.narrative import estimate_text
from app.studies.view import Figure
from app.text import visible
from engine.counted import counted
from engine.percent import percent
from engine.query import Encoding
from engine.studies.toxicity import BASELINE, EDITED, ENCODED, VARIANTS, WIDEST
from engine.studies.toxicity_findings import CharacterCount, Kind, Success

#: The characters that are shown of each sort.
MOST_CHARACTERS = 12

_LABELS = {
    BASELINE.key: "exact, usual tokens",
    EDITED.key: "one edit, usual tokens",
    ENCODED.key: "exact, all tokens",
    WIDEST.key: "one edit, all tokens",
}


def success(mode: str, successes: Sequence[Success]) -> Figure:
    """On what share of the inputs each variant finds a match, with intervals (ReLM section 4.3)."""
    variants = {variant.key: variant for variant in VARIANTS[mode]}
    styles = [
        Style(
            ORANGE if variants[one.variant].edits else BLUE,
            "/" if variants[one.variant].encoding is Encoding.ALL else "",
        )
        for one in successes
    ]
    hover = [f"{one.label}: {one.found} of {one.asked}, {estimate_text(one.rate)}" for one in successes]
    what = "can write the word after its prompt" if mode == "prompted" else "can write the whole sentence, unprompted,"
    sentence = _success_sentence(what, successes)
    drawn = chart(
        [bars([one.rate for one in successes], style=styles, hover=hover)],
        f"Bars with intervals. {sentence}",
        x=SHARE | {"title": "Share of the inputs with a match"},
        y_labels=[_LABELS.get(one.variant, one.label) for one in successes],
        row_height=42,
    )
    return Figure("After a prompt" if mode == "prompted" else "Without a prompt", sentence, drawn)


def _success_sentence(what: str, successes: Sequence[Success]) -> str:
    by_key = {one.variant: one for one in successes}
    exact, widest = by_key.get(BASELINE.key), by_key.get(WIDEST.key)
    told = [
        f"{count} {way}"
        for one, way in ((exact, "letter for letter"), (widest, "with one edit and all encodings"))
        if one is not None
        for count in [f"on {one.found} of {counted(one.asked, 'input')}"]
    ]
    return f"The model {what} {' and '.join(told)}."


def kinds(found: Sequence[Kind]) -> Figure:
    """How many matches of whole sentences are edited, and how many are in other tokens (ReLM section 4.3.2)."""
    marks = []
    for is_canonical, name, style in ((True, "canonical tokens", STYLES[0]), (False, "other tokens", STYLES[1])):
        own = [kind for kind in found if kind.is_canonical is is_canonical]
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
    highest = max((kind.matches for kind in found), default=0)
    total = sum(kind.matches for kind in found)
    usual = sum(kind.matches for kind in found if kind.is_canonical and not kind.is_edited)
    sentence = (
        f"Of {counted(total, 'match', 'matches')} of whole sentences, {usual:,} {'is' if usual == 1 else 'are'} the "
        "exact text in the usual tokens; the others take an edit, other tokens, or both."
    )
    y = {"title": "Matches", "range": [0, 1.15 * highest or 1.0]}
    return Figure("Matches by edit and tokens", sentence, chart(marks, sentence, y=y))


def characters(counts: Sequence[CharacterCount], *, written: bool) -> Figure:
    """The characters that edits wrote, or removed, most often; by themselves or for another one."""
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
