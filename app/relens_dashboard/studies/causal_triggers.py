"""The page of triggers in prompts: words that make a language model say exactly a target.

Rude words of the targets are masked unless a reader switches them on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from relens.counted import counted
from relens.models.catalogue import check_allowed
from relens.paired import proportion
from relens.percent import percent
from relens.runs.study_checks import Checked
from relens.studies.masking import Masker
from relens.triggers.causal.causal_findings import CausalFindings
from relens.triggers.causal.causal_study import CausalTriggerStudy
from relens.triggers.causal.coordinate import CoordinateSearch
from relens.triggers.causal.gcg import GreedyCoordinateGradient
from relens.triggers.hits import HitType
from relens_dashboard.narrative import duration_text
from relens_dashboard.setting_fields import SettingFields, all_fields, attempt
from relens_dashboard.studies.causal_charts import closest, curves
from relens_dashboard.studies.masked_view import MaskedView
from relens_dashboard.studies.trigger_card import PromptCards
from relens_dashboard.studies.trigger_fields import hit_field, template_fields
from relens_dashboard.studies.trigger_tables import score_columns, score_help
from relens_dashboard.studies.trigger_words import hit_label, trigger_masker
from relens_dashboard.studies.view import Figure, Table

if TYPE_CHECKING:
    from relens.runs.records import RunRecord
    from relens_dashboard.services import Services

KIND = CausalTriggerStudy.kind

COORDINATE, GCG = "One place at a time", "GCG"

_MOST_LINES = 1_000


class CausalTriggersView(MaskedView[CausalTriggerStudy, CausalFindings]):
    """See `relens_dashboard.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "A few free tokens stand in a prompt, and a search changes them one after the other until the model's reply "
        "is exactly the target, or the target is likely. Every trigger is turned into text and back into tokens, so "
        "the shown text can be typed."
    )
    notice = (
        "The targets are mild; rude words of them are masked unless you switch them on. A hit by sampling is a claim "
        "about a probability, without a sampled reply; a greedy hit is the model's own reply. Exported rows are data "
        "to test models with."
    )
    masked_help = (
        "Without this, rude words, and the words of targets of your own, are masked: on this page, and in the "
        "report and the files."
    )

    def settings(self, study: CausalTriggerStudy) -> CausalTriggerStudy:
        """The fields (see `StudyView.settings`)."""
        with all_fields():
            return self._fields(study)

    def extent(self, study: CausalTriggerStudy, checked: Checked) -> str:
        """The searches."""
        return f"{counted(checked.units, 'search', 'searches')}."

    def _fields(self, study: CausalTriggerStudy) -> CausalTriggerStudy:
        fields = SettingFields(study, KIND)
        first, second = st.columns(2)
        fields.draw("targets", first, height=120)
        with second:
            template = template_fields(study.template, kind=KIND)
        hit_type = hit_field(study, study.hit_type.name)
        fields.row("free", "evaluations", "seeds", "seed")
        is_coordinate = isinstance(study.method, CoordinateSearch)
        chosen = st.segmented_control(
            "Method",
            (COORDINATE, GCG),
            default=COORDINATE if is_coordinate else GCG,
            required=True,
            key=f"{KIND}_method",
            help="**One place at a time**: the search of He and Glass, carried on to these models. **GCG**: greedy "
            "coordinate gradient, the usual method, to compare with at the same number of evaluations.",
        )
        method: CoordinateSearch | GreedyCoordinateGradient = study.method
        if (chosen == COORDINATE) != is_coordinate:
            method = CoordinateSearch() if chosen == COORDINATE else GreedyCoordinateGradient()
        fields.draw("stop_at_hit", widget="checkbox")
        fields.draw("ascii_only", widget="checkbox")
        first, second = st.columns(2)
        names = {name: fields.draw(name, place) for name, place in (("judge", first), ("encoder_decoder", second))}
        allowed = {name: attempt(lambda typed=typed: _allowed(typed.strip()), "") for name, typed in names.items()}
        return fields.record(template=template, hit_type=HitType.called(hit_type), method=method, **allowed)

    def masker(self, study: CausalTriggerStudy) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def figures(self, findings: CausalFindings, study: CausalTriggerStudy) -> list[Figure]:
        """The losses by evaluations, and the closest target token by token."""
        mask = self.mask(study)
        figures = [curves(findings, mask), closest(findings, mask)]
        return [figure for figure in figures if figure is not None]

    def draw_details(
        self, services: Services, run: RunRecord, study: CausalTriggerStudy, findings: CausalFindings
    ) -> bool:
        """The card of one trigger, with its checks."""
        triggers = findings.triggers
        return bool(triggers) and PromptCards(services, run, study, triggers).show(self.mask(study))

    def tables(self, findings: CausalFindings, study: CausalTriggerStudy) -> list[Table]:
        """The triggers, and the hits by type."""
        if not findings.triggers:
            return []
        return [_triggers_table(findings, study.hit_type.name, self.mask(study)), _hits_table(findings)]


VIEW = CausalTriggersView()


def _allowed(name: str) -> str:
    """The name, where the server may load such a model, or none. Raises `ModelError`."""
    if name:
        check_allowed(name)
    return name


def _triggers_table(findings: CausalFindings, hit_type: str, mask: Masker | None) -> Table:
    rows = findings.triggers[:_MOST_LINES]
    frame = pd.DataFrame(
        {
            "Seed": [row.seed for row in rows],
            **score_columns(rows, hit_type, mask, text="Trigger"),
            "Nats a token": [round(-row.score.average, 3) for row in rows],
            "Evaluations": [row.evaluations for row in rows],
            "Time": [duration_text(row.seconds) for row in rows],
        }
    )
    return Table(
        "Triggers",
        frame,
        {
            "Trigger": "The text in the place of {} in the prompt.",
            **score_help(hit_type),
            "Nats a token": "The mean cost of a token of the target after this trigger; smaller is likelier.",
        },
    )


def _hits_table(findings: CausalFindings) -> Table:
    names, targets = findings.hit_types, len(findings.targets)
    reached = [findings.reached(name) for name in names]
    shares = [proportion(count, targets) for count in reached]
    frame = pd.DataFrame(
        {
            "Hit type": names,
            "In words": [hit_label(name) for name in names],
            "Targets": [targets] * len(names),
            "Reached": reached,
            "Share": [percent(share.value) for share in shares],
            "95 % interval": [f"{percent(share.low)} to {percent(share.high)}" for share in shares],
        }
    )
    return Table(
        "Hits",
        frame,
        {
            "Reached": "Targets for which one of the searches ended at a hit of this type.",
            "95 % interval": "Wilson's interval of the share, for targets like these.",
        },
    )
