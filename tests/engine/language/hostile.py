r"""Expressions of any length that try to take a parser longer than their length allows, and what each of them tries.

NUMBERS["a count that is none"](30)     "b{1111111111xa{99999999999}"
"""

from __future__ import annotations

from collections.abc import Callable

Family = Callable[[int], str]


def filled(before: str, unit: str, after: str = "") -> Family:
    """As many units between the two as there is room for."""
    return lambda length: before + unit * ((length - len(before) - len(after)) // len(unit)) + after


def nested(opening: str, unit: str, closing: str, depth: int = 78) -> Family:
    """As many units as there is room for, within so many pairs of parentheses."""
    return filled(opening * depth, unit, closing * depth)


def numbered(before: str, unit: str, after: str = "") -> Family:
    """Units that are all different: {} is the number of each."""

    def family(length: int) -> str:
        count = (length - len(before) - len(after)) // (len(unit) + 3)
        return before + "".join(unit.format(f"{number:05d}") for number in range(count)) + after

    return family


def lettered(before: str, unit: str, after: str = "") -> Family:
    """Units that are all different: {} is another Chinese character in each."""

    def family(length: int) -> str:
        count = min((length - len(before) - len(after)) // (len(unit) - 1), 20_000)
        return before + "".join(unit.format(chr(0x4E00 + number)) for number in range(count)) + after

    return family


NUMBERS: dict[str, Family] = {
    "a count that is none": filled("b{", "1", "xa{99999999999}"),
    "a count that is none, with a comma": filled("b{1,", "1", "xa{99999999999}"),
    "many counts, the last too large": filled("", "a{1}", "a{99999999999}"),
    "many counts, cut short": filled("", "a{11111", "a{99999999999}"),
    "one huge count": filled("a{", "1", "}"),
    "braces": filled("", "{"),
    "braces before digits": filled("", "{1"),
    "digits and commas": filled("a{", "1,", "xa{99999999999}"),
    "good counts": filled("", "a{2,3}"),
}

ALTERNATIONS: dict[str, Family] = {
    "many branches": filled("a", "|a"),
    "empty branches": filled("", "|"),
    "branches that are words": numbered("x", "|w{}"),
    "two long branches that are the same": lambda length: "a" * (length // 2 - 1) + "|" + "a" * (length // 2 - 1),
    "a hundred such branches": lambda length: "|".join(["a" * (length // 101)] * 100),
}

CLASSES: dict[str, Family] = {
    "a long class": filled("[", "a-b", "]"),
    "a class of different characters": lettered("[", "{}", "]"),
    "the same, negated": lettered("[^", "{}", "]"),
    "the same, whatever the case": lettered("(?i)[", "{}", "]"),
    "a class that never ends": filled("", "["),
    "negated ones that never end": filled("", "[^"),
    "classes in a class": filled("[", "[a", "]"),
    "brackets in a class": filled("[", "\\]", "x]"),
    "different classes": lettered("", "[{}b]"),
    "different classes of categories": lettered("", r"[^\w{}]"),
    "categories": filled("[", r"\w\W\d\D\s\S", "]"),
}

GROUPS: dict[str, Family] = {
    "groups": filled("", "(a)"),
    "named groups": numbered("", "(?P<g{}>a)"),
    "groups that hold nothing": filled("", "()"),
    "anchors in groups": filled("", "(^)"),
    "anchors": filled("", "^"),
    "comments": filled("", "(?#a)"),
    "one comment": filled("(?#", "a", ")"),
    "comments before a star": filled("a", "(?#)", "*"),
    "one name": filled("(?P<", "a", ">b)"),
    "nested as deep as may be, again and again": filled("", "(" * 79 + "a" + ")" * 79),
    "look-aheads": filled("", "(?=a)"),
    "references": filled("(a)", r"\1"),
    "opened": filled("", "("),
    "closed": filled("", ")"),
}

FLAGS: dict[str, Family] = {
    "one long row of flags": filled("(?", "i", ":a)"),
    "flags that never end": filled("(?", "i"),
    "groups with flags": filled("", "(?i-s:a)"),
    "a gap of blanks": filled("(?x)a", " ", "b"),
    "a gap of comments": filled("(?x)a", "#\n", "b"),
    "a gap in each group": filled("", "(?x: )"),
    "flags that come too late": filled("", " ", "(?x)"),
}

ESCAPES: dict[str, Family] = {
    "names of characters": filled("", r"\N{DIGIT ONE}"),
    "a name that never ends": filled("", r"\N{"),
    "a long name": filled(r"\N{", "A", "}"),
    "escaped signs": filled("", r"\."),
    "numbers of characters": filled("", r"\u4e00"),
    "backslashes": filled("", "\\"),
    "a bad escape at the end": filled("", "a", r"\q"),
}

REPETITIONS: dict[str, Family] = {
    "stars": filled("", "a*"),
    "lazy ones": filled("", "a*?"),
    "a star of a star": filled("a", "*"),
    "possessive ones": filled("", "a++"),
}

#: Much within many parentheses: work at each level for all levels below.
NESTED: dict[str, Family] = {
    "starred groups": nested("(?:", "a", ")*"),
    "optional groups": nested("(?:", "a", ")?"),
    "groups that come once": nested("(?:", "a", "){1}", depth=75),
    "groups of groups that hold nothing": nested("(?:", "()", ")*"),
    "groups of things that may be missing": nested("(?:", "a?", ")*"),
    "groups of branches": nested("(?:", "ab|", ")*"),
    "groups of anchors": nested("(?:", "(^)", ")"),
    "groups of named groups": lambda length: nested("(?:", numbered("", "(?P<g{}>a)")(length - 400), ")*")(length),
}

FLAT: dict[str, Family] = NUMBERS | ALTERNATIONS | CLASSES | GROUPS | FLAGS | ESCAPES | REPETITIONS
HOSTILE: dict[str, Family] = FLAT | NESTED
