"""The Workbench's form as data: what its widgets hold, and the run that they describe.

A widget's value, its place in the link and its meaning for the engine are three views of one thing:

    st.session_state["top_k"] = 40        ?top_k=40        Decoding(top_k=40)

`Form` is that thing. Its field names are the widgets' keys and the link's parameters; `specification` is the way to
the engine and `Form.from_specification` the way back, and a test holds that they are inverse. Choices are kept by the
words that are shown, so that a link reads like the page does.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from engine.errors import QueryError
from engine.query import (
    MOST_EDITS,
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
    Traversal,
)
from engine.runs.ceilings import CEILINGS, MOST_DRAWS, MOST_TOKENS
from engine.runs.specification import SearchSpecification

DEFAULT_MODEL = "smollm2-135m"

ENCODINGS = {"All": Encoding.ALL, "Canonical": Encoding.CANONICAL}
BOUNDARIES = {"Token": Boundary.TOKEN, "Free": Boundary.FREE}
BEGINNINGS = {"As trained": None, "Yes": True, "No": False}
RANKS = {"Given the prefix": "conditional", "Whole string": "joint"}
BEST_FIRST, SAMPLE, DISTRIBUTION = "Best first", "Sample", "Distribution"
TRAVERSALS = {BEST_FIRST: ShortestPath, SAMPLE: Sampling, DISTRIBUTION: Distribution}
PREFIX_DRAWS = {"Strings": "strings", "Token paths": "tokens", "Edges": "edges"}
EDITED_PARTS = {"Both": "both", "Prefix": "prefix", "Pattern": "pattern"}

#: The most that the fields take, never above what the store keeps (`engine.runs.ceilings`).
MOST = {
    "matches": 10_000,
    "seconds": int(CEILINGS.seconds or 0),
    "expansions": int(CEILINGS.expansions or 0),
    "max_tokens": MOST_TOKENS,
    "top_k": 1_000_000,
    "samples": MOST_DRAWS,
    "seed": 2**53 - 1,  # beyond it a browser's numbers have gaps
    "edits": MOST_EDITS,
}
LARGEST_TOLERANCE = 0.9


@dataclass(frozen=True)
class Form:
    """The values of the Workbench's widgets; the defaults are those of an untouched page.

    prefix and pattern are kept with escapes for line breaks and tabs, since a text field has one line. top_k and
    top_p are None where the rule is off; greedy overrides both. seconds is of wall time. exclude_words are separated by
    commas or line breaks; a comma that belongs to a word has a backslash before it. What the chosen traversal, or a
    query without edits, does not use is idle: it may hold anything.
    """

    prefix: str = ""
    pattern: str = ""
    model: str = DEFAULT_MODEL
    encoding: str = "All"
    prefix_encoding: str = "Canonical"
    boundary: str = "Token"
    greedy: bool = False
    top_k: int | None = None
    top_p: float | None = None
    temperature: float = 1.0
    end_of_text: bool = False
    begin_of_text: str = "As trained"
    max_tokens: int = 256
    edits: int = 0
    edit_where: str = "Both"
    insertions: bool = True
    deletions: bool = True
    substitutions: bool = True
    edit_alphabet: str = Edits.alphabet
    exclude: str = ""
    exclude_words: str = ""
    stop_words: bool = False
    traversal: str = BEST_FIRST
    rank: str = "Given the prefix"
    matches: int = 50
    samples: int = Sampling.count
    seed: int = Sampling.seed
    prefix_by: str = "Strings"
    tolerance: float = Distribution.tolerance
    seconds: int = 600
    expansions: int = 100_000

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """The form from the widgets' values; what is missing, or a required field left empty, takes its default."""
        given: dict[str, Any] = {}
        for item in dataclasses.fields(cls):
            value = values.get(item.name)
            if value is not None:
                given[item.name] = value
        return cls(**given)

    @classmethod
    def from_specification(cls, specification: SearchSpecification) -> Self:
        """The form that describes a run; a limit that is off, or above the dashboard's ceiling, becomes the ceiling."""
        query, limits = specification.query, specification.limits
        greedy = query.decoding.top_k == 1
        return cls(
            prefix=one_line(query.prefix),
            pattern=one_line(query.pattern),
            model=specification.model,
            encoding=_label(ENCODINGS, query.encoding),
            prefix_encoding=_label(ENCODINGS, query.prefix_encoding),
            boundary=_label(BOUNDARIES, query.boundary),
            greedy=greedy,
            top_k=None if greedy else query.decoding.top_k,
            top_p=None if greedy else query.decoding.top_p,
            temperature=query.decoding.temperature,
            end_of_text=query.end_of_text,
            begin_of_text=_label(BEGINNINGS, query.begin_of_text),
            max_tokens=min(query.max_tokens, MOST["max_tokens"]),
            seconds=_at_most("seconds", limits.seconds),
            expansions=_at_most("expansions", limits.expansions),
            exclude=one_line(query.exclude.regex),
            exclude_words=written_words(query.exclude.words),
            stop_words=query.exclude.stop_words,
            **_edit_values(query.edits),
            **_traversal_values(specification.traversal, limits),
        )

    def query(self) -> Query:
        """The question itself. Raises `QueryError` where a value has no meaning."""
        encoding = _meaning(ENCODINGS, self.encoding, "encoding")
        boundary = _meaning(BOUNDARIES, self.boundary, "boundary")
        # Under a free boundary there is one encoding for the whole string, so the field for the prefix is idle.
        free = boundary is Boundary.FREE and bool(self.prefix)
        return Query(
            pattern=self.pattern,
            prefix=self.prefix,
            encoding=encoding,
            prefix_encoding=encoding if free else _meaning(ENCODINGS, self.prefix_encoding, "prefix encoding"),
            boundary=boundary,
            edits=self._edits(),
            exclude=Exclude(self.exclude, words_of(self.exclude_words), bool(self.stop_words)),
            decoding=self._decoding(),
            begin_of_text=_meaning(BEGINNINGS, self.begin_of_text, "begin of text"),
            end_of_text=bool(self.end_of_text),
            max_tokens=min(int(self.max_tokens), MOST["max_tokens"]),
        )

    def limits(self) -> Limits:
        """When the run ends, never above the dashboard's ceilings. A sample ends when it is drawn."""
        matches = {
            BEST_FIRST: _at_most("matches", self.matches),
            DISTRIBUTION: CEILINGS.matches,  # nobody chose a number to cut it after, but it must end
        }
        return Limits(
            matches=matches.get(self.traversal),
            expansions=_at_most("expansions", self.expansions),
            seconds=float(_at_most("seconds", self.seconds)),
        )

    def specification(self) -> SearchSpecification:
        """The run. Raises `QueryError` where a value has no meaning, or where there is nothing to look for."""
        if not self.pattern:
            raise QueryError("The pattern is empty: write what the model's answer has to look like.")
        return SearchSpecification(self.model.strip(), self.query(), self._traversal(), self.limits())

    def _traversal(self) -> Traversal:
        kind = _meaning(TRAVERSALS, self.traversal, "traversal")
        if kind is Sampling:
            drawn_by = _meaning(PREFIX_DRAWS, self.prefix_by, "drawing of the prefix")
            return Sampling(_at_most("samples", self.samples), _at_most("seed", self.seed), drawn_by)
        if kind is Distribution:
            return Distribution(min(float(self.tolerance), LARGEST_TOLERANCE))
        return ShortestPath(_meaning(RANKS, self.rank, "rank"))

    def _edits(self) -> Edits:
        if not self.edits:
            return Edits()
        return Edits(
            distance=int(self.edits),
            where=_meaning(EDITED_PARTS, self.edit_where, "edited part"),
            insertions=bool(self.insertions),
            deletions=bool(self.deletions),
            substitutions=bool(self.substitutions),
            alphabet=self.edit_alphabet,
        )

    def _decoding(self) -> Decoding:
        if self.greedy:
            return dataclasses.replace(Decoding.greedy(), temperature=float(self.temperature))
        return Decoding(
            top_k=None if self.top_k is None else int(self.top_k),
            top_p=None if self.top_p is None else float(self.top_p),
            temperature=float(self.temperature),
        )


def words_of(text: str) -> tuple[str, ...]:
    """The words of a list as somebody types or pastes it: "art, New York\nscience" has three."""
    pieces = re.findall(r"(?:\\.|[^,\n\r])+", text)
    words = (re.sub(r"\\([\\,])", r"\1", piece).strip() for piece in pieces)
    return tuple(word for word in words if word)


def written_words(words: tuple[str, ...]) -> str:
    """The list that `words_of` reads as `words`; blanks around a word, which mean nothing, are lost."""
    return ", ".join(re.sub(r"([\\,])", r"\\\1", " ".join(word.splitlines()).strip()) for word in words)


def one_line(expression: str) -> str:
    """A regular expression that means the same and has no line break or tab in it, for a field of one line."""
    parts: list[str] = []
    escaped = False
    for character in expression:
        if character in _ESCAPES:
            # After a backslash the break was already escaped by itself: `\<newline>` means a newline too.
            parts.append(_ESCAPES[character] if not escaped else _ESCAPES[character][1:])
            escaped = False
        else:
            parts.append(character)
            escaped = character == "\\" and not escaped
    return "".join(parts)


_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\f": "\\f"}


def _edit_values(edits: Edits) -> dict[str, Any]:
    if not edits:
        return {}
    return {
        "edits": edits.distance,
        "edit_where": _label(EDITED_PARTS, edits.where),
        "insertions": edits.insertions,
        "deletions": edits.deletions,
        "substitutions": edits.substitutions,
        "edit_alphabet": one_line(edits.alphabet),
    }


def _traversal_values(traversal: Traversal, limits: Limits) -> dict[str, Any]:
    label = _label(TRAVERSALS, type(traversal))
    if isinstance(traversal, Sampling):
        return {
            "traversal": label,
            "samples": _at_most("samples", traversal.count),
            "seed": _at_most("seed", traversal.seed),
            "prefix_by": _label(PREFIX_DRAWS, traversal.prefix_by),
        }
    if isinstance(traversal, Distribution):
        return {"traversal": label, "tolerance": min(traversal.tolerance, LARGEST_TOLERANCE)}
    return {
        "traversal": label,
        "rank": _label(RANKS, traversal.rank),
        "matches": _at_most("matches", limits.matches),
    }


def _label(choices: Mapping[str, Any], meaning: Any) -> str:
    return next(label for label, candidate in choices.items() if candidate == meaning)


def _meaning(choices: Mapping[str, Any], label: str, name: str) -> Any:
    if label not in choices:
        raise QueryError(f"The {name} is one of {', '.join(map(repr, choices))}, not {label!r}.")
    return choices[label]


def _at_most(name: str, value: float | None) -> int:
    return MOST[name] if value is None else int(min(value, MOST[name]))
