"""The errors that a user can meet, each one sentence that says what and where.

A person who types `(a` should read "Missing ), unterminated subpattern, at position 0 of the pattern.", in the
browser, in the terminal and in Python alike. So every error that a user can cause, or can do something about,
is an exception from this module whose message is that sentence. Anything else that is raised is a bug of ours.
"""

from __future__ import annotations


class RelensError(Exception):
    """Base of every error that carries a sentence for its reader.

    The text of the exception is the sentence; `kind` is a stable name that survives a JSON round trip.
    """

    @property
    def sentence(self) -> str:
        """The message as it is shown to a person."""
        return str(self)

    @property
    def kind(self) -> str:
        """The name of the error class."""
        return type(self).__name__


class QueryError(RelensError):
    """A query, traversal or limit that has no meaning, such as a temperature of -1."""


class RegexError(QueryError):
    """A regular expression that is malformed, or that is not regular in the strict sense.

    `part` is "prefix", "pattern", "alphabet" or "exclude"; `position` counts characters from the start of `source`, or
    is None when the complaint concerns the whole expression.
    """

    def __init__(self, sentence: str, *, source: str, position: int | None = None, part: str = "pattern") -> None:
        super().__init__(sentence)
        self.source = source
        self.position = position
        self.part = part

    def caret(self) -> str:
        """The line of the source that is wrong, with a caret under the position."""
        if self.position is None:
            return self.source
        start = self.source.rfind("\n", 0, self.position) + 1
        end = self.source.find("\n", self.position)
        line = self.source[start:] if end < 0 else self.source[start:end]
        return f"{line}\n{' ' * (self.position - start)}^"


class EmptyLanguageError(QueryError):
    """A query that no string can match."""


class NoEncodingError(QueryError):
    """A language whose strings the tokenizer's vocabulary cannot spell."""


class LimitError(RelensError):
    """Work that would go over a limit; `limit` names the setting that was reached."""

    def __init__(self, sentence: str, *, limit: str) -> None:
        super().__init__(sentence)
        self.limit = limit


class StoppedError(RelensError):
    """Work that was given up because of a request to stop."""


class ModelError(RelensError):
    """A model that is unknown, not allowed, incomplete or does not fit the query."""


class NotFetchedError(ModelError):
    """A model of the hub whose files are not on this machine yet; a run with it fetches them."""


class StoreError(RelensError):
    """The store of runs could not be read or written, for instance because the disk is full."""
