"""Canonical encodings of tokenizers that the exact construction does not cover: propose, then encode again.

A Unigram tokenizer picks the segmentation of greatest total score. Neighbouring tokens alone do not say whether `ca t`
is the one for `cat`, so the automaton here walks all encodings of the language and decides at the end: `confirm`
encodes the text once more and compares.

    ca t   final:   encode("cat") = [cat] != [ca, t]    refused
    cat    final:   encode("cat") = [cat]               confirmed

Where it is sound the walk is pruned. SentencePiece BPE merges like any other, only from characters and across the whole
text (or, with Metaspace, across what lies between two spaces); so by the lemma of `merges`, two neighbours that BPE
would not leave side by side stand in no encoding. Nothing of the kind holds for Unigram.

The accepted language is exact, but there may be dead ends: a search may walk into a beginning that no canonical
encoding continues, and learn it only at the end.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from relens.tokens.automaton import Arcs, TokenAutomaton
from relens.tokens.checked import CheckedAutomaton
from relens.tokens.merges import PairTest
from relens.tokens.tokenizer import SENTENCEPIECE, Tokenizer, steps

NO_TOKEN = -1
#: States whose pruned arcs are remembered.
REMEMBERED_STATES = 2048


class ReencodedAutomaton(CheckedAutomaton):
    """The walk of another automaton, with every acceptance checked against the tokenizer itself."""

    def __init__(self, proposed: TokenAutomaton, tokenizer: Tokenizer, continues: bool) -> None:
        super().__init__(proposed)
        self._tokenizer = tokenizer
        self._continues = continues

    def belongs(self, token_ids: Sequence[int]) -> bool:
        """Whether the tokenizer gives exactly these tokens for the text that they spell."""
        return self._tokenizer.is_canonical(token_ids, self._continues)


class PrunedAutomaton(TokenAutomaton):
    """The walk of another automaton without neighbours that the pair test refuses: states with their last token.

    never: tokens that stand in no encoding. untested: those that are let pass whatever is before them, because they are
    parts of a character or begin a new stretch. Both (size,).
    """

    may_have_dead_ends = True

    def __init__(
        self, walked: TokenAutomaton, pairs: PairTest, never: npt.NDArray[np.bool_], untested: npt.NDArray[np.bool_]
    ) -> None:
        self._walked = walked
        self._pairs = pairs
        self._never = never
        self._untested = untested
        self._states: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._arcs: dict[int, tuple[Arcs, npt.NDArray[np.intp]]] = {}
        self.start = self._number(walked.start, NO_TOKEN)

    def _number(self, state: int, last: int) -> int:
        key = (state, last if last != NO_TOKEN and self._pairs.is_canonical[last] else NO_TOKEN)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._states)
            self._states.append(key)
        return number

    def _kept(self, state: int) -> tuple[Arcs, npt.NDArray[np.intp]]:
        kept_arcs = self._arcs.get(state)
        if kept_arcs is None:
            walked, last = self._states[state]
            tokens, in_prefix = self._walked.arcs(walked)
            kept = ~self._never[tokens]
            if last != NO_TOKEN:
                tested = np.flatnonzero(kept & ~self._untested[tokens])
                kept[tested] = self._pairs.allowed_after(last, tokens[tested])
            kept_arcs = Arcs(tokens[kept], in_prefix[kept]), np.flatnonzero(kept)
            if len(self._arcs) >= REMEMBERED_STATES:
                self._arcs.pop(next(iter(self._arcs)))
            self._arcs[state] = kept_arcs
        return kept_arcs

    def arcs(self, state: int) -> Arcs:
        """The tokens that may be legal from `state`."""
        return self._kept(state)[0]

    def step(self, state: int, token: int) -> int:
        """The state after `token`, or -1."""
        walked, last = self._states[state]
        after = self._walked.step(walked, token)
        if after < 0 or self._never[token]:
            return -1
        is_tested = last != NO_TOKEN and not self._untested[token]
        return -1 if is_tested and not self._pairs.allows(last, token) else self._number(after, token)

    def destinations(self, state: int, at_least: int | None = None) -> npt.NDArray[np.int64]:
        """The states that the tokens of `arcs(state)` lead to, in the same order."""
        arcs, position = self._kept(state)
        after = self._walked.destinations(self._states[state][0])[position][:at_least]
        pairs = zip(after.tolist(), arcs.tokens.tolist(), strict=False)
        return np.array([self._number(target, token) for target, token in pairs], np.int64)

    def is_final(self, state: int) -> bool:
        """Whether the tokens so far spell a string of the language."""
        return self._walked.is_final(self._states[state][0])


_kept_pairs: weakref.WeakKeyDictionary[Tokenizer, PairTest | None] = weakref.WeakKeyDictionary()


def pruned(walked: TokenAutomaton, tokenizer: Tokenizer) -> TokenAutomaton:
    """`walked` pruned as far as that is sound for the tokenizer; itself where nothing can be said."""
    if tokenizer not in _kept_pairs:
        _kept_pairs[tokenizer] = _pair_test(tokenizer)
    pairs = _kept_pairs[tokenizer]
    if pairs is None:
        return walked
    spelled = [item or b"" for item in tokenizer.vocabulary.token_bytes]
    is_text = np.array([_is_text(item) for item in spelled])
    begins = np.array([item.startswith(b" ") for item in spelled]) & bool(tokenizer.configuration.get("pre_tokenizer"))
    return PrunedAutomaton(walked, pairs, never=is_text & ~pairs.is_canonical, untested=begins | ~is_text)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _pair_test(tokenizer: Tokenizer) -> PairTest | None:
    """The pair test of SentencePiece BPE whose text is merged as a whole, or cut by Metaspace alone."""
    configuration = tokenizer.configuration
    model = configuration["model"]
    is_known = tokenizer.family == SENTENCEPIECE and not tokenizer.text_tokens and not model.get("ignore_merges")
    if not is_known or any(step["type"] != "Metaspace" for step in steps(configuration.get("pre_tokenizer"))):
        return None
    if any(step["type"] not in ("Prepend", "Replace") for step in steps(configuration.get("normalizer"))):
        return None
    vocabulary = model["vocab"]
    merges = []
    for merge in model["merges"]:
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        if {left, right, left + right} <= vocabulary.keys():
            merges.append((vocabulary[left], vocabulary[right], vocabulary[left + right]))
    # A byte stands for itself only where its character has no token.
    spelled = list(tokenizer.vocabulary.token_bytes)
    for byte in range(128) if model.get("byte_fallback") else ():
        fallback = vocabulary.get(f"<0x{byte:02X}>")
        if fallback is not None and spelled.count(spelled[fallback]) > 1:
            spelled[fallback] = None
    return PairTest(spelled, merges, by_character=True)
