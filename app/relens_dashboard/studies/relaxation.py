"""The page of the continuous relaxation: its settings, its figures, and tables of hits and of targets."""

from __future__ import annotations

import pandas as pd

from relens.studies.masking import Masker
from relens.triggers.relaxation.findings import RelaxationFindings
from relens.triggers.relaxation.settings import SPACE_LABELS
from relens.triggers.relaxation.study import RelaxationStudy
from relens_dashboard.narrative import interval_text
from relens_dashboard.setting_fields import SettingFields, all_fields, attempt
from relens_dashboard.studies.masked_view import MaskedView
from relens_dashboard.studies.own_models import model_field
from relens_dashboard.studies.relaxation_charts import relaxation_figures
from relens_dashboard.studies.trigger_words import masked, trigger_masker
from relens_dashboard.studies.view import Figure, Table
from relens_dashboard.tables import shown_text

KIND = RelaxationStudy.kind

_MOST_LINES = 1_000


class RelaxationView(MaskedView[RelaxationStudy, RelaxationFindings]):
    """See `relens_dashboard.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "Gradient descent moves the input of the model until the reply is the target. Its inputs need not be words: "
        "they are any embeddings, or mixtures of words. Then the nearest words replace them. Where only the first "
        "works, the relaxed input says nothing of what somebody could type, and triggers have to be searched for word "
        "by word."
    )
    notice = "The lists hold mild insults and commands; such words are masked unless you switch them on."
    masked_help = "Without this, rude words are masked on this page, and in the report and the files."

    def settings(self, study: RelaxationStudy) -> RelaxationStudy:
        """The fields (see `StudyView.settings`)."""
        with all_fields():
            fields = SettingFields(study, KIND)
            name = attempt(lambda: model_field(KIND, study.name), study.name)
            fields.row("spaces", "lists")
            fields.row("count", "steps", "seed")
            fields.row("penalty", "mal_penalty")
            return fields.record(name=name)

    def masker(self, study: RelaxationStudy) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def own_model(self, study: RelaxationStudy) -> str:
        """The dialogue model."""
        return study.name

    def figures(self, findings: RelaxationFindings, study: RelaxationStudy) -> list[Figure]:
        """Table 1 as bars, the descent, and figures 2 and 3 of the paper."""
        return relaxation_figures(findings)

    def tables(self, findings: RelaxationFindings, study: RelaxationStudy) -> list[Table]:
        """The hits, and a line for each target."""
        if not findings.groups:
            return []
        return [_hits_table(findings), _targets_table(findings, self.mask(study))]


VIEW = RelaxationView()


def _hits_table(findings: RelaxationFindings) -> Table:
    lines = [
        {
            "Inputs": SPACE_LABELS[group.space],
            "List": group.list,
            "Targets": len(group.targets),
            "Hits": group.hits,
            "95 %": interval_text(group.share.low, group.share.high),
            "Hits of words": group.projected_hits,
            "95 % of words": interval_text(group.projected_share.low, group.projected_share.high),
        }
        for group in findings.groups
    ]
    help = {
        "Hits": "Targets that are the reply to the relaxed input.",
        "Hits of words": "Targets that are the reply to the nearest words.",
    }
    return Table("Hits", pd.DataFrame(lines), help)


def _targets_table(findings: RelaxationFindings, mask: Masker | None) -> Table:
    targets = [target for group in findings.groups for target in group.targets][:_MOST_LINES]
    lines = [
        {
            "Inputs": SPACE_LABELS[target.space],
            "List": target.list,
            "Target": shown_text(masked(mask, target.target)),
            "Hit": target.hit,
            "Reply": shown_text(masked(mask, target.reply)),
            "Nearest words": shown_text(masked(mask, target.projected)),
            "Reply to words": shown_text(masked(mask, target.projected_reply)),
            "Nats a word": round(target.cost, 3),
        }
        for target in targets
    ]
    help = {
        "Hit": "Whether the reply to the relaxed input is the target.",
        "Nats a word": "The cost of a word of the target after the relaxed input.",
    }
    return Table("Targets", pd.DataFrame(lines), help)
