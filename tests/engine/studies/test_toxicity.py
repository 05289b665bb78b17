"""The study of toxicity on a tiny model, against strings and token sequences tried one by one."""

from __future__ import annotations

import json
from itertools import count, pairwise

import pytest
from rapidfuzz.distance import Levenshtein

from relens import Decoding, load_model
from relens.errors import QueryError
from relens.language.compile import compile_language
from relens.studies.masking import Masker
from relens.studies.rows import done_units, rows_of
from relens.studies.sentences import Sentence, find_sentences
from relens.studies.study import StudyContext, StudyRun
from relens.studies.toxicity import BASELINE, NO_PROMPT, VARIANTS, WIDEST, ToxicityStudy
from tests.engine.oracle import Oracle

pytestmark = pytest.mark.heavy

TEXT = "The cat sat on the mat. Dogs (sat) too! So the cats call the dog. A log on the mat. Mat."
INPUTS = find_sentences(TEXT, ["mat", "sat", "dog"]).sentences


@pytest.fixture(scope="module")
def tiny(tiny_model_folder):
    return load_model(str(tiny_model_folder), device="cpu", dtype="float32")


def study(**settings) -> ToxicityStudy:
    defaults = {"inputs": INPUTS, "words": ("mat", "sat", "dog"), "chunk": 2, "decoding": Decoding(top_k=40)}
    return ToxicityStudy(**{**defaults, **settings})


@pytest.fixture(scope="module")
def rows(tiny):
    return list(StudyRun(study(most_matches=30, unprompted_expansions=200), StudyContext(tiny)))


def test_the_units_are_chunks_of_inputs_for_each_mode():
    assert len(INPUTS) == 5
    assert [(unit.key, unit.label) for unit in study().units()] == [
        ("prompted 1", "prompted, inputs 1 to 2 of 5"),
        ("prompted 3", "prompted, inputs 3 to 4 of 5"),
        ("prompted 5", "prompted, inputs 5 to 5 of 5"),
        ("unprompted 1", "unprompted, inputs 1 to 2 of 5"),
        ("unprompted 3", "unprompted, inputs 3 to 4 of 5"),
        ("unprompted 5", "unprompted, inputs 5 to 5 of 5"),
    ]
    assert [unit.key for unit in study(modes=("unprompted",), chunk=10).units()] == ["unprompted 1"]


def test_each_input_has_an_answer_of_each_variant(rows):
    assert json.loads(json.dumps(rows)) == rows
    keys = {(row["mode"], row["variant"], row["input"]) for row in rows_of(rows, "answer")}
    assert keys == {
        (mode, variant.key, number)
        for mode, variants in VARIANTS.items()
        for variant in variants
        for number in range(1, len(INPUTS) + 1)
    }
    assert len(rows_of(rows, "answer")) == len(keys)
    for answer in rows_of(rows, "answer"):
        key = {name: answer[name] for name in ("mode", "variant", "input")}
        matches = [row for row in rows_of(rows, "match") if key.items() <= row.items()]
        assert len(matches) == answer["matches"] <= (1 if answer["mode"] == "prompted" else 30)
        assert answer["found"] is (
            True if matches else (None if answer["ended"] in ("expansions", NO_PROMPT) else False)
        )
        assert answer["first_text"] == (matches[0]["text"] if matches else None)
        assert [row["place"] for row in matches] == list(range(1, len(matches) + 1))
        ranks = [row["decoder_log_prob"] for row in matches]
        assert all(one >= other - 1e-5 for one, other in pairwise(ranks))


def test_an_input_that_begins_with_its_word_is_not_prompted(rows):
    without = [row for row in rows_of(rows, "answer") if row["mode"] == "prompted" and row["input"] == 5]
    assert {row["ended"] for row in without} == {NO_PROMPT}
    assert {row["found"] for row in without} == {None}
    assert {row["prompt"] for row in without} == {""}


def test_matches_are_allowed_by_their_variant(rows):
    for row in rows_of(rows, "match"):
        sentence = INPUTS[row["input"] - 1]
        wanted = sentence.continuation if row["mode"] == "prompted" else sentence.text
        variant = next(each for each in VARIANTS[row["mode"]] if each.key == row["variant"])
        distance = Levenshtein.distance(wanted, row["written"])
        assert distance == len(row["edits"]) <= variant.edits
        assert row["is_edited"] == bool(distance)
        assert row["is_canonical"] or "all" in variant.key
        assert row["text"] == (sentence.prompt if row["mode"] == "prompted" else "") + row["written"]


def test_masked_rows_and_a_masked_study_show_no_word(rows):
    masker = Masker(study().words)
    for shown in (list(masker.rows(rows)), list(masker.rows([study().to_json()]))):
        text = json.dumps(shown, ensure_ascii=False)
        assert "m··" in text
        assert not any(word in text for word in ("mat ", "mat.", 'mat"', " sat", "(sat", "dog"))
        assert "row" not in shown[0] or [row["row"] for row in shown] == [row["row"] for row in rows]


def legal(oracle: Oracle, given: list[int], tokens: list[int], top_k: int) -> bool:
    """Whether each token is among the k most likely, by a forward for each."""
    for place, token in enumerate(tokens):
        logits = oracle.row((*given, *tokens[:place]))
        if sum(bool(other > logits[token]) for other in logits) >= top_k:
            return False
    return True


@pytest.mark.parametrize("top_k", [5, 40, 150])
def test_the_baseline_is_the_canonical_encoding_under_the_rule(tiny, top_k):
    oracle = Oracle(tiny)
    found = rows_of(StudyRun(study(decoding=Decoding(top_k=top_k)), StudyContext(tiny)), "answer")
    seen = set()
    for row in (row for row in found if row["variant"] == BASELINE.key and row["ended"] != NO_PROMPT):
        sentence = INPUTS[row["input"] - 1]
        is_prompted = row["mode"] == "prompted"
        prompt = tiny.tokenizer.encode(sentence.prompt) if is_prompted else []
        text = sentence.continuation if is_prompted else sentence.text
        expected = legal(oracle, prompt, tiny.tokenizer.encode(text), top_k)
        assert row["found"] is expected
        seen.add(expected)
    assert seen == ({True, False} if top_k == 150 else seen)


def one_edit(text: str) -> set[str]:
    """All strings within one edit, printable ASCII, made the plain way."""
    printable = [chr(code) for code in range(32, 127)]
    made = {text}
    for place in range(len(text) + 1):
        before, after = text[:place], text[place:]
        made |= {before + character + after for character in printable}
        if after:
            made |= {before + after[1:]} | {before + character + after[1:] for character in printable}
    return made


def ways(oracle: Oracle, given: list[int], strings: set[str], top_k: int) -> set[tuple[int, ...]]:
    """Every token sequence for one of the strings within the rule, by trying the k most likely tokens at each place."""
    beginnings = {string[:end] for string in strings for end in range(len(string) + 1)}
    found: set[tuple[int, ...]] = set()

    def follow(tokens: tuple[int, ...]) -> None:
        text = oracle.model.tokenizer.decode(tokens)
        if text in strings:
            found.add(tokens)
        for token in oracle.row((*given, *tokens)).topk(top_k).indices.tolist():
            more = oracle.model.tokenizer.decode((*tokens, token))
            if token != oracle.model.end_of_text and len(more) > len(text) and more in beginnings:
                follow((*tokens, token))

    follow(())
    return found


@pytest.mark.parametrize("top_k", [60, 100])
def test_every_variant_against_trying_all_likely_tokens(tiny, top_k):
    oracle, tokenizer = Oracle(tiny), tiny.tokenizer
    inputs = (*INPUTS, *find_sentences("A dog. The sat.", ["dog", "sat"]).sentences)
    wide = study(inputs=inputs, decoding=Decoding(top_k=top_k), most_matches=10_000, unprompted_expansions=100_000)
    answers = rows_of(StudyRun(wide, StudyContext(tiny)), "answer")
    found = set()
    for row in (row for row in answers if row["ended"] != NO_PROMPT):
        sentence = inputs[row["input"] - 1]
        is_prompted = row["mode"] == "prompted"
        text = sentence.continuation if is_prompted else sentence.text
        prompt = tokenizer.encode(sentence.prompt) if is_prompted else []
        strings = one_edit(text) if "edits" in row["variant"] else {text}
        expected = ways(oracle, prompt, strings, top_k)
        if "canonical" in row["variant"]:
            expected = {tokens for tokens in expected if list(tokens) == tokenizer.encode(tokenizer.decode(tokens))}
        assert row["found"] is bool(expected)
        if not is_prompted:
            assert row["ended"] == "exhausted"
            assert row["matches"] == len(expected)
        found.add((row["mode"], row["found"]))
    assert len(found) >= 3


def test_a_wider_variant_has_the_matches_of_a_narrower_one(rows):
    found = {(row["mode"], row["variant"], row["input"]): row["found"] for row in rows_of(rows, "answer")}
    for mode, variants in VARIANTS.items():
        for wide in variants:
            for narrow in variants:
                if wide.widens(narrow):
                    for number in range(1, len(INPUTS) + 1):
                        if found[mode, narrow.key, number]:
                            assert found[mode, wide.key, number] is not False
    assert not BASELINE.widens(WIDEST)


def test_a_search_that_is_cut_says_so(tiny):
    found = rows_of(StudyRun(study(unprompted_expansions=1, modes=("unprompted",)), StudyContext(tiny)), "answer")
    cut = [row for row in found if row["ended"] == "expansions"]
    assert cut
    assert all(row["found"] is None for row in cut if not row["matches"])


@pytest.mark.parametrize("later", [0, 1, 2])  # whoever asks first whether to stop
def test_a_run_that_is_stopped_goes_on_with_the_same_rows(tiny, rows, later):
    def plain(rows):
        kept = [{name: value for name, value in row.items() if "log_prob" not in name} for row in rows]
        return sorted(kept, key=lambda row: json.dumps(row, sort_keys=True))

    same = study(most_matches=30, unprompted_expansions=200)
    looks = count()
    list(StudyRun(same, StudyContext(tiny, stop=lambda: next(looks) < 0)))
    half, again = next(looks) // 2, count()
    first = list(StudyRun(same, StudyContext(tiny, stop=lambda: next(again) > half + later)))
    assert all(row.get("ended") != "stopped" for row in first)
    done = done_units(first)
    assert 0 < len(done) < len(same.units())
    rest = list(StudyRun(same, StudyContext(tiny), finished=done))
    both = [*first, *rest]
    for kind in ("answer", "match"):
        assert plain(rows_of(both, kind)) == plain(rows_of(rows, kind))


def test_a_refused_query_is_an_answer(tiny):
    def refusing(query, limits):
        if query.edits:
            raise QueryError("Not today.")
        return compile_language(query, limits)

    found = rows_of(StudyRun(study(modes=("prompted",)), StudyContext(tiny, compiler=refusing)), "answer")
    refused = [row for row in found if row["error"]]
    assert len(refused) == 2 * 4
    assert {(row["error"], row["ended"], row["found"]) for row in refused} == {("Not today.", "refused", None)}


def test_the_study_survives_json_and_refuses_bad_settings():
    assert ToxicityStudy.from_json(json.loads(json.dumps(study().to_json()))) == study()
    assert len(ToxicityStudy().inputs) > 25
    for wrong, sentence in (
        ({"inputs": ()}, "No sentence of the text has one of the words."),
        ({"modes": ()}, "“Prompting” must have at least 1, not 0."),
        ({"modes": ("prompted", "prompted")}, "In “Prompting”, 'After a prompt' is there twice."),
        ({"chunk": 0}, "“Inputs in a unit” must be at least 1, not 0."),
        ({"most_matches": -1}, "“Matches of a sentence” must be at least 1, not -1."),
        (
            {"words": ("two words",)},
            "Word 1 of the list is not one word of letters and digits; put one word on each line.",
        ),
    ):
        with pytest.raises(QueryError) as caught:
            study(**wrong)
        assert caught.value.sentence == sentence


@pytest.mark.model
def test_the_real_model_finishes_a_plain_complaint():
    model = load_model("smollm2-135m", device="cpu", dtype="float32")
    inputs = (Sentence("You are such an idiot.", "idiot", 16), Sentence("I ate a jerk of bread.", "jerk", 8))
    found = rows_of(StudyRun(ToxicityStudy(inputs=inputs, most_matches=5), StudyContext(model)), "answer")
    oracle = Oracle(model)
    for row in found:
        if row["variant"] == BASELINE.key and row["mode"] == "prompted":
            sentence = inputs[row["input"] - 1]
            tokens = model.tokenizer.encode(sentence.continuation)
            assert row["found"] is legal(oracle, model.tokenizer.encode(sentence.prompt), tokens, 40)
    by_variant = {row["variant"]: row["found"] for row in found if row["input"] == 1 and row["mode"] == "prompted"}
    assert by_variant[WIDEST.key] is True
