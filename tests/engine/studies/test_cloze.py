"""The cloze test on a tiny model: against a search for each passage; cut, refused and stopped searches."""

from __future__ import annotations

import json
import re

import pytest

from relens import Decoding, Exclude, Limits, ShortestPath, load_model, search
from relens.errors import QueryError
from relens.language.stop_words import STOP_WORDS
from relens.studies.cloze import VARIANTS, ClozeStudy, cloze_query
from relens.studies.passages import own_passages, split_passage
from relens.studies.rows import done_units, rows_of
from relens.studies.study import StudyContext, StudyRun, Unit

TEXTS = (
    "The cat sat on the mat, and the dog sat on the cat",
    "George Washington was born in art and trained in science",
    "1 2 three",
)


@pytest.fixture(scope="module")
def tiny(tiny_model_folder):
    return load_model(str(tiny_model_folder), device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def study() -> ClozeStudy:
    return ClozeStudy(passages=TEXTS, top_k=40, answers=4, answers_with_end=2, expansions=300)


@pytest.fixture(scope="module")
def rows(tiny, study):
    return list(StudyRun(study, StudyContext(tiny)))


def test_the_patterns_are_those_of_the_paper():
    passage = split_passage("Ann met Bob. Then Ann left")
    assert cloze_query(passage, "baseline").pattern == r' (?P<word>[a-zA-Z]+)(\.|!|\?)?(")?'
    assert cloze_query(passage, "words").pattern == r' (?P<word>Ann|met|Bob|Then)(\.|!|\?)?(")?'
    assert not cloze_query(passage, "words").end_of_text
    for variant, exclude in [("terminated", Exclude()), ("no_stop", Exclude(stop_words=True))]:
        query = cloze_query(passage, variant, None)
        assert query.pattern == cloze_query(passage, "baseline").pattern
        assert (query.end_of_text, query.exclude, query.decoding) == (True, exclude, Decoding())
    assert re.fullmatch(cloze_query(passage, "baseline").prefix, passage.context)


def test_each_passage_and_variant_has_one_row(rows, study):
    answers = rows_of(rows, "answer")
    keys = {(row["variant"], row["passage"]) for row in answers}
    assert keys == {(variant, number) for variant in VARIANTS for number in range(len(TEXTS))}
    assert len(answers) == len(keys)
    assert done_units(rows) == {unit.key for unit in study.units()} == {"open 0", "ended 0"}
    assert json.loads(json.dumps(rows)) == rows


def test_answers_are_those_of_a_search_alone(tiny, study, rows):
    compared = 0
    for row in rows_of(rows, "answer"):
        passage = split_passage(TEXTS[row["passage"]])
        assert (row["truth"], row["context"]) == (passage.word, passage.context)
        if row["error"]:
            continue
        most = 2 if row["variant"] in ("terminated", "no_stop") else 4
        query = cloze_query(passage, row["variant"], study.top_k)
        run = search(tiny, query, ShortestPath("conditional"), Limits(matches=most, expansions=5_000))
        matches = list(run)
        expected = list(dict.fromkeys(match.groups["word"] for match in matches))
        found = [answer["word"] for answer in row["answers"]]
        assert found == expected[: len(found)]
        assert row["cut"] or found == expected
        assert row["right"] == (found[:1] == [passage.word])
        assert row["rank"] == (found.index(passage.word) + 1 if passage.word in found else None)
        if found:
            compared += 1
            assert row["answers"][0]["log_prob"] == pytest.approx(matches[0].log_prob, abs=1e-3)
            assert row["answers"][0]["decoder_log_prob"] == pytest.approx(matches[0].decoder_log_prob, abs=1e-3)
            assert row["answers"][0]["text"] == matches[0].text[len(passage.context) :]
    assert compared >= 6


def test_variants_answer_with_allowed_words(rows):
    for row in rows_of(rows, "answer"):
        words = [answer["word"] for answer in row["answers"]]
        if row["variant"] == "words":
            assert set(words) <= set(re.findall("[a-zA-Z]+", row["context"]))
        if row["variant"] == "no_stop":
            assert not {word.lower() for word in words} & set(STOP_WORDS)


def test_a_context_without_words_is_an_error_of_its_row(rows):
    errors = {(row["variant"], row["passage"]): row["error"] for row in rows_of(rows, "answer") if row["error"]}
    assert errors == {("words", 2): "The context has no words of plain letters."}


def test_a_cut_search_has_no_answer(tiny):
    study = ClozeStudy(passages=TEXTS[:1], variants=("terminated",), top_k=None, expansions=1)
    (row,) = rows_of(list(StudyRun(study, StudyContext(tiny))), "answer")
    assert row["cut"]
    assert (row["answers"], row["right"], row["rank"]) == ([], False, None)


def test_a_context_beyond_the_model_is_an_error_of_its_own_row(tiny):
    study = ClozeStudy(passages=("cat " * 300 + "dog", TEXTS[0]), variants=("baseline",), expansions=50)
    rows = {row["passage"]: row for row in rows_of(list(StudyRun(study, StudyContext(tiny))), "answer")}
    assert rows[0]["error"]
    assert rows[1]["answers"]


@pytest.mark.parametrize("looks", [0, 1, 3, 6])
def test_a_stopped_chunk_is_not_done(tiny, study, rows, looks):
    left = iter([False] * looks)
    run = StudyRun(study, StudyContext(tiny, stop=lambda: next(left, True)))
    found = list(run)
    assert run.progress.ended == "stopped"
    assert not done_units(found)
    assert all(row in rows for row in found)


def test_a_hundred_passages_are_chunks_of_two_groups():
    study = ClozeStudy(passages=tuple(f"one two {number} w" for number in range(45)), count=41)
    keys = [unit.key for unit in study.units()]
    assert keys == ["open 0", "ended 0", "open 20", "ended 20", "open 40", "ended 40"]
    assert study.units()[-1].label.endswith("passages 41 to 41")
    assert [unit.key for unit in ClozeStudy(passages=TEXTS, variants=("no_stop",)).units()] == ["ended 0"]


def test_sources_of_passages(tmp_path):
    assert ClozeStudy().read() == own_passages()
    assert ClozeStudy(count=3).read() == own_passages()[:3]
    path = tmp_path / "passages.jsonl"
    path.write_text('{"text": "a b"}\n{"text": "c d"}\nwrong\n')
    assert [passage.word for passage in ClozeStudy(path=str(path), count=2).read()] == ["b", "d"]
    with pytest.raises(QueryError, match="Line 3"):
        ClozeStudy(path=str(path)).units()
    shrunk = ClozeStudy(path=str(path), count=1)
    with pytest.raises(QueryError, match="no more than 20"):
        list(shrunk.carry_out(Unit("open 20", ""), StudyContext(None)))
    with pytest.raises(QueryError, match="Passage 2"):
        ClozeStudy(passages=("a b", "?")).units()


@pytest.mark.parametrize(
    "settings",
    [
        {"variants": ()},
        {"variants": ("words", "words")},
        {"variants": ("guess",)},
        {"count": 0},
        {"answers": 0},
        {"answers_with_end": 1000},
        {"expansions": 0},
        {"top_k": 0},
    ],
)
def test_settings_without_meaning_are_refused(settings):
    with pytest.raises(QueryError):
        ClozeStudy(**settings)


@pytest.mark.model
def test_a_terminated_answer_is_the_best_by_plain_transformers():
    """Without top-k, on three short passages.

    Plain: the model's log-probabilities of " word" as one token and the end of text after it, for every such token that
    is likelier by itself than the answer; no other word of one token can beat it. Words of several tokens are left out
    of the plain search, so an answer of several tokens has to beat all of those of one.
    """
    import torch

    model = load_model("smollm2-135m", device="cpu", dtype="float32")
    texts = (
        "The opposite of big is small. The opposite of hot is cold.",
        "She sat down at the piano. She played the piano.",
        "One two three, one two three.",
    )
    study = ClozeStudy(passages=texts, variants=("terminated",), top_k=None, expansions=600)
    rows = [row for row in rows_of(list(StudyRun(study, StudyContext(model))), "answer") if row["answers"]]
    assert len(rows) >= 2
    tokenizer = model.tokenizer

    def log_probs(texts):
        with torch.inference_mode():
            return torch.log_softmax(model.network(torch.tensor(texts)).logits.float(), dim=-1)

    for row in rows:
        begin = [] if model.begin_of_text is None else [model.begin_of_text]
        context = begin + tokenizer.encode(row["context"])
        answer = row["answers"][0]
        after = log_probs([context])[0, -1]
        words = [
            token
            for token in range(tokenizer.size)
            if after[token] > answer["log_prob"]
            and re.fullmatch(r' [a-zA-Z]+(\.|!|\?)?(")?', tokenizer.token_text(token))
        ]
        best, best_text = -float("inf"), ""
        for first in range(0, len(words), 32):
            part = words[first : first + 32]
            ends = log_probs([[*context, token] for token in part])[:, -1, model.end_of_text]
            scores = after[part] + ends
            if float(scores.max()) > best:
                best, best_text = float(scores.max()), tokenizer.token_text(part[int(scores.argmax())])
        own = tokenizer.encode(answer["text"])
        own_scores = log_probs([context + own])[0, len(context) - 1 :]
        canonical = sum(float(own_scores[place, token]) for place, token in enumerate([*own, model.end_of_text]))
        assert answer["log_prob"] >= best - 1e-3
        assert answer["log_prob"] == pytest.approx(canonical, abs=1e-3)
        if len(own) == 1:
            assert answer["text"] == best_text


@pytest.mark.model
def test_smollm_finds_a_word_that_is_plain_to_see():
    model = load_model("smollm2-135m")
    text = "Tom has a red ball. He throws the ball to Ann, Ann throws it back, and Tom catches the ball"
    study = ClozeStudy(passages=(text,), variants=("baseline", "words"))
    rows = rows_of(list(StudyRun(study, StudyContext(model))), "answer")
    assert [row["rank"] for row in rows] == [1, 1]
