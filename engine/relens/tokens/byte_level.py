"""What the exact construction needs to know of a byte-level BPE tokenizer, made once and kept with it.

Whether a tokenizer is covered is read off its tokenizer.json, part by part; `None` means "not covered, ask the
tokenizer itself". Covered are byte-level BPE with the pre-tokenizers of `pretokenizer`, any list of merges, and
`ignore_merges`. A normalizer of the NFC kind is covered up to confirmation: a text that NFC changes has no encoding
that spells it, and every other text is encoded as if there were no normalizer.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import numpy as np

from relens.language.automaton import ByteAutomaton
from relens.tokens.annotated import BoundaryTable
from relens.tokens.boundaries import BoundaryAutomaton
from relens.tokens.merges import PairTest
from relens.tokens.pretokenizer import boundary_automaton
from relens.tokens.tokenizer import BYTE_LEVEL, Tokenizer, bytes_of_drawing, steps
from relens.tokens.utf8_classes import class_decoder
from relens.tokens.whole_pretokens import WholePreTokens

#: The first lead byte of UTF-8 whose characters NFC may change: U+0300 is CC 80.
FIRST_UNSTABLE_BYTE = 0xCC


@dataclass(frozen=True, eq=False)
class ByteLevelTables:
    """Boundary table, pair test, what `ignore_merges` adds, and whether texts are normalized first.

    pre_tokenizer: the automaton that the table is made of, for cutting a single text.
    """

    pre_tokenizer: BoundaryAutomaton
    boundaries: BoundaryTable
    pairs: PairTest
    whole: WholePreTokens
    is_normalized: bool


_kept: weakref.WeakKeyDictionary[Tokenizer, ByteLevelTables | None] = weakref.WeakKeyDictionary()


def byte_level_tables(tokenizer: Tokenizer) -> ByteLevelTables | None:
    """The tables of a tokenizer, or None for one that the exact construction does not cover."""
    if tokenizer not in _kept:
        _kept[tokenizer] = _make_tables(tokenizer)
    return _kept[tokenizer]


def _make_tables(tokenizer: Tokenizer) -> ByteLevelTables | None:
    configuration = tokenizer.configuration
    model = configuration["model"]
    normalizers = [step["type"] for step in steps(configuration.get("normalizer"))]
    if tokenizer.family != BYTE_LEVEL or any(kind != "NFC" for kind in normalizers):
        return None
    if model.get("continuing_subword_prefix") or model.get("end_of_word_suffix"):
        return None
    boundaries = boundary_automaton(configuration.get("pre_tokenizer"))
    if boundaries is None:
        return None
    vocabulary = model["vocab"]
    merges = []
    for merge in model["merges"]:
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        if left in vocabulary and right in vocabulary and left + right in vocabulary:
            merges.append((vocabulary[left], vocabulary[right], vocabulary[left + right]))
    drawn = [bytes_of_drawing(token) for token in vocabulary]
    spelled: list[bytes | None] = [None] * tokenizer.size
    for token, data in zip(vocabulary.values(), drawn, strict=True):
        spelled[token] = data
    pairs = PairTest(spelled, merges)
    ignores_merges = bool(model.get("ignore_merges"))
    if ignores_merges and any(
        name in vocabulary and len(boundaries.pieces(name)) == 1 for name in tokenizer.special_tokens.values()
    ):
        return None  # a word of ordinary text would become a special token
    return ByteLevelTables(
        pre_tokenizer=boundaries,
        boundaries=BoundaryTable.of(boundaries, class_decoder(boundaries.class_edges, boundaries.class_ids)),
        pairs=pairs,
        whole=WholePreTokens(pairs, spelled if ignores_merges else []),
        is_normalized=bool(normalizers),
    )


def may_change(tables: ByteLevelTables, automaton: ByteAutomaton) -> bool:
    """Whether the normalizer could change some string of the language."""
    return tables.is_normalized and bool((automaton.transitions[:, FIRST_UNSTABLE_BYTE:] >= 0).any())


def may_contain(automaton: ByteAutomaton, text: str) -> bool:
    """Whether some string of the language has `text` in it."""
    states = np.arange(automaton.states)
    for byte in text.encode():
        states = automaton.transitions[states, byte]
        states = np.unique(states[states >= 0])
    return len(states) > 0
