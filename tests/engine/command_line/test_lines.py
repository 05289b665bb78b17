"""Lines for people: what stands in them, and that nothing a model wrote is obeyed by a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.command_line.lines import heading, match_line, printable, summary
from engine.query import Distribution, Sampling, ShortestPath
from engine.traversal.results import Edit, Progress
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


def test_a_line_shows_groups_edits_and_of_a_sample_counts():
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
            ["3 matches in", "5 forwards", "asked for is reached", "begins with a match with probability 0.2 to 0.3."],
        ),
        (
            Progress(matches=3, samples=90, failed=4, ended="seconds"),
            Sampling(count=100),
            ["90 of 100 draws (4 led nowhere), 3 of them distinct,", "the time limit is reached"],
        ),
        (
            Progress(matches=3, prefixes=2, found_mass=0.5, remaining_mass=0.0, ended="tolerance"),
            Distribution(),
            ["3 matches after 2 prefix strings", "within the tolerance", "probability 0.5 to 0.5"],
        ),
        (Progress(samples=1, ended="drawn"), Sampling(count=1), ["all is drawn"]),
        (Progress(mass_is_joint=True), ShortestPath(), ["unfinished", "The prefix and then a match comes"]),
    ],
)
def test_the_last_sentences(progress, traversal, sentences):
    said = summary(progress, traversal)
    for sentence in sentences:
        assert sentence in said
