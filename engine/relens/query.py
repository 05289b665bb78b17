"""The query language: what to search for, and nothing about how.

    Query(prefix="George Washington was born on", pattern=r" (January|July) \\d{1,2}, \\d{4}",
          decoding=Decoding(top_k=40))

asks which of these dates the model would write after the prefix under top-40 decoding. Everything here is a frozen
dataclass that checks itself, raises `QueryError` with a sentence, and survives a trip through JSON: a query is stored
with its run, put in a link and sent to another process.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, Self

from relens.errors import QueryError
from relens.record import Record
from relens.setting import Setting, check_settings
from relens.shown import Shown


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


#: Settings that traversals and studies share.
SEED = Setting(
    "Seed",
    "The same seed draws the same sample again; another one draws another sample.",
    least=0,
)
LONGEST_MATCH = Setting(
    "Longest, in tokens",
    "Longer strings, prefix included, are left out. Matters for patterns without an end such as `[a-z]+`.",
    least=1,
    ceiling=2_048,
)
TOLERANCE = Setting(
    "Tolerance",
    "The search ends when the unexplored probability is at most this part of the probability found: 0.001 leaves every "
    "share right to about a tenth of a percent. 0 explores everything.",
    least=0.0,
    below=1.0,
    step=0.001,
)
EXPANSIONS = Setting(
    "Expansions",
    "Stop after this many next-token distributions of the model. The same on every machine, unlike seconds.",
    least=1,
    ceiling=1_000_000,
    step=1000,
    empty="no limit",
)
SECONDS = Setting(
    "Seconds",
    "Stop after this much time. Matches until then are kept; less likely strings may be missing, and a sample has "
    "fewer draws.",
    above=0.0,
    ceiling=3_600.0,
    step=1.0,
    empty="no limit",
)
MATCHES = Setting(
    "Matches",
    "Stop after this many matches. They come best first, so a larger number only adds less likely ones.",
    least=1,
    ceiling=100_000,
    step=10,
    empty="no limit",
)


@dataclass(frozen=True)
class Decoding(Record):
    """The decoding rule, applied to the model's full next-token distribution in this order.

    temperature divides the logits; top_k keeps the k most likely tokens; top_p keeps the fewest most likely
    tokens whose probabilities reach p. A token outside the rule, and everything below it, is cut.
    """

    top_k: Annotated[
        int | None,
        Setting(
            "Top-k",
            "Only the k likeliest tokens may come next; strings that need another one cannot appear at all. 40 is what "
            "GPT-2 is usually sampled with, and 1 is greedy decoding. Empty: any token.",
            least=1,
            empty="off",
        ),
    ] = None
    top_p: Annotated[
        float | None,
        Setting(
            "Top-p",
            "Only the fewest tokens that together reach this probability may come next: few where the model is sure, "
            "many where it is not. Empty: any token.",
            above=0.0,
            most=1.0,
            step=0.05,
            empty="off",
        ),
    ] = None
    temperature: Annotated[
        float,
        Setting(
            "Temperature",
            "Below 1 makes likely strings likelier still, above 1 evens the probabilities out. Under top-k the order "
            "of whole strings can change too.",
            above=0.0,
            step=0.1,
        ),
    ] = 1.0

    def __post_init__(self) -> None:
        check_settings(self)

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

    distance: Annotated[
        int,
        Setting(
            "Edits allowed",
            "Also counts every string that is this many edits away: a character put in, left out, or replaced. Two "
            "make very many strings.",
            least=0,
            most=MOST_EDITS,
        ),
    ] = 0
    where: Annotated[
        Literal["prefix", "pattern", "both"],
        Setting(
            "Where",
            "**Both**: anywhere in the whole string, so many in all. **Prefix**: how a misspelled question changes the "
            "answer. **Pattern**: misspelled answers count too.",
            choices={"both": "Both", "prefix": "Prefix", "pattern": "Pattern"},
        ),
    ] = "both"
    insertions: Annotated[bool, Setting("Insert", "One edit: a character may be put in: `mann`.")] = True
    deletions: Annotated[bool, Setting("Delete", "One edit: a character may be left out: `mn`.")] = True
    substitutions: Annotated[bool, Setting("Replace", "One edit: a character may be replaced: `nan`.")] = True
    alphabet: Annotated[
        str,
        Setting(
            "Characters that edits write",
            "A regular expression for one character. `[ -~]` is everything on an English keyboard; `[a-z]` allows "
            "small letters only and makes far fewer strings.",
            fewest=1,
            is_regex=True,
        ),
    ] = "[ -~]"

    def __post_init__(self) -> None:
        check_settings(self)
        if self.distance and not (self.insertions or self.deletions or self.substitutions):
            raise QueryError("With edits, at least one of insertions, deletions and substitutions must be allowed.")

    def __bool__(self) -> bool:
        """Whether anything may be edited."""
        return self.distance > 0


@dataclass(frozen=True)
class Exclude(Record):
    """Strings that are taken out of the pattern (after its edits; ReLM section 3.4, "filters").

    regex: a regular expression, for strings that match it as a whole; `.*word.*` is any string with `word` in it.
    words: strings that are one of these words and nothing else but blanks and punctuation around it, in upper or lower
    case. stop_words: the same for the English function words of `relens.language.stop_words`.
    """

    regex: Annotated[
        str,
        Setting(
            "Leave out what matches",
            "A regular expression for strings of the pattern that do not count. It has to match the whole string of "
            "the pattern, its leading space too; `.*word.*` is any string with `word` in it.",
            example=r"for example:  .*\d.*",
            is_regex=True,
        ),
    ] = ""
    words: Annotated[
        tuple[str, ...],
        Setting(
            "Leave out these words",
            "Separated by commas or line breaks. A string of the pattern that is one of these words does not count, "
            "whether in capitals or with punctuation around it.",
            example="art, New York, …",
        ),
    ] = ()
    stop_words: Annotated[
        bool,
        Setting(
            "Leave out function words",
            "Words such as *the*, *of*, *and*, which fit nearly everywhere: without them, the word that carries the "
            "meaning has to be named.",
        ),
    ] = False

    def __post_init__(self) -> None:
        check_settings(self)

    def __bool__(self) -> bool:
        """Whether anything is taken out."""
        return bool(self.regex or self.words or self.stop_words)


@dataclass(frozen=True)
class Query(Record, Shown):
    """One question: the language `prefix . pattern`, how it is encoded, and what the decoder may do.

    `prefix` and `pattern` are regular expressions in the syntax of Python's `re`, without its irregular constructs.
    The prefix is given, not predicted: no decoding rule removes anything in it. `begin_of_text` puts the model's
    begin-of-text token before everything (None: as the model's family is trained); `end_of_text` demands the
    end-of-text token after a match; `max_tokens` is the longest token sequence considered, prefix included,
    begin and end of text not. `edits` adds strings that are a few edits away, `exclude` takes strings out.
    """

    pattern: Annotated[
        str,
        Setting(
            "Pattern",
            "The form of the answer, as a regular expression in Python's syntax. The matches are strings of this form. "
            "It usually starts with a space, as words after a prefix do. Name a part, `(?P<subject>man|woman)`, and "
            "the matches can be counted by it.",
            example=r"for example:  ((January)|(July)) \d{1,2}, \d{4}",
            is_regex=True,
        ),
    ]
    prefix: Annotated[
        str,
        Setting(
            "Prefix",
            "The text that the model continues; it is given, never predicted. A regular expression too: "
            "`The (man|woman) was` asks about both. Escape `.` and `?` with a backslash.",
            example="optional: George Washington was born on",
            is_regex=True,
        ),
    ] = ""
    encoding: Annotated[
        Encoding,
        Setting(
            "Encoding",
            "Which token sequences count. **All**: every way to spell a string in tokens; its probability is the sum. "
            "**Canonical**: only the way the tokenizer itself would; fewer matches, found faster.",
        ),
    ] = Encoding.ALL
    prefix_encoding: Annotated[
        Encoding,
        Setting(
            "Encoding of the prefix",
            "**Canonical**: the prefix in the tokenizer's own tokens, as any prompt is. **All**: every spelling of the "
            "prefix counts as another prompt. With a free boundary it follows the encoding above.",
        ),
    ] = Encoding.CANONICAL
    boundary: Annotated[
        Boundary,
        Setting(
            "Boundary",
            "**Token**: the prefix is a finished prompt and the pattern starts with a new token, as in a chat window. "
            "**Free**: a token may begin in the prefix and end in the pattern. The answer changes where the tokenizer "
            "would not cut there, such as after a space.",
        ),
    ] = Boundary.TOKEN
    edits: Edits = field(default_factory=Edits)
    exclude: Exclude = field(default_factory=Exclude)
    decoding: Decoding = field(default_factory=Decoding)
    begin_of_text: Annotated[
        bool | None,
        Setting(
            "Begin of text",
            "Whether a begin-of-text token says that a new document starts here. The model expects other things at the "
            "start of a document than in its middle. Without a prefix most models need it.",
            choices={None: "As trained", True: "Yes", False: "No"},
            empty="as the model was trained",
        ),
    ] = None
    end_of_text: Annotated[
        bool,
        Setting(
            "Must end here",
            "Count a string only where the model ends its text right after it, and include the probability of that "
            "end. Off: more text may follow.",
        ),
    ] = False
    max_tokens: Annotated[int, LONGEST_MATCH] = 256

    def __post_init__(self) -> None:
        check_settings(self)
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

    rank: Annotated[
        Literal["joint", "conditional"],
        Setting(
            "Order by",
            "For a best-first search. **Given the prefix**: every prefix competes on equal terms. **Whole string**: an "
            "unlikely prefix also moves its strings down. The same order where there is one prefix only.",
            choices={"conditional": "Given the prefix", "joint": "Whole string"},
        ),
    ] = "joint"

    def __post_init__(self) -> None:
        check_settings(self)


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

    count: Annotated[
        int,
        Setting(
            "Draws",
            "The number of random draws. Four times as many make the intervals half as wide.",
            least=1,
            ceiling=100_000,
            step=1000,
        ),
    ] = 1000
    seed: Annotated[int, SEED] = 0
    prefix_by: Annotated[
        Literal["strings", "tokens", "edges"],
        Setting(
            "Draw the prefix by",
            "For a sample whose prefix has several strings. **Strings**: each is drawn equally often. **Token paths**: "
            "a string with more encodings is drawn more often. **Edges**: a coin is thrown at every character, which "
            "favours strings that branch off early; for comparison only.",
            choices={"strings": "Strings", "tokens": "Token paths", "edges": "Edges"},
        ),
    ] = "strings"

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True)
class Distribution(Record):
    """Every match with its exact probability given its prefix string, until next to nothing is left.

    The search ends when the unexplored mass is at most `tolerance` times the mass of the matches; 0 exhausts the
    language. Each string of the prefix counts the same. Where a token sequence may end and also go on, the end-of-text
    token settles which, so that matches exclude each other and their probabilities can be added.
    """

    kind: ClassVar[str] = "distribution"

    tolerance: Annotated[float, TOLERANCE] = 0.001

    def __post_init__(self) -> None:
        check_settings(self)


#: How the language of a query is searched: best first, by random draws, or as a whole.
Traversal = ShortestPath | Sampling | Distribution


@dataclass(frozen=True)
class Limits(Record):
    """When to stop, and how much a query may use. None means no limit.

    matches (of a best-first search or a distribution), expansions and seconds end a search; prefixes is how many prefix
    strings a distribution may have; pool_bytes is the memory of the key/value trie; the others bound compilation, each
    with a clear refusal.
    """

    matches: Annotated[int | None, MATCHES] = None
    expansions: Annotated[int | None, EXPANSIONS] = 100_000
    seconds: Annotated[float | None, SECONDS] = 600.0
    prefixes: Annotated[int, Setting("Strings of the prefix", least=1, ceiling=10_000)] = 10_000
    pool_bytes: Annotated[int, Setting("Bytes of the key/value trie", least=1, ceiling=1 << 30)] = 1 << 30
    regex_length: Annotated[int, Setting("Characters of an expression", least=1, ceiling=20_000)] = 20_000
    automaton_states: Annotated[int, Setting("States of an automaton", least=1, ceiling=20_000)] = 20_000
    token_arcs: Annotated[int, Setting("Arcs of a token automaton", least=1, ceiling=20_000_000)] = 20_000_000
    compile_seconds: Annotated[float, Setting("Seconds of compilation", above=0.0, ceiling=10.0)] = 10.0
    compile_bytes: Annotated[int, Setting("Bytes of compilation", least=1, ceiling=2 << 30)] = 2 << 30

    def __post_init__(self) -> None:
        check_settings(self)
