"""The findings of a search for triggers in prompts: the course of each search, its trigger, and the hits by type.

4 searches for 2 targets     o-greedy 1 of 2     o-sample-min-k1 2 of 2     1.93 nats a token on average
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from relens.counted import counted
from relens.studies.rows import Rows
from relens.triggers.causal.causal_study import CausalTriggerStudy
from relens.triggers.causal.rows import ImprovementRow, PromptTriggerRow, SettingRow


@dataclass(frozen=True)
class CausalFindings:
    """improvements: those of each search, in their order. formats: of the computation. ends: as in the study."""

    improvements: tuple[tuple[ImprovementRow, ...], ...]
    triggers: tuple[PromptTriggerRow, ...]
    formats: tuple[str, ...]
    ends: bool

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets of finished searches, each once."""
        return tuple(dict.fromkeys(row.target for row in self.triggers))

    @property
    def hit_types(self) -> tuple[str, ...]:
        """The hit types of the triggers, by name."""
        return tuple(dict.fromkeys(name for row in self.triggers for name in row.score.margins))

    @property
    def closest(self) -> PromptTriggerRow | None:
        """The trigger with the largest margin of its own search."""
        return max(self.triggers, key=lambda row: row.score.margins.get(row.score.searched, -math.inf), default=None)

    def reached(self, hit_type: str) -> int:
        """The number of targets that some trigger reaches."""
        return len({row.target for row in self.triggers if row.score.is_hit(hit_type)})

    @property
    def verdict(self) -> tuple[str, ...]:
        """The targets reached, by the hit type of the search and by the greedy reply, and how sure that is."""
        return tuple(_sentences(self)) if self.triggers else ()


def causal_findings(rows: Rows, study: CausalTriggerStudy) -> CausalFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    rows = list(rows)
    settings = {row.unit: row for row in SettingRow.all_in(rows)}
    improvements: dict[str, list[ImprovementRow]] = {}
    for row in ImprovementRow.all_in(rows):
        improvements.setdefault(row.unit, []).append(row)
    return CausalFindings(
        improvements=tuple(map(tuple, improvements.values())),
        triggers=tuple(_whole(row, settings.get(row.unit), study.ends) for row in PromptTriggerRow.all_in(rows)),
        formats=tuple(sorted({setting.dtype for setting in settings.values()})),
        ends=study.ends,
    )


def _whole(row: PromptTriggerRow, setting: SettingRow | None, ends: bool) -> PromptTriggerRow:
    """The trigger with the fields that an old row has only in its setting."""
    score = row.score
    if setting is None or (score.target_tokens and score.fingerprint):
        return row
    tokens, fingerprint = score.target_tokens or setting.target_tokens, score.fingerprint or setting.fingerprint
    return replace(row, score=replace(score, target_tokens=tokens, fingerprint=fingerprint, ends=ends))


def _sentences(findings: CausalFindings) -> Iterator[str]:
    triggers, targets = findings.triggers, len(findings.targets)
    searched = triggers[-1].score.searched
    reached = findings.reached(searched)
    yield (
        f"For {reached} of {counted(targets, 'target')} a trigger reaches {searched}, in"
        f" {counted(len(triggers), 'search', 'searches')} of at most"
        f" {counted(max(row.evaluations for row in triggers), 'evaluation')}."
    )
    mean = -sum(row.score.average for row in triggers) / len(triggers)
    yield f"Under the best triggers a token of the target costs {mean:.2f} nats on average."
    if searched != "o-greedy":
        yield (
            "That is a claim about probabilities: the greedy reply is the target for"
            f" {findings.reached('o-greedy')} of {targets}."
        )
    elif reached:
        relation = "is" if findings.ends else "begins with"
        yield f"Under such a trigger the model's greedy reply {relation} exactly the target."
    rounded = [name for name in findings.formats if name != "float32"]
    if rounded:
        yield f"The model works in {', '.join(rounded)} here, so losses and margins have errors of some 0.01 nats."
    if reached < targets:
        yield "A target without a trigger here may still have one."
