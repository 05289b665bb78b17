"""The tables of a toxicity study: the ways of asking, the inputs, the matches; with the words masked, or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from app.masks import LONGEST_SHOWN, mask_of, shown
from app.narrative import interval_text
from app.studies.view import Rows, Table
from app.tables import shown_text
from app.text import shortened
from engine.percent import percent
from engine.studies.masking import Masker
from engine.studies.rows import rows_of
from engine.studies.toxicity import MATCH, MODE_LABELS, VARIANTS, ToxicityStudy
from engine.studies.toxicity_findings import ToxicityFindings, toxicity_findings

#: The lines of a table that are shown.
MOST_LINES = 500


def tables(rows: Rows, study: ToxicityStudy, *, masked: bool = True) -> list[Table]:
    """The tables; masked: words of the list, of the inputs, and spellings close to them have dots for letters."""
    found = toxicity_findings(rows)
    words = _hidden_words(study) if masked else ()
    made: list[Table] = []
    if found.prompted or found.unprompted:
        made.append(variants_table(found))
    if found.table:
        made.append(inputs_table(found, words))
    matches = rows_of(rows, MATCH)
    if matches:
        made.append(matches_table(matches, words))
    return made


def masker_of(study: ToxicityStudy) -> Masker:
    """What hides the words of the study, and of its inputs."""
    return mask_of(_hidden_words(study))


def variants_table(found: ToxicityFindings) -> Table:
    """One line for each way of asking."""
    volumes = {volume.variant: volume for volume in found.volumes}
    lines = [("prompted", one) for one in found.prompted] + [("unprompted", one) for one in found.unprompted]
    unprompted = [volumes.get(one.variant) if mode == "unprompted" else None for mode, one in lines]
    frame = pd.DataFrame(
        {
            "Asked": [MODE_LABELS[mode] for mode, _ in lines],
            "Counts": [one.label for _, one in lines],
            "Inputs": [one.asked for _, one in lines],
            "Found": [one.found for _, one in lines],
            "Share": [percent(one.rate.value) for _, one in lines],
            "95 %": [interval_text(one.rate.low, one.rate.high) for _, one in lines],
            "Gained": [_count(one.gained) for _, one in lines],
            "Undecided": [one.undecided for _, one in lines],
            "Matches": [_count(None if volume is None else volume.matches) for volume in unprompted],
            "At a limit": [_count(None if volume is None else volume.at_limit + volume.cut) for volume in unprompted],
        }
    )
    return Table(
        "Ways of asking",
        frame,
        {
            "Share": "Found of inputs; what is undecided counts as not found.",
            "95 %": "Where the share would lie for other inputs of this sort, in 95 of 100 cases.",
            "Gained": "Inputs on which this found something and the exact text in the usual tokens certainly nothing; "
            "what is undecided in either is left out.",
            "Undecided": "Inputs whose search was cut before it could tell.",
            "Matches": "Ways to write the whole sentences, in tokens.",
            "At a limit": "Searches that ended at a limit, so that there may be more matches.",
        },
    )


def inputs_table(found: ToxicityFindings, words: Sequence[str]) -> Table:
    """One line for each input: which ways found its word, and how many matches the whole sentence has."""
    results = found.table[:MOST_LINES]
    mask = mask_of(tuple(words))
    columns: dict[str, list[Any]] = {
        "#": [result.number for result in results],
        "Sentence": [_cell(mask, result.sentence) for result in results],
        "Word": [_cell(mask, result.word) for result in results],
    }
    for variant in VARIANTS["prompted"]:
        if any(variant.key in result.prompted for result in results):
            columns[variant.label] = [_answer(result.prompted.get(variant.key)) for result in results]
    if any(result.first_text for result in results):
        columns["Most likely"] = [_cell(mask, result.first_text) for result in results]
    for variant in VARIANTS["unprompted"]:
        if any(variant.key in result.matches for result in results):
            columns[f"Whole, {variant.label}"] = [result.matches.get(variant.key) for result in results]
    frame = pd.DataFrame(columns)
    counts = {name: "Int64" for name in frame if str(name).startswith("Whole, ")}
    title = "Inputs" if len(found.table) <= MOST_LINES else f"Inputs, the first {MOST_LINES} of {len(found.table):,}"
    told = {variant.label: "Whether the word was found after its prompt." for variant in VARIANTS["prompted"]}
    told |= {"Most likely": "The first match of the widest search after the prompt."}
    return Table(title, frame.astype(counts), {name: text for name, text in told.items() if name in columns})


def matches_table(matches: Rows, words: Sequence[str]) -> Table:
    """The matches, the first `MOST_LINES` of them."""
    labels = {variant.key: variant.label for variants in VARIANTS.values() for variant in variants}
    kept = matches[:MOST_LINES]
    mask = mask_of(tuple(words))
    frame = pd.DataFrame(
        {
            "Input": [row["input"] for row in kept],
            "Asked": [MODE_LABELS[row["mode"]] for row in kept],
            "Counts": [labels[row["variant"]] for row in kept],
            "Written": [_cell(mask, row["text"]) for row in kept],
            "Edited": [bool(row["is_edited"]) for row in kept],
            "Usual tokens": [bool(row["is_canonical"]) for row in kept],
            "Log-probability": [round(float(row["log_prob"]), 2) for row in kept],
        }
    )
    title = "Matches" if len(matches) <= MOST_LINES else f"Matches, the first {MOST_LINES} of {len(matches):,}"
    return Table(
        title,
        frame,
        {
            "Edited": "With an edit the word may have become another, harmless one: a candidate, not a verdict.",
            "Usual tokens": "Whether these are the tokens that the tokenizer itself would make of the text.",
            "Log-probability": "Of the tokens under the model, in nats.",
        },
    )


def _hidden_words(study: ToxicityStudy) -> tuple[str, ...]:
    return (*study.words, *dict.fromkeys(sentence.word for sentence in study.inputs))


def _count(count: int | None) -> str:
    return "–" if count is None else f"{count:,}"


def _answer(found: bool | None) -> str:
    return "–" if found is None else "found" if found else "no"


def _cell(mask: Masker, text: str) -> str:
    return shown(mask, shown_text(shortened(text, LONGEST_SHOWN)))
