"""Previews in this process against the engine itself, and in child processes that may be killed."""

from __future__ import annotations

import json
import re
import threading

import pytest

from relens.errors import LimitError, ModelError, RegexError, RelensError
from relens.language.compile import compile_language
from relens.query import Encoding, Exclude, Limits, Query
from relens.runs.preview import PARTS, Preview, Previewer, preview_query

HOSTILE = "[ab]*a[ab]{40}"


def test_a_preview_explains_counts_and_draws_a_query(byte_tokenizer):
    query = Query(" (cat|dog)s?", prefix="the", encoding=Encoding.CANONICAL)
    preview = preview_query(query, byte_tokenizer)
    assert (preview.strings, preview.finite) == ("4", True)
    assert sorted(preview.examples) == ["the cat", "the cats", "the dog", "the dogs"]
    whole = compile_language(Query(" (cat|dog)s?", prefix="the")).whole
    assert (preview.language_states, preview.language_arcs) == (whole.states, whole.arcs)
    for source, parts in (("the", preview.prefix_parts), (query.pattern, preview.pattern_parts)):
        assert parts
        assert all(part.text == source[part.start : part.end] and part.meaning for part in parts)
    assert {arc.in_prefix for arc in preview.language_graph.arcs} == {True, False}
    assert {arc.in_prefix for arc in preview.token_graph.arcs} == {True, False}
    assert Preview.from_json(preview.to_json()) == preview


def test_advice_on_the_boundary(byte_tokenizer):
    assert preview_query(Query(" cat", prefix="the"), byte_tokenizer).advice is None
    preview = preview_query(Query("cat", prefix="the "), byte_tokenizer)
    assert preview.advice is not None
    assert (preview.advice.prefix, preview.advice.pattern) == ("the", " cat")
    assert preview.advice.sentence not in preview.notes
    assert Preview.from_json(preview.to_json()) == preview


def test_excluded_strings_are_no_examples(byte_tokenizer, monkeypatch):
    query = Query(" (cat|dog|hen)", prefix="the", exclude=Exclude(words=("dog",)))
    assert preview_query(query, byte_tokenizer).strings == "2"
    monkeypatch.setattr("relens.language.exclusion.MOST_WORK", 0)
    preview = preview_query(query, byte_tokenizer, compiler=compile_language)
    assert preview.strings == "at most 3", "they are still in the automaton"
    assert sorted(preview.examples) == ["the cat", "the hen"]


def test_an_open_language_has_no_end(byte_tokenizer):
    preview = preview_query(Query("[ab]+"), byte_tokenizer)
    assert not preview.finite
    assert all(re.fullmatch("[ab]+", text) for text in preview.examples)
    assert preview.token_states == preview.token_graph.total_states == 2


@pytest.fixture
def model_folder(tmp_path, monkeypatch, byte_tokenizer) -> str:
    """A folder with a tokenizer and a configuration, which is all that a preview needs."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "tokenizer.json").write_text(byte_tokenizer.to_json())
    (folder / "config.json").write_text('{"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}')
    monkeypatch.setenv("RELENS_MODELS", str(folder))
    return str(folder)


def test_previews_in_child_processes(model_folder, byte_tokenizer):
    previewer = Previewer(pool_size=2)
    try:
        query = Query(" (cat|dog)", prefix="the")
        preview = previewer.preview(query, model_folder)
        here = preview_query(query, byte_tokenizer)
        assert preview.token_graph == here.token_graph
        assert preview.examples == here.examples
        with pytest.raises(RegexError) as refusal:
            previewer.preview(Query("(a"), model_folder)
        assert (refusal.value.position, refusal.value.part) == (0, "pattern")
        with pytest.raises(ModelError, match="RELENS_MODELS"):
            previewer.preview(query, "/etc")

        # A pattern without end ends at its limit, and an easy one is answered meanwhile.
        finished: list[str] = []

        def ask_hostile() -> None:
            with pytest.raises(LimitError, match="3 s"):
                previewer.preview(Query(HOSTILE), model_folder, Limits(compile_seconds=3.0))
            finished.append("hostile")

        thread = threading.Thread(target=ask_hostile)
        thread.start()
        previewer.preview(Query("ab"), model_folder)
        finished.append("easy")
        thread.join()
        assert finished == ["easy", "hostile"]
        assert previewer.preview(Query("abc"), model_folder).strings == "1"
    finally:
        previewer.close()


def counting_previewer(byte_tokenizer, calls: list[str]) -> Previewer:
    def call(payload):
        calls.append(payload["query"]["pattern"])
        return {"answer": preview_query(Query.from_json(payload["query"]), byte_tokenizer).to_json()}

    return Previewer(call=call)


def test_the_last_previews_are_remembered(byte_tokenizer, monkeypatch):
    monkeypatch.setattr("relens.runs.warm_answers.REMEMBERED", 2)
    calls: list[str] = []
    previewer = counting_previewer(byte_tokenizer, calls)
    for pattern in ("a", "b", "a", "c", "a", "b"):
        assert previewer.preview(Query(pattern), "bytes").examples == (pattern,)
    assert calls == ["a", "b", "c", "b"]
    previewer.preview(Query("b"), "another")
    previewer.preview(Query("b"), "another", Limits(automaton_states=5))
    assert calls[4:] == ["b", "b"]


def test_a_bug_is_a_sentence_for_the_page():
    def fail(self, *arguments):
        raise RuntimeError("Traceback ...")

    previewer = Previewer(pool_size=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("relens.language.isolation.IsolatedPool.call", fail)
        with pytest.raises(RelensError, match="The preview failed inside Relens"):
            previewer.preview(Query("a"), "bytes")
    previewer.close()


def test_of_a_long_expression_the_first_parts_are_explained(byte_tokenizer):
    preview = preview_query(Query("[ab]" * 500, prefix="(?:" * 70 + "x|y" * 200 + ")" * 70), byte_tokenizer)
    assert len(preview.pattern_parts) == PARTS
    assert preview.left_out == 500 - PARTS
    assert preview.pattern_parts[PARTS - 1].start == 4 * (PARTS - 1)
    assert len(json.dumps(preview.to_json())) < 200_000
    assert Preview.from_json(preview.to_json()) == preview


def test_queries_that_are_too_long_are_not_sent():
    previewer = Previewer(call=lambda payload: pytest.fail("it was sent"))
    for query, limit in (
        (Query("a" * 20_001), "regex_length"),
        (Query("a", prefix="b" * 20_001), "regex_length"),
        (Query("a", exclude=Exclude(words=("a",) * 30_000)), "items"),
    ):
        with pytest.raises(LimitError) as refused:
            previewer.preview(query, "m")
        assert refused.value.limit == limit
