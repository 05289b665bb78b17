"""Printed lines: their content, and control characters that a terminal must not obey."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from relens.command_line.lines import heading, match_line, printable, share_lines, summary
from relens.command_line.shares import shares_of
from relens.query import Distribution, Sampling, ShortestPath
from relens.traversal.results import Edit, Progress
from tests.engine.runs.fakes import match

EDITED = replace(
    match(1),
    text="The \x1b[2Jdig",
    prefix_text="The ",
    groups={"animal": "d\to", "verb": None, "rest": ""},
    edits=(Edit("substitution", 5, "o", "\x1b", "pattern"),),
    unedited="The dog",
    count=7,
    weight=0.25,
)


def test_control_characters_are_shown_not_obeyed():
    assert printable("a\x1b[2Jb\n") == r"a\x1b[2Jb\n"
    assert printable("é 日") == "é 日"
    for traversal in (ShortestPath(), Sampling(), Distribution()):
        assert match_line(EDITED, traversal).isprintable()


def test_a_line_shows_groups_edits_and_the_counts_of_a_sample():
    line = match_line(EDITED, ShortestPath())
    assert line.endswith(r"The |\x1b[2Jdig  {animal=d\to, verb=?, rest=}  (substitution at 5: 'o' -> '\x1b')")
    assert line.split()[:2] == ["0.368", "-1.000"]
    assert match_line(EDITED, Sampling()).split()[:3] == ["7", "0.25", "0.368"]
    plain = match_line(match(2), ShortestPath())
    assert "{" not in plain
    assert "(" not in plain


@pytest.mark.parametrize("traversal", [ShortestPath(), Sampling(), Distribution()])
def test_the_heading_stands_over_its_columns(traversal):
    line, columns = match_line(match(1), traversal), heading(traversal)
    assert columns.index("prefix|pattern") == line.index("|text")
    assert columns[: columns.index("prefix")].split().index("log") == line.split().index("-1.000")


@pytest.mark.parametrize(
    ("progress", "traversal", "sentences"),
    [
        (
            Progress(matches=3, forwards=5, found_mass=0.2, remaining_mass=0.1, ended="matches"),
            ShortestPath(),
            ["3 matches in", "5 forwards", "requested number", "begins with a match with probability 0.2 to 0.3."],
        ),
        (
            Progress(matches=3, samples=90, failed=4, ended="seconds"),
            Sampling(count=100),
            ["90 of 100 draws (4 failed), 3 of them distinct,", "the time limit is reached"],
        ),
        (
            Progress(matches=3, prefixes=2, found_mass=0.5, remaining_mass=0.0, ended="tolerance"),
            Distribution(),
            ["3 matches after 2 prefix strings", "within the tolerance", "probability 0.5 to 0.5"],
        ),
        (Progress(samples=1, ended="drawn"), Sampling(count=1), ["all draws are made"]),
        (Progress(mass_is_joint=True), ShortestPath(), ["unfinished", "The prefix and then a match comes"]),
    ],
)
def test_the_last_sentences(progress, traversal, sentences):
    said = summary(progress, traversal)
    for sentence in sentences:
        assert sentence in said


ROWS = [
    replace(
        match(number), text=text, prefix_text="a ", groups={"who": who, "what": what}, count=count, weight=0.5
    ).to_json()
    for number, (text, who, what, count) in enumerate(
        [("a x", "man", "art\x1b", 3), ("a y", "woman", "art\x1b", 10), ("a z", "man", None, 1)], 1
    )
]


def test_shares_given_a_group_stand_together():
    shares = shares_of(ROWS, Sampling(count=14), Progress(samples=14), ["what"], ["who"])
    heading, *lines = share_lines(shares)
    assert heading.split() == ["share", "low", "high", "draws", "who,", "what", "given", "who"]
    assert [line.split()[0] for line in lines] == ["1", "0.75", "0.25"]
    assert [line.split()[3] for line in lines] == ["10", "3", "1"]
    assert [line.split("   ")[-1] for line in lines] == [
        r"who=woman, what=art\x1b",
        r"who=man, what=art\x1b",
        "who=man, what=?",
    ]
    said = summary(Progress(samples=14, ended="drawn"), Sampling(count=14), shares)
    assert "The output begins with a match with probability 0.5." in said
    assert "effective sample size is 14" in said


def test_a_bound_just_above_zero_is_written_as_zero():
    rare = [{**ROWS[0], "count": 1, "weight": 1e-100}, {**ROWS[1], "count": 1, "weight": 1.0}]
    lines = share_lines(shares_of(rare, Sampling(count=2), Progress(samples=2), ["string"]))
    assert "e-30" not in "".join(lines)


def test_exact_shares_of_strings_have_no_interval():
    heading, *lines = share_lines(shares_of(ROWS, Distribution(), Progress(), ["string"]))
    assert heading.split() == ["share", "string"]
    assert [line.split("   ")[-1] for line in lines] == ["a |y", "a |x", "a |z"]


@pytest.mark.parametrize("traversal", [Sampling(count=3), Distribution()])
def test_a_search_without_matches_has_a_summary(traversal):
    progress = Progress(samples=3, failed=3, ended="drawn") if isinstance(traversal, Sampling) else Progress()
    shares = shares_of([], traversal, progress, ["who"])
    assert len(share_lines(shares)) == 1
    assert summary(progress, traversal, shares)
    assert json.loads(json.dumps(shares.to_json()))["results"] == []
