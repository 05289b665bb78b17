"""The rows of a memorization study: each string once, when it is first matched, and counts by batch.

    {"unit": "sampled 16", "row": "method", "label": "sampled, 16 tokens", "validator": "of_form", "device": "cpu", ...}
    {"unit": "sampled 16", "row": "match", "text": "https://www.bbc.co.uk", "seconds": 0.9, "valid": true, ...}
    {"unit": "sampled 16", "row": "batch", "seconds": 1.0, "attempts": 64, "matches": 12, "valid": 12, "new": 3, ...}
    {"unit": "sampled 16", "row": "summary", "seconds": 7.1, "ended": "seconds", "attempts": 840, ...}

Seconds are those of the search or of sampling since the method began. A validator, above all a web server, stops the
clock, since it takes the same time for every method.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import ClassVar

from relens.record import Record
from relens.studies.rows import Row, StudyRow


@dataclass(frozen=True)
class MethodSetup(StudyRow):
    """The start of a method. known: how many valid strings there are, None if unknown. validator: its kind."""

    row_name: ClassVar[str] = "method"
    label: str
    known: int | None = None
    validator: str = ""
    model: str = ""
    fingerprint: str = ""
    device: str = ""
    dtype: str = ""
    seconds_allowed: float = 0.0


@dataclass(frozen=True)
class NewMatch(StudyRow):
    """A string at its first match. attempts, matches: the counts of the method so far, this one included."""

    row_name: ClassVar[str] = "match"
    text: str
    seconds: float
    valid: bool
    tokens: int = 0
    attempts: int = 0
    matches: int = 0


@dataclass(frozen=True)
class Tally(Record):
    """Counts. A match is an attempt that begins with a string of the language; valid: valid matches.

    new, new_valid: matches and valid matches without duplicates. tokens: of all attempts.
    """

    attempts: int = 0
    matches: int = 0
    valid: int = 0
    new: int = 0
    new_valid: int = 0
    tokens: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, item.name) + getattr(other, item.name) for item in fields(Tally)))

    @property
    def duplicates(self) -> int:
        """Matches of a string that was matched before."""
        return self.matches - self.new

    @property
    def duplicate_share(self) -> float | None:
        """The share of duplicates among the matches, None before the first."""
        return self.duplicates / self.matches if self.matches else None

    @property
    def completion_rate(self) -> float | None:
        """The share of matches among the attempts, None before the first."""
        return self.matches / self.attempts if self.attempts else None

    @property
    def tokens_an_attempt(self) -> float | None:
        """The mean number of tokens, None before the first attempt."""
        return self.tokens / self.attempts if self.attempts else None


@dataclass(frozen=True)
class Batch(Tally, StudyRow):
    """The counts of one batch. seconds: at its end."""

    row_name: ClassVar[str] = "batch"
    seconds: float = field(kw_only=True)


@dataclass(frozen=True)
class Summary(Tally, StudyRow):
    """The counts of a whole method. ended: why. seconds_model: within the network, a part of `seconds`."""

    row_name: ClassVar[str] = "summary"
    seconds: float = field(kw_only=True)
    ended: str = ""
    forwards: int | None = None
    tokens_computed: int | None = None
    seconds_model: float | None = None

    def to_json(self) -> Row:
        """The row with its rates, which are read off the counts again."""
        rates = ("duplicates", "completion_rate", "tokens_an_attempt")
        return super().to_json() | {name: getattr(self, name) for name in rates}
