from __future__ import annotations

import itertools
import random
import re
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.errors import LimitError, RegexError
from relens.language import groups
from relens.language.groups import GroupReader
from relens.query import Limits
from tests.engine.language.patterns import STRINGS, SUPPORTED, matching_string

pytestmark = pytest.mark.filterwarnings("ignore:Possible:FutureWarning")

SHORT_TEXTS = ["".join(letters) for length in range(6) for letters in itertools.product("ab", repeat=length)]

NAMED = [
    ("", r"The (?P<subject>man|woman) was trained in (?P<subject_of>art|(computer )?science|math)"),
    ("(?P<day>Mon|Tues)day ", r"(?P<hour>\d{1,2}):(?P<minute>\d\d)"),
    ("(?P<first>a*)", "(?P<second>a*)b?"),
    ("(?P<first>a*?)", "(?P<second>a*)"),
    ("(?P<first>a|ab)", "(?P<second>bc|c)?"),
    ("", "(?P<x>a)|(?P<y>b)"),
    ("", "(?P<x>a|ab)(?P<y>c|bcd)?(?P<z>d*)"),
    ("", "(?P<x>(?P<y>a)|b)*"),
    ("", "((?P<x>a)|(?P<y>b)){2,3}?(?P<z>[ab]*)"),
    ("", "(?P<x>a?){3}"),
    ("", "(?P<x>a?)*?b*"),
    ("", "(?P<x>a|)*"),
    ("", "(?P<x>|a)*"),
    ("", "(?P<x>|a)+(?P<y>a*)"),
    ("", "(?P<x>(?P<y>a|)*)*b?"),
    ("", "((?P<x>a)|b*)*"),
    ("", "((?P<x>a*)(?P<y>b*))*"),
    ("", "((?P<x>a*)(?P<y>b*)){2,3}"),
    ("", "((?P<x>a)?b?){2,}"),
    ("", "(((?P<x>a)|(?P<y>b))*?)*(?P<z>b)?"),
    ("", "(?P<x>){3}a*(?P<y>())*"),
    ("", "(?P<x>a){0}b*"),
    ("", "(?P<x>(a{0,2})*)(?P<y>a*)"),
    ("", "((a{0,2}?)*?(?P<x>a*)|b)*"),
    ("", "(?i:(?P<x>[A-K]+))(?P<y>b?)"),
]


def by_re(prefix: str, pattern: str, text: str) -> dict[str, str] | None:
    match = re.compile(f"(?:{prefix})(?:{pattern})").fullmatch(text)
    return None if match is None else {name: value or "" for name, value in match.groupdict().items()}


@pytest.mark.parametrize(("prefix", "pattern"), NAMED)
def test_agrees_with_re(prefix: str, pattern: str):
    reader = GroupReader(prefix, pattern)
    source = random.Random(ascii(prefix + pattern))
    spelled = [matching_string(f"(?:{prefix})(?:{pattern})", source) for _ in range(20)]
    matched = 0
    for text in {*SHORT_TEXTS, *STRINGS, *filter(None, spelled)}:
        expected = by_re(prefix, pattern, text)
        assert reader.read(text) == expected, (prefix, pattern, text)
        matched += expected is not None
    assert matched
    assert reader.names == tuple(re.compile(f"(?:{prefix})(?:{pattern})").groupindex)


@pytest.mark.parametrize("pattern", [pattern for pattern in SUPPORTED if not re.match(r"\(\?[a-z]+\)", pattern)])
def test_every_syntax_inside_a_group(pattern: str):
    pattern = re.sub(r"\?P<(\w)>", "", pattern)
    if re.search(r"(?<![\[\\])[$^]|\\[AZ]", pattern):  # an anchor would not be at the edge of the whole
        return
    prefix, pattern = "(?P<before>[a ]*)", f"(?P<whole>{pattern})(?P<after>x?)"
    reader = GroupReader(prefix, pattern)
    source = random.Random(ascii(pattern))
    for text in {*STRINGS, *(matching_string(f"{prefix}{pattern}", source) for _ in range(10))} - {None}:
        assert reader.read(text) == by_re(prefix, pattern, text), (pattern, text)


_bodies = st.recursive(
    st.sampled_from(["a", "b", "[ab]", "", "ab"]),
    lambda inner: st.one_of(
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("{}{}".format, inner, inner),
        st.builds("(?P<@>{})".format, inner),
        st.builds("(?P<@>{}|{})".format, inner, inner),
        st.builds(
            "(?:{}){}".format,
            inner,
            st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,2}?", "{2,}"]),
        ),
    ),
    max_leaves=8,
)


@settings(max_examples=400)
@given(body=_bodies)
def test_generated_patterns_agree_with_re(body: str):
    numbers = itertools.count()
    pattern = re.sub("@", lambda _: f"g{next(numbers)}", f"(?P<@>{body})")
    reader, oracle = GroupReader("", pattern), re.compile(pattern)
    for text in SHORT_TEXTS:
        match = oracle.fullmatch(text)
        expected = None if match is None else {name: value or "" for name, value in match.groupdict().items()}
        assert reader.read(text) == expected, (pattern, text)


def test_no_expression_takes_exponential_time():
    reader = GroupReader("", "(?P<x>(a*)*)*(a|a)*(a?){30}b|(?P<y>a*)")
    assert reader.read("a" * 1000) == {"x": "", "y": "a" * 1000}


def test_hopeless_work_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(groups, "MOST_STEPS", 1000)
    reader = GroupReader("", "(?P<x>(a{0,20}c?){0,50}b|a*)")
    assert reader.read("a" * 100) == {"x": None}
    assert reader.read("a") == {"x": "a"}


def test_without_groups_nothing_is_read():
    reader = GroupReader("a", "(b)")
    assert reader.names == ()
    assert reader.read("ab") == {}


def test_limits_and_errors():
    limits = Limits(automaton_states=100)
    assert GroupReader("", "(?P<x>ab){300}", limits).read("ab" * 300) == {"x": "ab"}
    with pytest.raises(LimitError, match="named groups"):
        GroupReader("", "(?P<x>[ab]){2000}", limits)
    # What is within the limits as an automaton is so here.
    assert GroupReader("", "(?P<y>b?)(((a{0,1000}){0,1000}){0,1000})*", limits).read("baa") == {"y": "b"}
    assert GroupReader("", "(?P<x>){1000000}a", limits).read("a") == {"x": ""}
    with pytest.raises(RegexError):
        GroupReader("", "(?P<x>a")


def test_waiting_instructions_are_no_more_than_the_steps(monkeypatch):
    monkeypatch.setattr(groups, "MOST_STEPS", 20_000)
    reader = GroupReader("", f"(?P<x>(?:{'|'.join(['a'] * 5_000)})*)b")
    tracemalloc.start()
    assert reader.read("a" * 300) == {"x": None}
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000
