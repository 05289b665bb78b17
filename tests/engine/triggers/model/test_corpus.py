"""Corpora: all forms have the same pairs, errors are sentences, and whole dialogues are held out."""

from __future__ import annotations

import io
import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import LimitError, QueryError, RelensError
from relens.triggers.model import corpus as module
from relens.triggers.model.corpus import Corpus, Pair, read_corpus, read_dialogues, split_corpus

UTTERANCE = st.lists(st.sampled_from(["a", "hello", "n't", "?", "you"]), min_size=1, max_size=5).map(tuple)
DIALOGUES = st.lists(st.lists(UTTERANCE, min_size=1, max_size=5).map(tuple), min_size=1, max_size=8)


def read(text, form="auto", is_cut=False):
    return read_dialogues(io.BytesIO(text.encode()), form, is_cut)


def lines_of(dialogue):
    return [" ".join(words) for words in dialogue]


@given(DIALOGUES, st.booleans())
def test_all_forms_have_the_same_dialogues(dialogues, is_cut):
    texts = {
        "dialogues": "\n\n\n".join("\n".join(lines_of(dialogue)) for dialogue in dialogues),
        "eou": "\n".join(" <eou> ".join([*lines_of(dialogue), " "]) for dialogue in dialogues),
        "json": "\n".join(json.dumps({"dialogue": lines_of(dialogue)}) for dialogue in dialogues),
    }
    for form, text in texts.items():
        assert read(text, form, is_cut) == dialogues
        assert read("\ufeff\n \n" + text if form != "eou" else text, "auto", is_cut) == dialogues


def test_pairs_are_dialogues_of_two():
    assert read("how are you?\tfine\n\nyou\tme\t too\n\tnobody asked\n") == [
        (("how", "are", "you", "?"), ("fine",)),
        (("you",), ("me", "too")),
    ]
    assert read('{"input": "A?", "response": "b"}\n{"source": "c", "target": " "}') == [(("a", "?"), ("b",))]
    assert read('["a", "b"]') == read('{"messages": [{"role": "user", "content": "a"}, {"text": "b"}]}')


def test_windows_line_ends_and_other_variants_are_read():
    assert read("hello there\r\nhi\r\n\r\nbye\r\nsee you\r\n") == [
        (("hello", "there"), ("hi",)),
        (("bye",), ("see", "you")),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "The corpus has no text."),
        (b"\n \n\t\n", "The corpus has no text."),
        (b"hello\n\nyes\n\nno\n", "The corpus has no pairs: nothing in it is answered by anything."),
        (b"a\tb\nalone\n", "Line 2 of the corpus has no tab between an input and its response."),
        (b"hello\n\xff\xfe\n", "Line 2 of the corpus is not UTF-8; save the file as UTF-8."),
        ("a\tb\nc\té\n".encode("latin-1"), "Line 2 of the corpus is not UTF-8; save the file as UTF-8."),
        ("hello\nyou".encode("utf-16"), "Line 1 of the corpus is not UTF-8; save the file as UTF-8."),
        ("hello\nyou".encode("utf-16-le"), "Line 1 of the corpus is no text: it has a null character."),
        (b"hello\nyou\0\n", "Line 2 of the corpus is no text: it has a null character."),
        (b"\0" * 5_000, "Line 1 of the corpus is no text"),
        (b'{"dialogue": ["a", "b"]}\n{"dialogue"\n', "Line 2 of the corpus is not JSON; each line is a whole value."),
        (b'[\n  {"input": "a", "response": "b"}\n]\n', "Line 1 of the corpus is not JSON; each line is a whole value."),
        (b'{"dialogue": ["a", 2]}', 'neither a "dialogue"'),
        (b'{"input": "a"}', 'neither a "dialogue"'),
        (b'{"dialogue": "a b"}', 'neither a "dialogue"'),
        (b"[" * 100_000 + b"]", "not JSON"),
        (b"a\nb\nc\n", "a single dialogue"),
        (b"x\ty\n\t\nb\t\n", "a single dialogue"),
    ],
)
def test_errors_are_sentences_with_the_line(tmp_path, text, sentence):
    path = tmp_path / "corpus.txt"
    path.write_bytes(text)
    with pytest.raises(RelensError) as raised:
        read_corpus(path)
    assert sentence in str(raised.value)
    assert str(raised.value).endswith(".")


def test_a_missing_file_is_refused(tmp_path):
    for path, sentence in (
        (tmp_path, f"The corpus {str(tmp_path)!r} is a folder, not a file."),
        (tmp_path / "missing", f"There is no corpus at {str(tmp_path / 'missing')!r}."),
        ("\0", r"There is no corpus at '\x00'."),
    ):
        with pytest.raises(QueryError, match=f"^{re.escape(sentence)}$"):
            read_corpus(path)
    with pytest.raises(QueryError, match="'prose'"):
        read("a", "prose")


def test_limits_are_kept(monkeypatch):
    monkeypatch.setattr(module, "MOST_LINE_BYTES", 10)
    with pytest.raises(LimitError, match="Line 2"):
        read("a\n" + "b" * 11)
    monkeypatch.setattr(module, "MOST_PAIRS", 3)
    with pytest.raises(LimitError, match="3 pairs"):
        read("a\nb\nc\nd\ne\n")
    monkeypatch.setattr(module, "MOST_WORDS", 2)
    assert read("a b c\nd") == [(("a", "b"), ("d",))]


@given(DIALOGUES, st.floats(0.01, 0.99), st.integers(0, 5))
def test_whole_dialogues_are_held_out(dialogues, share, seed):
    # Words that tell which dialogue they are from.
    marked = [
        tuple((f"d{number}", f"u{place}", *words) for place, words in enumerate(dialogue))
        for number, dialogue in enumerate(dialogues)
    ]
    useful = [dialogue for dialogue in marked if len(dialogue) > 1]
    if len(useful) < 2:
        with pytest.raises(QueryError):
            split_corpus("x", marked, share, seed)
        return
    corpus = split_corpus("x", marked, share, seed)
    assert corpus == split_corpus("x", marked, share, seed)
    of_train, of_test = ({pair.source[0] for pair in part} for part in (corpus.train, corpus.test))
    assert of_train
    assert of_test
    assert not of_train & of_test
    expected = {pair for dialogue in marked for pair in pairwise(dialogue)}
    assert {(pair.source, pair.response) for pair in (*corpus.train, *corpus.test)} == expected


def test_fewer_pairs_are_the_first_of_the_same_order():
    dialogues = [((f"a{number}",), (f"b{number}",)) for number in range(50)]
    whole = split_corpus("x", dialogues)
    some = split_corpus("x", dialogues, pairs=7)
    assert some.train == whole.train[:7]
    assert some.test == whole.test
    assert split_corpus("x", dialogues, seed=1).test != whole.test
    for settings in ({"pairs": 0}, {"test_share": 0.0}, {"test_share": 1.0}):
        with pytest.raises(QueryError):
            split_corpus("x", dialogues, **settings)


def test_a_corpus_has_a_name_of_its_own():
    one, two = Pair(("a",), ("b", "c")), Pair(("a", "b"), ("c",))
    corpora = [Corpus("x", (one,), (two,)), Corpus("x", (two,), (one,)), Corpus("x", (one, two), ())]
    assert len({corpus.fingerprint for corpus in corpora}) == 3
    assert Corpus("y", (one,), (two,)).fingerprint == corpora[0].fingerprint
