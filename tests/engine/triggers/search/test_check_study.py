"""Triggers checked by their words: the scores of the search, other scores for other words, and bad settings."""

from __future__ import annotations

import dataclasses
import json
import typing

import pytest
import torch

from relens.errors import ModelError, QueryError, RelensError
from relens.runs.specification import StudySpecification
from relens.studies.rows import rows_of
from relens.studies.study import Study, StudyContext, StudyRun
from relens.triggers.hits import HitType
from relens.triggers.model.model_list import model_folder
from relens.triggers.model.vocabulary import BEGIN, END_OF_UTTERANCE, PAD, UNKNOWN
from relens.triggers.search.check_study import MOST_PAIRS, MOST_WORDS, CheckedPair, TriggerCheckStudy
from relens.triggers.search.search_settings import SearchSettings
from relens.triggers.search.trigger_study import TriggerStudy
from tests.engine.triggers.conftest import random_seq2seq
from tests.engine.triggers.oracle import evaluate

CONTEXT = StudyContext(typing.cast("typing.Any", None))


@pytest.fixture(autouse=True)
def _toy(tmp_path, monkeypatch, dialogue_model):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RELENS_DEVICE", "cpu")
    dialogue_model.save(model_folder("toy"))


def scores(*pairs, **more):
    study = TriggerCheckStudy("toy", pairs, **more)
    rows = list(StudyRun(study, CONTEXT))
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    return rows_of(rows, "score"), study.verdict(rows)


def pair(input, target, log_probs=()):
    return CheckedPair(tuple(input.split()), tuple(target.split()), log_probs)


def test_the_triggers_of_a_search_are_verified():
    search = SearchSettings(shortlist=4, sweeps=1, restarts=2)
    search_study = TriggerStudy(model="toy", lists=("normal", "random"), count=2, normal="greedy", search=search)
    triggers = rows_of(list(StudyRun(search_study, CONTEXT)), "trigger")
    stored = [
        CheckedPair(tuple(row["input_tokens"]), tuple(row["target"]), tuple(row["token_log_probs"])) for row in triggers
    ]
    found, verdict = scores(*stored, fingerprint=triggers[0]["fingerprint"])
    for row, again in zip(triggers, found, strict=True):
        same = ("input_ids", "target_ids", "hits", "reply", "reply_ends", "thresholds", "fingerprint")
        assert [again[name] for name in same] == [row[name] for name in same]
        assert again["token_log_probs"] == pytest.approx(row["token_log_probs"], abs=1e-5)
        assert again["difference"] < 1e-5
        assert again["attention"] == row["attention"]
    assert verdict[0].startswith(f"Verified: scored anew in float32, {len(triggers)} of {len(triggers)}")


def test_scores_are_those_of_the_models(dialogue_model):
    (row,), verdict = scores(pair("word1 word9", "word2"))
    ids = dialogue_model.vocabulary.ids(["word1", "word9"])
    source = [PAD] * 3 + ids + [END_OF_UTTERANCE]
    assert row["input_ids"] == source
    target = [*dialogue_model.vocabulary.ids(["word2"]), 0]
    (score,) = evaluate(dialogue_model.seq2seq, dialogue_model.sentence_model, torch.tensor([source]), [target])
    assert row["token_log_probs"] == list(score.token_log_probs)
    for name, is_hit in row["hits"].items():
        assert is_hit == score.is_hit(HitType.called(name), dialogue_model.thresholds)
    assert (row["unknown"], row["left_out"], row["difference"], verdict) == ([], 0, None, ())


def test_attention_has_the_weights_of_the_model(dialogue_model):
    """Recomputed from its definition: the softmax over h_i . W q, where q is the decoder's state before."""
    (row,), _ = scores(pair("word1 word9", "word2 word3"))
    seq2seq = dialogue_model.seq2seq
    with torch.no_grad():
        states, _ = seq2seq.encoder(seq2seq.source_embedding(torch.tensor([row["input_ids"]])))
        before, carried = torch.zeros(8), None
        for weights, previous in zip(row["attention"], [BEGIN, *row["target_ids"][:-1]], strict=True):
            shares = torch.softmax(states[0] @ (seq2seq.query.weight @ before), dim=0)
            assert weights == pytest.approx(shares.tolist(), abs=1e-4)
            assert sum(weights) == pytest.approx(1.0, abs=1e-3)
            read = torch.cat([seq2seq.target_embedding.weight[previous], shares @ states[0]])
            output, carried = seq2seq.decoder(read[None, None], carried)
            before = output[0, 0]


def test_a_model_without_attention_says_so(dialogue_model):
    plain = random_seq2seq("last")
    configuration = dataclasses.replace(dialogue_model.configuration, seq2seq=plain.configuration)
    dataclasses.replace(dialogue_model, seq2seq=plain, configuration=configuration).save(model_folder("toy"))
    (row,), _ = scores(pair("word1 word9", "word2 word3"))
    assert row["attention"] is None


def test_wrong_numbers_are_not_verified():
    (row,), verdict = scores(pair("word1", "word2", (-0.5, -0.25)))
    assert row["difference"] == max(
        abs(one - other) for one, other in zip(row["token_log_probs"], (-0.5, -0.25), strict=True)
    )
    assert verdict[0].startswith("Not verified")


def test_words_that_are_read_otherwise_are_listed():
    (row,), verdict = scores(pair("zeppelin word1 nobody word2 <unk> word3 word4", "word2"), fingerprint="another")
    assert row["left_out"] == 2
    assert row["unknown"] == ["nobody"]
    assert row["input_ids"][0] == UNKNOWN
    assert not row["same_model"]
    assert any("'nobody'" in line for line in verdict)
    assert any("too long" in line for line in verdict)
    assert any("trained anew" in line for line in verdict)


@pytest.mark.parametrize(
    ("pairs", "more", "said"),
    [
        ((), {}, "nothing to check"),
        ((pair("", "word1"),), {}, "at least one word"),
        ((pair("<eou>", "word1"),), {}, "at least one word"),
        ((pair("word1", ""),), {}, "target has at least one word"),
        ((pair("word1 <s> word2", "word1"),), {}, "'<s>'"),
        ((pair("word1 <eou> word2", "word1"),), {}, "'<eou>'"),
        ((pair("word1", "word1", (-1.0,)),), {}, "as many log-probabilities"),
        ((pair("word1 " * (MOST_WORDS + 1), "word1"),), {}, "at most"),
        ((pair("word1", "w" * 200),), {}, "at most"),
        ((pair("word1", "word1"),) * (MOST_PAIRS + 1), {}, "“Pairs” must have at most 2,000, not 2,001"),
        ((pair("word1", "word1"),), {"hit_type": "o-sample-min-k0"}, "hit type"),
    ],
)
def test_bad_settings_are_refused(pairs, more, said):
    with pytest.raises(RelensError, match=said):
        TriggerCheckStudy("toy", pairs, **more).units()


def test_targets_and_models_that_are_not_there():
    with pytest.raises(QueryError, match="does not know"):
        scores(pair("word1", "nobody"))
    with pytest.raises(ModelError, match="no dialogue model called 'gone'"):
        list(StudyRun(TriggerCheckStudy("gone", (pair("word1", "word2"),)), CONTEXT))


def test_a_check_survives_json():
    study = TriggerCheckStudy("toy", (pair("word1", "word2", (-1.0, -2.0)),), "f")
    assert Study.from_json(json.loads(json.dumps(study.to_json()))) == study
    assert StudySpecification.from_json(StudySpecification("toy", study).to_json()).study == study
    assert dataclasses.replace(study, fingerprint="").units()[0].key == "all"
