"""What the page of the continuous relaxation asks and shows: would the model say it if its input need not be words?"""

from __future__ import annotations

import pandas as pd

from app.narrative import interval_text
from app.setting_fields import SettingFields, all_fields, attempt
from app.studies.masked_view import MaskedView
from app.studies.own_models import model_field
from app.studies.relaxation_charts import SPACE_LABELS, relaxation_figures
from app.studies.trigger_words import masked, trigger_masker
from app.studies.view import Figure, Rows, Table
from app.tables import shown_text
from engine.studies.masking import Masker
from engine.studies.rows import rows_of
from engine.studies.study import Study
from engine.triggers.relaxation.findings import relaxation_hits
from engine.triggers.relaxation.study import TARGET, RelaxationStudy

KIND = RelaxationStudy.kind

_MOST_LINES = 1_000


class RelaxationView(MaskedView):
    """See `app.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "Words are replaced by numbers that can be changed a little, and the numbers are moved until the model says "
        "the target. Then the nearest words are put in their place, and it is asked again. Where only the first works, "
        "the numbers say nothing of what somebody could type, and triggers have to be searched for word by word."
    )
    notice = "The lists hold mild insults and commands; such words are masked unless you switch them on."
    masked_help = "Without this, rude words are masked on this page, and in the report and the files."

    def settings(self, study: Study) -> RelaxationStudy:
        """The fields (see `StudyView.settings`)."""
        assert isinstance(study, RelaxationStudy)
        with all_fields():
            return self._fields(study)

    def _fields(self, study: RelaxationStudy) -> RelaxationStudy:
        fields = SettingFields(study, KIND)
        name = attempt(lambda: model_field(KIND, study.name), study.name)
        fields.row("spaces", "lists")
        fields.row("count", "steps", "seed")
        fields.row("penalty", "mal_penalty")
        return fields.record(name=name)

    def masker(self, study: Study) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def own_model(self, study: Study) -> str:
        """The dialogue model."""
        assert isinstance(study, RelaxationStudy)
        return study.name

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """Table 1 as bars, the descent, and figures 2 and 3 of the paper."""
        return relaxation_figures(rows)

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """The hits, and a line for each target."""
        return _tables(rows, self.mask(study))


VIEW = RelaxationView()


def _tables(rows: Rows, mask: Masker | None) -> list[Table]:
    lines, found = relaxation_hits(rows), rows_of(rows, TARGET)[:_MOST_LINES]
    if not lines:
        return []
    hits = pd.DataFrame(
        {
            "Inputs are": [SPACE_LABELS.get(line.space, line.space) for line in lines],
            "List": [line.list for line in lines],
            "Targets": [line.targets for line in lines],
            "Said to numbers": [line.hits for line in lines],
            "95 %": [interval_text(line.share.low, line.share.high) for line in lines],
            "Said to the words": [line.projected_hits for line in lines],
            "95 % of words": [interval_text(line.projected_share.low, line.projected_share.high) for line in lines],
        }
    )
    targets = pd.DataFrame(
        {
            "Inputs are": [SPACE_LABELS.get(row["space"], row["space"]) for row in found],
            "List": [row["list"] for row in found],
            "Target": [shown_text(masked(mask, row["target"])) for row in found],
            "Said to numbers": [bool(row["hit"]) for row in found],
            "Reply to numbers": [shown_text(masked(mask, row["reply"])) for row in found],
            "Nearest words": [shown_text(masked(mask, row["projected"])) for row in found],
            "Reply to words": [shown_text(masked(mask, row["projected_reply"])) for row in found],
            "Nats a word": [round(float(row["cost"]), 3) for row in found],
        }
    )
    return [
        Table("Hits", hits, {"Said to the words": "When the nearest words take the place of the numbers."}),
        Table("Targets", targets, {"Nats a word": "What a word of the target costs after these numbers."}),
    ]
