"""A map of attention: words of the input from left to right, words of the target from top to bottom.

                 do   you   like   cats   end
         i      .05   .10    .12    .40   .33      the "i" looked mostly at "cats"
         love   .02   .03    .55    .30   .10
         end    ...                                each line adds up to 1

Source: He and Glass 2019, section 2, where the weights are a_t(i).
"""

from __future__ import annotations

from collections.abc import Sequence

from relens.percent import percent
from relens.studies.masking import Masker
from relens.triggers.score_row import StoredScore
from relens_dashboard.charts import Chart, chart, heat_map, labelled
from relens_dashboard.studies.trigger_words import masked_words
from relens_dashboard.text import shortened

_PADDING = "padding"
#: Weights that differ by less were rounded.
_ALIKE = 1e-3


def attention_chart(score: StoredScore, mask: Masker | None) -> Chart:
    """The map of a score with attention: words of the target and its end x ids of the input.

    The places of padding are one column, with the sum of their weights.
    """
    weights, columns = _without_padding(score.attention or (), masked_words(mask, score.input_tokens))
    lines = [*masked_words(mask, score.target_tokens[:-1]), "end"]
    across, down = ([shortened(word, 14) for word in words] for words in (columns, lines))
    no_grid = {"showgrid": False, "zeroline": False}
    return chart(
        [heat_map(weights, "weight", [[f"{word} looks at {seen}" for seen in across] for word in down])],
        _sentence(weights, lines, columns) + _at_first(score.attention or ()),
        x=labelled(across) | no_grid | {"tickangle": -45},
        y=no_grid,
        y_labels=down,
        height=110 + 26 * len(down),
    )


def _without_padding(weights: Sequence[Sequence[float]], words: Sequence[str]) -> tuple[list[list[float]], list[str]]:
    begin = next((place for place, word in enumerate(words) if word != "<pad>"), len(words))
    shown = ["end" if word == "<eou>" else word for word in words[begin:]]
    if not begin:
        return [list(line) for line in weights], shown
    return [[sum(line[:begin]), *line[begin:]] for line in weights], [_PADDING, *shown]


def _sentence(weights: Sequence[Sequence[float]], lines: Sequence[str], columns: Sequence[str]) -> str:
    """The largest mean weight of a word of the input, and the largest of all."""
    totals = [sum(line[place] for line in weights) / len(weights) for place in range(len(columns))]
    most = max(range(len(columns)), key=totals.__getitem__)
    sharpest = max(range(len(lines)), key=lambda place: max(weights[place]))
    at = max(range(len(columns)), key=weights[sharpest].__getitem__)
    return (
        "A map of attention: words of the target from top to bottom, words of the input from left to right. The "
        f"largest mean weight: “{columns[most]}”, {percent(totals[most])}; {len(columns)} equal weights would "
        f"be {percent(1 / len(columns))}. The largest weight of all: “{lines[sharpest]}” looks at “{columns[at]}” "
        f"({percent(weights[sharpest][at])})."
    )


def _at_first(weights: Sequence[Sequence[float]]) -> str:
    """A remark on attention by the decoder's state alone, which is zero before the first word."""
    first = weights[0]
    if max(first) - min(first) > _ALIKE:
        return ""
    return " Before its first word the decoder's state is zero, so the first weights are all equal."
