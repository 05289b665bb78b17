r"""Advice where the boundary between prefix and pattern forbids the token that the tokenizer would write there.

A tokenizer writes `The cat` as `The` and `␣cat`. With the prefix `The ` and the pattern `(cat|dog)`, that token can
not be used: the prefix is encoded by itself, as `The` and `␣`, and the pattern begins with a new token, `cat`. Models
have hardly ever seen that, so the probabilities are those of an odd text. The same happens where the pattern goes on
with a word: prefix `The ca`, pattern `t`.

Of the space something can be done. It can move:

    prefix The␣    pattern (cat|dog)          prefix The    pattern ␣(cat|dog)

The strings of both are the same, and ␣cat is now a token of the pattern. It takes some care: of `(A |The )` both
branches give their space, `cat|dog` becomes `(?:cat|dog)` behind it, and in a verbose expression a space is written
`\ `. Whether the language is still the same is not believed but compiled and compared.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from relens.errors import RelensError
from relens.language.automaton import ByteAutomaton
from relens.language.counting import example_strings
from relens.language.language import Language, LanguageCompiler
from relens.language.syntax import parse_regex
from relens.language.tree import Alternation, Characters, Concatenation, Group, Marker, Node
from relens.query import Boundary, Edits, Limits, Query
from relens.record import Record
from relens.tokens.tokenizer import Tokenizer

#: Examples of prefix and of pattern that are tried when looking for a string that the tokenizer would cut elsewhere.
EXAMPLES = 3
#: Characters that can move; how each is written anywhere, even in a verbose expression.
BLANKS = {" ": "\\ ", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
#: How much of a long prefix is shown.
SHOWN_CHARACTERS = 12


@dataclass(frozen=True)
class BoundaryAdvice(Record):
    """The forbidden token, and expressions of the same strings that allow it, "" and "" where there are none."""

    sentence: str
    prefix: str = ""
    pattern: str = ""


def boundary_advice(
    query: Query, language: Language, tokenizer: Tokenizer, limits: Limits, compiler: LanguageCompiler
) -> BoundaryAdvice | None:
    """Advice on the boundary; None where nothing is forbidden. A suggestion was compiled and compared before."""
    if query.boundary is not Boundary.TOKEN or not query.prefix:
        return None
    examples = list(_examples(language))
    uncut = next((pair for pair in examples if not _is_cut_here(*pair, tokenizer)), None)
    if uncut is None:
        return None
    prefix, pattern = uncut
    end = repr(prefix if len(prefix) <= SHOWN_CHARACTERS else "…" + prefix[-SHOWN_CHARACTERS:])
    token = _straddling_token(prefix, pattern, tokenizer)
    if token:
        forbidden = (
            f"The tokenizer would write {token!r} across the end of the prefix {end}, which the boundary forbids"
        )
    else:
        forbidden = f"The tokenizer would not cut {prefix[-SHOWN_CHARACTERS:] + pattern!r} after {end}"
    suggestion = _moved_blanks(query, examples, tokenizer, limits)
    if suggestion is None or not _is_same_language(query, suggestion, language, limits, compiler):
        return BoundaryAdvice(
            f"{forbidden}: a free boundary, where the whole string is encoded as one, gives another answer."
        )
    name = "space" if suggestion.blanks == " " else "white space"
    return BoundaryAdvice(
        f"{forbidden}: moving the {name} to the beginning of the pattern helps.", suggestion.prefix, suggestion.pattern
    )


def _examples(language: Language) -> Iterator[tuple[str, str]]:
    """A few (prefix, pattern) before any edit: the effect of an edit on a boundary is intended."""
    prefix, pattern = language.unedited or (language.prefix, language.pattern)
    patterns = [
        text
        for text in example_strings(pattern, EXAMPLES)
        if language.excluded is None or not language.excluded.accepts(text)
    ]
    return itertools.product(example_strings(prefix, EXAMPLES), patterns)


def _is_cut_here(prefix: str, pattern: str, tokenizer: Tokenizer) -> bool:
    """Whether the tokenizer would cut between the two."""
    apart = tokenizer.encode(prefix) + tokenizer.encode(pattern, continues=True)
    return tokenizer.encode(prefix + pattern) == apart


def _straddling_token(prefix: str, pattern: str, tokenizer: Tokenizer) -> str:
    """The token that the tokenizer would write across the boundary, "" where it cuts there but encodes otherwise."""
    boundary, end = len(prefix.encode()), 0
    for number, token in enumerate(tokenizer.encode(prefix + pattern)):
        begin, end = end, end + len(tokenizer.decode_bytes([token], continues=number > 0))
        if begin < boundary < end:
            return tokenizer.token_text(token)
    return ""


@dataclass(frozen=True)
class _Suggestion:
    """Prefix and pattern with blanks moved from the one to the other."""

    prefix: str
    pattern: str
    blanks: str


def _moved_blanks(
    query: Query, examples: list[tuple[str, str]], tokenizer: Tokenizer, limits: Limits
) -> _Suggestion | None:
    """The expressions with the prefix's last blanks moved; None where it ends in no blank, or where that is no help."""
    endings = _endings(parse_regex(query.prefix, limits, "prefix"))
    blanks = "".join(_blank(item) for item in endings[0])
    if not blanks or any("".join(map(_blank, items)) != blanks for items in endings):
        return None
    prefix = query.prefix
    for item in sorted(itertools.chain(*endings), key=lambda item: item.start, reverse=True):
        prefix = prefix[: item.start] + prefix[item.end :]
    if not all(start.endswith(blanks) for start, _ in examples) or all(start == blanks for start, _ in examples):
        return None  # of nothing but blanks there would be no prefix left
    before = [_is_cut_here(start, rest, tokenizer) for start, rest in examples]
    after = [_is_cut_here(start[: -len(blanks)], blanks + rest, tokenizer) for start, rest in examples]
    if not all(now or not was for was, now in zip(before, after, strict=True)) or sum(after) <= sum(before):
        return None
    return _Suggestion(prefix, _with_blanks(query.pattern, blanks, limits), blanks)


def _blank(node: Characters) -> str:
    """The blank that a node spells, "" where it spells anything else."""
    if len(node.ranges) != 1 or node.ranges[0][0] != node.ranges[0][1]:
        return ""
    character = chr(node.ranges[0][0])
    return character if character in BLANKS else ""


def _endings(node: Node) -> list[list[Characters]]:
    """The blanks that end an expression, in their order, once for each of its branches."""
    match node:
        case Characters() if _blank(node):
            return [[node]]
        case Alternation(branches=branches):
            return [ending for branch in branches for ending in _endings(branch)]
        case Group(item=item, name=None):
            return _endings(item)
        case Concatenation(items=items):
            solid = [item for item in items if not isinstance(item, Marker)]
            blanks: list[Characters] = []
            for item in reversed(solid):
                if not isinstance(item, Characters) or not _blank(item):
                    break
                blanks.insert(0, item)
            return [blanks] if blanks or not solid else _endings(solid[-1])
    return [[]]


def _with_blanks(pattern: str, blanks: str, limits: Limits) -> str:
    """The expression of the blanks followed by `pattern`."""
    tree = parse_regex(pattern, limits, "pattern")
    first = tree.branches[0] if isinstance(tree, Alternation) else tree
    items = first.items if isinstance(first, Concatenation) else (first,)
    # Flags speak for the whole expression and have to come first; so does an anchor, which only says that it does.
    leading = ("flags",) if isinstance(tree, Alternation) else ("flags", "start")
    markers = itertools.takewhile(lambda item: isinstance(item, Marker) and item.kind in leading, items)
    head = max((item.end for item in markers), default=0)
    is_verbose = any("x" in flags for flags in re.findall(r"\(\?([a-zA-Z]+)\)", pattern[:head]))
    written = "".join(BLANKS[blank] for blank in blanks) if is_verbose or blanks.strip(" ") else blanks
    rest = pattern[head:]
    if isinstance(tree, Alternation):
        # A verbose expression may end in a comment, which a parenthesis behind it would belong to.
        rest = f"(?:{rest}\n)" if is_verbose else f"(?:{rest})"
    return pattern[:head] + written + rest


def _is_same_language(
    query: Query, suggestion: _Suggestion, language: Language, limits: Limits, compiler: LanguageCompiler
) -> bool:
    """Whether the strings of the query are the same with the suggestion; False where that is unknown."""
    if language.excluded is not None:
        return False
    plain, whole = query, language.whole
    try:
        if query.edits and query.edits.where == "both" and not query.exclude:
            # Edits anywhere in the same strings give the same strings, and without them it is soon compiled.
            plain = dataclasses.replace(query, edits=Edits())
            whole = compiler(plain, limits).whole
        moved = compiler(dataclasses.replace(plain, prefix=suggestion.prefix, pattern=suggestion.pattern), limits)
    except RelensError:
        return False
    return moved.excluded is None and accept_the_same(whole, moved.whole)


def accept_the_same(one: ByteAutomaton, other: ByteAutomaton) -> bool:
    """Whether two automata accept the same strings: no string leads them to states that differ.

    Pairs of states are followed breadth first. Both are trim, so a byte that one of them cannot read tells them apart.
    """
    if one.is_empty or other.is_empty:
        return one.is_empty == other.is_empty
    seen = frontier = np.zeros(1, np.int64)
    while len(frontier):
        left, right = np.divmod(frontier, other.states)
        if (one.final[left] != other.final[right]).any():
            return False
        left_after, right_after = one.transitions[left], other.transitions[right]
        can_read = left_after >= 0
        if (can_read != (right_after >= 0)).any():
            return False
        pairs = left_after[can_read].astype(np.int64) * other.states + right_after[can_read]
        frontier = np.setdiff1d(pairs, seen)
        seen = np.union1d(seen, frontier)
    return True
