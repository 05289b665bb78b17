"""The form: widgets' values, specification and link are three views of one thing."""

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import QueryError
from relens.query import (
    Boundary,
    Decoding,
    Distribution,
    Edits,
    Encoding,
    Exclude,
    Limits,
    Query,
    Sampling,
    ShortestPath,
)
from relens.runs.specification import SearchSpecification
from relens_dashboard import links
from relens_dashboard.form import (
    BEST_FIRST,
    DISTRIBUTION,
    SAMPLE,
    SETTINGS,
    TRAVERSALS,
    Form,
    one_line,
    words_of,
    written_words,
)
from relens_dashboard.setting_fields import bounds


def choices(name):
    return list(SETTINGS[name].setting.choices.values())


BOUNDARIES, ENCODINGS, BEGINNINGS = choices("boundary"), choices("encoding"), choices("begin_of_text")
EDITED_PARTS, RANKS, PREFIX_DRAWS = choices("edit_where"), choices("rank"), choices("prefix_by")
MOST = {name: int(bounds(one)[1]) for name, one in SETTINGS.items() if one.is_number}
LARGEST_TOLERANCE = bounds(SETTINGS["tolerance"])[1]

line = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\t\v\f"), max_size=30)


words = st.lists(line.map(lambda word: " ".join(word.split())).filter(bool), max_size=4).map(tuple)


@st.composite
def forms(draw):
    """Forms whose unused fields have their defaults."""
    greedy = draw(st.booleans())
    boundary, encoding = draw(st.sampled_from(list(BOUNDARIES))), draw(st.sampled_from(list(ENCODINGS)))
    prefix = draw(line)
    free = boundary == "Free" and prefix
    return Form(
        prefix=prefix,
        pattern=draw(line.filter(bool)),
        model=draw(st.sampled_from(["smollm2-135m", "gpt2", "/models/mine & yours"])),
        encoding=encoding,
        prefix_encoding=encoding if free else draw(st.sampled_from(list(ENCODINGS))),
        boundary=boundary,
        greedy=greedy,
        top_k=None if greedy else draw(st.none() | st.integers(2, MOST["top_k"])),
        top_p=None if greedy else draw(st.none() | st.floats(0.001, 1.0)),
        temperature=draw(st.floats(0.01, 100.0)),
        end_of_text=draw(st.booleans()),
        begin_of_text=draw(st.sampled_from(list(BEGINNINGS))),
        max_tokens=draw(st.integers(1, MOST["max_tokens"])),
        exclude=draw(line),
        exclude_words=written_words(draw(words)),
        stop_words=draw(st.booleans()),
        seconds=draw(st.integers(1, MOST["seconds"])),
        expansions=draw(st.integers(1, MOST["expansions"])),
        **draw(edit_values()),
        **draw(st.sampled_from(list(TRAVERSALS)).flatmap(traversal_values)),
    )


@st.composite
def edit_values(draw):
    if draw(st.booleans()):
        return {}
    kinds = draw(st.tuples(st.booleans(), st.booleans(), st.booleans()).filter(any))
    return {
        "edits": draw(st.integers(1, MOST["edits"])),
        "edit_where": draw(st.sampled_from(list(EDITED_PARTS))),
        "edit_alphabet": draw(line.filter(bool)),
        **dict(zip(("insertions", "deletions", "substitutions"), kinds, strict=True)),
    }


def traversal_values(traversal):
    settings = {
        BEST_FIRST: {"rank": st.sampled_from(list(RANKS)), "matches": st.integers(1, MOST["matches"])},
        SAMPLE: {
            "samples": st.integers(1, MOST["samples"]),
            "seed": st.integers(0, MOST["seed"]),
            "prefix_by": st.sampled_from(list(PREFIX_DRAWS)),
        },
        DISTRIBUTION: {"tolerance": st.floats(0.0, LARGEST_TOLERANCE)},
    }
    return st.fixed_dictionaries({"traversal": st.just(traversal), **settings[traversal]})


@given(forms())
def test_a_form_comes_back_from_its_specification(form):
    assert Form.from_specification(form.specification()) == form


def test_an_untouched_form_is_a_plain_question():
    specification = Form(pattern="a").specification()
    assert specification.query == Query("a")
    assert specification.traversal == ShortestPath("conditional")
    assert specification.limits == Limits(matches=50)


def test_each_traversal_is_made_of_its_own_settings():
    form = Form(pattern="a", matches=7, samples=20, seed=3, prefix_by="Edges", tolerance=0.25, rank="Whole string")
    made = {
        traversal: dataclasses.replace(form, traversal=traversal).specification().traversal for traversal in TRAVERSALS
    }
    assert made == {
        BEST_FIRST: ShortestPath("joint"),
        SAMPLE: Sampling(20, 3, "edges"),
        DISTRIBUTION: Distribution(0.25),
    }


def test_only_a_best_first_search_ends_after_so_many_matches():
    form = Form(pattern="a", matches=7)
    assert form.limits().matches == 7
    assert dataclasses.replace(form, traversal=SAMPLE).limits().matches is None
    assert dataclasses.replace(form, traversal=DISTRIBUTION).limits().matches == MOST["matches"]


def test_edits_and_exclusions_are_part_of_the_question():
    query = Form(
        pattern="a",
        edits=2,
        edit_where="Pattern",
        deletions=False,
        edit_alphabet="[a-z]",
        exclude=".*b",
        stop_words=True,
    ).query()
    assert query.edits == Edits(2, "pattern", deletions=False, alphabet="[a-z]")
    assert query.exclude == Exclude(".*b", stop_words=True)


def test_without_edits_their_settings_mean_nothing():
    assert Form(pattern="a", edit_where="Prefix", edit_alphabet="", insertions=False).query() == Query("a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ()),
        (" , \n,", ()),
        ("art, New York\nscience", ("art", "New York", "science")),
        (r"Washington\, D.C., back\slash", ("Washington, D.C.", r"back\slash")),
    ],
)
def test_a_list_of_words_is_read_as_it_is_typed(text, words):
    assert words_of(text) == words


@given(words)
def test_a_list_of_words_is_read_back(words):
    assert words_of(written_words(words)) == words


def test_values_left_empty_take_their_defaults():
    assert Form.from_values({"pattern": "a", "temperature": None, "matches": None, "other": 3}) == Form(pattern="a")


def test_greedy_overrides_top_k_and_top_p_and_keeps_the_temperature():
    query = Form(pattern="a", greedy=True, top_k=40, top_p=0.9, temperature=0.7).query()
    assert query.decoding == Decoding(top_k=1, temperature=0.7)


def test_a_free_boundary_has_one_encoding():
    query = Form(prefix="p", pattern="a", boundary="Free", encoding="All", prefix_encoding="Canonical").query()
    assert (query.boundary, query.prefix_encoding) == (Boundary.FREE, Encoding.ALL)


def test_values_beyond_the_dashboards_ceilings_are_cut():
    form = Form(pattern="a", matches=10**9, seconds=10**9, expansions=10**9, max_tokens=10**9, samples=10**9)
    assert dataclasses.replace(form, traversal=SAMPLE).specification().traversal.count == MOST["samples"]
    assert form.specification().limits.matches == MOST["matches"]
    assert form.specification().limits.seconds == MOST["seconds"]
    assert form.specification().limits.expansions == MOST["expansions"]
    assert form.query().max_tokens == MOST["max_tokens"]


def test_limits_that_are_off_become_the_ceilings():
    unlimited = SearchSpecification("m", Query("a"), limits=Limits(matches=None, seconds=None, expansions=None))
    form = Form.from_specification(unlimited)
    assert (form.matches, form.seconds, form.expansions) == (MOST["matches"], MOST["seconds"], MOST["expansions"])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"pattern": ""}, "pattern is empty"),
        ({"temperature": -1.0}, "Temperature"),
        ({"top_k": 0}, "“Top-k” must be at least 1"),
        ({"top_p": 1.5}, "“Top-p” must be"),
        ({"matches": 0}, "“Matches” must be at least 1"),
        ({"max_tokens": 0}, "“Longest, in tokens” must be at least 1"),
        ({"traversal": "Walk"}, "'Best first', 'Sample', 'Distribution'"),
        ({"traversal": SAMPLE, "samples": 0}, "“Draws” must be at least 1"),
        ({"traversal": SAMPLE, "seed": -1}, "“Seed” must be at least 0"),
        ({"traversal": DISTRIBUTION, "tolerance": -0.5}, "“Tolerance” must be at least 0"),
        ({"edits": 3}, "between 0 and 2"),
        ({"edits": 1, "insertions": False, "deletions": False, "substitutions": False}, "at least one"),
        ({"edits": 1, "edit_alphabet": ""}, "must not be empty"),
        ({"edits": 1, "edit_where": "Nowhere"}, "'Both', 'Prefix', 'Pattern'"),
        ({"encoding": "Some"}, "'All', 'Canonical'"),
        ({"model": "  "}, "name of a model"),
    ],
)
def test_values_without_meaning_are_refused_in_a_sentence(values, words):
    with pytest.raises(QueryError, match=re.escape(words)):
        Form.from_values({"pattern": "a"} | values).specification()


@given(st.text("ab\\\n\t\r .*", max_size=12))
def test_an_expression_in_one_line_means_the_same(expression):
    shown = one_line(expression)
    assert not set("\n\t\r\v\f") & set(shown)
    try:
        original = re.compile(expression)
    except re.error:
        return
    same = re.compile(shown)
    for text in ("", "a", "\n", "\t", "a\nb", "\\", "\\\n", " ", "\r", "ab"):
        assert bool(original.fullmatch(text)) == bool(same.fullmatch(text))


class TestLinks:
    def test_an_untouched_form_needs_no_parameters(self):
        assert links.parameters(Form()) == {}

    def test_only_differences_are_in_the_link(self):
        assert links.parameters(Form(pattern="a b", top_k=40, greedy=True)) == {
            "pattern": "a b",
            "greedy": "true",
            "top_k": "40",
        }

    @given(forms())
    def test_a_link_holds_every_character_of_the_form(self, form):
        from urllib.parse import parse_qsl, urlsplit

        address = links.link("https://host/workbench?run=old&x=1#part", form)
        parts = urlsplit(address)
        assert (parts.scheme, parts.netloc, parts.path, parts.fragment) == ("https", "host", "/workbench", "")
        assert dict(parse_qsl(parts.query, keep_blank_values=True)) == links.parameters(form)
        assert links.RUN not in links.parameters(form)
