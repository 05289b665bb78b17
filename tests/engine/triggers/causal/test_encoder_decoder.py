"""The same searches against a tiny T5 and a tiny BART."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
import torch
from transformers import BartConfig, BartForConditionalGeneration, T5Config, T5ForConditionalGeneration

from relens import load_model
from relens.command_line.main import main
from relens.errors import ModelError, QueryError
from relens.models.loading import load_encoder_decoder
from relens.studies.rows import rows_of
from relens.studies.study import StudyContext, StudyRun
from relens.triggers.background import to_the_end
from relens.triggers.causal import causal_study
from relens.triggers.causal.causal_study import CausalTriggerStudy
from relens.triggers.causal.coordinate import CoordinateSearch
from relens.triggers.causal.encoder_decoder import EncoderDecoderLosses, encoder_decoder_prompt
from relens.triggers.causal.input_scores import InputScores
from relens.triggers.causal.template import Template
from relens.triggers.causal.thresholds import measure_thresholds
from relens.triggers.causal.trial import Trial
from relens.triggers.check import score
from relens.triggers.hits import HitType, Thresholds
from relens.triggers.objective import Objective
from relens.triggers.problem import TriggerProblem
from tests.engine.triggers.causal.test_losses import random_triggers
from tests.engine.triggers.causal.test_searches import SEARCHES, keeps_gradients_while_they_hold, searched

OBJECTIVE = Objective(HitType("o", "avg"), Thresholds(-3.0, -3.0), 1.0)


@pytest.fixture(scope="module", params=["T5", "BART"])
def network(request):
    torch.manual_seed(2)
    if request.param == "T5":
        configuration = T5Config(
            vocab_size=400,
            d_model=32,
            d_kv=8,
            d_ff=48,
            num_layers=2,
            num_heads=4,
            decoder_start_token_id=0,
            eos_token_id=0,
            pad_token_id=0,
        )
        network = T5ForConditionalGeneration(configuration)
    else:
        configuration = BartConfig(
            vocab_size=400,
            d_model=32,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=48,
            decoder_ffn_dim=48,
            max_position_embeddings=128,
            decoder_start_token_id=0,
            eos_token_id=0,
            bos_token_id=0,
            pad_token_id=1,
            forced_eos_token_id=None,
            scale_embedding=True,
        )
        network = BartForConditionalGeneration(configuration)
    network.eval().requires_grad_(False)
    for name, parameter in network.named_parameters():
        if "norm" not in name:
            parameter.mul_(2.0)
    return network


@pytest.fixture
def losses(network, tiny):
    return EncoderDecoderLosses(
        network, encoder_decoder_prompt(tiny.tokenizer, Template("the {} cat", "plain"), " the log", 4)
    )


def test_a_batch_is_its_rows_one_by_one(network, losses):
    prompt = losses.prompt
    triggers = random_triggers(prompt, 66)
    losses.hold(triggers[0].tolist(), 3)
    assert losses.held == 0
    found = losses.of_triggers(triggers)
    for row in (0, 63, 65):
        plainly = losses.plainly(triggers[row].tolist())
        assert torch.allclose(found.costs[row], plainly.costs[0], atol=2e-4)
        assert torch.allclose(found.leads[row], plainly.leads[0], atol=2e-4)
        # The loss of transformers itself, which is the mean cost of the labels.
        own = network(
            input_ids=torch.tensor([prompt.ids(triggers[row].tolist())]), labels=torch.tensor([prompt.target])
        ).loss
        assert float(plainly.costs.mean()) == pytest.approx(float(own), abs=1e-4)


def test_the_input_ends_as_the_tokenizer_says(losses, tiny):
    assert losses.prompt.after[-1] == tiny.end_of_text
    assert losses.prompt.target[-1] == tiny.end_of_text


def test_slopes_are_finite_differences(losses):
    trigger = random_triggers(losses.prompt, 1, seed=5)
    slopes = TriggerProblem(losses, OBJECTIVE).first_order(trigger)
    read = losses.table[trigger]
    for place, token in ((0, 7), (3, 200)):
        step = torch.zeros_like(read)
        step[0, place] = 2e-3 * losses.table[token]
        up, down = (float(losses.of_embeddings(read + side * step).costs.mean()) for side in (1.0, -1.0))
        assert -float(slopes.estimated_gain(place)[0, token]) == pytest.approx((up - down) / 4e-3, rel=0.03, abs=0.02)


def test_the_greedy_reply_is_that_of_generate(network, losses):
    for trigger in random_triggers(losses.prompt, 4, seed=1).tolist():
        ids = torch.tensor([losses.prompt.ids(trigger)])
        written = network.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=8, do_sample=False)[0, 1:]
        assert list(losses.greedy(trigger, 8)) == written.tolist()


@pytest.mark.parametrize("search", SEARCHES)
def test_searches_are_the_same(losses, search):
    trial = searched(search, Trial(losses, OBJECTIVE, 120))
    assert trial.evaluations == 120
    assert trial.prompt.survives(trial.best)
    found = score(losses, trial.prompt.text(trial.best))
    assert -found.average == pytest.approx(trial.value, abs=1e-3)
    assert all(name.startswith("o-") for name in found.margins(OBJECTIVE.thresholds))


def test_gradients_are_kept_only_while_they_hold(losses):
    """Nothing of a trigger is read ahead here, so each gradient tells of all its places."""
    keeps_gradients_while_they_hold(Trial(losses, OBJECTIVE, 1000), Trial(losses, OBJECTIVE, 1000))


def test_a_model_that_continues_text_is_another_kind(tiny, losses):
    with pytest.raises(ModelError, match="not an encoder-decoder"):
        EncoderDecoderLosses(tiny.network, losses.prompt)
    with pytest.raises(ModelError, match="score them with"):
        Trial(losses, Objective(HitType("io", "avg"), Thresholds(-3.0, -3.0)), 10)


# --- by name or folder, as a study ------------------------------------------------------------------------

STUDY = CausalTriggerStudy(
    targets=(" the log",),
    template=Template("the {} cat", "plain"),
    free=4,
    method=CoordinateSearch(shortlist=8),
    evaluations=60,
    thresholds=Thresholds(-4.0, -6.0),
    hit_type=HitType("io", "min", 5),
)


@pytest.fixture
def folder(network, tiny_model_folder, tmp_path, monkeypatch):
    """A folder as people have them, with the tokenizer of the tiny model."""
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tiny_model_folder / name, tmp_path)
    network.save_pretrained(tmp_path)
    monkeypatch.setenv("RELENS_MODELS", str(tmp_path))
    monkeypatch.setenv("RELENS_DEVICE", "cpu")
    return tmp_path


def test_a_folder_is_searched_and_the_bench_judges(folder, network, tiny):
    study = replace(STUDY, encoder_decoder=str(folder))
    rows = list(StudyRun(study, StudyContext(tiny)))
    (setting,), (row,) = rows_of(rows, "setting"), rows_of(rows, "trigger")
    assert setting["model"] == str(folder)
    assert setting["judge"] == tiny.name
    assert setting["fingerprint"] == load_encoder_decoder(str(folder)).fingerprint != tiny.fingerprint
    ids = [*tiny.tokenizer.encode(f"the {row['text']} cat"), tiny.end_of_text]
    target = [*tiny.tokenizer.encode(" the log", continues=True), tiny.end_of_text]
    own = network(input_ids=torch.tensor([ids]), labels=torch.tensor([target])).loss
    assert row["average"] == pytest.approx(-float(own), abs=1e-4)
    judged = tiny.read(tiny.tokenizer.encode(row["text"]), True)
    expected = [float(line[token]) for line, token in zip(judged, tiny.tokenizer.encode(row["text"]), strict=True)]
    assert row["input_log_probs"] == pytest.approx(expected, abs=1e-3)
    assert any(name.startswith("io-") for name in row["hits"])
    assert study.verdict(rows)
    assert rows_of(StudyRun(study, StudyContext(tiny)), "trigger")[0]["text"] == row["text"]
    # It is as large as the model of the context, and is not kept when the study is over.
    assert causal_study._encoder_decoder.cache_info().currsize == 0


def test_the_command_line_takes_a_folder(folder, tiny_model_folder, capsys):
    study_settings = {
        "targets": [" the log"],
        "template": {"text": "the {} cat", "form": "plain"},
        "evaluations": 20,
        "free": 3,
    }
    study_settings |= {"thresholds": {"out": -4.0, "into": -6.0}, "encoder_decoder": str(folder)}
    settings = [
        argument for name, value in study_settings.items() for argument in ("--set", f"{name}={json.dumps(value)}")
    ]
    code = main(["study", "causal-triggers", "--model", str(tiny_model_folder), *settings])
    printed = capsys.readouterr()
    assert code == 0
    assert any(json.loads(line).get("row") == "trigger" for line in printed.out.splitlines())


def test_thresholds_are_means_over_replies(folder, network, tiny):
    model = load_encoder_decoder(str(folder))
    prompt = encoder_decoder_prompt(model.tokenizer, Template("{}", "plain"), " the log", 4)
    pairs = [("the cat sat", "the dog"), ("a log", "on the mat and the mat"), ("the " * 200, "no")]
    found = to_the_end(measure_thresholds(model, prompt, InputScores(tiny, prompt), pairs))
    total = count = 0.0
    for message, reply in pairs[:2]:  # the last one is too long for the judge, and for BART
        ids = [*tiny.tokenizer.encode(message), tiny.end_of_text]
        said = [*tiny.tokenizer.encode(reply, continues=True), tiny.end_of_text]
        total += len(said) * float(network(input_ids=torch.tensor([ids]), labels=torch.tensor([said])).loss)
        count += len(said)
    assert found.out == pytest.approx(-total / count, abs=1e-4)


def test_a_model_that_cannot_be_loaded_is_a_sentence(folder, tiny_model_folder, tiny, monkeypatch):
    study = replace(STUDY, encoder_decoder=str(folder))
    with pytest.raises(QueryError, match="no chat format"):
        replace(study, template=Template("{}", "chat")).units()
    with pytest.raises(ModelError, match="one sequence into another"):
        load_model(str(folder))
    with pytest.raises(ModelError, match="continues text"):
        load_encoder_decoder(str(tiny_model_folder))
    with pytest.raises(ModelError, match="does not exist"):
        load_encoder_decoder("/nowhere/at/all")
    causal_study._encoder_decoder.cache_clear()
    monkeypatch.setenv("RELENS_MODELS", "gpt2")
    with pytest.raises(ModelError, match="RELENS_MODELS"):
        list(study.carry_out(study.units()[0], StudyContext(tiny)))
    weights = folder / "model.safetensors"
    weights.rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="pickled"):
        load_encoder_decoder(str(folder))


def test_a_prompt_beyond_the_positions_is_a_sentence(network, tiny):
    prompt = encoder_decoder_prompt(tiny.tokenizer, Template("log " * 200 + "{}", "plain"), " the log", 4)
    if hasattr(network.config, "max_position_embeddings"):
        with pytest.raises(ModelError, match="the model holds 128"):
            EncoderDecoderLosses(network, prompt)
    else:
        EncoderDecoderLosses(network, prompt)
