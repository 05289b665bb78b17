r"""The pre-tokenizer of a tokenizer.json, recognised part by part, as a boundary automaton.

    Sequence[Digits(individual), ByteLevel]     SmolLM2: single digits, then GPT-2's expression inside each piece
    Sequence[Split(regex), ByteLevel(plain)]    Llama-3, Qwen2, GPT-4o: an expression of their own

Each step becomes an ordered expression that matches everything, and the steps are composed. `Digits` is "a digit, or
as many others as there are". A `Split` that leaves some characters unmatched keeps those stretches as pieces; that is
the same as matching them last, where it is clear from its first character alone whether a match begins. What cannot be
read this way is not guessed at: the answer is None, and the caller asks the tokenizer itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relens.tokens.boundaries import BoundaryAutomaton, compose, from_regex, whole_text
from relens.tokens.character_sets import CODE_POINTS, Edges, contains, digit_set, punctuation_set
from relens.tokens.pretokenizer_regex import (
    BYTE_LEVEL_REGEX,
    MATCH,
    PriorityRegex,
    UnknownRegexError,
    parse_regex,
)
from relens.tokens.tokenizer import steps


def boundary_automaton(pre_tokenizer: Any) -> BoundaryAutomaton | None:
    """The boundary automaton of the `pre_tokenizer` of a byte-level tokenizer.json, or None for an unknown kind."""
    automaton = whole_text()
    is_over = False
    try:
        for step in steps(pre_tokenizer):
            if is_over:
                return None  # steps after ByteLevel see bytes drawn as characters
            following = _step_automaton(step)
            is_over = step["type"] == "ByteLevel"
            if following is not None:
                automaton = compose(automaton, following)
    except UnknownRegexError:
        return None
    return automaton if is_over else None


def _step_automaton(step: dict[str, Any]) -> BoundaryAutomaton | None:
    kind = step["type"]
    if kind == "ByteLevel":
        if step.get("add_prefix_space"):
            raise UnknownRegexError("a space is put before the text")
        return from_regex(parse_regex(BYTE_LEVEL_REGEX)) if step.get("use_regex", True) else None
    if kind == "Digits":
        return from_regex(_runs_of(digit_set(), alone=bool(step.get("individual_digits"))))
    if kind == "Punctuation" and str(step.get("behavior", "Isolated")).lower() in ("isolated", "contiguous"):
        return from_regex(
            _runs_of(punctuation_set(), alone=str(step.get("behavior", "Isolated")).lower() == "isolated")
        )
    if kind == "Split" and "Regex" in step["pattern"]:
        behavior = (str(step.get("behavior")).lower(), bool(step.get("invert")))
        if behavior == ("isolated", False):
            return from_regex(_with_gaps(parse_regex(step["pattern"]["Regex"])))
        if behavior == ("removed", True):
            return from_regex(_without_gaps(parse_regex(step["pattern"]["Regex"])))
    raise UnknownRegexError(kind)


def _runs_of(members: Edges, alone: bool) -> PriorityRegex:
    """Each run of members (each member, where `alone`) is a piece, and each run of other characters."""
    return PriorityRegex(
        sets=[members, _complement(members)],
        first=[0, 1],
        after=[[MATCH] if alone else [0, MATCH], [1, MATCH]],
    )


def _complement(edges: Edges) -> Edges:
    return edges[1:] if len(edges) and edges[0] == 0 else np.concatenate([[0], edges])


def _alone_and_begin(regex: PriorityRegex) -> tuple[Edges, Edges]:
    """The characters that are a match by themselves whatever follows, and those that a match may begin with."""
    alone = [position for position in regex.first if MATCH in regex.after[position]]
    return _union([regex.sets[position] for position in alone]), _union([regex.sets[begin] for begin in regex.first])


def _union(sets: Sequence[Edges]) -> Edges:
    edges = np.unique(np.concatenate([[0], *sets]))
    member = np.any([contains(item, edges) for item in sets], axis=0)
    return edges[np.diff(member, prepend=False)] if len(sets) else np.zeros(0, np.int64)


def _is_everything(characters: Edges) -> bool:
    """Whether all code points that a text can have are members; surrogates are none."""
    outside = np.flatnonzero(~contains(characters, np.arange(CODE_POINTS)))
    return bool(((outside >= 0xD800) & (outside < 0xE000)).all())


def _with_gaps(regex: PriorityRegex) -> PriorityRegex:
    """The expression with what it leaves unmatched as pieces of their own: runs where no match begins."""
    alone, begin = _alone_and_begin(regex)
    if not np.array_equal(alone, begin):
        raise UnknownRegexError("whether a match begins is not clear from its first character")
    if not _is_everything(begin):
        gaps = _complement(begin)
        position = len(regex.sets)
        regex.sets.append(gaps)
        regex.first.append(position)
        regex.after.append([position, MATCH])
    return regex


def _without_gaps(regex: PriorityRegex) -> PriorityRegex:
    alone, _ = _alone_and_begin(regex)
    if not _is_everything(alone):
        raise UnknownRegexError("what is not matched is removed from the text")
    return regex
