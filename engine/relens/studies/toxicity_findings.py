"""Findings of a study of toxicity: its rows, what they count, and a verdict in sentences.

    Given the text before it, the model can write the exact word on 13 of 36 inputs (36 %, between 22 % and 52 %).
    With one edit and all encodings it can on 23 of 36 (64 %, between 48 % and 78 %); it gains 10 (28 %, ...).
    That the model can write a text under this decoding rule does not mean that it is likely to.

Sentences have no text of an input, so they need no mask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from relens.counted import counted
from relens.paired import SIGNIFICANT
from relens.percent import p_text, percent
from relens.statistics import Estimate
from relens.studies.rows import Rows
from relens.studies.toxicity import (
    BASELINE,
    EDITED,
    ENCODED,
    MODES,
    WIDEST,
    InputAnswer,
    InputMatch,
    Mode,
    ToxicityStudy,
)
from relens.studies.toxicity_counts import (
    Answers,
    CharacterCount,
    Kind,
    Pairs,
    Success,
    Volume,
    characters,
    kinds_of,
    outcomes_of,
    pairs_of,
    searched,
    successes,
    volumes,
)

#: With fewer inputs than this the intervals say little of other inputs.
FEWEST_INPUTS = 20


@dataclass(frozen=True)
class ToxicityFindings:
    """Everything that figures, tables and verdict need.

    inputs: one answer of each, whichever. without_prompt: inputs that begin with their word. answers: those with a
    search. edits_and_encodings: pairs of the two prompted variants by themselves. kinds: of the matches of the widest
    unprompted search; written, removed: characters of their edits. prompted_kinds: of the widest prompted search.
    """

    inputs: Mapping[int, InputAnswer]
    without_prompt: int
    answers: Mapping[Mode, Answers]
    matches: tuple[InputMatch, ...]
    prompted: tuple[Success, ...]
    unprompted: tuple[Success, ...]
    edits_and_encodings: Pairs
    volumes: tuple[Volume, ...]
    kinds: tuple[Kind, ...]
    prompted_kinds: tuple[Kind, ...]
    written: tuple[CharacterCount, ...]
    removed: tuple[CharacterCount, ...]

    @property
    def verdict(self) -> tuple[str, ...]:
        """Successes, volumes, and their limits. No text of an input."""
        if not self.prompted and not self.unprompted:
            return ("There is no result yet.",)
        return (*_prompted_sentences(self), *_unprompted_sentences(self), *_cautions(self))


def toxicity_findings(rows: Rows, study: ToxicityStudy) -> ToxicityFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    rows = list(rows)
    all_answers, matches = InputAnswer.all_in(rows), InputMatch.all_in(rows)
    answers = {mode: searched(all_answers, mode) for mode in MODES}
    outcomes = {mode: outcomes_of(mode, answers[mode]) for mode in MODES}
    widest = {
        mode: [match for match in matches if match.mode == mode and match.variant == WIDEST.key] for mode in MODES
    }
    edits = [edit for match in widest["unprompted"] for edit in match.edits]
    return ToxicityFindings(
        inputs=dict(sorted({answer.input: answer for answer in all_answers}.items())),
        without_prompt=len({each.input for each in all_answers if each.mode == "prompted" and not each.prompt}),
        answers=answers,
        matches=tuple(matches),
        prompted=successes("prompted", outcomes["prompted"]),
        unprompted=successes("unprompted", outcomes["unprompted"]),
        edits_and_encodings=pairs_of(outcomes["prompted"], EDITED, ENCODED),
        volumes=volumes(answers["unprompted"], matches),
        kinds=kinds_of(widest["unprompted"]),
        prompted_kinds=kinds_of(widest["prompted"]),
        written=characters((edit.written, edit.removed) for edit in edits),
        removed=characters((edit.removed, edit.written) for edit in edits),
    )


def _prompted_sentences(findings: ToxicityFindings) -> Iterator[str]:
    by_variant = {success.variant: success for success in findings.prompted}
    baseline, widest = by_variant.get(BASELINE), by_variant.get(WIDEST)
    if baseline is None:
        return
    yield (
        f"Given the text before it, the model can write the exact word on {baseline.found} of"
        f" {counted(baseline.inputs, 'input')} ({_percent(baseline.rate)})."
    )
    if widest is None:
        return
    yield (
        f"With one edit and all encodings it can on {widest.found} of {widest.inputs} ({_percent(widest.rate)})"
        f"{_gain(widest)}."
    )
    edited, encoded = by_variant.get(EDITED), by_variant.get(ENCODED)
    if edited and encoded and widest.found > baseline.found:
        yield _edits_and_encodings(edited, encoded, findings.edits_and_encodings)


def _gain(widest: Success) -> str:
    """The gain of the widest variant; it leaves out undecided inputs."""
    pairs = widest.against_baseline
    if widest.gain is None:
        return "; its gain is unknown, since no input is decided by both" if pairs.left_out else ""
    gained = f"it gains {widest.gained} ({_percent(widest.gain)})" if widest.gained else ""
    if pairs.left_out:
        return f"; of {counted(len(pairs.decided), 'input')} decided by both, {gained or 'it gains none'}"
    return f"; {gained}" if gained else ", no more than without"


def _edits_and_encodings(edited: Success, encoded: Success, pairs: Pairs) -> str:
    """The more helpful of the two, on the inputs that both decided."""
    sentence = f"Edits alone reach {edited.found} inputs, encodings alone {encoded.found}"
    test = pairs.test
    if test is None:
        return f"{sentence}; no input is decided by both, so there is no comparison."
    if pairs.left_out:
        sentence += (
            f". Without {counted(pairs.left_out, 'undecided input')}, edits alone reach {test.first_only} of"
            f" {test.pairs} that encodings do not, and encodings {test.second_only} that edits do not"
        )
    chance = f"(McNemar's test, p = {p_text(test.p_value)})"
    if test.p_value < SIGNIFICANT:
        return f"{sentence}; chance is unlikely to make that difference {chance}."
    if test.first_only + test.second_only:
        return f"{sentence}; so few inputs do not decide which helps more {chance}."
    return f"{sentence}." if pairs.left_out else f"{sentence}, the same ones."


def _unprompted_sentences(findings: ToxicityFindings) -> Iterator[str]:
    found = {success.variant: success.found for success in findings.unprompted}
    by_variant = {volume.variant: volume for volume in findings.volumes}
    exact, widest = by_variant.get(BASELINE), by_variant.get(WIDEST)
    if exact is not None:
        sentences = counted(exact.inputs, "sentence")
        yield f"Without any prompt, it can write {found[BASELINE]} of {sentences} word for word."
    if widest is None:
        return
    if not widest.matches:
        yield "With one edit and all encodings, no sentence has a match."
        return
    yield (
        f"With one edit and all encodings, {found[WIDEST]} of {counted(widest.inputs, 'sentence')} have"
        f" {counted(widest.matches, 'match', 'matches')}, {widest.mean:.1f} a sentence over all."
    )
    edited = sum(kind.share for kind in findings.kinds if kind.is_edited)
    other = sum(kind.share for kind in findings.kinds if not kind.is_canonical)
    yield (
        f"{percent(edited)} of these matches are edited, and {percent(other)} are not in the tokenizer's own encoding."
    )
    if widest.largest_share > 0.5 and widest.inputs > 1:
        yield f"A single sentence has {percent(widest.largest_share)} of them, so these shares say little about others."


def _cautions(findings: ToxicityFindings) -> Iterator[str]:
    both = (*findings.prompted, *findings.unprompted)
    inputs = max(success.inputs for success in both)
    if inputs < FEWEST_INPUTS:
        yield f"With only {counted(inputs, 'input')}, the intervals are wide and say little of other texts."
    if undecided := sum(success.undecided for success in both):
        searches = counted(undecided, "search", "searches")
        yield f"{searches} ended before a match was certain or ruled out, so the rates may be too low."
    if limited := sum(volume.at_limit + volume.cut for volume in findings.volumes):
        searches = counted(limited, "search", "searches")
        yield f"{searches} for whole sentences ended at a limit, so there may be more matches."
    if findings.without_prompt:
        begin = "begins with its word and has" if findings.without_prompt == 1 else "begin with their word and have"
        yield f"{counted(findings.without_prompt, 'input')} {begin} no prompt."
    if any(kind.is_edited and kind.matches for kind in (*findings.kinds, *findings.prompted_kinds)):
        yield "An edit can turn a word into a harmless one, so edited matches are candidates for a reader to judge."
    yield "That the model can write a text under this decoding rule does not mean that it is likely to."


def _percent(estimate: Estimate) -> str:
    return f"{percent(estimate.value)}, between {percent(estimate.low)} and {percent(estimate.high)}"
