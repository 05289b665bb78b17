"""Numbers with their nouns, as people write them.

counted(1, "target")                "1 target"
counted(1204, "reply", "replies")   "1,204 replies"
"""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with the noun that fits it; plural: where an "s" does not make one."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
