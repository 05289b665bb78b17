"""Hostile expressions while they are typed: each is answered or refused in a sentence, soon, at no cost to others."""

from __future__ import annotations

import contextlib
import threading
import time
from urllib.parse import quote

import psutil
import pytest

from relens.query import Limits
from tests.attacks.server import Target, compilers, is_answered

EXPRESSIONS = {
    # Automata that have to be made deterministic, exponentially many states.
    "subset": "(a|b)*a(a|b){40}",
    "subset of a class": "[ab]*a[ab]{30}",
    "subset twice": "(a|b)*a(a|b){20}(a|b)*b(a|b){20}",
    "subset of unicode": r"\w*a\w{30}",
    "any, then any": ".*a.{25}b.*",
    "words in any order": "(?:.*one)(?:.*two)(?:.*three).{20}",
    "many stars": "(a*)*(b*)*(a*b*)*" * 20,
    "star of stars": "(((((((a*)*)*)*)*)*)*)*",
    "overlapping": "(a|aa|aaa|aaaa)*b" * 10,
    # Counts.
    "large count": "a{99999999999}",
    "count of 300 digits": "a{" + "9" * 300 + "}",
    "counts in counts": "(?:(?:(?:a?){9999}){9999}){9999}",
    "two to the twentieth": "(?:" * 20 + "a" + "{2})" * 20,
    "range from nothing": "(a{0,1000}){0,1000}",
    "wide count": "[a-z]{1,20000}",
    "optional many": "a?" * 2_000 + "a" * 2_000,
    "count that is none": "b{" + "1" * 15_000 + "xa{99999999999}",
    "comma": "a{,}{,}{,}" * 500,
    # Nesting and length.
    "nested": "(" * 5_000 + "a" + ")" * 5_000,
    "nested to the bound": "(" * 79 + "a" + ")" * 79,
    "open": "(" * 19_000,
    "classes open": "[" * 19_000,
    "closed": ")" * 19_000,
    "backslashes": "\\" * 19_001,
    "long": "a" * 20_001,
    "alternatives": "|".join(f"word{number}" for number in range(2_200)),
    "alternatives of nothing": "|" * 19_000,
    "names": "".join(f"(?P<n{number}>a)" for number in range(900)),
    "flags": "(?i)" + "(?i:a)" * 3_000,
    "comments": "(?#" + "x" * 19_000 + ")a",
    # Characters.
    "all of unicode": r"[\s\S]{30}",
    "complement": r"[^\x00-\x7f]{40}",
    "classes of unicode": r"[\w\W\d\D\s\S]{20}",
    "many ranges": "[" + "".join(chr(0x4E00 + 3 * number) for number in range(6_000)) + "]{9}",
    "case of unicode": "(?i:[ſKßéàüœ]{12}){12}",
    "combining": "é" * 5_000,
    "no text": "a\x00b\ud800"[:2] + "\u202e\ufeff\u2028",
    "beyond the plane": "[\U00010000-\U0010ffff]{30}",
    # What is not regular.
    "look-ahead": "(?=a)" * 1_000,
    "back-reference": r"(a*)\1" * 500,
    "possessive": "(?>a*)*+",
    "conditional": "(a)?(?(1)b|c)" * 300,
    "boundary": r"\b" * 5_000,
}

#: Compiling is given 10 s; starting the child anew and a busy machine, the rest.
PATIENCE = Limits.compile_seconds + 30.0


@pytest.mark.parametrize("page", ["workbench", "automata"])
@pytest.mark.parametrize("name", ["subset", "count that is none", "nested", "classes of unicode", "back-reference"])
def test_a_hostile_expression_is_answered_or_refused_and_freezes_nobody(target, page, name):
    target.must_hear(lambda turn: answered(target, page, f"{turn}{EXPRESSIONS[name]}"))


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_every_hostile_expression_is_answered_or_refused_and_freezes_nobody(target, name):
    with memory_of_children(target) as most:
        target.must_hear(lambda turn: answered(target, "workbench", f"{turn}{EXPRESSIONS[name]}"))
    assert most() < 2.6 * 2**30, "a child took more than the limit of memory"


@pytest.mark.slow
def test_an_easy_expression_is_answered_while_others_type_hostile_ones(target):
    visitors = [target.visitor() for _ in range(3)]
    try:
        for visitor in visitors:
            visitor.open("workbench", f"model={target.model}&pattern={quote(EXPRESSIONS['subset'])}", wait=False)
        time.sleep(0.5)
        for number in range(3):
            with target.visitor() as easy:
                begun = time.monotonic()
                easy.open("workbench", f"model={target.model}&pattern=easy{number}&prefix=The")
                easy.look_until(lambda: is_answered(easy), "the preview of an easy expression", PATIENCE)
                assert time.monotonic() - begun < PATIENCE
    finally:
        for visitor in visitors:
            visitor.close()


def answered(target: Target, page: str, expression: str) -> None:
    """Type an expression and wait until it is explained or refused."""
    with target.visitor() as visitor:
        if page == "workbench":
            visitor.open("workbench", f"model={target.model}&pattern={quote(expression)}&prefix=The")
        else:
            visitor.open("automata", f"lesson_model={target.model}&lesson={quote(expression)}")

        visitor.look_until(lambda: is_answered(visitor), f"an answer to {expression[:40]!r}", PATIENCE)
        assert visitor.exceptions() == []
        assert "Traceback" not in visitor.texts()


@contextlib.contextmanager
def memory_of_children(target: Target):
    """A function that says how much the largest child has had so far, in bytes."""
    largest, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            for process in compilers(target):
                with contextlib.suppress(psutil.Error):
                    largest[0] = max(largest[0], process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield lambda: largest[0]
    finally:
        over.set()
        watcher.join()
