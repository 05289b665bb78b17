"""Private parts of Streamlit that are changed or read here, checked at the start.

    Function(ForwardMsgQueue.clear, ("self", "retain_lifecycle_msgs"))    exists, with these arguments
    Attribute(AppSession, "_scriptrunner")                            set by the constructor

Without the check, a missing method or another order of arguments would show in the middle of somebody's work.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import streamlit

from relens.errors import RelensError


@dataclass(frozen=True)
class Function:
    """A function or method of Streamlit, and the names of the arguments in our call, in order."""

    original: Callable[..., Any]
    arguments: tuple[str, ...]

    def is_there(self) -> bool:
        """Whether it takes these arguments first and requires no others."""
        parameters = list(inspect.signature(self.original).parameters.values())
        first, others = parameters[: len(self.arguments)], parameters[len(self.arguments) :]
        optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return tuple(one.name for one in first) == self.arguments and all(
            one.default is not inspect.Parameter.empty or one.kind in optional for one in others
        )

    def __str__(self) -> str:
        return f"{self.original.__qualname__}({', '.join(self.arguments)})"


@dataclass(frozen=True)
class Attribute:
    """An attribute of every new object of a class."""

    owner: type
    name: str

    def is_there(self) -> bool:
        """Whether the constructor sets it, or the class has it."""
        stored = (one.argval for one in dis.get_instructions(self.owner.__init__) if one.opname == "STORE_ATTR")
        return hasattr(self.owner, self.name) or self.name in stored

    def __str__(self) -> str:
        return f"{self.owner.__qualname__}.{self.name}"


def check_parts(parts: Iterable[Function | Attribute]) -> None:
    """Raise `RelensError` with the names of missing parts."""
    missing = [str(part) for part in parts if not part.is_there()]
    if missing:
        raise RelensError(
            f"Streamlit {streamlit.__version__} is not the version that Relens needs (see requirements.txt): it has no "
            f"{' and no '.join(missing)}."
        )
