"""Validators of matches: in the training text, on a list, of a form, or an address that exists.

A model that has learnt the form of addresses can make up thousands of them. Memorized are those that existed before:

    https://www.example.com     InText: in the given text?    OnList: a known value?    Answers: does its server answer?

A validator is a part of the settings; `open_validator` makes it a check, once for each method. A check takes the whole
string, prefix included.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from relens import settings
from relens.errors import QueryError, RegexError
from relens.language.isolation import default_compiler
from relens.language.language import LanguageCompiler
from relens.language.syntax import parse_regex
from relens.query import Limits, Query
from relens.record import Record
from relens.studies.membership import recent_corpus
from relens.studies.safe_https import SafeHttps


@dataclass(frozen=True)
class Unchecked(Record):
    """Every match counts."""

    kind: ClassVar[str] = "unchecked"


@dataclass(frozen=True)
class InText(Record):
    """The string occurs in the text of a file or folder (`relens.studies.membership`).

    whole_words: not as a part of a longer word, number or address.
    """

    kind: ClassVar[str] = "in_text"

    path: str = ""
    whole_words: bool = False


@dataclass(frozen=True)
class OnList(Record):
    """The string is one of these values. Their number gives recall."""

    kind: ClassVar[str] = "on_list"

    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class OfForm(Record):
    """The string matches a regular expression as a whole, in the syntax of a query."""

    kind: ClassVar[str] = "of_form"

    regex: str = ""


@dataclass(frozen=True)
class Answers(Record):
    """The string is an address whose web server answers a HEAD request with a status below 300 (ReLM section 4.1).

    allowed: has to be set, since requests for addresses that a model wrote go to strangers; where RELENS_HTTPS is 0,
    it has no effect. seconds: for each request; per_second: requests at most.
    """

    kind: ClassVar[str] = "answers"

    allowed: bool = False
    seconds: float = 2.0
    per_second: float = 2.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.seconds) and 0.0 < self.seconds <= 60.0):
            raise QueryError(f"A request may take between 0 and 60 seconds, not {self.seconds}.")
        if not (math.isfinite(self.per_second) and 0.1 <= self.per_second <= 100.0):
            raise QueryError(f"There may be between 0.1 and 100 requests a second, not {self.per_second}.")


Validator = Unchecked | InText | OnList | OfForm | Answers


class Check:
    """Whether strings are valid; each is checked once. known: the number of valid strings, None if unknown."""

    def __init__(self, check: Callable[[str], bool], known: int | None = None) -> None:
        self.known = known
        self._check = check
        self._results: dict[str, bool] = {}

    def is_valid(self, text: str) -> bool:
        """The result for a string, from memory where there is one."""
        if text not in self._results:
            self._results[text] = self._check(text)
        return self._results[text]


def check_validator(validator: Validator) -> None:
    """Raises `QueryError` for a validator that is incomplete or forbidden, without a look at files or servers."""
    if isinstance(validator, InText) and not validator.path:
        raise QueryError("To look for matches in a text, name a file or a folder.")
    if isinstance(validator, OnList) and not validator.values:
        raise QueryError("The list of known values is empty.")
    if isinstance(validator, OfForm) and not validator.regex:
        raise QueryError("The regular expression that a valid match has is empty.")
    if isinstance(validator, Answers) and not settings.https_allowed():
        raise QueryError("The operator of this machine has forbidden to ask web servers (RELENS_HTTPS).")
    if isinstance(validator, Answers) and not validator.allowed:
        raise QueryError("Asking web servers whether an address exists has to be allowed first.")


def check_form(validator: OfForm) -> None:
    """Raises `QueryError` for a form that is no regular expression."""
    try:
        parse_regex(validator.regex, Limits())
    except RegexError as error:
        complaint = error.sentence[:1].lower() + error.sentence[1:].replace(" of the pattern", "")
        raise QueryError(f"In the form that counts: {complaint}") from None


def open_validator(
    validator: Validator, limits: Limits | None = None, compiler: LanguageCompiler | None = None
) -> Check:
    """The check of a validator.

    Raises `QueryError` and `LimitError` for a text that cannot be read, a regular expression that cannot be compiled,
    an empty list, and requests to web servers that are not allowed.
    """
    check_validator(validator)
    if isinstance(validator, InText):
        corpus, whole_words = recent_corpus(validator.path), validator.whole_words
        return Check(lambda text: corpus.contains(text, whole_words))
    if isinstance(validator, OnList):
        values = frozenset(validator.values)
        return Check(values.__contains__, known=len(values))
    if isinstance(validator, OfForm):
        # The engine's own automaton, not `re`: its time is linear in the string, whatever the expression.
        return Check((compiler or default_compiler())(Query(pattern=validator.regex), limits or Limits()).whole.accepts)
    if isinstance(validator, Answers):
        servers = SafeHttps(validator.seconds, validator.per_second)
        return Check(lambda text: servers.head(text).exists)
    return Check(lambda text: True)
