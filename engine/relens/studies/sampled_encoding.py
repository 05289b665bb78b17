"""Whether a model samples the canonical encoding of the text that it writes.

A model draws tokens, not letters, so nothing keeps it from writing `running` as `run` `ning`. The text is encoded again
and the tokens are compared:

    sampled     ␣was | ␣run | ning | ␣late      sampled   ␣in | \\xe6 | \\x97           sampled   ␣end | . | \\n
    canonical   ␣was | ␣running | ␣late         half a character: ␣in is compared      ␣end . is compared

A sample ends after a fixed number of tokens, and this cut must not count as a difference. Three things are therefore
left out: an end-of-text token and all after it; tokens at the end that leave a character unfinished; tokens of white
space at the very end, since the text after white space decides its encoding. Bytes in the middle that are no text have
no encoding; such samples are not compared.
Source: ReLM section 3.2, "non-canonical encodings are sampled in practice".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from relens.tokens.tokenizer import Tokenizer

#: Tokens that are shown before a difference.
SHOWN_BEFORE = 4


@dataclass(frozen=True)
class SampledEncoding:
    """The compared tokens of a sample, and the canonical encoding of their text.

    canonical: None where the tokens spell no text, or none are left.
    """

    token_ids: tuple[int, ...]
    canonical: tuple[int, ...] | None

    @property
    def is_compared(self) -> bool:
        """Whether there is a text to compare."""
        return self.canonical is not None

    @property
    def is_canonical(self) -> bool:
        """Whether the tokenizer gives exactly these tokens."""
        return self.canonical == self.token_ids


def sampled_encoding(token_ids: Sequence[int], tokenizer: Tokenizer, continues: bool) -> SampledEncoding:
    """The comparison for the text tokens of one sample. continues: they follow a prompt, which is encoded by itself."""
    kept = list(token_ids)
    while kept and _ends_within_a_character(tokenizer.decode_bytes(kept, continues)):
        kept.pop()
    while kept and not (tokenizer.vocabulary[kept[-1]] or b"").decode(errors="replace").strip():
        kept.pop()
    try:
        text = tokenizer.decode_bytes(kept, continues).decode()
    except UnicodeDecodeError:
        return SampledEncoding(tuple(kept), None)
    return SampledEncoding(tuple(kept), tuple(tokenizer.encode(text, continues)) if text else None)


def _ends_within_a_character(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False


@dataclass(frozen=True)
class Difference:
    """The tokens from where two encodings of one text part to where they meet again; before: those just before."""

    before: tuple[int, ...]
    sampled: tuple[int, ...]
    canonical: tuple[int, ...]


def first_difference(sample: SampledEncoding, tokenizer: Tokenizer) -> Difference | None:
    """The first difference, or None where there is none."""
    if sample.canonical is None or sample.is_canonical:
        return None
    sampled, canonical = sample.token_ids, sample.canonical
    same = next((place for place, pair in enumerate(zip(sampled, canonical, strict=False)) if pair[0] != pair[1]), 0)
    ends, canonical_ends = _ends(sampled[same:], tokenizer), _ends(canonical[same:], tokenizer)
    meeting = next((end for end in ends if end in set(canonical_ends)), None)
    sampled_end = len(sampled) if meeting is None else same + ends.index(meeting) + 1
    canonical_end = len(canonical) if meeting is None else same + canonical_ends.index(meeting) + 1
    return Difference(
        before=sampled[max(0, same - SHOWN_BEFORE) : same],
        sampled=sampled[same:sampled_end],
        canonical=canonical[same:canonical_end],
    )


def _ends(token_ids: Sequence[int], tokenizer: Tokenizer) -> list[int]:
    """The number of bytes spelled up to the end of each token."""
    return list(accumulate(len(tokenizer.vocabulary[token] or b"") for token in token_ids))
