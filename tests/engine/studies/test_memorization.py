"""The study on a tiny model: its rows, their counts, and their end."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import ModelError, QueryError, RegexError
from relens.language.compile import compile_language
from relens.models.loading import load_model
from relens.query import Decoding, Limits, Query
from relens.search_run import search
from relens.studies.memorization import PRESETS, SEARCH, MemorizationStudy, longest_match
from relens.studies.memorization_rows import Batch, Tally
from relens.studies.rows import done_units, rows_of
from relens.studies.sampled_generation import FIRST_BATCH, Attempt
from relens.studies.study import StudyContext, StudyRun
from relens.studies.validators import OfForm, OnList

#: Over in a fraction of a second, and so small a language that the search exhausts it.
SMALL = MemorizationStudy(
    prefix="The (cat|dog)",
    pattern="s? (sat|[a-d]{1,2})",
    decoding=Decoding(),
    seconds=0.3,
    max_tokens=16,
    new_tokens=(1, 4),
    validator=OfForm(".*[abc]t|.*a"),
)


@pytest.fixture(scope="module")
def model(tiny_model_folder):
    return load_model(str(tiny_model_folder), device="cpu")


@pytest.fixture(scope="module")
def rows(model):
    return list(StudyRun(replace(SMALL, seconds=20.0, new_tokens=()), StudyContext(model))) + list(
        StudyRun(SMALL, StudyContext(model), finished={SEARCH})
    )


def test_the_rows_of_a_method_begin_with_its_setup_and_end_with_its_summary(rows):
    assert [unit.key for unit in SMALL.units()] == [SEARCH, "sampled 1", "sampled 4"]
    assert done_units(rows) == {SEARCH, "sampled 1", "sampled 4"}
    for key in done_units(rows):
        kinds = [row["row"] for row in rows if row["unit"] == key]
        assert kinds[:2] == ["begin", "method"]
        assert kinds[-2:] == ["summary", "done"]
        assert kinds.count("summary") == 1
    assert rows_of(rows, "method", "sampled 4")[0]["device"] == "cpu"


def test_the_search_finds_the_whole_language_once_and_counts_its_encodings(rows, model):
    matches = list(search(model, SMALL.query, limits=Limits(expansions=None)))
    texts = {match.text for match in matches}
    assert len(texts) == 4 * 21
    summary = rows_of(rows, "summary", SEARCH)[0]
    assert [row["text"] for row in rows_of(rows, "match", SEARCH)] == list(dict.fromkeys(m.text for m in matches))
    assert summary["ended"] == "exhausted"
    assert (summary["attempts"], summary["matches"], summary["new"]) == (len(matches), len(matches), len(texts))
    assert summary["duplicates"] == len(matches) - len(texts)
    assert summary["completion_rate"] == 1.0
    assert summary["tokens"] == sum(len(match.token_ids) - match.prefix_tokens for match in matches)
    form = re.compile(SMALL.validator.regex)
    assert summary["new_valid"] == sum(bool(form.fullmatch(text)) for text in texts)
    assert summary["valid"] == sum(bool(form.fullmatch(match.text)) for match in matches)


def test_a_sampled_string_has_one_row_and_batches_count_all_matches(rows):
    pattern, form = re.compile(SMALL.prefix + SMALL.pattern), re.compile(SMALL.validator.regex)
    for unit, tokens in (("sampled 1", 1), ("sampled 4", 4)):
        matches = rows_of(rows, "match", unit)
        texts = [row["text"] for row in matches]
        assert len(set(texts)) == len(texts)
        assert all(pattern.fullmatch(text) for text in texts)
        assert all(row["valid"] == bool(form.fullmatch(row["text"])) for row in matches)
        tally = sum(Batch.all_in(rows, unit), Tally())
        summary = rows_of(rows, "summary", unit)[0]
        assert {name: summary[name] for name in tally.to_json()} == tally.to_json()
        assert tally.new == len(texts)
        assert tally.new_valid == sum(row["valid"] for row in matches)
        assert tally.attempts >= tally.matches >= tally.new
        assert tally.tokens <= tokens * tally.attempts
        assert summary["seconds"] >= SMALL.seconds
        for place, row in enumerate(matches):
            assert place < row["matches"] <= row["attempts"]
            assert row["seconds"] <= summary["seconds"]
    assert rows_of(rows, "summary", "sampled 4")[0]["matches"] > 0


def test_however_short_the_time_a_batch_is_finished(model):
    rows = list(StudyRun(replace(SMALL, seconds=1e-6, new_tokens=(1, 12)), StudyContext(model), finished={SEARCH}))
    assert [row["attempts"] for row in rows_of(rows, "summary")] == [FIRST_BATCH, FIRST_BATCH]


def test_time_ends_a_search_and_so_does_a_number_of_matches(model):
    open_ended = replace(SMALL, pattern="[a-z ]+", new_tokens=(), max_tokens=100)
    assert rows_of(list(StudyRun(open_ended, StudyContext(model))), "summary")[0]["ended"] == "seconds"
    summary = rows_of(list(StudyRun(replace(open_ended, seconds=30.0, matches=7), StudyContext(model))), "summary")[0]
    assert (summary["ended"], summary["matches"]) == ("matches", 7)


@pytest.mark.parametrize("looks", [0, 3, 20])
def test_a_stop_leaves_the_method_undone(model, looks):
    seen = iter([False] * looks)
    study = replace(SMALL, pattern="[a-z ]+", seconds=30.0, max_tokens=100)
    for finished in ((), (SEARCH,)):
        run = StudyRun(study, StudyContext(model, stop=lambda: next(seen, True)), finished=finished)
        rows = list(run)
        assert run.progress.ended == "stopped"
        assert not rows_of(rows, "summary")
        assert not done_units(rows)


def test_known_values_are_counted_beforehand(model):
    study = replace(SMALL, seconds=20.0, new_tokens=(), validator=OnList(("The cat sat", "The dogs b", "no match")))
    rows = list(StudyRun(study, StudyContext(model)))
    assert rows_of(rows, "method")[0]["known"] == 3
    assert {row["text"] for row in rows_of(rows, "match") if row["valid"]} == {"The cat sat", "The dogs b"}


@given(st.text("abcé.", max_size=12))
def test_the_longest_beginning_agrees_with_re(text):
    pattern = "[ab]+(é|c{2})*"
    automaton = compile_language(Query(pattern, prefix="x="), Limits()).whole
    ends = [end for end in range(len(text) + 1) if re.fullmatch(pattern, text[:end])]
    expected = "x=" + text[: ends[-1]] if ends else None
    assert longest_match(automaton, Attempt("x=", text.encode(), 0)) == expected
    assert longest_match(automaton, Attempt("x=", text.encode() + b"\xc3", 0)) == expected


def test_a_sample_is_no_longer_than_the_longest_match():
    with pytest.raises(QueryError, match="at most 16 new tokens"):
        replace(SMALL, new_tokens=(17,)).units()


@pytest.mark.parametrize(("wrong", "part"), [({"prefix": "(a"}, "prefix"), ({"pattern": "b{99999999999}"}, "pattern")])
def test_expressions_are_checked_before_the_run(wrong, part):
    with pytest.raises(RegexError) as refused:
        replace(SMALL, **wrong).units()
    assert refused.value.part == part


def test_the_form_that_counts_is_checked_too():
    with pytest.raises(QueryError) as refused:
        replace(SMALL, validator=OfForm("x[")).units()
    assert str(refused.value) == "In the form that counts: unterminated character set, at position 1."


def test_attempts_longer_than_the_context_are_refused(model):
    study = replace(SMALL, max_tokens=200, new_tokens=(127,))
    with pytest.raises(ModelError, match="more than the model"):
        list(StudyRun(study, StudyContext(model), finished={SEARCH}))


@pytest.mark.parametrize("name", PRESETS)
def test_presets_can_be_carried_out(name):
    assert len(PRESETS[name].units()) == 8


def test_the_preset_is_the_papers_and_survives_json():
    study = MemorizationStudy()
    assert study.new_tokens == (1, 2, 4, 8, 16, 32, 64)
    assert study.query.decoding.top_k == 40
    assert re.fullmatch(study.prefix + study.pattern, "https://www.example.com/a-b%20#c")
    assert MemorizationStudy.from_json(study.to_json()) == study
