"""Files that nobody should open, sent to the server as a person sends them: refused, and nothing is kept of them."""

from __future__ import annotations

import gzip
import hashlib
import json

import pytest

from relens.errors import RelensError
from relens.runs.run_file import read_run
from relens.runs.screens import FORMAT, ScreenStore
from tests.attacks import made
from tests.attacks.server import settle
from tests.attacks.test_freezes import taken_in


def signed(body: bytes) -> bytes:
    """Lines as they are written here, with a checksum that fits."""
    end = b'{"end": true, "sha256": "%s"}\n' % hashlib.sha256(body).hexdigest().encode()
    return gzip.compress(body + end)


def head(model: str = "m", **values: object) -> dict:
    return made.run_lines(made.search("a", model), **values)[0]


def text_of(line: dict, **raw: str) -> bytes:
    """A line of JSON in which some values are written as they are."""
    text = json.dumps(line | dict.fromkeys(raw, "?"))
    for name, value in raw.items():
        text = text.replace(f'"{name}": "?"', f'"{name}": {value}')
    return text.encode() + b"\n"


ODD = {
    "key twice": text_of(head())[:-2] + b', "status": "running"}\n',
    "specification twice": text_of(head())[:-2]
    + b', "specification": {"kind": "inspect", "model": "m", "token_ids": [1]}}\n',
    "not a number": text_of(head(), created="NaN"),
    "infinite": text_of(head(), created="Infinity"),
    "number of 400 digits": text_of(head(), created="1" + "0" * 400),
    "number of 5,000 digits": text_of(head(), created="1" * 5_000),
    "exponent": text_of(head(), created="1e999999999"),
    "rows below nothing": text_of(head(), rows="-1"),
    "rows as a truth": text_of(head(), rows="true"),
    "nested lists": text_of(head(), progress="[" * 100_000),
    "nested objects": text_of(head(), progress='{"a":' * 50_000),
    "version as a text": text_of(head() | {"relens_run": "1"}),
    "version as a truth": text_of(head() | {"relens_run": True}),
    "no text": b'{"relens_run": 1, "id": "\xff\xfe"}\n',
    "utf-16": json.dumps(head()).encode("utf-16") + b"\n",
    "surrogate": text_of(head(name="x"), name=r'"\ud800"', rows='"1"'),
    "blank lines": b"\n" * 100_000,
    "one long blank": b" " * 9_000_000 + b"\n",
}


@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
def test_a_file_that_says_what_cannot_be_is_refused_in_a_sentence(body):
    with pytest.raises(RelensError) as refused:
        read_run(signed(body))
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 500


BOMBS = {
    "zeros": lambda model: gzip.compress(b"\0" * 400_000_000, 9),
    "one line": lambda model: gzip.compress(b'{"relens_run": 1, "x": "' + b"x" * 200_000_000 + b'"}\n', 9),
    "empty lists": lambda model: gzip.compress(
        b"".join([json.dumps(head(model)).encode() + b"\n", *([b'{"a":[' + b"[]," * 500_000 + b"[]]}\n"] * 60)])
    ),
    "members": lambda model: gzip.compress(b"") * 50_000,
    "in itself": lambda model: gzip.compress(gzip.compress(b"\0" * 100_000_000)),
}


@pytest.mark.parametrize("bomb", made.some_are_slow(BOMBS))
def test_a_bomb_is_refused_without_making_anybody_wait_and_leaves_no_memory(target, bomb):
    data = bomb(target.model)
    settle(target)
    before = target.memory(server_alone=True)
    target.must_hear(lambda _: taken_in(target, data[:4_900_000]))
    settle(target)
    assert target.memory(server_alone=True) - before < 150 << 20


def deck_file(**screen: object) -> bytes:
    return json.dumps({"format": FORMAT, "version": 1, "screens": [{"title": "a", **screen}]}).encode()


DECKS = {
    "no deck": b"[]",
    "nested": b"[" * 1_000_000,
    "a million screens": b'{"format":"%s","version":1,"screens":[%s{}]}' % (FORMAT.encode(), b"{}," * 1_000_000),
    "a long title": deck_file(title="x" * 4_000_000),
    "a large table": deck_file(table=[["x"] * 1_000] * 1_000),
    "a large figure": deck_file(figure="[" * 4_000_000),
    "a drawing of entities": deck_file(
        figure='<!DOCTYPE s [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
        + ']><svg xmlns="http://www.w3.org/2000/svg"><text>&j;</text></svg>'
    ),
    "a figure that is nested": deck_file(figure='{"data":' + "[" * 50_000 + "]" * 50_000 + "}"),
    "a figure of numbers without end": deck_file(figure='{"data":[{"type":"bar","y":[1e999,NaN,-Infinity]}]}'),
    "a surrogate": deck_file(title="\ud800"),
}


@pytest.mark.parametrize("data", made.some_are_slow(DECKS, "nested", "a drawing of entities"))
def test_a_hostile_deck_is_refused_or_shown_without_making_anybody_wait(target, data):
    def take_it(turn: int = 0) -> None:
        with target.visitor() as visitor:
            visitor.open("present", "deck=hostile")
            visitor.set("import_deck", True)
            visitor.upload("import_file", "deck.json", data)
            visitor.press("import_button")
            visitor.open("present", "deck=hostile")
            assert visitor.exceptions() == []
            visitor.open("present", "deck=hostile&screen=1")
            assert visitor.exceptions() == []

    screens = ScreenStore(target.store_url)
    try:
        target.must_hear(take_it)
    finally:
        for screen in screens.all("hostile"):
            screens.delete(screen.id)
        screens.close()
