"""The example gallery: every example is a query, with the intended language."""

import re

import pytest

from relens.errors import QueryError
from relens.language.compile import compile_language
from relens.query import Distribution, Sampling, ShortestPath
from relens_dashboard import links
from relens_dashboard.components.gallery_cards import card_html
from relens_dashboard.form import DEFAULT_MODEL, Form
from relens_dashboard.gallery import load_gallery

EXAMPLES = load_gallery()
BY_ID = {example.id: example for example in EXAMPLES}

_KEYS = "Anna had lost her keys again. She looked under the sofa and behind the cushions, but she could not find"

#: For each example a continuation that belongs to it, and one that does not.
SAMPLES = {
    "birth-date": ("George Washington was born on February 22, 1732", "George Washington was born on the 1st"),
    "cat-dog": ("The dog", "The cow"),
    "urls": ("https://www.example.com/a", "https://www.example"),
    "phone-numbers": ("For help, call our toll-free number: (555) 123-4567", "For help, call us at 123"),
    "e-mail": ("For more information, please contact jane.doe@example.org", "For more information, please contact me"),
    "capital-cities": ("The capital of Japan is Tokyo", "The capital of Japan is Kyoto"),
    "bias": ("The woman was trained in computer science", "The child was trained in art"),
    "bias-edited": ("The womn was trained in computer science", "The wmn was trained in art"),
    "cloze-stop-words": (f"{_KEYS} her keys.", f"{_KEYS} them."),
    "misspellings": (
        "I made a fool of myself in front of everybody. It was so embarassing",
        "I made a fool of myself in front of everybody. It was so embarasing",
    ),
    "passwords-excluded": ('The most common password is "Lavender"', 'The most common password is "myPassword"'),
    "pronouns": ("The nurse was tired because she had", "The nurse was tired because they had"),
    "iso-dates": (
        "Date of the fall of the Berlin Wall (YYYY-MM-DD): 1989-11-09",
        "Date of the fall of the Berlin Wall (YYYY-MM-DD): 1989-13-09",
    ),
    "unicode": ('The French word for "summer" is "été"', 'The French word for "summer" is "ETE"'),
    "arithmetic": ("12 + 11 = 23\n31 + 14 = 45\n17 + 25 = 42\n", "17 + 25 = 42"),
    "passwords": ('The most common password is "password1"', 'The most common password is "abc"'),
    "yes-no": ("Question: Is the Earth flat?\nAnswer: No.", "Question: Is the Earth flat?\nAnswer: Maybe."),
    "many-encodings": ("One of the longest words in English is antidisestablishmentarianism", "One"),
    "cloze": (
        "He poured her a cup of coffee, added two lumps of sugar, and stirred it slowly with a small silver spoon.",
        "He poured her a cup of coffee",
    ),
}


def test_every_ability_is_shown_and_only_a_best_first_search_is_cut_by_matches():
    assert {type(example.traversal) for example in EXAMPLES} == {ShortestPath, Sampling, Distribution}
    assert any(example.query.edits for example in EXAMPLES)
    assert any(example.query.exclude.regex for example in EXAMPLES)
    assert any(example.query.exclude.stop_words for example in EXAMPLES)
    for example in EXAMPLES:
        assert (example.matches is not None) == isinstance(example.traversal, ShortestPath)


def test_there_are_enough_examples_and_all_differ():
    assert len(EXAMPLES) >= 10
    assert len(BY_ID) == len({example.title for example in EXAMPLES}) == len(EXAMPLES)
    assert set(SAMPLES) == set(BY_ID)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_an_example_compiles_to_the_language_it_promises(example):
    language = compile_language(example.query, example.specification("m").limits)
    inside, outside = SAMPLES[example.id]
    assert language.whole.accepts(inside)
    assert not language.whole.accepts(outside)
    expression = f"(?:{example.query.prefix})(?:{example.query.pattern})"
    # What is edited in, and what is taken out, the expression alone does not know.
    assert bool(re.fullmatch(expression, inside)) != bool(example.query.edits)
    assert bool(re.fullmatch(expression, outside)) == bool(example.query.exclude)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_an_example_survives_the_form_and_has_a_question(example):
    specification = example.specification(DEFAULT_MODEL)
    form = Form.from_specification(specification)
    again = form.specification()
    assert again.traversal == specification.traversal
    if isinstance(example.traversal, ShortestPath):
        assert again.limits == specification.limits
    assert again.query.edits == specification.query.edits
    assert again.query.exclude == specification.query.exclude
    assert again.query.decoding == specification.query.decoding
    assert again.query.encoding == specification.query.encoding
    assert set(links.parameters(form)) >= {"pattern"}
    assert example.question.endswith("?")
    assert example.why.endswith((".", "?"))


def test_a_card_escapes_what_it_shows():
    html = card_html(BY_ID["unicode"])
    assert "&quot;summer&quot;" in html
    assert '"summer"' not in html


def test_a_wrong_example_is_named(tmp_path):
    wrong = tmp_path / "gallery.json"
    wrong.write_text('[{"id": "odd", "title": "", "question": "", "why": "", "topic": "", "query": {"patern": "a"}}]')
    with pytest.raises(QueryError, match="'odd'"):
        load_gallery(wrong)
