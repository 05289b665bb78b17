"""The words by which a person finds a run again.

A run is kept as JSON, `{"kind": "search", "query": {"pattern": " caf\\\\u00e9", ...}, ...}`. A search for "Café" should
find it; a search for "pattern" should not find every run. So the store also keeps the values alone, case-folded:

    search_words(specification, name="Coffee", note="", model="gpt2")      "coffee\\ngpt2\\n café\\nall\\n..."

A search looks for all of its words in this text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

#: The most characters of a run that are searched; a study may hold hundreds of passages.
MOST_SEARCHED = 100_000

#: Escapes `%`, `_` and itself in a LIKE pattern of this module.
ESCAPE = "!"


def search_words(specification: Mapping[str, Any], name: str, note: str, model: str) -> str:
    """The text that a search for a run looks into; at most `MOST_SEARCHED` characters."""
    text = "\n".join(
        [name, note, model, *_strings({key: specification[key] for key in specification if key != "kind"})]
    )
    # Databases refuse NUL and lone surrogates.
    plain = text[:MOST_SEARCHED].replace("\0", " ").encode("utf-8", "replace").decode()
    return plain.casefold()[:MOST_SEARCHED]


def like_patterns(text: str) -> list[str]:
    """A LIKE pattern for each word of a search text; all have to match. `%` and `_` stand for themselves."""
    words = text.replace("\0", " ").encode("utf-8", "replace").decode().casefold().split()
    patterns = []
    for word in words:
        for sign in (ESCAPE, "%", "_"):
            word = word.replace(sign, ESCAPE + sign)
        patterns.append(f"%{word}%")
    return patterns


def variety(specification: Mapping[str, Any]) -> str:
    """The traversal of a search, the kind of a study, "" for an inspection."""
    kind = specification.get("kind")
    part = specification.get({"search": "traversal", "study": "study"}.get(str(kind), ""))
    if isinstance(part, Mapping) and isinstance(part.get("kind"), str):
        return str(part["kind"])[:32]
    return "shortest_path" if kind == "search" else ""


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item)
