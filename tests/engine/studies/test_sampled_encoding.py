"""Sampled tokens against the canonical encoding of their text."""

from __future__ import annotations

import random

from relens.studies.sampled_encoding import first_difference, sampled_encoding


def test_a_sample_in_other_tokens(byte_tokenizer):
    canonical = byte_tokenizer.encode("the cat sat")
    assert sampled_encoding(canonical, byte_tokenizer, False).is_canonical
    letters = [byte_tokenizer.encode(letter)[0] for letter in "cab"]
    other = [*byte_tokenizer.encode("the "), *letters]
    sample = sampled_encoding(other, byte_tokenizer, False)
    assert sample.is_compared
    assert not sample.is_canonical
    assert list(sample.canonical) == byte_tokenizer.encode("the cab")


def test_a_cut_is_no_fault_of_the_models(byte_tokenizer):
    canonical = byte_tokenizer.encode("the cat")
    half = byte_tokenizer.encode("é")[:1]
    blanks = byte_tokenizer.encode("\n") * 2
    for end in (half, blanks, [*blanks, *half]):
        sample = sampled_encoding([*canonical, *end], byte_tokenizer, False)
        assert sample.token_ids == tuple(canonical)
        assert sample.is_canonical


def test_tokens_without_a_text_are_not_compared(byte_tokenizer):
    half = byte_tokenizer.encode("é")[:1]
    for tokens in ([], half, [*half, *byte_tokenizer.encode("a")], byte_tokenizer.encode("\n")):
        assert not sampled_encoding(tokens, byte_tokenizer, False).is_compared
        assert not sampled_encoding(tokens, byte_tokenizer, False).is_canonical


def test_the_first_difference_spells_the_same_in_both(byte_tokenizer):
    source = random.Random(1)
    ids = {spelled: token for token, spelled in enumerate(byte_tokenizer.vocabulary.token_bytes) if spelled}
    seen = 0
    for _ in range(200):
        data, tokens, place = b"the cab sat, abab cat", [], 0
        while place < len(data):
            ends = [end for end in range(place + 1, len(data) + 1) if data[place:end] in ids]
            end = source.choice(ends)
            tokens.append(ids[data[place:end]])
            place = end
        sample = sampled_encoding(tokens, byte_tokenizer, False)
        difference = first_difference(sample, byte_tokenizer)
        assert (difference is None) == sample.is_canonical
        if difference is None:
            continue
        seen += 1
        sampled, canonical = (byte_tokenizer.decode_bytes(part) for part in (difference.sampled, difference.canonical))
        assert sampled == canonical
        assert difference.sampled != difference.canonical
        assert difference.sampled[0] != difference.canonical[0]
        begin = byte_tokenizer.decode_bytes(difference.before)
        assert begin + sampled in data
    assert seen > 100
