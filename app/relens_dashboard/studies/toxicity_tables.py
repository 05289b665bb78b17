"""Tables of a toxicity study: the variants, the inputs, the matches; with masked words, or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from relens.percent import percent
from relens.studies.masking import Masker
from relens.studies.toxicity import MODE_LABELS, VARIANTS, WIDEST, InputMatch, ToxicityStudy
from relens.studies.toxicity_findings import ToxicityFindings
from relens_dashboard.masks import LONGEST_SHOWN, mask_of, shown
from relens_dashboard.narrative import interval_text
from relens_dashboard.studies.view import Table
from relens_dashboard.tables import shown_text
from relens_dashboard.text import shortened

#: Lines that a table shows.
MOST_LINES = 500

_LABELS = {variant.key: variant.label for variants in VARIANTS.values() for variant in variants}
_VARIANTS_HELP = {
    "Share": "Found of inputs; an undecided input counts as not found.",
    "95 %": "For other inputs of this sort the share lies within such bounds in 95 of 100 cases.",
    "Gained": "Inputs with a match of this variant and none of the exact text in its canonical encoding, without those "
    "undecided in either.",
    "Undecided": "Inputs whose search was cut before its first match.",
    "Matches": "Token sequences of the whole sentences.",
    "At a limit": "Searches that ended at a limit, so there may be more matches.",
}
_MATCHES_HELP = {
    "Edited": "With an edit the word may have become another, harmless one: a candidate, not a verdict.",
    "Canonical": "Whether the tokenizer itself would cut the text into these tokens.",
    "Log-probability": "Of the tokens under the model, in nats.",
}


def tables(findings: ToxicityFindings, mask: Masker | None) -> list[Table]:
    """The tables. mask: of their texts."""
    made: list[Table] = []
    if findings.prompted or findings.unprompted:
        made.append(_variants_table(findings))
    if findings.inputs:
        made.append(_inputs_table(findings, mask))
    if findings.matches:
        made.append(matches_table(findings.matches, mask))
    return made


def masker_of(study: ToxicityStudy) -> Masker:
    """The mask of the words of the study and of its inputs."""
    return mask_of((*study.words, *dict.fromkeys(sentence.word for sentence in study.inputs)))


def _variants_table(findings: ToxicityFindings) -> Table:
    """One line for each variant of a mode."""
    successes = (*findings.prompted, *findings.unprompted)
    volumes = (*[None] * len(findings.prompted), *findings.volumes)
    modes = ["prompted"] * len(findings.prompted) + ["unprompted"] * len(findings.unprompted)
    frame = pd.DataFrame(
        {
            "Prompting": [MODE_LABELS[mode] for mode in modes],
            "Variant": [one.variant.label for one in successes],
            "Inputs": [one.inputs for one in successes],
            "Found": [one.found for one in successes],
            "Share": [percent(one.rate.value) for one in successes],
            "95 %": [interval_text(one.rate.low, one.rate.high) for one in successes],
            "Gained": [_count(one.gained) for one in successes],
            "Undecided": [one.undecided for one in successes],
            "Matches": [_count(volume and volume.matches) for volume in volumes],
            "At a limit": [_count(volume and volume.at_limit + volume.cut) for volume in volumes],
        }
    )
    return Table("Variants", frame, _VARIANTS_HELP)


def _inputs_table(findings: ToxicityFindings, mask: Masker | None) -> Table:
    """One line for each input: the variants with its word, and the number of matches of the whole sentence."""
    inputs = dict(list(findings.inputs.items())[:MOST_LINES])
    columns: dict[str, Any] = {
        "#": list(inputs),
        "Sentence": [_cell(mask, answer.sentence) for answer in inputs.values()],
        "Word": [_cell(mask, answer.word) for answer in inputs.values()],
    }
    help = {}
    for success in findings.prompted:
        columns[success.variant.label] = [_outcome(success.outcomes.get(number)) for number in inputs]
        help[success.variant.label] = "Whether the word can follow its prompt."
    widest = findings.answers["prompted"].get(WIDEST.key, {})
    texts = [(widest[number].first_text or "") if number in widest else "" for number in inputs]
    if any(texts):
        columns["Most likely"] = [_cell(mask, text) for text in texts]
        help["Most likely"] = "The first match of the widest search after the prompt."
    for volume in findings.volumes:
        answers = findings.answers["unprompted"][volume.variant.key]
        counts = [answers[number].matches if number in answers else None for number in inputs]
        columns[f"Whole, {volume.variant.label}"] = pd.array(counts, "Int64")
    return Table(_title("Inputs", len(findings.inputs)), pd.DataFrame(columns), help)


def matches_table(matches: Sequence[InputMatch], mask: Masker | None) -> Table:
    """The matches, the first `MOST_LINES` of them."""
    lines = matches[:MOST_LINES]
    frame = pd.DataFrame(
        {
            "Input": [match.input for match in lines],
            "Prompting": [MODE_LABELS[match.mode] for match in lines],
            "Variant": [_LABELS[match.variant] for match in lines],
            "Written": [_cell(mask, match.text) for match in lines],
            "Edited": [match.is_edited for match in lines],
            "Canonical": [match.is_canonical for match in lines],
            "Log-probability": [round(match.log_prob, 2) for match in lines],
        }
    )
    return Table(_title("Matches", len(matches)), frame, _MATCHES_HELP)


def _title(name: str, lines: int) -> str:
    return name if lines <= MOST_LINES else f"{name}, the first {MOST_LINES} of {lines:,}"


def _count(count: int | None) -> str:
    return "–" if count is None else f"{count:,}"


def _outcome(found: bool | None) -> str:
    return "–" if found is None else "found" if found else "no"


def _cell(mask: Masker | None, text: str) -> str:
    return shown(mask, shown_text(shortened(text, LONGEST_SHOWN)))
