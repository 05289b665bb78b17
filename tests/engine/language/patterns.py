"""Regular expressions to hold against `re.fullmatch`, strings to try them on, and a generator of both."""

from __future__ import annotations

import random
import re
import sys
from re import _constants, _parser  # type: ignore[attr-defined]

from hypothesis import strategies as st

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"

QUERIES = [
    rf"({_MONTHS}) [0-9]{{1,2}}, [0-9]{{4}}",
    r"https://www\.([a-zA-Z0-9]|_|-|#|%)+\.([a-zA-Z0-9]|_|-|#|%|/)+",
    r"[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}|\([0-9]{3}\) [0-9]{3}-[0-9]{4}",
    r"The ((man)|(woman)) was trained in ((art)|(science)|(computer science)|(math))",
    r"The ((cat)|(dog))",
    r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])",
    r"(?P<area>\d{3})[ .-](?P<number>\d{4})",
    r"[A-Z][a-z]+( [A-Z][a-z]+)*",
    r'"([^"\\]|\\.)*"',
    r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?",
    r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}",
    r"#([0-9a-fA-F]{3}){1,2}",
    r"(\w+\s)*\w+[.?!]",
    r"[Α-Ωα-ω]+|[а-яё]+|[一-龥]{1,3}",
    r"[😀-🙏]+ ?(🇫🇷|👍🏽)?",
    r"(?i)straße|ÉTÉ|ǅ|kelvin|ſ",
]

SYNTAX = [
    "", "()", "(?:)", "a|", "|a", "a||b", "(|a)b", "(a|)", "a*", "a*?", "a+?", "a??", "a{2}", "a{2}?", "a{,2}",
    "a{2,}", "a{0}", "a{0,0}b", "a{1}", "a{2,3}?", "a{", "a{}", "a{x}", "a{1", "a{1,", "a{,}", "a{,}?", "{", "}", "]",
    "a]", "x{2,3}", "-", "a-b", "[-a]", "[a-]", "[]a]", "[^]a]", "[a\\]b]", "[\\]]", "[[]", "[a^]", "[\\^a]",
    "[^a]", "[^a-c]", "[a-cx-z]", "[a-c-e]", "[\\d-]", "[\\w.-]", "[\\-a]", "[.]", "[*+?]", "[|]", "[()]", "[{}]",
    "[$^]", "[a&&b]", "[a||b]", "[a~~b]", "[+--b]", r"\.", r"\*", r"\\", r"\(", r"\[", r"\{", r"\|", r"\^", r"\$",
    r"\-", r"\/", r"\ ", r"\#", r"\n", r"\t", r"\r", r"\f", r"\v", r"\a", r"\0", r"\07", r"\007", r"\101", r"\377",
    r"\0a", r"\x41", r"\xe9", r"\u00e9", r"\U0001F600", r"\N{EM DASH}", r"\N{LATIN SMALL LETTER E WITH ACUTE}?",
    r"[\x41-\x43]", r"[\u00e0-\u00ff]", r"[\n\t]", r"[\b]", r"[\101]", r"[\N{EM DASH}-]", r"\d", r"\D", r"\s", r"\S",
    r"\w", r"\W", r"[\d]", r"[\D]", r"[^\d]", r"[^\D]", r"[\s\S]", r"[^\s\S]", r"[\w\W]", r"[\d\s]", r"[^\w\s]",
    ".", ".*", ".+", "..", ".?.", "(?s).", "(?s:.)", "(?s:.).", "(?s).(?-s:.)", "a.c", "(.)(.)", "[^\\n]", "é", "[é]",
    "日本語", "[日本]+", "😀", "[😀-😎]", "e\u0301", "\x00", "[\x00-\x1f]", "\x7f", "[\x7f-\xa0]", "\u2028",
    "[\ud7ff-\ue000]", "\uffff", "[\uffff-\U00010000]", "\U0010ffff", "[\U000fffff-\U0010ffff]", "[^\ud800-\udfff]",
    "\ud800|a", "^a", "a$", "^a$", r"\Aa\Z", "^$", "^", "$", "^^a$$", "(^a)", "(a$)", "(^a|b$)", "^a|b$", "(^|a)b",
    "a($|b)", "(^)?a", "(^a$)?", "(?:^(a|b)$)", "^(?#start)a", "(?m)^a$", "(?m:^a)", "(?#comment)a", "a(?#c)*",
    "a(?#)b", "(?i)a", "(?i)[a-c]", "(?i)[^a-c]", "(?i)é", "(?i)ß", "(?i)ẞ", "(?i)k", "(?i)K", "(?i)[k]", "(?i)[K]",
    "(?i)s", "(?i)ſ", "(?i)[ſ]", "(?i)[^s]", "(?i)i", "(?i)İ", "(?i)ı", "(?i)[İ]", "(?i)[ı-ĳ]", "(?i)µ", "(?i)Ω",
    "(?i)ς", "(?i)σ", "(?i)[α-ω]", "(?i)ǆ", "(?i)ﬁ", "(?i)ﬅ", "(?i)𐐀", "(?i)[𐐀-𐐂]", "(?i)[𐐨x]", "(?i)1",
    r"(?i)\w", r"(?i)\W", r"(?i)[\d_]", "(?i:a)a", "a(?i:a)a", "(?i)a(?-i:a)", "(?i:a(?-i:b)c)", "(?ai)k", "(?ai)s",
    "(?ai)é", "(?ai)[k-s]", r"(?a)\w", r"(?a)\W", r"(?a)\d", r"(?a)\s", r"(?a)[\w]", r"(?a:\w)\w", r"(?a)\w(?u:\w)",
    r"(?u)\d", r"(?is)a.", r"(?x) a b ", "(?x) a # comment\n b", r"(?x) a\ b", "(?x) [ ]a", "(?x) a {2}", "(?x) a *",
    "(?x)a#", "(?x: a ) b", "(?x) a (?-x: b)", "(?x)\\#a", "(?x)(?# c) a | b # d", "(?xi) a", "(?i)(?x) a",
    "(a)", "((a))", "(?:a)", "(?P<x>a)", "(?P<x>a)(?P<y>b)", "(?P<é>a)", "(a)(b)(c)", "(a(b(c)))", "(a|b)(c|d)",
    "(a|b)*", "(ab)*", "(ab)+", "(ab)?", "(a*)*", "(a+)+", "(a?)+", "(a?)*b", "(a*b*)*", "(a|b*)*c", "(|a)+", "(a|)*",
    "((a)*b)*", "(a{2}){3}", "(a{0,2}){2}", "(a?){3}", "(a{1,2}){2,3}", "(a{2,}){2}", "(a{0,2}b){1,2}", "(aa|aaa)+",
    "(a|ab)(c|bcd)", "(a|aa)*b", "(a|b)*abb", "[ab]*a[ab]{3}", "a*a*a*", "(a*|b)+", "x(y|z){2}w", "((ab|c)*d)?e",
    "(é|e)+", "(é|日)*a", "[aé]{2}", "(.|\n)*", "(.*a){3}", ".*a.*b.*", "(a|.)b", "[^a]*a", "a{3,5}b{0,2}c",
]  # fmt: skip

#: Atoms under every quantifier, alone, in a group and between others.
_ATOMS = ["a", "[ab]", r"\d", r"\w", ".", "(a|bc)", "(?:é|b?)", "(?i:k)", r"[^\W\d]"]
_QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "{2,}", "{,2}", "*?"]
COMBINED = [f"{atom}{quantifier}" for atom in _ATOMS for quantifier in _QUANTIFIERS]
COMBINED += [f"x({atom}){quantifier}a" for atom in _ATOMS for quantifier in _QUANTIFIERS[:4]]

SUPPORTED = list(dict.fromkeys(QUERIES + SYNTAX + COMBINED))

#: (expression, position of the complaint, a word of the reason)
REFUSED = [
    ("(?=a)", 0, "ook-ahead"), ("ab(?!c)", 2, "ook-ahead"), ("(?<=a)b", 0, "ook-behind"), ("a(?<!b)", 1, "ook-behind"),
    (r"(a)\1", 3, "back-reference"), ("(?P<n>a)(?P=n)", 8, "back-reference"), ("(a)(?(1)b|c)", 3, "condition"),
    (r"\bfoo", 0, "word boundary"), (r"a\B", 1, "word boundary"), ("(?>a)b", 0, "atomic"), ("a*+", 2, "possessive"),
    ("a++", 2, "possessive"), ("a?+b", 2, "possessive"), ("a{1,2}+", 6, "possessive"), ("a^b", 1, "anchor"),
    ("a$b", 1, "anchor"), ("(^a)*", 1, "anchor"), ("(a$)+", 2, "anchor"), ("a?^b", 2, "anchor"), ("a^", 1, "anchor"),
    ("$a", 0, "anchor"), (r"a\Ab", 1, "anchor"), (r"a\Zb", 1, "anchor"), ("(a|^b)c$d", 7, "anchor"),
    ("(?m)a^b", 5, "anchor"), ("(?x) a  (?=b)", 8, "ook-ahead"),
]  # fmt: skip

MALFORMED = [
    "(", ")", "(a", "a)", "[", "[a", "a**", "*a", "+", "?", "a{2}{3}", "a{3,2}", "[z-a]", "[\\w-a]",
    "\\", "\\q", "\\x4", "\\u12", "\\N{NO SUCH NAME}", "\\8", "(?P<1>a)", "(?P<a>x)(?P<a>y)", "(?P<a", "(?", "(?z)",
    "a(?i)b", "(?L)a", "(?au)a", "(?i-i:a)", "(?-a:b)", "(?P=nobody)", "(?#", "^*", "a{99999999999}",
    "a{" + "9" * 5000 + "}",
]  # fmt: skip

STRINGS = [
    "", "a", "b", "c", "A", "aa", "ab", "ba", "abb", "aaa", "aab", "abc", "abcd", "acd", "aaaa", "aaaab", "xa", "xya",
    "x", "xx", " ", "\n", "a\n", "\na", "\t", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\x00", "\x7f", "-", "_", ".",
    "{", "}", "]", "[", "a{", "a{}", "a{1", "^", "$", "\\", "#", "0", "1", "٣", "𝟗", "½", "²", "Ⅷ", "é", "É", "e\u0301",
    "ß", "ẞ", "SS", "ss", "ſ", "s", "S", "k", "K", "K", "i", "I", "İ", "ı", "i̇", "µ", "μ", "Ω", "Ω", "ω", "ς", "σ",
    "Σ", "ǅ", "ǆ", "Ǆ", "ﬁ", "ﬅ", "ﬆ", "𐐀", "𐐨", "日", "日本語", "😀", "👍🏽", "\u200b", "\u2028", "\ud7ff", "\ue000",
    "\uffff", "\U00010000", "\U0010ffff", "\xa0", "ª", "ⅰ", "a b", "ab ", "A1_", "May 5, 1732", "The cat", "b🇫🇷",
    "2026-11-30", "https://www.a.b", "me@x.org", "(555) 555-1234", "\u0345", "ΐ", "ΐ", "ɫ", "Ɫ", "ꙋ", "ᲈ", "Ꙋ",
]  # fmt: skip


def matching_string(pattern: str, source: random.Random, most: int = 4) -> str | None:
    """A string meant to match, found by walking the tree of Python's own parser; None where a set looks empty."""
    tree = _parser.parse(pattern)
    return _spell(tree, tree.state.flags, source, most)


def mutated(text: str, source: random.Random) -> str:
    """`text` with one character dropped, doubled, replaced, recased or moved."""
    if not text:
        return source.choice(STRINGS)
    place = source.randrange(len(text))
    before, character, after = text[:place], text[place], text[place + 1 :]
    return source.choice(
        [before + after, before + 2 * character + after, before + source.choice(STRINGS) + after,
         before + character.swapcase() + after, text[::-1], text + "\n", after + before]
    )  # fmt: skip


def _spell(items, flags: int, source: random.Random, most: int) -> str | None:
    text = ""
    for operator, argument in items:
        piece: str | None = ""
        if operator is _constants.BRANCH:
            piece = _spell(source.choice(argument[1]), flags, source, most)
        elif operator is _constants.SUBPATTERN:
            _, added, removed, inner = argument
            piece = _spell(inner, (flags | added) & ~removed, source, most)
        elif operator in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            least, greatest, inner = argument
            for _ in range(source.randint(least, min(greatest, least + most))):
                more = _spell(inner, flags, source, most)
                piece = None if piece is None or more is None else piece + more
        elif operator is not _constants.AT:
            piece = _character(operator, argument, flags, source)
        if piece is None:
            return None
        text += piece
    return text


def _character(operator, argument, flags: int, source: random.Random) -> str | None:
    if operator is _constants.LITERAL:
        character = chr(argument)
        return source.choice([character, character.swapcase()]) if flags & re.IGNORECASE else character
    members = argument if operator is _constants.IN else []
    chosen = source.choice(members) if members else (None, None)
    if chosen[0] is _constants.RANGE:
        return chr(source.randint(*chosen[1]))
    if chosen[0] is _constants.LITERAL and members[0][0] is not _constants.NEGATE:
        return chr(chosen[1])
    probe = _parser.SubPattern(_parser.State(), [(operator, argument)])
    compiled = _compiled(probe, flags)
    for _ in range(60):
        candidate = source.choice([*"a1 _-\n", "é", "٣", chr(source.randrange(sys.maxunicode + 1))])
        if compiled.fullmatch(candidate):
            return candidate
    return None


def _compiled(tree, flags: int) -> re.Pattern[str]:
    from re import _compiler  # type: ignore[attr-defined]

    tree.state.flags = 0
    tree.state.str = "x"
    kept = flags & (re.IGNORECASE | re.DOTALL | re.ASCII)
    return _compiler.compile(tree, kept)


_literals = st.sampled_from([*"abcxyz019 _-", "é", "ß", "日", "😀", r"\.", r"\n", r"\x41", r"\\", "K", "İ", "ſ"])
_categories = st.sampled_from([r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", "."])
_ends = st.characters(exclude_characters="\\]^-[&|~", exclude_categories=["Cs"])


@st.composite
def _classes(draw: st.DrawFn) -> str:
    items = []
    for _ in range(draw(st.integers(1, 3))):
        low, high = sorted([draw(_ends), draw(_ends)])
        items.append(draw(st.sampled_from([low, f"{low}-{high}", r"\d", r"\w", r"\S", "-"])))
    return f"[{draw(st.sampled_from(['', '^']))}{''.join(dict.fromkeys(items))}]"


def _extended(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quantifiers = st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "{1,3}?", "{0}"])
    opening = st.sampled_from(["(", "(?:", "(?i:", "(?s:", "(?a:", "(?-i:", "(?a-s:"])
    groups = st.builds("{}{})".format, opening, inner)
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("{}{}".format, groups, quantifiers),
        st.builds("{}{}".format, _classes() | _literals | _categories, quantifiers),
        groups,
    )


def _is_valid(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:  # a range such as [0-\d]
        return False
    return True


#: Valid and supported expressions of all kinds.
patterns = st.builds(
    "{}{}".format,
    st.sampled_from(["", "", "(?i)", "(?a)", "(?s)", "(?ai)"]),
    st.recursive(_literals | _categories | _classes(), _extended, max_leaves=8),
).filter(_is_valid)
