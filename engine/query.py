"""What is asked of a model: the words of the query language, and nothing about how it is answered.

    Query(prefix="George Washington was born on", pattern=r" (January|July) \\d{1,2}, \\d{4}",
          decoding=Decoding(top_k=40))

asks which of these dates the model would give, were it to continue the prefix under top-40 decoding. Everything
here is a frozen dataclass that checks itself, raises `QueryError` with a sentence, and survives a trip through
JSON: a query is stored with its run, put in a link and sent to another process.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from engine.errors import QueryError


class Encoding(enum.StrEnum):
    """Which token sequences stand for a string (ReLM section 3.2).

    ALL: every sequence of tokens that decodes to the string. CANONICAL: only the sequence that the tokenizer
    itself produces for it.
    """

    ALL = "all"
    CANONICAL = "canonical"


class Boundary(enum.StrEnum):
    """Whether a token may straddle the end of the prefix.

    TOKEN: the prefix is a finished prompt, encoded by itself, and the pattern starts with a new token. FREE: the
    whole string is encoded as one, so a token may begin in the prefix and end in the pattern.
    """

    TOKEN = "token"
    FREE = "free"


class Record:
    """JSON for frozen dataclasses: `to_json` gives plain dictionaries, `from_json` checks what it reads."""

    def to_json(self) -> dict[str, Any]:
        """The record as dictionaries, lists, strings and numbers."""
        return {
            item.name: _plain(getattr(self, item.name))
            for item in dataclasses.fields(self)  # type: ignore[arg-type]
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The record back from `to_json`; fields that are missing take their defaults.

        Raises `QueryError` for a field that is unknown or of the wrong type.
        """
        if not isinstance(data, Mapping):
            raise QueryError(f"{cls.__name__} is described by a JSON object, not by {type(data).__name__}.")
        hints = _field_types(cls)
        known = {item.name for item in dataclasses.fields(cls)}  # type: ignore[arg-type]
        unknown = sorted(set(data) - known)
        if unknown:
            raise QueryError(f"{cls.__name__} has no field called {unknown[0]!r}.")
        values = {name: _typed(hints[name], value, f"{cls.__name__}.{name}") for name, value in data.items()}
        try:
            return cls(**values)
        except TypeError as error:
            raise QueryError(f"{cls.__name__} is incomplete: {error}.") from error


#: The types of each record's fields, looked up once: a graph has thousands of records.
_FIELD_TYPES: dict[type, dict[str, Any]] = {}


def _field_types(record: type) -> dict[str, Any]:
    if record not in _FIELD_TYPES:
        _FIELD_TYPES[record] = typing.get_type_hints(record)
    return _FIELD_TYPES[record]


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _typed(hint: Any, value: Any, where: str) -> Any:
    """`value` as the type `hint`; only the shapes that the records here use."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        (inner,) = (argument for argument in arguments if argument is not type(None))
        return _typed(inner, value, where)
    if origin is Literal:
        if value not in arguments:
            raise QueryError(f"{where} must be one of {', '.join(map(repr, arguments))}, not {value!r}.")
        return value
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise QueryError(f"{where} must be a list, not {type(value).__name__}.")
        return tuple(_typed(arguments[0], item, where) for item in value)
    if hint is float and type(value) in (int, float):
        return float(value)
    if isinstance(hint, type) and issubclass(hint, Record):
        return hint.from_json(value)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        try:
            return hint(value)
        except ValueError:
            names = ", ".join(repr(member.value) for member in hint)
            raise QueryError(f"{where} must be one of {names}, not {value!r}.") from None
    if isinstance(hint, type) and type(value) is hint:
        return value
    raise QueryError(f"{where} must be of type {getattr(hint, '__name__', hint)}, not {type(value).__name__}.")


@dataclass(frozen=True)
class Decoding(Record):
    """The decoding rule, applied to the model's full next-token distribution in this order.

    temperature divides the logits; top_k keeps the k most likely tokens; top_p keeps the fewest most likely
    tokens whose probabilities reach p. A token outside the rule, and everything below it, is cut.
    """

    top_k: int | None = None
    top_p: float | None = None
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if self.top_k is not None and self.top_k < 1:
            raise QueryError(f"top-k must be at least 1, not {self.top_k}.")
        if self.top_p is not None and not 0.0 < self.top_p <= 1.0:
            raise QueryError(f"top-p must be above 0 and at most 1, not {self.top_p}.")
        if not (math.isfinite(self.temperature) and self.temperature > 0.0):
            raise QueryError(f"Temperature must be above 0, not {self.temperature}; greedy decoding is top-k 1.")

    @classmethod
    def greedy(cls) -> Self:
        """Only the most likely token at every step."""
        return cls(top_k=1)


@dataclass(frozen=True)
class Query(Record):
    """One question: the language `prefix . pattern`, how it is encoded, and what the decoder may do.

    `prefix` and `pattern` are regular expressions in the syntax of Python's `re`, restricted to what is regular.
    The prefix is given, not predicted: no decoding rule removes anything in it. `begin_of_text` puts the model's
    begin-of-text token before everything (None: as the model's family is trained); `end_of_text` demands the
    end-of-text token after a match; `max_tokens` is the longest token sequence considered, prefix included,
    begin and end of text not.
    """

    pattern: str
    prefix: str = ""
    encoding: Encoding = Encoding.ALL
    prefix_encoding: Encoding = Encoding.CANONICAL
    boundary: Boundary = Boundary.TOKEN
    decoding: Decoding = field(default_factory=Decoding)
    begin_of_text: bool | None = None
    end_of_text: bool = False
    max_tokens: int = 256

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise QueryError(f"The longest match must have at least 1 token, not {self.max_tokens}.")
        if self.boundary is Boundary.FREE and self.prefix and self.encoding is not self.prefix_encoding:
            raise QueryError(
                "With a free boundary the string is encoded as a whole, so prefix and pattern need the same encoding."
            )


@dataclass(frozen=True)
class ShortestPath(Record):
    """Matches in exact order of rank, best first.

    rank "joint" is `prefix_log_prob + decoder_log_prob` (the heuristic of ReLM section 3.3); "conditional" is
    `decoder_log_prob` alone, so that every prefix competes on equal terms.
    """

    rank: Literal["joint", "conditional"] = "joint"


@dataclass(frozen=True)
class Limits(Record):
    """When to stop, and how much a query may use. None means no limit.

    matches, expansions and seconds end a search; pool_bytes is the memory of the key/value trie; the others
    bound compilation, each with a clear refusal.
    """

    matches: int | None = 100
    expansions: int | None = 100_000
    seconds: float | None = 600.0
    pool_bytes: int = 1 << 30
    regex_length: int = 20_000
    automaton_states: int = 20_000
    token_arcs: int = 20_000_000
    compile_seconds: float = 10.0
    compile_bytes: int = 2 << 30

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            if value is not None and not value > 0:
                raise QueryError(f"The limit {item.name} must be above 0, not {value}.")
