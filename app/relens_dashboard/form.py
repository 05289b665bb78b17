"""The Workbench's form as data: the values of its widgets, and the run that they describe.

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

from relens.errors import QueryError
from relens.query import (
    Boundary,
    Decoding,
    Distribution,
    Edits,
    Exclude,
    Limits,
    Query,
    Sampling,
    ShortestPath,
    Traversal,
)
from relens.record import Record
from relens.runs.ceilings import CEILINGS
from relens.runs.specification import SearchSpecification
from relens.setting import Declared, declared

DEFAULT_MODEL = "smollm2-135m"
BEST_FIRST, SAMPLE, DISTRIBUTION = "Best first", "Sample", "Distribution"
TRAVERSALS: dict[str, type[Traversal]] = {BEST_FIRST: ShortestPath, SAMPLE: Sampling, DISTRIBUTION: Distribution}

_QUERY = ("prefix", "pattern", "encoding", "prefix_encoding", "boundary", "end_of_text", "begin_of_text", "max_tokens")
_KINDS_OF_EDITS = ("insertions", "deletions", "substitutions")

#: The fields that hold settings, by the record that declares these, each with the setting's name there.
_PARTS: dict[type[Record], dict[str, str]] = {
    Query: {name: name for name in _QUERY},
    Decoding: {"top_k": "top_k", "top_p": "top_p", "temperature": "temperature"},
    Edits: {"edits": "distance", "edit_where": "where", "edit_alphabet": "alphabet"}
    | {name: name for name in _KINDS_OF_EDITS},
    Exclude: {"exclude": "regex", "exclude_words": "words", "stop_words": "stop_words"},
    ShortestPath: {"rank": "rank"},
    Sampling: {"samples": "count", "seed": "seed", "prefix_by": "prefix_by"},
    Distribution: {"tolerance": "tolerance"},
    Limits: {"matches": "matches", "expansions": "expansions", "seconds": "seconds"},
}
#: The declarations of these fields.
SETTINGS: dict[str, Declared] = {
    name: declared(record, field) for record, names in _PARTS.items() for name, field in names.items()
}


@dataclass(frozen=True)
class Form:
    """The values of the Workbench's widgets; the defaults are those of an untouched page.

    prefix and pattern have escapes for line breaks and tabs, since a text field has one line. top_k and top_p are None
    where the rule is off; greedy overrides both. seconds is wall time. Commas or line breaks separate exclude_words; a
    comma inside a word has a backslash before it. A field that the traversal, or a query without edits, does not use
    may hold anything.
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
        """The form from the widgets' values; a missing value, or an empty required field, takes its default."""
        given: dict[str, Any] = {}
        for item in dataclasses.fields(cls):
            value = values.get(item.name)
            if value is not None:
                given[item.name] = value
        return cls(**given)

    @classmethod
    def from_specification(cls, specification: SearchSpecification) -> Self:
        """The form that describes a run; a limit that is off, or above the ceiling, becomes the ceiling."""
        query, traversal, limits = specification.query, specification.traversal, specification.limits
        values = _held(query) | _held(query.decoding) | _held(query.exclude) | _held(traversal) | _held(limits)
        if query.edits:
            values |= _held(query.edits)
        if query.decoding.top_k == 1:
            values |= {"greedy": True, "top_k": None, "top_p": None}
        if not isinstance(traversal, ShortestPath):  # only a best-first search has a chosen number of matches
            del values["matches"]
        kind = next(name for name, made in TRAVERSALS.items() if isinstance(traversal, made))
        return cls(model=specification.model, traversal=kind, **values | {"seconds": int(values["seconds"])})

    def query(self) -> Query:
        """The query. Raises `QueryError` for a value without meaning."""
        values = self._given(Query)
        if values["boundary"] is Boundary.FREE and self.prefix:
            # Under a free boundary there is one encoding for the whole string, so the field for the prefix is idle.
            values["prefix_encoding"] = values["encoding"]
        decoding = {"top_k": 1, "temperature": float(self.temperature)} if self.greedy else self._given(Decoding)
        return Query(
            **values,
            edits=Edits(**self._given(Edits)) if self.edits else Edits(),
            exclude=Exclude(**self._given(Exclude)),
            decoding=Decoding(**decoding),
        )

    def limits(self) -> Limits:
        """When the run ends, never above the ceilings. A sample ends when it is drawn."""
        given = self._given(Limits)
        if self.traversal != BEST_FIRST:
            # A distribution has no field for matches, but needs a limit.
            given["matches"] = CEILINGS.matches if self.traversal == DISTRIBUTION else None
        return Limits(**given)

    def specification(self) -> SearchSpecification:
        """The run. Raises `QueryError` for a value without meaning, and for an empty pattern."""
        if not self.pattern:
            raise QueryError("The pattern is empty. Write the form of the answer.")
        if self.traversal not in TRAVERSALS:
            raise QueryError(f"The traversal is one of {', '.join(map(repr, TRAVERSALS))}, not {self.traversal!r}.")
        kind = TRAVERSALS[self.traversal]
        return SearchSpecification(self.model.strip(), self.query(), kind(**self._given(kind)), self.limits())

    def _given(self, record: type[Record]) -> dict[str, Any]:
        """The values of one record's fields, by the names of its settings."""
        return {field: meaning(name, getattr(self, name)) for name, field in _PARTS[record].items()}


def words_of(text: str) -> tuple[str, ...]:
    """The words of a typed or pasted list: "art, New York\nscience" has three."""
    pieces = re.findall(r"(?:\\.|[^,\n\r])+", text)
    words = (re.sub(r"\\([\\,])", r"\1", piece).strip() for piece in pieces)
    return tuple(word for word in words if word)


def written_words(words: tuple[str, ...]) -> str:
    """The list that `words_of` reads as `words`; blanks around a word are lost."""
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


def _held(record: Record) -> dict[str, Any]:
    """The values of the fields for a record."""
    return {name: _shown(name, getattr(record, field)) for name, field in _PARTS[type(record)].items()}


def _shown(name: str, value: Any) -> Any:
    """A value of a setting as its field holds it."""
    setting = SETTINGS[name].setting
    if setting.choices:
        return setting.choices[value]
    if name == "exclude_words":
        return written_words(value)
    if setting.is_regex:
        return one_line(value)
    if setting.ceiling is not None:
        return SETTINGS[name].type(setting.ceiling if value is None else min(value, setting.ceiling))
    return value


def meaning(name: str, value: Any) -> Any:
    """The value of a field as the value of its setting. Raises `QueryError` for an unknown choice."""
    one, setting = SETTINGS[name], SETTINGS[name].setting
    if setting.choices:
        if value not in setting.choices.values():
            names = ", ".join(map(repr, setting.choices.values()))
            raise QueryError(f"“{setting.label}” must be one of {names}, not {value!r}.")
        return next(choice for choice, label in setting.choices.items() if label == value)
    if name == "exclude_words":
        return words_of(value)
    if value is None:
        return None
    return one.type(value) if setting.ceiling is None else one.type(min(value, setting.ceiling))
