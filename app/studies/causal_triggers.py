"""What the page of triggers in prompts asks and shows: which words make a model of today say exactly this?

The model is the one that is chosen beside the preset. Rude words of the targets are masked unless a reader switches
them on.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from app.narrative import duration_text
from app.setting_fields import all_fields, attempt
from app.studies.causal_charts import closest, curves, shown_words
from app.studies.fields import number_field
from app.studies.masked_view import MaskedView
from app.studies.prompt_card import prompt_cards
from app.studies.trigger_fields import hit_field, seed_field, template_fields
from app.studies.trigger_words import hit_label, trigger_masker
from app.studies.view import Figure, Rows, Table
from engine.counted import counted
from engine.models.catalogue import check_allowed
from engine.paired import proportion
from engine.percent import percent
from engine.runs.study_checks import Checked
from engine.studies.masking import Masker
from engine.studies.study import Study, rows_of
from engine.triggers.causal.causal_study import TRIGGER, CausalTriggerStudy
from engine.triggers.causal.coordinate import CoordinateSearch
from engine.triggers.causal.gcg import GreedyCoordinateGradient
from engine.triggers.hits import HitType

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
        first, second = st.columns(2)
        typed = first.text_area(
            "Targets, one a line",
            value="\n".join(study.targets),
            key=f"{KIND}_targets",
            height=120,
            help="What the model should be made to answer, with its capitals and signs. Each is a search of its own.",
        )
        with second:
            template = template_fields(study.template, kind=KIND)
        hit_type = hit_field(
            "Search for",
            study.hit_type.name,
            kind=KIND,
            help="What counts as a hit while searching: that the model says it, or that every token of it is as likely "
            "as one of real replies is on average; with or without a trigger that reads like a sentence.",
        )
        first, second, third, fourth = st.columns(4)
        free = number_field(
            first,
            "Free tokens",
            study.free,
            least=1,
            most=64,
            key=f"{KIND}_free",
            help="How long the trigger is. More make it easier to reach the target, and each round longer.",
        )
        evaluations = number_field(
            second,
            "Evaluations",
            study.evaluations,
            least=1,
            most=100_000,
            key=f"{KIND}_evaluations",
            help="Triggers that a search may try. Time grows in proportion.",
        )
        seeds = number_field(
            third,
            "Searches of each target",
            study.seeds,
            least=1,
            most=100,
            key=f"{KIND}_seeds",
            help="Each begins from other tokens, with the next seed.",
        )
        seed = seed_field(fourth, study.seed, kind=KIND, help="The same seed finds the same triggers.")
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
        stop = st.checkbox(
            "Leave a target as soon as it is reached",
            value=study.stop_at_hit,
            key=f"{KIND}_stop_at_hit",
            help="Quicker; without it the search goes on towards a clearer hit.",
        )
        plain = st.checkbox(
            "Plain letters only",
            value=study.ascii_only,
            key=f"{KIND}_ascii_only",
            help="Triggers are made of tokens that can be typed on any keyboard.",
        )
        first, second = st.columns(2)
        judge = first.text_input(
            "Judge of how odd a trigger is",
            value=study.judge,
            key=f"{KIND}_judge",
            placeholder="the model itself",
            help="The name or folder of another language model that this server may load (RELENS_MODELS); hit types "
            "that ask for a likely input are about its opinion.",
        )
        encoder_decoder = second.text_input(
            "Encoder-decoder to search instead",
            value=study.encoder_decoder,
            key=f"{KIND}_encoder_decoder",
            placeholder="none",
            help="The name or folder of a model such as T5 or BART that this server may load (RELENS_MODELS). It is "
            "made to say the targets, and the model above judges how odd a trigger is; its prompt is plain.",
        )
        return dataclasses.replace(
            study,
            # A blank before a target is a part of it: in a plain prompt most replies begin with one.
            targets=tuple(line for line in str(typed or "").splitlines() if line.strip()),
            template=template,
            hit_type=HitType.called(hit_type),
            free=free,
            evaluations=evaluations,
            seeds=seeds,
            seed=seed,
            method=method,
            stop_at_hit=stop,
            ascii_only=plain,
            judge=attempt(lambda: _allowed(judge.strip()), study.judge),
            encoder_decoder=attempt(lambda: _allowed(encoder_decoder.strip()), study.encoder_decoder),
        )

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
        return bool(found) and prompt_cards(services, run, study, rows, found, self.mask(study))

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
            "Target": [shown_words(mask, row["target"]) for row in kept],
            "Seed": [row["seed"] for row in kept],
            "Trigger": [shown_words(mask, row["text"]) for row in kept],
            "Greedy reply": [shown_words(mask, row["reply"]) for row in kept],
            "Reached": [bool(row["hits"][row["searched"]]["is_hit"]) for row in kept],
            "Margin": [round(float(row["hits"][row["searched"]]["margin"]), 3) for row in kept],
            "Said": [bool(row["hits"]["o-greedy"]["is_hit"]) for row in kept],
            "Nats a token": [round(float(row["nll"]), 3) for row in kept],
            "Evaluations": [row["evaluations"] for row in kept],
            "Time": [duration_text(float(row["seconds"])) for row in kept],
        }
    )
    return Table(
        "Triggers",
        frame,
        {
            "Trigger": "What stands in the place of {} in the prompt.",
            "Greedy reply": "What the model itself says to the prompt, always taking the likeliest token.",
            "Reached": f"Whether it is a hit of the type that was searched for, {study.hit_type.name}.",
            "Margin": "Nats by which the hit is reached; below 0, missed.",
            "Nats a token": "What a token of the target costs on average after this trigger; smaller is likelier.",
        },
    )


def _hits_table(found: Rows) -> Table:
    names = list(dict.fromkeys(name for row in found for name in row["hits"]))
    targets = len({row["target"] for row in found})
    reached = [len({row["target"] for row in found if row["hits"].get(name, {}).get("is_hit")}) for name in names]
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
