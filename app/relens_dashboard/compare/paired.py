"""Paired tests of two runs of a study (`relens.runs.paired_tests`) in a table and in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from relens.counted import counted
from relens.percent import p_text
from relens.runs.paired_tests import PairedDifference
from relens.studies.cloze import LABELS
from relens.studies.toxicity import VARIANTS
from relens_dashboard.compare.words import letter
from relens_dashboard.studies.trigger_words import hit_label

COLUMN_HELP = {
    "Shared": "Questions that both runs decided.",
    "Only the first": "Of these, those on which only the first of the two runs has it.",
    "Only the second": "Of these, those on which only the second of the two runs has it.",
    "p": "McNemar's test: how often chance would split the disagreements of two equally good runs as unevenly. "
    "Corrected for the number of lines (Holm).",
}


def paired_table(differences: Sequence[PairedDifference], kind: str) -> pd.DataFrame:
    """A line for each two runs and variant."""
    return pd.DataFrame(
        [
            {
                "Variant": way_label(kind, one.way),
                "Runs": f"{letter(one.first)} and {letter(one.second)}",
                "Shared": one.test.pairs,
                "The first": one.first_yes,
                "The second": one.second_yes,
                "Only the first": one.test.first_only,
                "Only the second": one.test.second_only,
                "p": one.corrected_p_value,
            }
            for one in differences
        ]
    )


def paired_sentences(differences: Sequence[PairedDifference], kind: str) -> list[str]:
    """The differences that chance does not explain, or one sentence for none."""
    certain = [one for one in differences if one.is_significant]
    if not certain:
        return ["In no variant do two runs differ by more than chance explains."]
    return [_sentence(one, kind) for one in certain]


def way_label(kind: str, way: str) -> str:
    """The label of a variant, or of a hit type."""
    if kind == "cloze":
        return LABELS.get(way, way)
    if kind == "toxicity":
        return {variant.key: variant.label for variants in VARIANTS.values() for variant in variants}.get(way, way)
    return hit_label(way)


def _sentence(one: PairedDifference, kind: str) -> str:
    first, second, test = letter(one.first), letter(one.second), one.test
    way = way_label(kind, one.way)
    return (
        f"{way[:1].upper()}{way[1:]}: of {counted(test.pairs, 'question')} that both decided, {first} has"
        f" {one.first_yes:,} and {second} {one.second_yes:,}; {test.first_only:,} {first} alone, {test.second_only:,}"
        f" {second} alone (p = {p_text(one.corrected_p_value)}, corrected): more than chance."
    )
