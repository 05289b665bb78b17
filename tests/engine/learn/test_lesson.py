"""Whole lessons: each picture against the engine's automata, the tokenizer and brute force."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import EmptyLanguageError, LimitError, RegexError
from relens.language.compile import compile_regex
from relens.learn.cuts import CutReasons
from relens.learn.growth import LONGEST_TEXT, growth
from relens.learn.jobs import lesson_job
from relens.learn.lesson import lesson, lesson_query
from relens.learn.steps import STAGES, Lesson, LessonOptions
from relens.pictures.labels import tokens_label
from relens.query import Encoding, Limits
from relens.runs.learning import LESSON_LIMITS, Lessons
from relens.tokens.compiled import compile_query
from relens.tokens.encoded import token_automaton
from tests.engine.learn.languages import PATTERNS

EDITED = LessonOptions(edits=True)


def step(made: Lesson, key: str):
    (only,) = [step for step in made.steps if step.key == key]
    return only


def last(made: Lesson, stage: str):
    return [step for step in made.steps if step.stage == stage][-1]


def arcs_of(automaton, tokenizer):
    """(source, label, target) of a token automaton, parallel arcs under one label, and its states breadth first."""
    order, arcs = [automaton.start], []
    for state in order:  # which grows meanwhile
        parallel = {}
        tokens = automaton.arcs(state).tokens.tolist()
        for token, target in zip(tokens, automaton.destinations(state).tolist(), strict=True):
            parallel.setdefault(target, []).append(token)
        arcs += [(state, tokens_label(sorted(each), tokenizer), target) for target, each in parallel.items()]
        order += [target for target in parallel if target not in order]
    return arcs, order


def drawn_arcs(graph):
    """The same of a drawing."""
    return [(arc.source, arc.label, arc.target) for arc in graph.arcs]


def ends(marks):
    return {(mark.source, mark.target) for mark in marks}


def is_isomorphic(graph, automaton, tokenizer):
    """Whether the drawing has the automaton's arcs and final states, up to the names of states."""
    arcs, order = arcs_of(automaton, tokenizer)
    drawn = drawn_arcs(graph)
    name = {graph.start: automaton.start}
    waiting = [graph.start]
    while waiting:
        state = waiting.pop()
        mine = sorted((label, target) for source, label, target in drawn if source == state)
        theirs = sorted((label, target) for source, label, target in arcs if source == name[state])
        if [label for label, _ in mine] != [label for label, _ in theirs]:
            return False
        for (_, target), (_, its) in zip(mine, theirs, strict=True):
            if target not in name:
                name[target] = its
                waiting.append(target)
            if name[target] != its:
                return False
    return (
        len(drawn) == len(arcs)
        and len(set(name.values())) == len(order)
        and {name[state] for state in graph.finals} == {state for state in order if automaton.is_final(state)}
    )


@pytest.fixture(scope="module", params=PATTERNS)
def pattern(request):
    return request.param


class TestLastSteps:
    def test_are_the_engines_automata_arc_by_arc(self, pattern, byte_tokenizer):
        made = lesson(pattern, byte_tokenizer)
        automaton = compile_regex(pattern)
        for stage, encoding in (("tokens", Encoding.ALL), ("canonical", Encoding.CANONICAL)):
            engines = token_automaton(automaton, byte_tokenizer, encoding, Limits())
            assert is_isomorphic(last(made, stage).graph, engines, byte_tokenizer), stage

    @pytest.mark.parametrize("pattern", ["The ((cat)|(dog))", "caf(é|e)s?", "I'm (sure|fine)", "cab|ab"])
    def test_are_those_of_a_compiled_query(self, pattern, byte_tokenizer):
        made = lesson(pattern, byte_tokenizer)
        for stage, encoding in (("tokens", Encoding.ALL), ("canonical", Encoding.CANONICAL)):
            query = lesson_query(pattern, LessonOptions(), encoding)
            compiled = compile_query(query, byte_tokenizer)
            assert is_isomorphic(last(made, stage).graph, compiled.automaton, byte_tokenizer)
        others = compile_query(lesson_query(pattern, LessonOptions()), byte_tokenizer).automaton
        assert not is_isomorphic(last(made, "canonical").graph, others, byte_tokenizer)

    def test_within_one_edit(self, byte_tokenizer):
        made = lesson("cab", byte_tokenizer, LessonOptions(edits=True))
        compiled = compile_query(lesson_query("cab", EDITED), byte_tokenizer)
        marked = last(made, "tokens")
        assert marked.sizes.states == compiled.sizes.token_states
        assert marked.sizes.arcs == compiled.sizes.token_arcs
        assert last(made, "edits").sizes.strings == f"{compiled.sizes.strings:,}"


class TestShortcuts:
    def test_one_token_a_step_wherever_its_bytes_can_be_walked(self, pattern, byte_tokenizer):
        automaton = compile_regex(pattern)
        steps = [each for each in lesson(pattern, byte_tokenizer).steps if each.stage == "tokens"]
        assert sum(arc.count for arc in steps[0].graph.arcs) == automaton.arcs
        shown = automaton.arcs
        for each in steps[1:]:
            token = int(each.key.removeprefix("tokens-"))
            data = byte_tokenizer.vocabulary[token]
            ways = [(state, automaton.run(data, state)) for state in range(automaton.states)]
            walked = {(state, target) for state, target in ways if target >= 0}
            assert ends(mark for mark in each.arcs if mark.style == "new") == walked != set()
            shown += len(walked)
            assert sum(arc.count for arc in each.graph.arcs) == each.sizes.arcs == shown
        everything = token_automaton(automaton, byte_tokenizer, Encoding.ALL, Limits())
        assert shown == everything.arc_count

    def test_encodings_are_counted(self, byte_tokenizer):
        made = lesson("(ab|a)(c|bcd)?", byte_tokenizer)
        spelled = [data for data in byte_tokenizer.vocabulary.token_bytes if data]

        def ways(text):
            return 1 if not text else sum(ways(text[len(data) :]) for data in spelled if text.startswith(data))

        texts = {a + b for a, b in itertools.product([b"ab", b"a"], [b"", b"c", b"bcd"])}
        assert last(made, "tokens").sizes.encodings == str(sum(map(ways, texts)))
        assert last(made, "canonical").sizes.encodings == last(made, "canonical").sizes.strings == str(len(texts))
        assert last(lesson("a*", byte_tokenizer), "tokens").sizes.encodings == "infinitely many"


class TestCuts:
    def test_cut_arcs_are_on_no_canonical_encoding_and_the_others_are(self, byte_tokenizer):
        some = False
        for pattern, texts in {
            "The ((cat)|(dog))": ["The cat", "The dog"],
            "I'm (sure|fine)": ["I'm sure", "I'm fine"],
            "caf(é|e)s?": ["café", "cafés", "cafe", "cafes"],
        }.items():
            automaton = compile_regex(pattern)
            used = set()
            for text in texts:
                state = 0
                for token in byte_tokenizer.encode(text):
                    ahead = automaton.run(byte_tokenizer.vocabulary[token], state)
                    used.add((state, ahead))
                    state = ahead
            made = lesson(pattern, byte_tokenizer)
            cuts = [each for each in made.steps if each.stage == "canonical"][:-1]
            marked = ends(mark for each in cuts for mark in each.arcs if mark.style == "cut")
            assert marked == ends(last(made, "tokens").graph.arcs) - used
            assert all(mark.note for each in cuts for mark in each.arcs if mark.style == "cut")
            left = [arc.count for arc in last(made, "tokens").graph.arcs if (arc.source, arc.target) in used]
            assert not cuts or cuts[-1].sizes.arcs == sum(left)
            some |= bool(cuts)
        assert some

    def test_the_named_merge_is_the_first_of_the_tokenizer_to_cross_a_border(self, byte_tokenizer):
        merges = [tuple(merge) if isinstance(merge, list) else tuple(merge.split(" "))
                  for merge in byte_tokenizer.configuration["model"]["merges"]]  # fmt: skip
        ranks = {tuple(part.replace("Ġ", " ").encode() for part in merge): rank for rank, merge in enumerate(merges)}
        reasons = CutReasons(byte_tokenizer)
        for text in ("abcab", "thecat", "cabab", "abab"):  # one pre-token each
            data = text.encode()
            pieces, crossing = [data[place : place + 1] for place in range(len(data))], []
            while True:
                possible = [
                    (ranks[pair], place) for place, pair in enumerate(itertools.pairwise(pieces)) if pair in ranks
                ]
                if not possible:
                    break
                rank, place = min(possible)
                begin = sum(map(len, pieces[:place]))
                crossing.append((rank, begin, begin + len(pieces[place]) + len(pieces[place + 1])))
                pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]
            ends = set(itertools.accumulate(map(len, pieces), initial=0))
            for begin, end in itertools.combinations(range(len(data) + 1), 2):
                reason = reasons.reason(text, begin, end)
                first = next((rank for rank, low, high in crossing if low < begin < high or low < end < high), None)
                if first is not None:
                    assert (reason.kind, reason.rank) == ("merge", first)
                    assert f"Merge {first}" in reason.sentence
                else:
                    assert reason.kind == "unmade"
                    assert {begin, end} <= ends

    def test_a_boundary_is_named(self, byte_tokenizer):
        reason = CutReasons(byte_tokenizer).reason("the cat", 2, 5)
        assert (reason.kind, reason.rank) == ("boundary", -1)
        assert "between “e” and “␣c”" in reason.sentence

    def test_the_reason_of_another_kind_of_tokenizer_is_its_encoding(self, word_piece):
        made = lesson("ab|abc", word_piece)
        assert last(made, "canonical").graph.arcs
        assert CutReasons(word_piece).reason(" ab", 0, 1).kind == "other"


@pytest.fixture(scope="module")
def word_piece():
    from relens.tokens.tokenizer import Tokenizer

    vocabulary = {"[UNK]": 0, "a": 1, "ab": 2, "##b": 3, "##c": 4, "##bc": 5}
    configuration = {
        "model": {"type": "WordPiece", "vocab": vocabulary, "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100},
        "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"}, "decoder": {"type": "WordPiece", "prefix": "##",
                                                                                 "cleanup": False},
    }  # fmt: skip
    return Tokenizer(configuration, name="pieces")


class TestSteps:
    def test_every_step_has_two_sentences_and_marks_of_its_own_graph(self, pattern, byte_tokenizer):
        made = lesson(pattern, byte_tokenizer, LessonOptions(edits=pattern == "caf(é|e)s?"))
        keys = [each.key for each in made.steps]
        assert len(set(keys)) == len(keys)
        stages = list(dict.fromkeys(each.stage for each in made.steps))
        assert stages == [stage for stage in STAGES if stage in stages]
        for each in made.steps:
            assert each.title
            assert each.happened.endswith(".")
            assert each.look.endswith(".")
            arcs = {(arc.source, arc.target, arc.label) for arc in each.graph.arcs}
            assert {(mark.source, mark.target, mark.label) for mark in each.arcs} <= arcs
            assert {mark.state for mark in each.states} <= set(range(each.graph.shown_states))
        assert Lesson.from_json(made.to_json()) == made

    def test_bytes_have_a_step_only_where_a_character_is_more_than_one(self, byte_tokenizer):
        assert not [each for each in lesson("abc", byte_tokenizer).steps if each.stage == "bytes"]
        shown = step(lesson("caf(é|e)", byte_tokenizer), "bytes")
        (inside,) = [mark.state for mark in shown.states if mark.style == "new"]
        near = {(arc.label, arc.target == inside) for arc in shown.graph.arcs if inside in (arc.source, arc.target)}
        assert near == {("C3", True), ("A9", False)}

    def test_each_subset_step_gives_one_state_its_arcs(self, byte_tokenizer):
        steps = [each for each in lesson("(a|b)*abb", byte_tokenizer).steps if each.stage == "subset"]
        assert [each.key for each in steps] == [f"subset-{number}" for number in range(5)]
        for number, each in enumerate(steps):
            new = {mark.source for mark in each.arcs if mark.style == "new"}
            assert new == {number}
            assert {arc.source for arc in each.graph.arcs} == set(range(number + 1))
        assert [mark.style for mark in steps[2].states] == ["", "", "current", ""]


class TestLimits:
    def test_a_malformed_or_large_pattern_is_refused(self, byte_tokenizer):
        with pytest.raises(LimitError, match="at most 60"):
            lesson("a{70}", byte_tokenizer)
        with pytest.raises(RegexError, match="unterminated"):
            lesson("(a", byte_tokenizer)
        with pytest.raises(EmptyLanguageError):
            lesson(r"[^\s\S]", byte_tokenizer)

    def test_a_hostile_pattern_ends_the_lesson_early_with_a_note(self, byte_tokenizer):
        def never(query, limits):
            raise AssertionError("a pattern that is too large is not compiled")

        made = lesson("(a|b)*a(a|b){24}", byte_tokenizer, compiler=never)
        assert [each.key for each in made.steps] == ["tree", "nfa"]
        assert made.note.startswith("The lesson ends here.")

    def test_an_automaton_too_large_in_bytes_ends_it_before_the_bytes(self, byte_tokenizer):
        made = lesson(r"\w+", byte_tokenizer)
        assert made.steps[-1].key == "minimal"
        assert "states; a lesson shows at most 300" in made.note

    def test_many_arcs_are_drawn_at_once(self, byte_tokenizer):
        made = lesson(r"[\x00-\x7f]{0,40}x", byte_tokenizer)
        assert [each.key for each in made.steps if each.stage in ("tokens", "canonical")][-1] == "canonical"
        assert max(len(each.graph.arcs) for each in made.steps if each.stage in ("tokens", "canonical")) <= 450


class TestGrowth:
    def test_counts_every_way_to_divide_the_text_into_tokens(self, byte_tokenizer):
        spelled = set(byte_tokenizer.vocabulary.token_bytes)
        data = b"abcab"
        for part in growth("abcab", byte_tokenizer):
            places = range(1, part.length)
            divided = [
                [data[low:high] for low, high in itertools.pairwise((0, *cuts, part.length))]
                for count in range(part.length)
                for cuts in itertools.combinations(places, count)
            ]
            assert len(divided) == part.most
            assert part.encodings == sum(spelled.issuperset(pieces) for pieces in divided)

    @given(text=st.text(max_size=80))
    def test_never_more_than_two_to_the_n_minus_one(self, text, byte_tokenizer):
        for part in growth(text, byte_tokenizer):
            assert 0 <= part.encodings <= part.most
            assert part.length <= LONGEST_TEXT


def test_the_job_of_a_child_works_on_json(monkeypatch, byte_tokenizer):
    monkeypatch.setattr("relens.learn.jobs.tokenizer_for_page", lambda name: byte_tokenizer)
    payloads = []

    def call(payload):
        payloads.append(payload)
        return lesson_job(payload)

    lessons = Lessons(call=call)
    first = lessons.lesson("ab", "bytes", EDITED)
    assert first == lesson("ab", byte_tokenizer, EDITED)
    assert lessons.lesson("ab", "bytes", EDITED) is first
    assert len(payloads) == 1
    assert payloads[0] == {"pattern": "ab", "model": "bytes"} | {
        name: record.to_json() for name, record in (("options", EDITED), ("limits", LESSON_LIMITS))
    }
