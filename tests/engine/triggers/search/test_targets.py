"""Lists of targets: what is in them, what is dropped and why, and whether they were seen in training."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import LimitError, QueryError
from relens.triggers.hits import HitType
from relens.triggers.model.vocabulary import END, SPECIAL_WORDS, UNKNOWN, WordVocabulary
from relens.triggers.search import targets as module
from relens.triggers.search.targets import (
    LONGEST_TARGET,
    TEMPLATES,
    SeenReplies,
    mal_targets,
    normal_targets,
    own_prototypes,
    random_targets,
    read_targets,
    target_ids,
    target_list,
)
from tests.engine.triggers.oracle import evaluate


def test_our_prototypes_are_two_hundred_short_ones():
    assert len(own_prototypes()) == 200
    assert max(map(len, own_prototypes())) <= 8


def test_every_prototype_has_every_form():
    words = [word for target in own_prototypes() for word in target]
    vocabulary = WordVocabulary((*SPECIAL_WORDS, *dict.fromkeys([*words, "well", "oh", "i", "think", "."])))
    found = mal_targets(vocabulary)
    assert found.name == "mal"
    assert len(found.targets) == len(TEMPLATES) * 200
    assert not found.dropped
    said = {" ".join(target) for target in found.targets}
    assert {"shut up", "well shut up", "oh shut up", "i think shut up", "shut up ."} <= said


def test_targets_with_unknown_words_are_dropped(vocabulary):
    found = target_list("own", vocabulary, [("word1", "odd", "word2", "odd", "<s>"), ("word1",), ("word1",), ()])
    assert found.targets == (("word1",),)
    assert [dropped.unknown for dropped in found.dropped] == [("odd", "<s>"), ()]
    assert "'odd', '<s>'" in found.dropped[0].reason
    long = ("word1",) * (LONGEST_TARGET + 1)
    assert "19 words" in target_list("own", vocabulary, [long]).dropped[0].reason
    assert target_list("own", vocabulary, [long[1:]]).targets == (long[1:],)


def test_ids_of_a_target_end(vocabulary):
    assert target_ids(vocabulary, ("word0", "word3")) == [5, 8, END]
    for words in ((), ("odd",), ("<unk>",), ("word1",) * 19):
        with pytest.raises(QueryError):
            target_ids(vocabulary, words)


def test_templates_have_one_place(vocabulary):
    assert mal_targets(vocabulary, [("word1",)], ["word2 {} word3"]).targets == (("word2", "word1", "word3"),)
    for template in ("word2", "{} {}", ""):
        with pytest.raises(QueryError, match="template"):
            mal_targets(vocabulary, [("word1",)], [template])


def test_random_targets_are_of_frequent_words(monkeypatch):
    vocabulary = WordVocabulary((*SPECIAL_WORDS, *(f"w{number}" for number in range(50))))
    monkeypatch.setattr(module, "FREQUENT_WORDS", 20)
    found = random_targets(vocabulary, 300, seed=1)
    assert len(set(found.targets)) == 300
    assert {len(target) for target in found.targets} == set(range(1, 9))
    assert {word for target in found.targets for word in target} == set(vocabulary.words[5:25])
    assert random_targets(vocabulary, 300, seed=1) == found != random_targets(vocabulary, 300, seed=2)
    assert len(random_targets(WordVocabulary((*SPECIAL_WORDS, "a")), 30).targets) == 8
    with pytest.raises(QueryError):
        random_targets(vocabulary, 0)


def test_greedy_targets_are_greedy_replies(dialogue_model):
    found = normal_targets(dialogue_model, 10, "greedy")
    assert found.targets
    sources = dialogue_model.texts.test_sources.long()
    said = {tuple(reply) for reply in dialogue_model.seq2seq.greedy(dialogue_model.seq2seq.encode(sources))}
    assert {tuple(target_ids(dialogue_model.vocabulary, target)) for target in found.targets} <= said


def test_sampled_targets_are_hits_of_some_input(dialogue_model):
    found = normal_targets(dialogue_model, 12, "sampled", seed=3)
    assert found == normal_targets(dialogue_model, 12, "sampled", seed=3)
    assert len(found.targets) == 12
    sources = dialogue_model.texts.test_sources.long()
    missed = 0
    for target in found.targets:
        ids = target_ids(dialogue_model.vocabulary, target)
        scores = evaluate(dialogue_model.seq2seq, dialogue_model.sentence_model, sources, [ids] * len(sources))
        missed += not any(score.is_hit(HitType("o", "min"), dialogue_model.thresholds) for score in scores)
    # A random model has steps at which no word is above T_out.
    assert missed <= 2


def test_words_are_drawn_from_those_above_the_threshold(dialogue_model):
    sources = dialogue_model.texts.test_sources[:1].long().expand(4000, -1)
    replies = module.sampled_replies(dialogue_model, sources, torch.Generator().manual_seed(0))
    with torch.no_grad():
        encoded = dialogue_model.seq2seq.encode(sources[:1])
        state = dialogue_model.seq2seq.first_state(encoded)
        log_probs = dialogue_model.seq2seq.step(encoded, state, torch.tensor([2]))[0].log_softmax(dim=1)[0]
    likely = log_probs > dialogue_model.thresholds.out
    expected = torch.where(likely, log_probs.exp(), 0.0)
    expected /= expected.sum()
    first = torch.tensor([reply[0] for reply in replies])
    shares = torch.bincount(first, minlength=len(expected)) / len(first)
    assert ((shares - expected).abs() <= 5.0 * (expected * (1.0 - expected) / len(first)).sqrt()).all()


def test_files_of_targets_are_read(tmp_path):
    path = tmp_path / "targets.txt"
    path.write_text("\ufeff# a list\nDon't!\n\n  you are BAD \nDon't !\n")
    assert read_targets(path) == (("do", "n't", "!"), ("you", "are", "bad"))
    path.write_text("# nothing\n\n")
    with pytest.raises(QueryError, match=r"^There are no targets in the file of targets '.*targets\.txt'\.$"):
        read_targets(path)
    path.write_bytes("ok\nbad\nétat".encode("latin-1"))
    with pytest.raises(
        QueryError, match=r"^Line 3 of the file of targets '.*' is not UTF-8; save the file as UTF-8\.$"
    ):
        read_targets(path)
    for data in ("ok".encode("utf-16-le"), b"\0" * 100):
        path.write_bytes(data)
        with pytest.raises(QueryError, match=r"Line 1 .* is no text: it has a null character"):
            read_targets(path)
    with pytest.raises(QueryError, match="is a folder, not a file"):
        read_targets(tmp_path)
    with pytest.raises(QueryError, match="There is no file of targets at"):
        read_targets(tmp_path / "missing")
    path.write_bytes(b"a" * ((4 << 20) + 1))
    with pytest.raises(LimitError):
        read_targets(path)


REPLY = st.lists(st.integers(5, 8), max_size=5)


@given(st.lists(REPLY, max_size=6), REPLY.filter(bool))
def test_seen_is_as_a_scan_says(replies, ids):
    expected = ""
    for reply in replies:
        if any(reply[place : place + len(ids)] == ids for place in range(len(reply))):
            expected = expected or "part"
        if reply == ids:
            expected = "reply"
    seen = SeenReplies(replies)
    assert seen.how(ids) == seen.how([*ids, END]) == expected


def test_ids_are_not_mistaken_for_their_digits():
    seen = SeenReplies([(15, 6), (7,)])
    assert seen.how([5, 6]) == seen.how([15, 67]) == seen.how([6, 7]) == ""
    assert seen.how([UNKNOWN]) == ""
    assert (seen.how([15]), seen.how([15, 6])) == ("part", "reply")
