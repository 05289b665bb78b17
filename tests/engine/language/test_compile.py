from __future__ import annotations

import itertools
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.errors import EmptyLanguageError, LimitError, RegexError
from relens.language.automaton import ByteAutomaton
from relens.language.compile import compile_language, compile_regex
from relens.language.construction import Construction, states_built, states_needed
from relens.language.syntax import parse_regex
from relens.query import Exclude, Limits, Query
from tests.engine.language.derivatives import minimal_table
from tests.engine.language.patterns import QUERIES, SUPPORTED

pytestmark = pytest.mark.filterwarnings("ignore:Possible:FutureWarning")

SMALL = [
    "", "a", "a|", "(a|b)*abb", "(ab)*", "[ab]*a[ab]{3}", "a{3,5}b{0,2}c", "é|e", "[é-€]", ".", "..", "(.|\n)*",
    "😀|😁",    "(a?){3}", "(a*b*)*", "[^a]*a", "(|a)+b", "x(y|z){2}w", "(cat|cats|dog)s?", r"[^\s\S]", "(aa|aaa)+", 
    "[\ud700-\ue100]",    r"\d{2}", QUERIES[0], QUERIES[2], QUERIES[3],
]  # fmt: skip


def check_invariants(automaton: ByteAutomaton) -> None:
    transitions = automaton.transitions
    assert transitions.shape == (automaton.states, 256)
    assert (transitions.dtype, automaton.final.dtype, automaton.in_prefix.dtype) == (np.int32, np.bool_, np.bool_)
    assert automaton.final.shape == automaton.in_prefix.shape == (automaton.states,)
    assert transitions.min() >= -1
    assert transitions.max() < automaton.states
    reached, useful = {0}, set(np.flatnonzero(automaton.final).tolist())
    for _ in range(automaton.states):
        reached |= {int(to) for state in reached for to in transitions[state] if to >= 0}
        useful |= {state for state in range(automaton.states) if useful & set(transitions[state].tolist())}
    assert reached == set(range(automaton.states))
    assert useful == reached or automaton.is_empty


@pytest.mark.parametrize("pattern", SMALL)
def test_is_the_minimal_automaton(pattern: str):
    automaton = compile_regex(pattern)
    check_invariants(automaton)
    transitions, final = minimal_table(pattern)
    assert np.array_equal(automaton.transitions, transitions)
    assert np.array_equal(automaton.final, final)
    assert not automaton.in_prefix.any()


@settings(max_examples=60, deadline=None)
@given(
    pattern=st.recursive(
        st.sampled_from(["a", "b", "é", "[ab]", "[^a]", ""]),
        lambda inner: st.one_of(
            st.builds("(?:{}|{})".format, inner, inner),
            st.builds("{}{}".format, inner, inner),
            st.builds("(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}"])),
        ),
        max_leaves=5,
    )
)
def test_generated_patterns_give_the_minimal_automaton(pattern: str):
    automaton = compile_regex(pattern)
    transitions, final = minimal_table(pattern)
    assert np.array_equal(automaton.transitions, transitions)
    assert np.array_equal(automaton.final, final)


@pytest.mark.parametrize("pattern", [pattern for pattern in SUPPORTED if pattern != r"[^\s\S]"])
def test_size_estimates_hold(pattern: str):
    tree = parse_regex(pattern)
    construction = Construction()
    construction.add(tree, entry=0)
    assert construction.states <= 1 + states_built(tree)
    assert compile_regex(pattern).states >= states_needed(tree)


@pytest.mark.parametrize(
    "pattern",
    [".{0,10000}", "((a{100}){100}){100}", "a{30000}", "a{4294967294}", "(((a{4294967294}){4294967294}){4294967294})*b",
     "(.{0,9999}x{0,9999}){9}", "((a|b{500}){900}c)*", "[ab]*a[ab]{14}"],
)  # fmt: skip
def test_languages_that_would_be_too_large_are_refused(pattern: str):
    with pytest.raises(LimitError) as caught:
        compile_regex(pattern, Limits(automaton_states=20_000))
    assert caught.value.limit == "automaton_states"
    assert str(caught.value).startswith("The pattern ")
    assert str(caught.value).endswith("limit of 20,000.")


def test_expressions_that_only_look_catastrophic_are_compiled():
    automaton = compile_regex("(a|aa){500}b")
    assert automaton.states == 1002
    assert [automaton.accepts("a" * count + "b") for count in (499, 500, 777, 1000, 1001)] == [
        False,
        True,
        True,
        True,
        False,
    ]
    automaton = compile_regex("(.*a){30}")
    assert automaton.accepts("xa" * 30)
    assert not automaton.accepts("xa" * 29)
    assert compile_regex("(a?){3000}").states == 3001


def test_an_empty_language():
    assert compile_regex(r"[^\s\S]").is_empty
    with pytest.raises(EmptyLanguageError, match="match the pattern"):
        compile_language(Query(r"b[^\s\S]", prefix="a"))
    with pytest.raises(EmptyLanguageError, match="match the prefix"):
        compile_language(Query("b", prefix="[\ud800]"))


def test_errors_name_the_part():
    with pytest.raises(RegexError) as caught:
        compile_language(Query("a", prefix="("))
    assert caught.value.part == "prefix"
    with pytest.raises(LimitError, match="The prefix followed by the pattern"):
        compile_language(Query("b{60}", prefix="a{60}"), Limits(automaton_states=100))


PAIRS = [
    ("", "(ab)*"), ("", "a"), ("a?", "ab"), ("a*", "a"), ("The (cat|dog)", " sat"), ("(ab)*", "(ab)*"), ("a|ab", "b?c"),
    ("^x$", "^y$"), ("[ab]{0,2}", "[ab]{0,2}"), ("(a|aa)?", "a*"), ("(?i)a", "a"), ("é?", "[é-ü]b"), ("(a|b)*a", "b?"),
]  # fmt: skip


TEXTS = ["".join(letters) for length in range(6) for letters in itertools.product("abcé", repeat=length)]
TEXTS += ["The cat sat", "The dog sat", "The cat", "xy", "x", "y", "A", "Aa", "AA", "éüb", "üb", "\n"]


@pytest.mark.parametrize(("prefix", "pattern"), PAIRS)
def test_the_prefix_is_marked(prefix: str, pattern: str):
    language = compile_language(Query(pattern, prefix=prefix))
    for automaton in (language.prefix, language.pattern, language.whole):
        check_invariants(automaton)
    assert not language.prefix.in_prefix.any()
    assert not language.pattern.in_prefix.any()
    table, _ = minimal_table(prefix)
    for text in TEXTS:
        parts = [(text[:cut], text[cut:]) for cut in range(len(text) + 1)]
        expected = any(re.fullmatch(prefix, before) and re.fullmatch(pattern, after) for before, after in parts)
        assert language.whole.accepts(text) == expected, text
        data = text.encode()
        for length in range(len(data) + 1):
            state = language.whole.run(data[:length])
            if state >= 0:
                assert language.whole.in_prefix[state] == begins(table, data[:length]), data[:length]


def begins(table: np.ndarray, data: bytes) -> bool:
    """Whether `data` begins a string of a trim automaton: whether it can be read at all."""
    state = 0
    for byte in data:
        state = int(table[state, byte])
        if state < 0:
            return False
    return True


def test_the_start_of_an_empty_prefix_is_a_state_of_its_own():
    whole = compile_language(Query("(ab)*")).whole
    assert whole.states == 3
    assert whole.in_prefix.tolist() == [True, False, False]
    assert whole.run(b"ab") != 0
    assert compile_language(Query("ab")).whole.states == 3


def test_a_group_is_named_once():
    query = Query(r"(?:x|(?P<year>\d)+) (?P<day>\d)", prefix="(?P<month>a(?P<day>b)?)")
    with pytest.raises(RegexError, match=r"^The prefix has a group named 'day' already, at position 20 of") as caught:
        compile_language(query)
    assert (caught.value.part, caught.value.position, caught.value.source) == ("pattern", 20, query.pattern)
    compile_language(Query("(?P<a>x)(y)", prefix="(?P<b>x)(y)", exclude=Exclude(regex="(?P<a>z)")))


def test_pynini_is_only_loaded_to_compile():
    script = (
        "import sys, relens.language, relens.language.isolation, relens.language.explain, relens.language.counting;"
        "from relens.language import Language, LanguageCompiler, ByteAutomaton, parse_regex;"
        "assert 'pynini' not in sys.modules;"
        "from relens.language import compile_regex;"
        "assert compile_regex('a').accepts('a') and 'pynini' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
