"""Sentences with a word in them, against a reader written a second way, in pieces of any size, of any bytes."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import QueryError
from relens.record import Record
from relens.studies.sentences import LONGEST_SENTENCE, Sentence, find_sentences, first_word, split_sentences
from relens.studies.toxicity import demonstration
from relens.studies.word_lists import MILD_WORDS

WORDS = ("idiot", "half-wit", "jerk")


def texts(source, words=WORDS, **options) -> list[str]:
    return [sentence.text for sentence in find_sentences(source, words, **options).sentences]


def test_the_example_of_the_module():
    found = find_sentences("It rained.  Mr. Brown is an\n idiot, he said. An IDIOT!", ["idiot"]).sentences
    assert [(each.text, each.prompt, each.continuation) for each in found] == [
        ("Mr. Brown is an idiot, he said.", "Mr. Brown is an", " idiot"),
        ("An IDIOT!", "An", " IDIOT"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Idiots are not an Idiot.", ["Idiots are not an Idiot."]),
        ("Idiots only. No idioting!", []),
        ("A half-wit. Half the wit.", ["A half-wit."]),
        ("An idiot-proof lock. Wow", ["An idiot-proof lock."]),
        ("My idiot’s lock", ["My idiot’s lock"]),
        ('"You idiot!" He left. "Jerk?" she asked.', ['"You idiot!"', '"Jerk?" she asked.']),
        ("An idiot... yes, an idiot.", ["An idiot... yes, an idiot."]),
        ("An idiot\n\nNot here\n\r\n  a jerk", ["An idiot", "a jerk"]),
        ("J. R. Brown is a jerk. It is 3.5 p.m. for a jerk.", ["J. R. Brown is a jerk.", "It is 3.5 p.m. for a jerk."]),
        ("A jerk. A jerk. A  jerk.", ["A jerk."]),
        ("", []),
    ],
)
def test_where_sentences_end(text, expected):
    assert texts(text) == expected


def test_lines_that_stand_for_themselves():
    assert texts("a jerk\r\nAn idiot\nno", line_by_line=True) == ["a jerk", "An idiot"]
    assert texts("a jerk\r\nAn idiot\nno") == ["a jerk An idiot no"]


def test_the_first_hit_is_the_place():
    (found,) = find_sentences("The jerk called me an idiot.", WORDS).sentences
    assert (found.word, found.position) == ("jerk", 4)
    assert first_word("jerk", {"idiot"}) is None
    (first,) = find_sentences("Idiot!", WORDS).sentences
    assert (first.prompt, first.continuation) == ("", "Idiot")
    (quoted,) = find_sentences('He said "idiot".', WORDS).sentences
    assert (quoted.prompt, quoted.continuation) == ('He said "', "idiot")


def test_limits_and_the_account():
    text = "A jerk one. A jerk two. A jerk two. A jerk three."
    cut = find_sentences(text, WORDS, most=2)
    assert (len(cut.sentences), cut.is_cut, cut.repeated) == (2, True, 1)
    assert not find_sentences(text, WORDS, most=3).is_cut
    short = find_sentences(text, WORDS, most_characters=30)
    assert (len(short.sentences), short.is_cut, short.characters) == (2, True, 30)
    long = find_sentences("A jerk. " + "X" * 401 + " a jerk. A jerk again.", WORDS)
    assert ([each.text for each in long.sentences], long.too_long) == (["A jerk.", "A jerk again."], 1)
    for options in ({"most": 0}, {"longest": 0}, {"longest": LONGEST_SENTENCE + 1}):
        with pytest.raises(QueryError):
            find_sentences(text, WORDS, **options)


def test_files_and_odd_bytes(tmp_path):
    data = b"\xef\xbb\xbfA jerk. A \xff jerk. A \x00 jerk. Bl\xc3\xb6der jerk."
    path = tmp_path / "letters.txt"
    path.write_bytes(data)
    found = find_sentences(path, WORDS)
    assert [each.text for each in found.sentences] == ["A jerk.", "Blöder jerk."]
    assert found.unreadable == 2
    assert find_sentences(io.BytesIO(data), WORDS) == found
    with pytest.raises(QueryError, match="cannot be read"):
        find_sentences(tmp_path / "none.txt", WORDS)
    with pytest.raises(QueryError, match="cannot be read"):
        find_sentences(tmp_path, WORDS)


@given(
    st.text(alphabet="ab A.!?\"'\n)M\r\t", max_size=80).map(lambda text: text.replace("M", "Mr.").replace("b", "jerk")),
    st.integers(1, 9),
    st.booleans(),
)
def test_pieces_of_any_size_are_as_the_whole(text, size, line_by_line):
    def pieces(piece: int) -> list[str | None]:
        cut = [text[start : start + piece] for start in range(0, len(text), piece)]
        return list(split_sentences(cut, 30, line_by_line))

    assert pieces(size) == pieces(1000)
    kept = [each for each in pieces(size) if each is not None]
    if None not in pieces(size):
        assert "".join("".join(kept).split()) == "".join(text.split())  # nothing is lost


@given(st.text(alphabet="aB .!?\n", max_size=80))
def test_ends_against_a_reader_written_a_second_way(text):
    expected = []
    for paragraph in re.split(r"\n\s*\n", text):
        flat = " ".join(paragraph.split())
        current = ""
        for place, character in enumerate(flat):
            current += character
            is_end = flat[place : place + 2][1:] == " " and character in ".!?" and not flat[place + 2].islower()
            is_initial = re.search(r"(?<!\w)B\.$", current) is not None
            if is_end and not is_initial:
                expected.append(current.strip())
                current = ""
        expected.append(current.strip())
    assert list(split_sentences([text], 1000)) == [each for each in expected if each]


@given(st.binary(max_size=200))
def test_any_bytes_are_read(data):
    for each in find_sentences(io.BytesIO(data + b" a jerk. A jerk!"), WORDS).sentences:
        assert each.text[each.position :].startswith(each.word)
        assert each.prompt + each.continuation == each.text[: each.position + len(each.word)]
        assert not each.prompt.endswith(" ")


@pytest.mark.parametrize("mark", ["!", ".", " ", "\n", "a", "!'", ". ", "a.", "'", "-", "a-", "Mr. "])
def test_hostile_texts_cost_no_more_than_their_length(mark):
    text = mark * (1_000_000 // len(mark))
    found = find_sentences(text, WORDS)
    assert found.characters == len(text)
    assert found.sentences == ()


def test_a_sentence_checks_itself_and_survives_json():
    sentence = Sentence("A jerk.", "jerk", 2)
    assert isinstance(sentence, Record)
    assert Sentence.from_json(sentence.to_json()) == sentence
    for wrong in (("A jerk.", "jerk", 1), ("A jerk.", "", 2), ("A jerk.", "jerk", -5), ("x" * 401, "x", 0)):
        with pytest.raises(QueryError):
            Sentence(*wrong)


def test_the_demonstration_is_mild_and_has_its_prompts():
    inputs = demonstration()
    assert len(inputs) > 25
    assert all(each.prompt and each.word.casefold() in MILD_WORDS for each in inputs)
