"""The command `relens`: its first word names a command, and each has its help."""

from __future__ import annotations

import subprocess
import sys

import pytest

import relens
from relens.command_line.main import COMMANDS, main


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_without_a_command_all_are_listed(words, capsys):
    assert main(words) == 0
    listed = capsys.readouterr().out
    for name, (does, _) in COMMANDS.items():
        assert f"  {name:8}{does}" in listed


def test_the_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"relens {relens.__version__}\n"


def test_an_unknown_command_is_one_sentence(capsys):
    assert main(["questions\x1b[2J"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "There is no command" in said.err
    assert "\x1b" not in said.err
    assert all(name in said.err for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: relens {name}" in capsys.readouterr().out


def test_a_pattern_may_be_called_like_a_command(tiny_model_folder, capsys):
    assert main(["query", "study", "--model", str(tiny_model_folder), "--device", "cpu"]) == 0
    assert "study" in capsys.readouterr().out


def test_the_help_needs_no_torch_and_no_streamlit():
    program = (
        "import sys; from relens.command_line.main import main; main([])\n"
        "print([name for name in ('torch', 'streamlit', 'pynini') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
