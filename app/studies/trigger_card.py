"""One trigger at a time, word by word; and what can be asked of the model about it.

    thank you why but i love you       each word shaded by how odd it is in a sentence
    => you are a j···                  reached by: every word likely (k = 1), likely on average (k = 1) ...
    the model says: i love you too

    [ thank you why but we love you ]  [Score again]  [Verify]  [Verify all]

Scoring needs the model, so it is a run of its own (`engine.triggers.search.check_study`, `app.studies.check_run`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from app.studies.check_run import ask_about, asked_check, begin_check, show_check
from app.studies.trigger_score import revealed, show_score, texts_of
from app.studies.trigger_words import masked, reached, sentence
from app.text import shortened
from engine.studies.masking import Masker
from engine.studies.study import rows_of
from engine.triggers.model.vocabulary import words_of_text
from engine.triggers.search.check_study import SCORE, CheckedPair, TriggerCheckStudy
from engine.triggers.search.trigger_study import TriggerStudy

if TYPE_CHECKING:
    from app.services import Services
    from app.studies.view import Rows
    from engine.runs.records import RunRecord

Row = Mapping[str, Any]


def trigger_cards(services: Services, run: RunRecord, study: TriggerStudy, found: Rows, mask: Masker | None) -> bool:
    """Draw the choice of a trigger, its card, and what was asked about it; whether an answer is still to come."""
    st.header("One trigger at a time", anchor=False)
    by_unit = {str(row["unit"]): row for row in found}
    # First what a reader is here for: replies of the lists "normal" and "random" are there to compare with.
    order = sorted(
        by_unit,
        key=lambda unit: (
            by_unit[unit]["list"] in ("normal", "random"),
            -by_unit[unit]["margins"].get(study.hit_type, -math.inf),
        ),
    )
    chosen = st.selectbox(
        "Target",
        order,
        format_func=lambda unit: _label(by_unit[unit], study.hit_type, mask),
        key=f"triggers_card_{run.id}",
        help="The clearest hits come first, then what came closest; the lists to compare "
        "with are last. The card below shows the trigger that was found.",
    )
    row = by_unit[chosen if chosen in by_unit else order[0]]
    with st.container(border=True, key="trigger_card"):
        own = revealed(texts_of(row), mask, f"triggers_reveal_{run.id}_{row['unit']}")
        show_score(row, study.hit_type, own, f"triggers_card_{run.id}")
    return _asking(services, run, study, list(by_unit.values()), row, own)


def _label(row: Row, hit_type: str, mask: Masker | None) -> str:
    sign = "✓" if reached(row, hit_type) else "✗"
    return f"{sign} {row['list']} {row['place']}: {shortened(masked(mask, row['target']), 70)}"


# What is asked of the model ---------------------------------------------------------------------------------------


def _asking(
    services: Services, run: RunRecord, study: TriggerStudy, found: Sequence[Row], row: Row, mask: Masker | None
) -> bool:
    typed, asked = ask_about(
        sentence(row["input"]),
        mask,
        kind="triggers",
        key=f"{run.id}_{row['unit']}",
        longest=1_000,
        count=len(found),
        help=(
            "Other words to say to the model, scored for the same target; words that it does not know count as <unk>.",
            "Asks the model how likely the target is after the words above, by all hit types.",
            "Replays the stored words of this trigger in float32, one by one, and compares every number.",
        ),
    )
    if asked:
        pairs = {
            "typed": lambda: [CheckedPair(words_of_text(typed), tuple(row["target"]))],
            "this": lambda: [_stored(row)],
            "all": lambda: [_stored(one) for one in found],
        }
        _submit(services, study, pairs[asked](), found)
    return _answer(services, study, row, mask)


def _stored(row: Row) -> CheckedPair:
    return CheckedPair(tuple(row["input"]), tuple(row["target"]), tuple(row["token_log_probs"]))


def _submit(services: Services, study: TriggerStudy, pairs: Sequence[CheckedPair], found: Sequence[Row]) -> None:
    check = TriggerCheckStudy(study.model, tuple(pairs), str(found[0]["fingerprint"]), study.hit_type)
    begin_check(services, study.model, check)


def _answer(services: Services, study: TriggerStudy, row: Row, mask: Masker | None) -> bool:
    """What the check in the address says, where it is one of this target; whether there is more to come."""
    check = asked_check(services, TriggerCheckStudy.kind)
    if check is None:
        return False
    assert isinstance(check.study, TriggerCheckStudy)
    if check.study.model != study.model or not any(pair.target == tuple(row["target"]) for pair in check.study.pairs):
        return False
    show_check(check, mask)
    scores = rows_of(check.rows, SCORE)
    if len(scores) == 1:
        with st.container(border=True, key="trigger_check_card"):
            show_score(scores[0], study.hit_type, mask, f"triggers_check_{check.run.id}")
    return check.run.is_live
