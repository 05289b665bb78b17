"""Jobs for isolated processes under test."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import numpy as np

from relens.errors import EmptyLanguageError, LimitError, RegexError
from relens.language.isolation import default_compiler

warmed: list[str] = []


def warm_up() -> None:
    warmed.append("warm")


def job(payload: dict[str, Any]) -> dict[str, Any]:
    match payload.get("do"):
        case "sleep":
            time.sleep(payload["seconds"])
        case "announce and sleep":
            with open(payload["file"], "w") as file:
                file.write(str(os.getpid()))
            time.sleep(payload["seconds"])
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            os._exit(3)
        case "regex error":
            raise RegexError("Wrong, at position 3 of the prefix.", source="a\ud800(", position=3, part="prefix")
        case "empty":
            raise EmptyLanguageError("No string.")
        case "limit":
            raise LimitError("Too much.", limit="token_arcs")
        case "bug":
            raise KeyError("a bug of ours")
        case "print":
            print("stray output " * 10_000)
            os.write(1, b"more " * 100_000)
            sys.stderr.write("and more")
        case "read":
            return {"read": sys.stdin.read()}
        case "eat":
            return {"size": len(bytearray(payload["bytes"]))}
        case "facts":
            return {"pid": os.getpid(), "session": os.getsid(0), "nice": os.nice(0), "warmed": len(warmed)}
        case "name the compiler":
            return {"compiler": default_compiler().__name__}
        case "double":
            return {name: value * 2 for name, value in payload.items() if isinstance(value, np.ndarray)}
    return {"echo": payload.get("text", "")}
