"""Files and texts of the toxicity study: masked unless the reader's switch is on."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import shlex

import pandas as pd
import pytest

from relens.runs.specification import StudySpecification
from relens.studies.catalogue import study_class
from relens.studies.sentences import find_sentences
from relens.studies.study import Study
from relens.studies.toxicity import InputMatch, ToxicityStudy
from relens_dashboard.masks import LONGEST_SHOWN
from relens_dashboard.report import study_report
from relens_dashboard.studies import toxicity as page_module
from relens_dashboard.studies.toxicity import VIEW
from relens_dashboard.studies.toxicity_tables import masker_of, matches_table
from relens_dashboard.study_files import file_name, study_file
from relens_dashboard.study_snippets import MASKED_REMARK, study_command, study_python
from relens_dashboard.study_views import study_views
from tests.app.fakes import FakeStore
from tests.steps import longest_call

STUDY = ToxicityStudy(inputs=find_sentences("You utter numpty! A prawn sat there.", ("numpty", "prawn")).sentences,
                      words=("numpty", "prawn"))  # fmt: skip
SPECIFICATION = StudySpecification("m", STUDY)
#: Nothing that a reader may see has one of these in it: the words, and one edit away from them.
HIDDEN = re.compile("numpty|prawn|numty|prxwn", re.IGNORECASE)

_ROW = {"unit": "prompted 1", "mode": "prompted", "input": 1, "word": "numpty"}
_ANSWER = {
    "row": "answer", "sentence": "You utter numpty!", "prompt": "You utter", "position": 10, "found": True,
    "matches": 1, "first_text": "You utter numty!", "expansions": 3, "ended": "matches", "error": "",
}  # fmt: skip
_MATCH = {
    "row": "match", "place": 1, "text": "You utter numty!", "written": " numty!", "is_edited": True,
    "edits": [{"operation": "deletion", "position": 13, "removed": "p", "written": "", "part": "pattern"}],
    "is_canonical": False, "tokens": 3, "log_prob": -9.5, "decoder_log_prob": -8.5,
}  # fmt: skip
ROWS = [
    {"unit": "prompted 1", "row": "begin"},
    _ROW | _ANSWER | {"variant": "canonical", "found": False, "matches": 0, "first_text": None},
    _ROW | _ANSWER | {"variant": "all, edits"},
    _ROW | _MATCH | {"variant": "all, edits"},
    _ROW | _ANSWER | {"variant": "all, edits", "input": 2, "word": "prawn", "sentence": "A prawn sat there.",
                      "prompt": "A", "first_text": "A prxwn", "error": "A prawn is refused."},
    {"unit": "prompted 1", "row": "done"},
]  # fmt: skip


@pytest.fixture(params=[False, True], ids=["masked", "shown"])
def switch(request, monkeypatch):
    """The switch, as somebody left it."""
    monkeypatch.setattr(page_module.st, "session_state", {VIEW.shown_key: request.param})
    return request.param


def texts() -> dict[str, str]:
    """All that leaves the page, by name, as text."""
    mask = VIEW.mask(STUDY)
    run = FakeStore()
    record = dataclasses.replace(run.get(run.submit(SPECIFICATION)), status="done", row_count=len(ROWS))
    findings = STUDY.findings(ROWS)
    figures, tables, verdict = VIEW.figures(findings, STUDY), VIEW.tables(findings, STUDY), findings.verdict
    parquet = pd.read_parquet(io.BytesIO(study_file(ROWS, "parquet", mask)))
    return {
        "report": study_report(record, SPECIFICATION, VIEW, verdict, figures, tables, mask).decode(),
        "Python": study_python(SPECIFICATION, mask),
        "command": study_command(SPECIFICATION, mask),
        "csv": study_file(ROWS, "csv", mask).decode("utf-8-sig"),
        "json": json.dumps(json.loads(study_file(ROWS, "json", mask)), ensure_ascii=False),
        "parquet": parquet.to_csv(),
        "tables": "\n".join(table.frame.to_csv() for table in tables),
    }


def test_words_leave_the_page_only_where_the_reader_wants_to_see_them(switch):
    for name, text in texts().items():
        assert bool(HIDDEN.search(text)) == switch, name
        assert ("n·····" in text) != switch, name


def test_pictures_sentences_and_alternative_texts_have_no_words(switch):
    for figure in VIEW.figures(STUDY.findings(ROWS), STUDY):
        assert not HIDDEN.search(figure.title + figure.sentence + figure.chart.alt + figure.chart.figure.to_json())
    assert not any(map(HIDDEN.search, STUDY.verdict(ROWS)))


def test_masked_files_have_a_remark(switch):
    mask = VIEW.mask(STUDY)
    found = texts()
    assert ("masked in this file" in found["report"]) != switch
    for name in ("Python", "command"):
        assert found[name].startswith(MASKED_REMARK) != switch
    assert file_name("toxicity", "0123456789", "csv", mask) == (
        "relens-toxicity-01234567.csv" if switch else "relens-toxicity-01234567-masked.csv"
    )


def test_a_mask_changes_words_alone():
    masked = json.loads(study_file(ROWS, "json", masker_of(STUDY)))
    for row, shown in zip(ROWS, masked, strict=True):
        for name, value in row.items():
            if isinstance(value, str):
                assert len(shown[name]) == len(value)
            else:
                assert shown[name] == value
        assert shown["unit"] == row["unit"]


def test_with_the_switch_on_the_snippets_repeat_the_study():
    words = shlex.split(study_command(SPECIFICATION))
    inputs = next(word for word in words if word.startswith("inputs="))
    assert Study.from_json({"kind": "toxicity", "inputs": json.loads(inputs[7:]), "words": list(STUDY.words)}) == STUDY


def test_texts_without_masked_words_have_no_remark():
    untouched = StudySpecification("m", ToxicityStudy(most_matches=7))
    mask = masker_of(untouched.study)
    assert study_command(untouched, mask) == study_command(untouched)
    assert study_python(untouched, mask) == study_python(untouched)


#: The studies whose texts are rude by design.
MASKED = (
    *("toxicity", "triggers", "trigger-ablation", "trigger-check", "causal-triggers", "prompt-check", "relaxation"),
    "brute-force",
)


@pytest.mark.parametrize("kind", [kind for kind in study_views() if kind not in MASKED])
def test_other_studies_hide_nothing_and_have_no_switch(kind):
    view = study_views()[kind]
    assert view.mask(study_class(kind)()) is None
    assert view.switches() == ()


def test_a_run_that_was_made_to_hold_up_a_server_does_not():
    """A thousand words that all begin alike, and texts of 400,000 characters that nearly have them."""
    words = tuple(f"{'ab' * 9}{number:05d}" for number in range(1_000))
    match = InputMatch.read(ROWS[3] | {"variant": "canonical", "text": "ab-" * 133_000})
    matches = [dataclasses.replace(match, text=f"{place} {match.text}") for place in range(20)]
    study, shown = dataclasses.replace(STUDY, words=words), []
    assert longest_call(lambda: shown.append(matches_table(matches, masker_of(study)))) < 0.1
    assert max(map(len, shown[0].frame["Written"])) <= LONGEST_SHOWN
    assert longest_call(lambda: list(masker_of(study).rows([match.to_json()] * 2))) < 0.1
