"""What the page of triggers in prompts asks and shows: which words make a model of today say exactly this?

The model is the one that is chosen beside the preset. Rude words of the targets are masked unless a reader switches
them on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from app.narrative import duration_text
from app.setting_fields import SettingFields, all_fields, attempt
from app.studies.causal_charts import closest, curves
from app.studies.masked_view import MaskedView
from app.studies.trigger_card import PromptCards
from app.studies.trigger_fields import hit_field, template_fields
from app.studies.trigger_tables import score_columns, score_help
from app.studies.trigger_words import hit_label, trigger_masker
from app.studies.view import Figure, Rows, Table
from engine.counted import counted
from engine.models.catalogue import check_allowed
from engine.paired import proportion
from engine.percent import percent
from engine.runs.study_checks import Checked
from engine.studies.masking import Masker
from engine.studies.rows import rows_of
from engine.studies.study import Study
from engine.triggers.causal.causal_study import TRIGGER, CausalTriggerStudy
from engine.triggers.causal.coordinate import CoordinateSearch
from engine.triggers.causal.gcg import GreedyCoordinateGradient
from engine.triggers.hits import HitType
from engine.triggers.score_row import ScoreRow, hits_of

if TYPE_CHECKING:
    from app.services import Services
    from engine.runs.records import RunRecord

KIND = CausalTriggerStudy.kind

COORDINATE, GCG = "One place at a time", "GCG"

_MOST_LINES = 1_000


class CausalTriggersView(MaskedView):
    """See `app.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "A few free tokens stand in a prompt, and a search changes them one after the other until the model answers "
        "with exactly the target, or finds it likely. Every trigger is turned into text and back into tokens, so that "
        "what is shown can be typed."
    )
    notice = (
        "The targets are mild; rude words of them are masked unless you switch them on. A hit by sampling is a claim "
        "about a probability, not a reply that anybody has seen; a greedy hit is what the model says. What you export "
        "is data to test models with."
    )
    masked_help = (
        "Without this, rude words, and the words of targets of your own, are masked: on this page, and in the "
        "report and the files."
    )

    def settings(self, study: Study) -> CausalTriggerStudy:
        """The fields (see `StudyView.settings`)."""
        assert isinstance(study, CausalTriggerStudy)
        with all_fields():
            return self._fields(study)

    def extent(self, study: Study, checked: Checked) -> str:
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

    def masker(self, study: Study) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """The losses by evaluations, and the target that came closest, token by token."""
        assert isinstance(study, CausalTriggerStudy)
        mask = self.mask(study)
        figures = [curves(rows, mask), closest(rows, study, mask)]
        return [figure for figure in figures if figure is not None]

    def draw_details(self, services: Services, run: RunRecord, study: Study, rows: Rows) -> bool:
        """The card of one trigger, with what can be asked of the model about it."""
        assert isinstance(study, CausalTriggerStudy)
        found = rows_of(rows, TRIGGER)
        return bool(found) and PromptCards(services, run, study, found, rows).show(self.mask(study))

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """The triggers, and the hits by type."""
        assert isinstance(study, CausalTriggerStudy)
        found = rows_of(rows, TRIGGER)
        return [_triggers_table(found, study, self.mask(study)), _hits_table(found)] if found else []


VIEW = CausalTriggersView()


def _allowed(name: str) -> str:
    """The name, where the server may load such a model, or none. Raises `ModelError`."""
    if name:
        check_allowed(name)
    return name


def _triggers_table(found: Rows, study: CausalTriggerStudy, mask: Masker | None) -> Table:
    kept = found[:_MOST_LINES]
    frame = pd.DataFrame(
        {
            "Seed": [row["seed"] for row in kept],
            **score_columns(kept, study.hit_type.name, mask, text="Trigger"),
            "Nats a token": [round(-ScoreRow.of(row).average, 3) for row in kept],
            "Evaluations": [row["evaluations"] for row in kept],
            "Time": [duration_text(float(row["seconds"])) for row in kept],
        }
    )
    return Table(
        "Triggers",
        frame,
        {
            "Trigger": "What stands in the place of {} in the prompt.",
            **score_help(study.hit_type.name),
            "Nats a token": "What a token of the target costs on average after this trigger; smaller is likelier.",
        },
    )


def _hits_table(found: Rows) -> Table:
    hits = [(row["target"], hits_of(row)) for row in found]
    names = list(dict.fromkeys(name for _, by_name in hits for name in by_name))
    targets = len({target for target, _ in hits})
    reached = [len({target for target, by_name in hits if by_name.get(name)}) for name in names]
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
            "95 % interval": "Wilson's interval: of targets like these, how many would be reached.",
        },
    )
