"""The command line, called as a function and as a process."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from engine.__main__ import main

ROOT = Path(__file__).parents[2]


def test_json_lines(tiny_model_folder, capsys):
    assert main(["(cat|dog)", "--model", str(tiny_model_folder), "--json", "--device", "cpu"]) == 0
    *matches, last = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {match["text"] for match in matches} == {"cat", "dog"}
    ranks = [match["prefix_log_prob"] + match["decoder_log_prob"] for match in matches]
    assert ranks == sorted(ranks, reverse=True)
    assert last["progress"]["matches"] == len(matches)


def test_lines_for_people(tiny_model_folder, capsys):
    assert main(["(\n|dog)", "--model", str(tiny_model_folder), "--prefix", "a", "--device", "cpu"]) == 0
    captured = capsys.readouterr()
    assert r"a|\n" in captured.out
    assert "the language is exhausted" in captured.err
    first = captured.out.split()
    assert float(first[0]) == pytest.approx(math.exp(float(first[1])), rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["(a"], 2, "^"),
        (["a", "--temperature", "-1"], 2, "Temperature"),
        (["a", "--greedy", "--top-k", "3"], 2, "--greedy"),
        (["[^\\s\\S]"], 2, ""),
        (["a", "--model", "/no/such/folder"], 1, "folder"),
        (["a", "--matches", "0"], 2, "above 0"),
        (["a", "--seed", "3"], 2, "--traversal sampling"),
        (["(?P<x>a)", "--traversal", "sampling", "--by", "y"], 2, "no group called 'y'; its named groups are x"),
        (["a", "--traversal", "distribution", "--by", "y"], 2, "it has no named groups"),
        (["a", "--exclude", "(b"], 2, "^"),
        (["a", "--edits", "1", "--edit-alphabet", "ab"], 2, "^"),
        (["a", "--exclude", ".*"], 2, "excluded"),
    ],
)
def test_refusals_are_one_sentence(arguments, status, words, capsys):
    assert main(arguments) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err
    assert "Traceback" not in captured.err
    assert captured.err.strip()


def test_a_reader_that_leaves(tiny_model_folder):
    command = [sys.executable, "-m", "engine", "[a-z]+", "--model", str(tiny_model_folder), "--matches", "2000"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    assert process.stderr
    assert process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read().decode()
    assert process.wait(60) == 0
    assert "Traceback" not in errors
