"""The command `relens`: its first word names what to do, the others belong to that.

    relens run                              the dashboard
    relens query " (cat|dog)" --top-k 40    one query
    relens study bias --preset quick        one study
    relens runs list                        the stored runs

Each command is imported when it is used: the help needs neither torch nor Streamlit.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence

import relens
from relens.command_line.lines import printable

#: What each command does, and the function that does it.
COMMANDS = {
    "run": ("open the dashboard", "relens.command_line.dashboard:dashboard_main"),
    "query": ("ask a model one regular expression", "relens.command_line.query:query_main"),
    "study": ("carry out a study of a model", "relens.command_line.study:study_main"),
    "runs": ("list, export and import runs", "relens.command_line.runs:runs_main"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["--version"]:
        print(f"relens {relens.__version__}")
        return 0
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage())
        return 0
    name, *others = words
    if name not in COMMANDS:
        print(f"There is no command {printable(name)!r}; the commands are {', '.join(COMMANDS)}.", file=sys.stderr)
        return 2
    module, function = COMMANDS[name][1].split(":")
    command: Callable[[Sequence[str]], int] = getattr(importlib.import_module(module), function)
    return command(others)


def usage() -> str:
    """The commands, a line each."""
    lines = [f"  {name:8}{does}" for name, (does, _) in COMMANDS.items()]
    return "\n".join(
        [
            "usage: relens COMMAND ...",
            "",
            "Ask language models questions with regular expressions.",
            "",
            *lines,
            "",
            "relens COMMAND --help describes a command; relens --version says the version.",
        ]
    )
