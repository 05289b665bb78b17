"""The page of search effort: the words and restarts that a search for triggers needs."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from relens.counted import counted
from relens.errors import QueryError
from relens.percent import percent
from relens.runs.study_checks import Checked
from relens.setting import declared
from relens.studies.masking import Masker
from relens.triggers.search.ablation_findings import AblationFindings
from relens.triggers.search.ablation_study import AblationStudy
from relens_dashboard.narrative import interval_text
from relens_dashboard.setting_fields import SettingFields, all_fields, attempt
from relens_dashboard.studies import ablation_charts as charts
from relens_dashboard.studies.masked_view import MaskedView
from relens_dashboard.studies.own_models import model_field
from relens_dashboard.studies.trigger_fields import hit_names, named_hit
from relens_dashboard.studies.trigger_words import trigger_masker
from relens_dashboard.studies.view import Figure, Table

KIND = AblationStudy.kind


class AblationView(MaskedView[AblationStudy, AblationFindings]):
    """See `relens_dashboard.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "The same targets are searched with fewer and more words tried at each place, and with fewer and more "
        "restarts. Where the curves go flat, more effort of this kind brings little; the missed targets may still have "
        "a trigger."
    )
    notice = "The list mal has mild insults and commands; this page shows their number, and not their words."
    masked_help = (
        "Without this, rude words of the lists, and the words of your own targets, are masked: on this page, and in "
        "the report and the files."
    )

    def settings(self, study: AblationStudy) -> AblationStudy:
        """The fields (see `StudyView.settings`)."""
        with all_fields():
            return self._fields(study)

    def extent(self, study: AblationStudy, checked: Checked) -> str:
        """The searches, and their restarts."""
        return f"{counted(checked.units, 'search', 'searches')} of {counted(study.restarts, 'restart')} each."

    def _fields(self, study: AblationStudy) -> AblationStudy:
        fields = SettingFields(study, KIND)
        hits, shortlists = (declared(AblationStudy, name).setting for name in ("hit_types", "shortlists"))
        model = attempt(lambda: model_field(KIND, study.model), study.model)
        fields.row("lists", "count", widths=[2, 1])
        names = hit_names(*study.hit_types)
        hit_types = st.multiselect(
            hits.label,
            names,
            default=list(study.hit_types),
            format_func=named_hit,
            key=f"{KIND}_hit_types",
            help=hits.help,
        )
        first, second, third, fourth = st.columns(4)
        typed = first.text_input(
            shortlists.label,
            value=", ".join(map(str, study.shortlists)),
            key=f"{KIND}_shortlists",
            max_chars=300,
            help=shortlists.help,
        )
        fields.draw("restarts", second)
        fields.draw("sweeps", third)
        fields.draw("seed", fourth)
        first, second = st.columns([2, 1])
        fields.draw("targets", first, height=80)
        fields.draw("normal", second)
        return fields.record(
            model=model,
            hit_types=tuple(name for name in names if name in hit_types),
            shortlists=attempt(lambda: _numbers(typed or ""), study.shortlists),
        )

    def masker(self, study: AblationStudy) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def own_model(self, study: AblationStudy) -> str:
        """The dialogue model."""
        return study.model

    def figures(self, findings: AblationFindings, study: AblationStudy) -> list[Figure]:
        """Figure 4b, the same by time, and figure 4a."""
        return charts.figures(findings)

    def tables(self, findings: AblationFindings, study: AblationStudy) -> list[Table]:
        """A line for each list, hit type, G and number of restarts."""
        cells = findings.cells
        if not cells:
            return []
        frame = pd.DataFrame(
            {
                "List": [cell.target_list for cell in cells],
                "Hit type": [cell.hit_type for cell in cells],
                "G": [cell.shortlist for cell in cells],
                "Restarts": [cell.restarts for cell in cells],
                "Targets": [cell.targets for cell in cells],
                "Reached": [cell.hits for cell in cells],
                "Share": [percent(cell.share.value) for cell in cells],
                "95 %": [interval_text(cell.share.low, cell.share.high) for cell in cells],
                "By any restart": [cell.hits_of_any for cell in cells],
                "Inputs tried a target": [round(cell.candidates) for cell in cells],
                "Seconds a target": [round(cell.seconds, 3) for cell in cells],
            }
        )
        return [
            Table(
                "Effort",
                frame,
                {
                    "G": "Words tried at each place of the input.",
                    "Reached": "Targets for which the restart with the least objective is a hit, as in the paper.",
                    "95 %": "Wilson's interval: the share of other targets of this sort lies in it in 95 of 100 cases.",
                    "By any restart": "Targets for which at least one of these restarts is a hit.",
                    "Seconds a target": "On the machine of this run. Restarts run side by side; fewer of them have "
                    "their share of the time, by the inputs tried.",
                },
            )
        ]


VIEW = AblationView()


def _numbers(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    for part in parts:
        if not (part.isascii() and part.isdigit() and len(part) <= 9):
            raise QueryError(f"The words tried are whole numbers with commas between them; {part[:40]!r} is none.")
    return tuple(map(int, parts))
