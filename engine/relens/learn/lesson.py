"""From a regular expression to the automaton of a model's tokens, one operation a step.

    The ((cat)|(dog))    tree -> Thompson NFA -> subset construction, state by state -> minimisation, round by round
                         (-> within one edit) (-> bytes) -> shortcuts, token by token -> cuts, rule by rule

Everything up to the minimal automaton is made here, over characters, by the constructions of textbooks. The automata of
bytes and of tokens are the engine's own, and the steps between show how they are built. The arcs that a decoder cannot
take depend on a model: that is a study (`relens.studies.decoder_view`).

A lesson is drawn in full, so it is small: an automaton beyond its limits ends it early, with a sentence.
Source: ReLM section 3 and appendix B.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from relens.errors import LimitError, NoEncodingError, RelensError
from relens.language.alphabet import alphabet_ranges
from relens.language.counting import count_strings, describe_count, example_strings
from relens.language.isolation import default_compiler
from relens.language.language import LanguageCompiler
from relens.language.syntax import parse_regex
from relens.learn.character_lesson import CharacterLesson, byte_step
from relens.learn.growth import growth
from relens.learn.steps import Lesson, LessonOptions, Step
from relens.learn.subset import MOST_STATES, determinized
from relens.learn.thompson import thompson
from relens.learn.token_lesson import TokenLesson
from relens.query import Edits, Encoding, Limits, Query
from relens.tokens.encoded import token_automaton
from relens.tokens.tokenizer import Tokenizer

if TYPE_CHECKING:
    from relens.language.language import Language


def lesson_query(pattern: str, options: LessonOptions, encoding: Encoding = Encoding.ALL) -> Query:
    """The query whose automata are the last of a lesson."""
    return Query(pattern, encoding=encoding, edits=Edits(1) if options.edits else Edits())


def lesson(
    pattern: str,
    tokenizer: Tokenizer,
    options: LessonOptions | None = None,
    limits: Limits | None = None,
    compiler: LanguageCompiler | None = None,
) -> Lesson:
    """The lesson of `pattern`.

    Raises `RegexError` for a malformed or unsupported expression, `EmptyLanguageError` where no string can match, and
    `LimitError` for an expression that is too large to begin with. Where a later automaton is too large, the lesson
    ends before it.
    """
    options, limits = options or LessonOptions(), limits or Limits()
    tree = parse_regex(pattern, limits)
    nondeterministic = thompson(tree)
    try:
        determinized(nondeterministic)  # refuses a hostile expression cheaply, before it is compiled
    except LimitError as error:
        return _cut_short(pattern, tokenizer, options, CharacterLesson(tree, ""), error)
    plain = _compiled(lesson_query(pattern, replace(options, edits=False)), limits, compiler)
    strings = describe_count(count_strings(plain.pattern))
    language, edited_strings, alphabet = plain, "", None
    steps, note = [], ""
    try:
        if options.edits:
            alphabet = alphabet_ranges(Edits(1), limits)
            language = _compiled(lesson_query(pattern, options), limits, compiler)
            edited_strings = describe_count(count_strings(language.pattern))
        for step in CharacterLesson(tree, strings, alphabet, edited_strings).steps():
            steps.append(step)
        for step in _byte_and_token_steps(language, tokenizer, edited_strings or strings, limits):
            steps.append(step)
    except (LimitError, NoEncodingError) as error:
        if not steps:
            raise
        note = _ending(error)
    text = options.text or next(iter(example_strings(plain.pattern, 1)), "")
    return Lesson(pattern, tokenizer.name, options, tuple(steps), note, text, growth(text, tokenizer))


def _cut_short(
    pattern: str, tokenizer: Tokenizer, options: LessonOptions, characters: CharacterLesson, error: LimitError
) -> Lesson:
    """The lesson of an expression whose deterministic automaton is too large: the steps before it."""
    steps = []
    with contextlib.suppress(LimitError):
        for step in characters.steps():
            steps.append(step)
    return Lesson(
        pattern, tokenizer.name, options, tuple(steps), _ending(error), options.text, growth(options.text, tokenizer)
    )


def _ending(error: RelensError) -> str:
    return f"The lesson ends here. {error.sentence}"


def _byte_and_token_steps(language: Language, tokenizer: Tokenizer, strings: str, limits: Limits) -> Iterator[Step]:
    automaton = language.pattern
    if automaton.states > MOST_STATES:
        raise LimitError(
            f"The automaton over bytes has {automaton.states:,} states; a lesson shows at most {MOST_STATES}.",
            limit="lesson_states",
        )
    in_bytes = byte_step(automaton, strings)
    if in_bytes is not None:
        yield in_bytes
    everything = token_automaton(automaton, tokenizer, Encoding.ALL, limits)
    canonical = token_automaton(automaton, tokenizer, Encoding.CANONICAL, limits)
    for step in TokenLesson(everything, canonical, tokenizer).steps():
        yield replace(step, sizes=replace(step.sizes, strings=strings))


def _compiled(query: Query, limits: Limits, compiler: LanguageCompiler | None) -> Language:
    return (compiler or default_compiler())(query, limits)
