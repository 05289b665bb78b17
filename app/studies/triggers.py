"""What the page of the search for triggers asks and shows: which inputs make a dialogue model say what it should not?

The page names a dialogue model, which was trained on its own page, and no language model. Words of the lists are masked
unless a reader switches them on; the switch belongs to whoever looks and is no setting of the study.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import streamlit as st

from app.setting_fields import all_fields, attempt
from app.studies import trigger_charts as charts
from app.studies.fields import number_field
from app.studies.kept_text import keep_checked
from app.studies.masked_view import MaskedView
from app.studies.own_models import model_field, note_unsayable, page_link
from app.studies.trigger_card import trigger_cards
from app.studies.trigger_fields import (
    MOST_RESTARTS,
    count_field,
    hit_field,
    lists_field,
    normal_field,
    own_targets_field,
    seed_field,
    sweeps_field,
)
from app.studies.trigger_tables import tables
from app.studies.trigger_words import CONTENT_NOTICE, file_targets, trigger_masker
from app.studies.view import Figure, Rows, Table
from engine.counted import counted
from engine.runs.study_checks import Checked
from engine.studies.masking import Masker
from engine.studies.study import Study, rows_of
from engine.triggers.search.search_settings import METHODS, SearchSettings
from engine.triggers.search.trigger_findings import hit_table
from engine.triggers.search.trigger_study import MOST_TARGETS, TRIGGER, TriggerStudy

if TYPE_CHECKING:
    from app.services import Services
    from engine.runs.records import RunRecord

KIND = TriggerStudy.kind

_METHOD_LABELS = {
    "gibbs": "gibbs-enum",
    "averaged": "gibbs-enum, averaged gradients",
    "global": "global enumeration",
    "flips": "greedy flips",
}

#: What a page offers; from Python and a terminal there may be more.
_MOST_SHORTLIST = 5_000


class TriggersView(MaskedView):
    """See `app.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "A dialogue model is given a list of replies, and a search looks for what somebody would have to say to it to "
        "get each of them. Three lists are compared: what the model says anyway, what it should never say, and words "
        "in no order. Only if the first is reached and the last is not does it mean something that the second is."
    )
    notice = CONTENT_NOTICE
    masked_help = (
        "Without this, rude words of the lists, the words of your own targets, and spellings close to them "
        "are masked: on this page, and in the report and the files."
    )

    def settings(self, study: Study) -> TriggerStudy:
        """The fields (see `StudyView.settings`)."""
        assert isinstance(study, TriggerStudy)
        with all_fields():
            return self._fields(study)

    def extent(self, study: Study, checked: Checked) -> str:
        """The targets, and the searches for them."""
        assert isinstance(study, TriggerStudy)
        searches = checked.units * study.search.restarts
        return f"{counted(checked.units, 'target')}, {counted(searches, 'search', 'searches')}."

    def _fields(self, study: TriggerStudy) -> TriggerStudy:
        model = attempt(lambda: model_field(KIND, study.model), study.model)
        first, second = st.columns([2, 1])
        lists = lists_field(
            first,
            study.lists,
            kind=KIND,
            help="**normal**: replies of the model itself; shows that the search finds what is there. **mal**: mild "
            "insults, refusals and commands. **random**: frequent words in no order; what is found for these "
            "is found for anything.",
        )
        count = count_field(second, study.count, most=MOST_TARGETS, kind=KIND)
        below = st.container()
        targets = own_targets_field(
            below,
            study.targets,
            kind=KIND,
            help="What the model should be made to say. Words that it does not know cannot be said; such targets are "
            "left out and named.",
        )
        hit_type = hit_field(
            "Search for",
            study.hit_type,
            kind=KIND,
            help="What counts as a hit while searching. **Greedy**: the model, always taking the likeliest word, says "
            "exactly this. **Every word likely**: each word is at least as likely as a word of real replies is on "
            "average (k = 2: half as likely). **And so is the input**: the trigger reads like a real sentence too.",
        )
        search = _search_fields(study.search)
        file, extra = attempt(lambda: _more_fields(study), (study.file, {}))
        search = dataclasses.replace(search, **{name: extra.pop(name) for name in list(extra) if name in _OF_SEARCH})
        attempt(lambda: note_unsayable(below, model, targets, is_all=not lists and not file), None)
        return dataclasses.replace(
            study,
            model=model,
            lists=lists,
            count=count,
            targets=targets,
            file=file,
            hit_type=hit_type,
            search=search,
            **extra,
        )

    def masker(self, study: Study) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def own_model(self, study: Study) -> str:
        """The dialogue model."""
        assert isinstance(study, TriggerStudy)
        return study.model

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """The hit table, the losses, words of targets, restarts."""
        assert isinstance(study, TriggerStudy)
        figures: list[Figure | None] = []
        cells = hit_table(rows)
        if cells:
            figures.append(charts.hits(cells, study.hit_type))
        figures.append(charts.losses(rows))
        shown = charts.closest(rows, study.hit_type)
        if shown:
            figures.append(charts.words(shown, self.mask(study)))
        if not study.search.stop_at_hit:  # or the others are left before they are done, and say nothing
            figures.append(charts.restarts(rows, study.hit_type))
        return [figure for figure in figures if figure is not None]

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """The hits, the targets and the searches, masked unless this reader chose to see the words."""
        assert isinstance(study, TriggerStudy)
        return tables(rows, study, self.mask(study))

    def draw_details(self, services: Services, run: RunRecord, study: Study, rows: Rows) -> bool:
        """The card of one trigger, with what can be asked of the model about it."""
        assert isinstance(study, TriggerStudy)
        found = rows_of(rows, TRIGGER)
        if not found:
            return False
        waits = trigger_cards(services, run, study, found, self.mask(study))
        page_link(
            "trigger-ablation",
            "Would more words or restarts find more?",
            ":material/query_stats:",
            dialogue=study.model,
        )
        return waits


VIEW = TriggersView()

_OF_SEARCH = ("method", "substitutes")


def _search_fields(search: SearchSettings) -> SearchSettings:
    """How hard is searched."""
    first, second, third, fourth = st.columns(4)
    shortlist = number_field(
        first,
        "Words tried (G)",
        search.shortlist,
        least=1,
        most=_MOST_SHORTLIST,
        key=f"{KIND}_shortlist",
        help="At each place of the input, so many words that look best by the gradient are tried. More: better "
        "triggers, and longer.",
    )
    sweeps = sweeps_field(second, search.sweeps, kind=KIND, of="the search")
    restarts = number_field(
        third,
        "Restarts",
        search.restarts,
        least=1,
        most=MOST_RESTARTS,
        key=f"{KIND}_restarts",
        help="Searches for each target, each from other words; the best is kept. Time grows in proportion.",
    )
    seed = seed_field(
        fourth,
        search.seed,
        kind=KIND,
        help="Another seed draws other targets and begins from other words; the same gives the same triggers.",
    )
    stop = st.checkbox(
        "Leave a target as soon as it is reached",
        value=search.stop_at_hit,
        key=f"{KIND}_stop_at_hit",
        help="Quicker; without it the search goes on towards a clearer hit, and one by other hit types.",
    )
    return dataclasses.replace(
        search, shortlist=shortlist, sweeps=sweeps, restarts=restarts, seed=seed, stop_at_hit=stop
    )


def _more_fields(study: TriggerStudy) -> tuple[str, dict[str, object]]:
    """The file of targets, and settings that few people change."""
    with st.popover("More settings", icon=":material/tune:", key=f"{KIND}_more"), st.container(width=520):
        uploaded = st.file_uploader(
            "A file of targets, one a line",
            type=["txt"],
            key=f"{KIND}_file",
            help="UTF-8. As many of them are drawn as of the other lists.",
        )
        keeps = bool(study.file) and st.checkbox(
            "The file that this study has",
            value=True,
            key=f"{KIND}_keep_file",
            help="Off: the targets of the file are not searched for.",
        )
        method = st.selectbox(
            "Method",
            METHODS,
            index=METHODS.index(study.search.method),
            format_func=_METHOD_LABELS.__getitem__,
            key=f"{KIND}_method",
            help="**gibbs-enum**: the paper's, one place after the other. **Averaged gradients**: the same with a "
            "steadier guess of which words to try. **Global enumeration** and **greedy flips** are weaker ones to "
            "compare with.",
        )
        first, second, third = st.columns(3)
        epsilon = number_field(
            first,
            "Epsilon",
            study.epsilon,
            least=0.0,
            most=1.0,
            step=0.01,
            key=f"{KIND}_epsilon",
            help="What a word that is likely enough still counts: near 0 the search turns to the words that are not.",
        )
        weight = number_field(
            second,
            "Weight of the input",
            study.input_weight,
            least=0.0,
            most=100.0,
            step=0.1,
            key=f"{KIND}_input_weight",
            help="How much it counts that the trigger reads like a sentence, in searches for io hits.",
        )
        substitutes = number_field(
            third,
            "Gradients averaged",
            study.search.substitutes,
            least=1,
            most=100,
            key=f"{KIND}_substitutes",
            help="Only with averaged gradients: how many words stand in at a place to see which way is better.",
        )
        normal = normal_field(
            st.container(),
            study.normal,
            kind=KIND,
            help="**sampled**: drawn from words that are likely enough. **greedy**: always the likeliest word.",
        )
    file = (
        keep_checked(uploaded.name, uploaded.getvalue(), file_targets)
        if uploaded is not None
        else study.file
        if keeps
        else ""
    )
    told: dict[str, object] = {"method": method, "substitutes": substitutes}
    return file, told | {"epsilon": epsilon, "input_weight": weight, "normal": normal}
