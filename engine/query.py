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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

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
    """JSON for frozen dataclasses: `to_json` gives plain dictionaries, `from_json` checks what it reads.

    A record with a `kind` says so in its JSON, which is how one of several is told from the others.
    """

    kind: ClassVar[str] = ""

    def to_json(self) -> dict[str, Any]:
        """The record as dictionaries, lists, strings and numbers."""
        values = {
            item.name: _plain(getattr(self, item.name))
            for item in dataclasses.fields(self)  # type: ignore[arg-type]
        }
        return {"kind": self.kind, **values} if self.kind else values

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The record back from `to_json`; fields that are missing take their defaults.

        Raises `QueryError` for a field that is unknown or of the wrong type.
        """
        if not isinstance(data, Mapping):
            raise QueryError(f"{cls.__name__} is described by a JSON object, not by {type(data).__name__}.")
        if cls.kind:
            data = {name: value for name, value in data.items() if name != "kind"}
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
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value


def _typed(hint: Any, value: Any, where: str) -> Any:
    """`value` as the type `hint`; only the shapes that the records here use."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        inner = [argument for argument in arguments if argument is not type(None)]
        return _typed(inner[0] if len(inner) == 1 else _of_kind(inner, value, where), value, where)
    if origin is Literal:
        if value not in arguments:
            raise QueryError(f"{where} must be one of {', '.join(map(repr, arguments))}, not {value!r}.")
        return value
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise QueryError(f"{where} must be a list, not {type(value).__name__}.")
        return tuple(_typed(arguments[0], item, where) for item in value)
    if origin is dict:
        if not isinstance(value, Mapping):
            raise QueryError(f"{where} must be a JSON object, not {type(value).__name__}.")
        return {str(name): _typed(arguments[1], item, f"{where}[{name!r}]") for name, item in value.items()}
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


def _of_kind(records: Sequence[type[Record]], value: Any, where: str) -> type[Record]:
    """Which of several records `value` describes, by its kind; without one, the first."""
    if not isinstance(value, Mapping):
        raise QueryError(f"{where} must be a JSON object, not {type(value).__name__}.")
    kind = value.get("kind", records[0].kind)
    for record in records:
        if record.kind == kind:
            return record
    raise QueryError(f"{where} is one of {', '.join(repr(record.kind) for record in records)}, not {kind!r}.")


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


#: The most edits that are compiled: three would make most patterns too large for anybody.
MOST_EDITS = 2


@dataclass(frozen=True)
class Edits(Record):
    """All strings within Levenshtein distance `distance` of the query's, character by character.

    where: "prefix" or "pattern" edits that part alone; "both" means the whole string, `distance` edits in all wherever
    they fall. An edit writes characters of `alphabet`, a regular expression for one character (printable ASCII by
    default), and may delete or replace any. The kinds of edit can be switched off one by one.
    Source: ReLM section 3.4, "Levenshtein automaton".
    """

    distance: int = 0
    where: Literal["prefix", "pattern", "both"] = "both"
    insertions: bool = True
    deletions: bool = True
    substitutions: bool = True
    alphabet: str = "[ -~]"

    def __post_init__(self) -> None:
        if not 0 <= self.distance <= MOST_EDITS:
            raise QueryError(f"The number of edits is 0, 1 or {MOST_EDITS}, not {self.distance}.")
        if self.distance and not (self.insertions or self.deletions or self.substitutions):
            raise QueryError("With edits, at least one of insertions, deletions and substitutions must be allowed.")
        if not self.alphabet:
            raise QueryError("The alphabet of the edits is empty; [ -~] is printable ASCII.")

    def __bool__(self) -> bool:
        """Whether anything may be edited."""
        return self.distance > 0


@dataclass(frozen=True)
class Exclude(Record):
    """Strings that are taken out of the pattern (after its edits; ReLM section 3.4, "filters").

    regex: a regular expression, for strings that match it as a whole; `.*word.*` is any string with `word` in it.
    words: strings that are one of these words and nothing else but blanks and punctuation around it, in upper or lower
    case. stop_words: the same for the English function words of `engine.language.stop_words`.
    """

    regex: str = ""
    words: tuple[str, ...] = ()
    stop_words: bool = False

    def __post_init__(self) -> None:
        if any(not word.strip() for word in self.words):
            raise QueryError("A word to exclude is empty.")

    def __bool__(self) -> bool:
        """Whether anything is taken out."""
        return bool(self.regex or self.words or self.stop_words)


@dataclass(frozen=True)
class Query(Record):
    """One question: the language `prefix . pattern`, how it is encoded, and what the decoder may do.

    `prefix` and `pattern` are regular expressions in the syntax of Python's `re`, restricted to what is regular.
    The prefix is given, not predicted: no decoding rule removes anything in it. `begin_of_text` puts the model's
    begin-of-text token before everything (None: as the model's family is trained); `end_of_text` demands the
    end-of-text token after a match; `max_tokens` is the longest token sequence considered, prefix included,
    begin and end of text not. `edits` adds strings that are a few edits away, `exclude` takes strings out.
    """

    pattern: str
    prefix: str = ""
    encoding: Encoding = Encoding.ALL
    prefix_encoding: Encoding = Encoding.CANONICAL
    boundary: Boundary = Boundary.TOKEN
    edits: Edits = field(default_factory=Edits)
    exclude: Exclude = field(default_factory=Exclude)
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

    kind: ClassVar[str] = "shortest_path"

    rank: Literal["joint", "conditional"] = "joint"


@dataclass(frozen=True)
class Sampling(Record):
    """`count` seeded random draws: a prefix string first, then the pattern from the decoder's own distribution.

    prefix_by says how prefix strings are drawn. "strings": every string is equally likely (ReLM section 3.3, walks
    counted). "tokens": a string is as likely as it has encodings, which is what counting walks over tokens does.
    "edges": at each byte, every arc, and where it may end the end, are equally likely (ReLM appendix C, to compare).
    Cycles of the prefix are unrolled to `Query.max_tokens` bytes.

    The pattern is drawn token by token among the legal ones, so a draw has a weight, the product of the legal mass at
    each step. Where a token sequence may end and also go on, the end-of-text token settles which.
    """

    kind: ClassVar[str] = "sampling"

    count: int = 1000
    seed: int = 0
    prefix_by: Literal["strings", "tokens", "edges"] = "strings"

    def __post_init__(self) -> None:
        if self.count < 1:
            raise QueryError(f"A sample has at least 1 draw, not {self.count}.")
        if self.seed < 0:
            raise QueryError(f"The seed is at least 0, not {self.seed}.")


@dataclass(frozen=True)
class Distribution(Record):
    """Every match with its exact probability given its prefix string, until next to nothing is left.

    The search ends when the mass that is still open is at most `tolerance` times the mass that was found; 0 exhausts
    the language. Each string of the prefix counts the same. Where a token sequence may end and also go on, the
    end-of-text token settles which, so that matches exclude each other and their probabilities can be added.
    """

    kind: ClassVar[str] = "distribution"

    tolerance: float = 0.001

    def __post_init__(self) -> None:
        if not 0.0 <= self.tolerance < 1.0:
            raise QueryError(f"The tolerance is at least 0 and below 1, not {self.tolerance}.")


#: How the language of a query is gone through, and so what comes out.
Traversal = ShortestPath | Sampling | Distribution


@dataclass(frozen=True)
class Limits(Record):
    """When to stop, and how much a query may use. None means no limit.

    matches (of a best-first search or a distribution), expansions and seconds end a search; prefixes is how many prefix
    strings a distribution may have; pool_bytes is the memory of the key/value trie; the others bound compilation, each
    with a clear refusal.
    """

    matches: int | None = None
    expansions: int | None = 100_000
    seconds: float | None = 600.0
    prefixes: int = 10_000
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
