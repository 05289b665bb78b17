"""The corpus that comes with Relens: how it is read, and, where it is installed, its size and its words."""

from __future__ import annotations

import json

import pytest

from relens.errors import ModelError
from relens.triggers.model import default_corpus as module
from relens.triggers.model.corpus import MONOLOGUE_WORDS
from relens.triggers.model.default_corpus import default_corpus, without_speeches
from relens.triggers.model.vocabulary import WordVocabulary
from relens.triggers.search.targets import mal_targets


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package of a few conversations in place of the real one; gives the file."""
    package = tmp_path / "some_chat"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('it is not to be imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(module, "PACKAGE", "some_chat")
    return package / "dataset.json"


def conversation(*turns):
    return {"messages": [[{"text": text} for text in turn] for turn in turns]}


def test_turns_are_the_messages_of_one_person_in_a_row(installed):
    both = conversation(["Hello", "How are you?"], ["fine"])
    installed.write_text(json.dumps({"one": both, "two": both}))
    corpus = default_corpus()
    (pair,) = corpus.test
    assert (pair.source, pair.response) == (("hello", "how", "are", "you", "?"), ("fine",))
    assert corpus.train == corpus.test


def test_a_package_without_a_corpus_is_refused(installed, monkeypatch):
    with pytest.raises(ModelError, match="FileNotFoundError"):
        default_corpus()
    installed.write_text('{"one": {}}')
    with pytest.raises(ModelError, match="KeyError"):
        default_corpus()
    installed.write_text("[]")
    with pytest.raises(ModelError, match="AttributeError"):
        default_corpus()
    monkeypatch.setattr(module, "PACKAGE", "no_such_chat")
    with pytest.raises(ModelError, match="pip install"):
        default_corpus()


def test_speeches_cut_a_conversation():
    turns = [("a",), ("b",), ("c",) * 5, ("d",), (), ("e",)]
    assert without_speeches(turns, longest=4) == [(("a",), ("b",)), (("d",), ("e",))]
    assert without_speeches([("c",) * 5], longest=4) == []


@pytest.mark.model
def test_the_real_corpus_is_large_and_has_the_words_of_the_targets():
    corpus = default_corpus()
    assert len(corpus.train) > 100_000
    assert len(corpus.test) > 5_000
    for pair in corpus.test:
        assert 1 <= len(pair.source) <= MONOLOGUE_WORDS
        assert 1 <= len(pair.response) <= MONOLOGUE_WORDS
    vocabulary = WordVocabulary.of_sentences(
        (words for pair in corpus.train for words in (pair.source, pair.response)), 8_000
    )
    mal = mal_targets(vocabulary)
    assert len(mal.targets) > 900
    assert len(mal.dropped) < 100
