"""Whether a model that writes freely writes in the tokenizer's own tokens.

A model draws tokens, not letters, so nothing keeps it from writing `running` as `run` `ning`. Whether it did is asked
of the tokenizer: encode the text that was written, and compare.

    drawn   ␣was | ␣run | ning | ␣late          drawn   ␣in | \\xe6 | \\x97            drawn   ␣end | . | \\n
    own     ␣was | ␣running | ␣late             half a character: ␣in is looked at     ␣end . is looked at

A sample is cut off after so many tokens, and a cut is no fault of the model's. So three things are left out before the
comparison: an end-of-text token and whatever follows it; tokens at the end that leave a character unfinished; and
tokens of white space at the very end, because how white space is cut depends on what comes after it. Bytes that are no
text in the middle have no encoding to compare with; such samples are counted apart.
Source: ReLM section 3.2, "non-canonical encodings are sampled in practice".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.record import Record
from engine.tokens.tokenizer import Tokenizer

#: Tokens that are shown before a difference.
SHOWN_BEFORE = 4


@dataclass(frozen=True)
class Spelling(Record):
    """What was compared: the sampled tokens that count, and the tokenizer's own for the same text.

    own: None where there is nothing to compare, because the tokens spell no text or none are left.
    """

    token_ids: tuple[int, ...]
    own: tuple[int, ...] | None

    @property
    def is_compared(self) -> bool:
        """Whether there is a text to compare."""
        return self.own is not None

    @property
    def is_canonical(self) -> bool:
        """Whether the tokenizer gives exactly these tokens."""
        return self.own == self.token_ids


def spelling_of(token_ids: Sequence[int], tokenizer: Tokenizer, continues: bool) -> Spelling:
    """The comparison for the text tokens of one sample. continues: they go on from a prompt, encoded by itself."""
    kept = list(token_ids)
    while kept and _ends_within_a_character(tokenizer.decode_bytes(kept, continues)):
        kept.pop()
    while kept and not (tokenizer.vocabulary[kept[-1]] or b"").decode(errors="replace").strip():
        kept.pop()
    try:
        text = tokenizer.decode_bytes(kept, continues).decode()
    except UnicodeDecodeError:
        return Spelling(tuple(kept), None)
    return Spelling(tuple(kept), tuple(tokenizer.encode(text, continues)) if text else None)


def _ends_within_a_character(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False


@dataclass(frozen=True)
class Difference(Record):
    """Where two encodings of one text first part, until they meet again; before: the tokens just before that."""

    before: tuple[int, ...]
    sampled: tuple[int, ...]
    own: tuple[int, ...]


def first_difference(spelling: Spelling, tokenizer: Tokenizer) -> Difference | None:
    """The first difference, or None where there is none."""
    if spelling.own is None or spelling.is_canonical:
        return None
    sampled, own = spelling.token_ids, spelling.own
    same = next((place for place, pair in enumerate(zip(sampled, own, strict=False)) if pair[0] != pair[1]), 0)
    ends, own_ends = _ends(sampled[same:], tokenizer), _ends(own[same:], tokenizer)
    meeting = next((end for end in ends if end in set(own_ends)), None)
    sampled_end = len(sampled) if meeting is None else same + ends.index(meeting) + 1
    own_end = len(own) if meeting is None else same + own_ends.index(meeting) + 1
    return Difference(
        before=sampled[max(0, same - SHOWN_BEFORE) : same],
        sampled=sampled[same:sampled_end],
        own=own[same:own_end],
    )


def _ends(token_ids: Sequence[int], tokenizer: Tokenizer) -> list[int]:
    """How many bytes are spelled after each token."""
    ends, length = [], 0
    for token in token_ids:
        length += len(tokenizer.vocabulary[token] or b"")
        ends.append(length)
    return ends
