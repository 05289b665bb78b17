"""The arcs that a decoder can take, against the model's distribution and a search."""

from __future__ import annotations

import json

import pytest
import torch

from relens import Decoding, Limits, Query, load_model, search
from relens.errors import LimitError, QueryError
from relens.studies.decoder_view import DecoderStudy, OpenPaths, WalkedPath
from relens.studies.rows import done_units
from relens.studies.study import Study, StudyContext, StudyRun


@pytest.fixture(scope="module")
def tiny(tiny_model_folder):
    return load_model(str(tiny_model_folder), device="cpu", dtype="float32")


def rows_for(study, model):
    return list(StudyRun(study, StudyContext(model)))


def test_each_path_has_the_models_own_distribution(tiny):
    study = DecoderStudy("The (cat|dog)s?", decoding=Decoding(top_k=60), paths=400)
    rows = rows_for(study, tiny)
    assert json.loads(json.dumps(rows)) == rows
    assert done_units(rows) == {"automaton"}
    assert [left.paths for left in OpenPaths.all_in(rows)] == [0]
    with torch.inference_mode():
        for path in WalkedPath.all_in(rows):
            context = torch.tensor([[tiny.begin_of_text, *path.tokens]])
            log_probs = torch.log_softmax(tiny.network(context).logits[0, -1].float(), -1)
            threshold = torch.topk(log_probs, 60).values[-1]
            for arc in path.arcs:
                assert arc.log_prob == pytest.approx(float(log_probs[arc.token]), abs=1e-4)
                assert arc.kept == bool(log_probs[arc.token] >= threshold)


def test_its_complete_paths_are_the_matches_of_a_search(tiny):
    decoding = Decoding(top_k=60)
    rows = rows_for(DecoderStudy("[a-z][a-z]?", decoding=decoding, paths=400), tiny)
    final = {path.tokens: path.log_prob for path in WalkedPath.all_in(rows) if path.final}
    matches = list(search(tiny, Query("[a-z][a-z]?", decoding=decoding), limits=Limits(seconds=60)))
    assert {match.token_ids for match in matches} == set(final) != set()
    for match in matches:
        assert final[match.token_ids] == pytest.approx(match.log_prob, abs=1e-3)


def test_the_likeliest_paths_come_first_and_the_others_are_counted(tiny):
    rows = rows_for(DecoderStudy("[a-z]{1,2}", decoding=Decoding(), paths=20), tiny)
    scores = [path.log_prob for path in WalkedPath.all_in(rows)]
    assert len(scores) == 20
    assert scores == sorted(scores, reverse=True)
    assert OpenPaths.all_in(rows)[0].paths > 0


def test_settings_without_meaning_and_automata_too_large_are_refused(tiny):
    with pytest.raises(QueryError, match="empty"):
        DecoderStudy("")
    with pytest.raises(QueryError, match="between 1 and"):
        DecoderStudy(paths=0)
    with pytest.raises(LimitError, match="this view takes at most"):
        rows_for(DecoderStudy("[ -~]{0,60}"), tiny)
    assert Study.from_json(DecoderStudy().to_json()) == DecoderStudy()
