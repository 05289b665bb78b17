"""Pages and pictures of the documentation that are made from the source, whenever it is built.

    reference/command-line.md    the help of each command
    reference/studies.md         each study's question, presets and settings
    reference/glossary.md        the dashboard's glossary
    pictures/*.svg               automata, compiled and drawn by Relens

So none of these can say what the program does not do. mkdocs calls `on_files`.
"""

from __future__ import annotations

from typing import Any

from mkdocs.structure.files import File, Files

from relens import Decoding, Encoding, Query, compile_query, load_tokenizer
from relens.assets import ASSETS
from relens.command_line.dashboard import dashboard_parser
from relens.command_line.main import usage
from relens.command_line.parser import argument_parser
from relens.command_line.runs import runs_parser
from relens.command_line.study import study_parser
from relens.language.compile import compile_language
from relens.pictures.drawing import join_chains, standalone_svg
from relens.pictures.graphs import language_graph, token_graph
from relens.setting import described
from relens.studies.catalogue import STUDIES, presets, study_class
from relens_dashboard.glossary import FIELDS, GLOSSARY

#: The example of the drawings.
PATTERN, PREFIX = "((cat)|(dog))", "The "


def on_files(files: Files, config: Any) -> Files:
    """Add what is made of the source to the files of the documentation."""
    made: dict[str, str | bytes] = {
        "reference/command-line.md": command_line(),
        "reference/studies.md": studies(),
        "reference/glossary.md": glossary(),
        "icon.svg": (ASSETS / "icon.svg").read_bytes(),
        "screenshot.png": (ASSETS / "screenshot.png").read_bytes(),
        **pictures(),
    }
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def command_line() -> str:
    """The help of every command, as a terminal of 100 columns shows it."""
    parts = ["# Command line", "", "`python -m relens` is the same as `relens`.", "", _block(usage())]
    helps = {
        "relens run": dashboard_parser(),
        "relens query": argument_parser(),
        "relens study": study_parser(),
        "relens runs": runs_parser(),
    }
    for name, parser in helps.items():
        parts += [f"## {name}", "", _block(parser.format_help())]
    parts.append(
        "`relens study NAME --help` describes the settings of one study, as the page [of studies](studies.md) does.\n"
    )
    return "\n".join(parts)


def studies() -> str:
    """Each study with its question, its presets and its settings."""
    parts = [
        "# Studies and their settings",
        "",
        "Each is a page of the dashboard and a name for `relens study NAME`; a setting is given as `--set NAME=VALUE`.",
        "",
    ]
    for kind in STUDIES:
        study = study_class(kind)
        names = ", ".join(presets(kind)) or "none"
        settings = "\n".join(described(study()))
        parts += [
            f"## {kind}",
            "",
            f"**{study.title}.** {study.question}",
            "",
            f"Presets: {names}.",
            "",
            _block(settings),
        ]
    return "\n".join(parts)


def glossary() -> str:
    """The words of the dashboard."""
    parts = ["# Glossary", ""]
    for field in FIELDS:
        parts += [f"## {field}", ""]
        for term in GLOSSARY.values():
            if term.field == field:
                parts += [f"**{term.word}**", f":   {_plain(term.meaning)} *Example: {_plain(term.example)}*", ""]
    return "\n".join(parts)


def pictures() -> dict[str, str | bytes]:
    """The automata of the example over characters and over tokens, in all encodings and in the canonical ones."""
    tokenizer = load_tokenizer("smollm2-135m")
    query = Query(PATTERN, prefix=PREFIX, decoding=Decoding())
    graphs = {"characters": join_chains(language_graph(compile_language(query).whole))}
    for encoding in Encoding:
        compiled = compile_query(Query(PREFIX + PATTERN, encoding=encoding), tokenizer)
        graphs[encoding.value] = token_graph(compiled.automaton, tokenizer)
    drawn = {f"pictures/{name}.svg": standalone_svg(graph) for name, graph in graphs.items()}
    missing = [name for name, svg in drawn.items() if svg is None]
    if missing:
        raise SystemExit("The pictures of the documentation need Graphviz (apt install graphviz).")
    return {name: svg for name, svg in drawn.items() if svg is not None}


def _block(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"


def _plain(text: str) -> str:
    """A text of the glossary in Markdown, with nothing in it that Markdown would read."""
    return "".join(f"\\{character}" if character in "\\`*_{}[]()#+-.!|<>" else character for character in text)
