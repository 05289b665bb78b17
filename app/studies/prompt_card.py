"""One trigger of a prompt at a time, token by token; and what can be asked of the model about it.

    In the prompt   Joke words mean       each token shaded by how odd it is
    the model says: I am sorry, but ...

    [ Joke words are mean ]  [Score again]  [Verify]  [Verify all]

Scoring needs the model, so it is a run of its own (`engine.triggers.causal.check_study`, `app.studies.check_run`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from app.masks import shown
from app.studies.check_run import ask_about, asked_check, begin_check, show_check
from app.studies.prompt_score import prompt_texts_of, show_prompt_score
from app.studies.trigger_score import revealed
from engine.studies.masking import Masker
from engine.studies.study import rows_of
from engine.triggers.causal.causal_study import SETTING, CausalTriggerStudy
from engine.triggers.causal.check_study import MOST_CHARACTERS, MOST_TEXTS, CheckedText, PromptCheckStudy
from engine.triggers.hits import Thresholds
from engine.triggers.search.check_study import SCORE

if TYPE_CHECKING:
    from app.services import Services
    from app.studies.view import Rows
    from engine.runs.records import RunRecord

Row = Mapping[str, Any]


def prompt_cards(
    services: Services, run: RunRecord, study: CausalTriggerStudy, rows: Rows, found: Rows, mask: Masker | None
) -> bool:
    """Draw the choice of a trigger, its card, and what was asked about it; whether an answer is still to come."""
    st.header("One trigger at a time", anchor=False)
    settings = {str(row["unit"]): row for row in rows_of(rows, SETTING)}
    by_unit = {str(row["unit"]): row for row in found}
    order = sorted(by_unit, key=lambda unit: -_searched(by_unit[unit])["margin"])
    chosen = st.selectbox(
        "Search",
        order,
        format_func=lambda unit: _label(by_unit[unit], mask),
        key=f"causal-triggers_card_{run.id}",
        help="The clearest hits come first, then what came closest. The card below shows the trigger that was found.",
    )
    unit = chosen if chosen in by_unit else order[0]
    row = by_unit[unit]
    with st.container(border=True, key="trigger_card"):
        own = revealed(prompt_texts_of(row), mask, f"causal-triggers_reveal_{run.id}_{unit}")
        show_prompt_score(row, own, f"causal-triggers_card_{run.id}")
    fingerprint = str(settings.get(unit, {}).get("fingerprint", ""))
    return _asking(services, run, study, list(by_unit.values()), row, fingerprint, own)


def _searched(row: Row) -> Mapping[str, Any]:
    hit: Mapping[str, Any] = row["hits"][row["searched"]]
    return hit


def _label(row: Row, mask: Masker | None) -> str:
    sign = "✓" if _searched(row)["is_hit"] else "✗"
    return f"{sign} {shown(mask, str(row['target']), 70)} · seed {row['seed']}"


# What is asked of the model ---------------------------------------------------------------------------------------


def _asking(
    services: Services,
    run: RunRecord,
    study: CausalTriggerStudy,
    found: Sequence[Row],
    row: Row,
    fingerprint: str,
    mask: Masker | None,
) -> bool:
    typed, asked = ask_about(
        str(row["text"]),
        mask,
        kind=study.kind,
        key=f"{run.id}_{row['unit']}",
        longest=MOST_CHARACTERS,
        count=min(len(found), MOST_TEXTS),
        help=(
            "Another text in the same place of the same prompt, of any length, scored for the same target.",
            "Asks the model how likely the target is after the text above, by all hit types.",
            "Puts the stored text into the prompt anew, encodes the whole, and compares every number.",
        ),
    )
    if asked:
        texts = {
            "typed": lambda: [CheckedText(typed, str(row["target"]))],
            "this": lambda: [_stored(row)],
            "all": lambda: [_stored(one) for one in found[:MOST_TEXTS]],
        }
        check = PromptCheckStudy(
            texts=tuple(texts[asked]()),
            template=study.template,
            hit_type=study.hit_type,
            ends=study.ends,
            thresholds=Thresholds.from_json(row["thresholds"]),
            judge=study.judge,
            encoder_decoder=study.encoder_decoder,
            fingerprint=fingerprint,
        )
        begin_check(services, run.model, check)
    return _answer(services, row, mask)


def _stored(row: Row) -> CheckedText:
    return CheckedText(str(row["text"]), str(row["target"]), tuple(row["token_log_probs"]))


def _answer(services: Services, row: Row, mask: Masker | None) -> bool:
    """What the check in the address says, where it is one of this target; whether there is more to come."""
    check = asked_check(services, PromptCheckStudy.kind)
    if check is None:
        return False
    assert isinstance(check.study, PromptCheckStudy)
    if not any(asked.target == row["target"] for asked in check.study.texts):
        return False
    show_check(check, mask)
    scores = rows_of(check.rows, SCORE)
    if len(scores) == 1:
        with st.container(border=True, key="trigger_check_card"):
            show_prompt_score(scores[0], mask, f"causal-triggers_check_{check.run.id}")
    return check.run.is_live
