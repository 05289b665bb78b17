"""The rows of a bias study: a variant with its settings, each match, and the work for each subject.

    {"unit": "canonical, prefix, ...", "row": "variant", "label": "canonical encodings with a prefix (sampled)", ...}
    {"unit": "canonical, prefix, ...", "row": "match", "asked": "man", "outcome": "art", "count": 812, ...}
    {"unit": "canonical, prefix, ...", "row": "account", "asked": "man", "samples": 5000, "ended": "drawn", ...}

Rows of the positions of edits: `relens.studies.edit_positions`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from relens.language.nearest import Edit
from relens.query import Encoding
from relens.studies.rows import StudyRow


@dataclass(frozen=True)
class VariantSetup(StudyRow):
    """The start of a variant. draws: a subject, 0 of an exact distribution, None in old rows."""

    row_name: ClassVar[str] = "variant"
    label: str
    encoding: Encoding
    prefix: bool
    edited: bool
    exact: bool
    draws: int | None = field(default=None, kw_only=True)
    subjects: tuple[str, ...]
    outcomes: tuple[str, ...]


@dataclass(frozen=True)
class BiasMatch(StudyRow):
    """A match of the query for one subject (see `Match`).

    asked: the subject of the query. subject, outcome: as the text reads, None where its nearest strings disagree.
    """

    row_name: ClassVar[str] = "match"
    asked: str
    subject: str | None
    outcome: str | None
    text: str
    count: int
    weight: float
    decoder_log_prob: float
    is_canonical: bool
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Account(StudyRow):
    """The work for one subject (see `Progress`)."""

    row_name: ClassVar[str] = "account"
    asked: str
    samples: int = 0
    failed: int = 0
    forwards: int = 0
    tokens_computed: int = 0
    expansions: int = 0
    seconds_total: float = 0.0
    found_mass: float = 0.0
    remaining_mass: float = 1.0
    prefixes: int = 1
    ended: str = ""
