"""The process that draws pages does no work that somebody's text can make long (CONTRIBUTING.md, "The budget").

Read from the source: what each module of `app` and `pages` imports and calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DASHBOARD = "app/relens_dashboard"
SOURCES = sorted([*ROOT.glob("app/**/*.py"), *ROOT.glob("pages/*.py")])

#: Rooms that parse, compile and build automata. What a page may have of them is said here: names, data and records.
ROOMS = ("relens.language", "relens.tokens", "relens.learn", "relens.traversal", "relens.search_run")
OF_ROOMS = {
    "relens.language.group_names": "reads names off an expression in one pass",
    "relens.language.stop_words": "a list",
    "relens.learn.random_walks": "records, and numbers that bound them",
    "relens.learn.steps": "records",
    "relens.learn.text_encodings": "records",
    "relens.tokens.token_lattice": "a number",
    "relens.traversal.summaries": "sums over rows, of which a page holds a bounded number",
}
#: Names of functions that no page calls, wherever they come from: a child or the worker does (see the module named).
ELSEWHERE = {
    "parse_regex": "relens.runs.preview",
    "compile_query": "relens.runs.preview",
    "compile_regex": "relens.runs.preview",
    "compile_language": "relens.runs.preview",
    "explain": "relens.runs.preview",
    "GroupReader": "relens.language.group_names",
    "lesson": "relens.runs.learning",
    "read_run": "relens.runs.intake",
    "read_deck": "relens.runs.intake",
    "search": "the worker",
    "search_many": "the worker",
    "open_validator": "the worker",
    "load_model": "the worker",
    "load_tokenizer": "relens.runs.preview",
    "tokenizer_for_page": "relens.runs.preview",
}
#: Where words are masked: one door.
MASK_DOOR = f"{DASHBOARD}/masks.py"
#: Readers of texts that somebody brings, and why a page may call them.
READERS = {
    (
        f"{DASHBOARD}/studies/cloze_settings.py",
        "passages_of_file",
    ): "an upload of at most 5 MB, line by line, with limits",
    (f"{DASHBOARD}/studies/cloze_settings.py", "passages_of_lines"): "at most 500,000 characters, line by line",
    (f"{DASHBOARD}/studies/dialogue_model.py", "read_corpus"): "an upload of at most 5 MB, line by line, once",
    (f"{DASHBOARD}/studies/toxicity.py", "find_sentences"): "an upload of at most 5 MB, a sentence at a time, once",
}
READING = {"find_sentences", "passages_of_file", "passages_of_lines", "read_passages", "read_corpus"}
#: Patterns are literals of the source, so they can be read once, here, for whether they are linear.
MATCHING = {"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}


def calls(tree: ast.AST) -> Iterator[tuple[str, str, ast.Call]]:
    """The calls: (the name before the last dot, the last name, the call)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                owner = node.func.value
                yield (owner.id if isinstance(owner, ast.Name) else ""), node.func.attr, node
            elif isinstance(node.func, ast.Name):
                yield "", node.func.id, node


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The imported modules, without those for types alone."""
    of_types = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in of_types:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node.lineno
        elif isinstance(node, ast.Import):
            yield from ((name.name, node.lineno) for name in node.names)


def is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return is_literal(node.left) and is_literal(node.right)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def offences(source: str, place: str) -> list[str]:
    """The work of a module outside the budget, each as a sentence."""
    tree = ast.parse(source)
    complaints = [
        f"line {line}: {module} is imported, which parses or compiles"
        for module, line in imports(tree)
        if module.startswith(ROOMS) and module not in OF_ROOMS
    ]
    of_engine = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("relens.")
        for name in node.names
    }
    for owner, name, call in calls(tree):
        where = f"line {call.lineno}: "
        if owner == "re" and name in MATCHING and not (call.args and is_literal(call.args[0])):
            complaints.append(f"{where}re.{name} with a pattern that is no literal")
        if not owner and name in ELSEWHERE and name in of_engine:
            complaints.append(f"{where}{name} is called; {ELSEWHERE[name]} does that")
        if name == "Masker" and place != MASK_DOOR:
            complaints.append(f"{where}a mask is made, not by {MASK_DOOR}")
        if name in ("units", "plan") and not call.args and not call.keywords:
            complaints.append(f"{where}the settings of a study are checked; relens.runs.study_checks does that")
        if name in READING and (place, name) not in READERS:
            complaints.append(f"{where}{name} reads somebody's file")
    return complaints


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_stays_within_the_budget(path):
    place = str(path.relative_to(ROOT))
    assert offences(path.read_text(encoding="utf-8"), place) == []


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("from relens.language.syntax import parse_regex", "relens.language.syntax is imported"),
        ("def f():\n    import relens.tokens.compiled", "relens.tokens.compiled is imported"),
        ("import re\nre.compile(pattern)", "re.compile with a pattern that is no literal"),
        ("import re\nre.search(f'a{word}', text)", "re.search with a pattern that is no literal"),
        ("from relens.a import explain\nexplain(source)", "explain is called"),
        ("Masker(words)", "a mask is made"),
        ("len(study.units())", "the settings of a study are checked"),
        ("study.plan()", "the settings of a study are checked"),
        ("find_sentences(text, words)", "reads somebody's file"),
        ("from relens.runs.run_file import read_run\nread_run(data)", "read_run is called"),
    ],
)
def test_an_offence_is_reported(source, complaint):
    (offence,) = offences(source, "app/planted.py")
    assert complaint in offence


@pytest.mark.parametrize(
    "source",
    [
        "import re\nre.sub(r'[<>]' + r'+', '', text)",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from relens.tokens.compiled import CompiledQuery",
        "checks.units(study)",
        "from relens.language.stop_words import STOP_WORDS",
        "from relens_dashboard.glossary import search\nsearch(text)",
    ],
)
def test_work_within_the_budget_is_allowed(source):
    assert offences(source, "app/planted.py") == []


def test_every_exception_is_still_needed():
    used = {
        (place, name)
        for path in SOURCES
        for place in [str(path.relative_to(ROOT))]
        for _, name, _ in calls(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert set(READERS) <= used
    imported = {module for path in SOURCES for module, _ in imports(ast.parse(path.read_text(encoding="utf-8")))}
    assert set(OF_ROOMS) <= imported
