"""`relens query`, called as a function and as a process."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from relens.command_line.query import query_main

ROOT = Path(__file__).parents[3]


def test_json_lines(tiny_model_folder, capsys):
    assert query_main(["(cat|dog)", "--model", str(tiny_model_folder), "--json", "--device", "cpu"]) == 0
    *matches, last = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {match["text"] for match in matches} == {"cat", "dog"}
    ranks = [match["prefix_log_prob"] + match["decoder_log_prob"] for match in matches]
    assert ranks == sorted(ranks, reverse=True)
    assert last["progress"]["matches"] == len(matches)


def test_lines_for_people(tiny_model_folder, capsys):
    assert query_main(["(\n|dog)", "--model", str(tiny_model_folder), "--prefix", "a", "--device", "cpu"]) == 0
    captured = capsys.readouterr()
    assert r"a|\n" in captured.out
    assert "the language is exhausted" in captured.err
    first = captured.out.split()
    assert float(first[0]) == pytest.approx(math.exp(float(first[1])), rel=0.01)


ANIMALS = ["(?P<animal>cat|dog)(?P<many>s?)", "--prefix", "(the|a) ", "--device", "cpu"]


def json_lines(arguments, capsys):
    assert query_main([*arguments, "--json"]) == 0
    *matches, summary, progress = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return matches, summary["summary"], progress["progress"]


def shares_by_hand(matches, names):
    """Shares of the values of groups, taken another way: every match by itself."""
    total = sum(match["count"] * match["weight"] for match in matches)
    shares = Counter()
    for match in matches:
        shares[tuple(match["groups"][name] for name in names)] += match["count"] * match["weight"] / total
    return shares


def test_a_sample_is_summed_up_and_the_same_for_the_same_seed(tiny_model_folder, capsys):
    arguments = [*ANIMALS, "--model", str(tiny_model_folder), "--traversal", "sampling", "--samples", "60"]
    arguments += ["--seed", "3", "--edits", "1", "--edit-where", "prefix", "--edit-alphabet", "[a-c]"]
    matches, summary, progress = json_lines([*arguments, "--by", "animal", "--by", "many"], capsys)
    assert progress["ended"] == "drawn"
    assert progress["samples"] == 60 == summary["draws"]
    assert sum(match["count"] for match in matches) == 60 - progress["failed"]
    assert 0 < summary["effective_samples"] <= 60
    assert summary["mass"]["low"] < summary["mass"]["value"] < summary["mass"]["high"]
    assert any(match["edits"] for match in matches)
    by_hand = shares_by_hand(matches, ["animal", "many"])
    assert len(summary["results"]) == len(by_hand)
    for result in summary["results"]:
        assert result["share"] == pytest.approx(by_hand[result["values"]["animal"], result["values"]["many"]])
    again, _, _ = json_lines(arguments, capsys)
    drawn = [[(match["token_ids"], match["count"]) for match in rows] for rows in (matches, again)]
    assert drawn[0] == drawn[1]


def test_a_distribution_adds_up_given_a_group(tiny_model_folder, capsys):
    arguments = [*ANIMALS, "--model", str(tiny_model_folder), "--traversal", "distribution", "--tolerance", "0"]
    matches, summary, progress = json_lines([*arguments, "--by", "many", "--given", "animal"], capsys)
    assert progress["ended"] == "exhausted"
    assert summary["draws"] is None
    assert sum(match["weight"] for match in matches) == pytest.approx(progress["found_mass"])
    shares = Counter()
    for result in summary["results"]:
        shares[result["values"]["animal"]] += result["share"]
    assert shares == {"cat": pytest.approx(1.0), "dog": pytest.approx(1.0)}
    _, summary, _ = json_lines([*arguments, "--by", "string"], capsys)
    assert sum(result["share"] for result in summary["results"]) == pytest.approx(1.0)
    assert {result["text"] for result in summary["results"]} == {match["text"] for match in matches}


def test_shares_for_people(tiny_model_folder, capsys):
    arguments = [*ANIMALS, "--model", str(tiny_model_folder), "--traversal", "sampling", "--samples", "30"]
    assert query_main([*arguments, "--by", "animal"]) == 0
    captured = capsys.readouterr()
    table = captured.out.splitlines()
    heading = next(place for place, line in enumerate(table) if line.split()[:1] == ["share"])
    shares = [float(line.split()[0]) for line in table[heading + 1 :]]
    assert sum(shares) == pytest.approx(1.0, abs=0.01)
    assert shares == sorted(shares, reverse=True)
    assert "animal=" in table[heading + 1]
    assert "30 of 30 draws" in captured.err
    assert "effective sample size" in captured.err


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["(a"], 2, "^"),
        (["a", "--temperature", "-1"], 2, "Temperature"),
        (["a", "--greedy", "--top-k", "3"], 2, "--greedy"),
        (["[^\\s\\S]"], 2, ""),
        (["a", "--model", "/no/such/folder"], 1, "folder"),
        (["a", "--matches", "0"], 2, "at least 1"),
        (["a", "--seed", "3"], 2, "--traversal sampling"),
        (["(?P<x>a)", "--traversal", "sampling", "--by", "y"], 2, "no group called 'y'; its named groups are x"),
        (["a", "--traversal", "distribution", "--by", "y"], 2, "it has no named groups"),
        (["a", "--exclude", "(b"], 2, "^"),
        (["a", "--edits", "1", "--edit-alphabet", "ab"], 2, "^"),
        (["a", "--exclude", ".*"], 2, "excluded"),
    ],
)
def test_refusals_are_one_sentence(arguments, status, words, capsys):
    assert query_main(arguments) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err
    assert "Traceback" not in captured.err
    assert captured.err.strip()


def test_a_reader_that_leaves(tiny_model_folder):
    words = ["query", "[a-z]+", "--model", str(tiny_model_folder), "--matches", "2000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "relens", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stderr
    assert process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read().decode()
    assert process.wait(60) == 0
    assert "Traceback" not in errors
