"""Regular languages over bytes: from the text of a regular expression to a minimal automaton, in a child with limits.

It uses `relens.query` and pynini, and knows neither tokens nor models.

The names below are loaded when first used, because compiling needs pynini and most processes never compile.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relens.language.automaton import ByteAutomaton
    from relens.language.compile import compile_language, compile_regex
    from relens.language.isolation import isolated_compiler
    from relens.language.language import Language, LanguageCompiler
    from relens.language.syntax import parse_regex

__all__ = [
    "ByteAutomaton",
    "Language",
    "LanguageCompiler",
    "compile_language",
    "compile_regex",
    "isolated_compiler",
    "parse_regex",
]

_HOMES = {
    "ByteAutomaton": "automaton",
    "Language": "language",
    "LanguageCompiler": "language",
    "compile_language": "compile",
    "compile_regex": "compile",
    "isolated_compiler": "isolation",
    "parse_regex": "syntax",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
