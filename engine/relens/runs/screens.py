"""Findings kept for a talk: decks of screens, in the same database as the runs they come from.

    deck "Monday"       1  "Art is likelier for women"      a figure, two sentences, caveats, what the speaker says
                        2  "Most of it in odd spellings"

A screen holds everything that it shows. So it stays as it was pinned when its run goes on or is deleted, a deck can be
carried to another installation as one JSON file, and a talk does not change the night before.

The same screen pinned twice is there once: a hash of its pinned contents identifies it, and editing does not change the
hash. A deleted screen can be restored for a day.

A figure may have 2 MB, and a deck a hundred figures. So figures are stored apart from the words, and the page that
arranges a deck reads cards: the words, and a small picture of the figure, made once (`keep_preview`).
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import sqlalchemy as sql
from sqlalchemy.engine import Connection, RowMapping

from relens import settings
from relens.errors import LimitError, QueryError
from relens.record import Record
from relens.runs.database import Database, from_text, metadata, to_text

#: Screens of one deck, and decks in all.
MOST_SCREENS, MOST_DECKS = 100, 50
#: The longest figure, in bytes of JSON or SVG; the longest text of a screen, all its fields together, in characters.
LONGEST_FIGURE, LONGEST_TEXT = 2_000_000, 20_000
#: The longest small picture of a figure, in bytes.
LONGEST_PREVIEW = 60_000
LONGEST_DECK_NAME = 80
#: The longest file that is read as a deck, in characters.
LONGEST_FILE = 50_000_000
#: Cells of the small table that a screen may have.
MOST_CELLS = 200
#: A screen that was deleted can be restored for so many seconds.
RESTORED_WITHIN = 86_400.0

FORMAT = "relens-screens"
#: "" as JSON.
_NO_FIGURE = '""'

screens_table = sql.Table(
    "screens",
    metadata,
    sql.Column("sequence", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("id", sql.String(32), nullable=False, unique=True),
    sql.Column("deck", sql.Text, nullable=False),
    sql.Column("position", sql.Integer, nullable=False),
    sql.Column("digest", sql.String(64), nullable=False),
    sql.Column("data", sql.Text, nullable=False),
    sql.Column("created", sql.Double, nullable=False),
    sql.Column("deleted", sql.Double),
    # Both as JSON; the small picture is NULL until it is made, and "" where there can be none.
    sql.Column("figure", sql.Text, nullable=False, server_default=_NO_FIGURE),
    sql.Column("preview", sql.Text),
    sql.Index("screens_by_deck", "deck", "position"),
    sqlite_autoincrement=True,
)


@dataclass(frozen=True)
class Screen(Record):
    """One finding as it is shown to a room.

    title: a few words. sentences: the verdict; the first is the headline. caveats: the limits of the verdict.
    explanation: notes for the speaker. figure: a plotly figure as JSON, the text of an SVG, or "" for none; alt: a
    sentence in its place. table: lines of cells, the first line the names of the columns; () for none. source: where it
    was pinned, {"page": "bias", "run": an id, "label": in words}. id, position (from 0) and created (unix seconds) are
    set by the store; deck "" is the first deck.
    """

    title: str
    sentences: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    explanation: str = ""
    figure: str = ""
    alt: str = ""
    table: tuple[tuple[str, ...], ...] = ()
    source: dict[str, str] = field(default_factory=dict)
    deck: str = ""
    id: str = ""
    position: int = 0
    created: float = 0.0


@dataclass(frozen=True)
class Card:
    """A screen for arranging: without its figure. has_figure: whether it has one.

    preview: the small picture of the figure: JSON of plotly, an SVG, or "" for none; None where it is not made yet.
    """

    screen: Screen
    preview: str | None
    has_figure: bool


#: Fields that the store keeps in columns of their own, and that a file of a deck leaves out.
_COLUMNS = ("deck", "id", "position", "created")
#: Fields that a person may change.
EDITABLE = ("title", "sentences", "caveats", "explanation")


class ScreenStore:
    """The screens in one database; `url` as for `relens.runs.store.Store`.

    An object may be shared by threads. Every method raises `StoreError` with one sentence where the database cannot be
    read or written.
    """

    def __init__(self, url: str | None = None) -> None:
        self._database = Database(url or settings.store_url())

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._database.dispose()

    def add(self, screen: Screen, preview: str | None = None) -> Screen:
        """Put a screen at the end of its deck, unless it is there already; returns it as stored.

        preview: the small picture of its figure, see `Card`. Raises `LimitError` for a screen that is too large, for a
        full deck, and for too many decks.
        """
        check(screen)
        with self._database.writing() as connection:
            self._forget(connection)
            rows = connection.execute(
                _present(screen.deck).where(screens_table.c.digest == digest(screen)).limit(1)
            ).mappings()
            known = rows.one_or_none()
            return _screen(known) if known is not None else _append(connection, screen, preview)

    def has(self, screen: Screen) -> bool:
        """Whether this screen is in its deck, also where it was edited since."""
        query = _present(screen.deck).where(screens_table.c.digest == digest(screen)).limit(1)
        with self._database.reading() as connection:
            return connection.execute(query).first() is not None

    def get(self, screen_id: str) -> Screen | None:
        """The screen of that id, None where there is none."""
        query = sql.select(screens_table).where(screens_table.c.id == screen_id, screens_table.c.deleted.is_(None))
        with self._database.reading() as connection:
            row = connection.execute(query).mappings().one_or_none()
        return None if row is None else _screen(row)

    def all(self, deck: str = "") -> list[Screen]:
        """The screens of a deck, in order."""
        with self._database.reading() as connection:
            rows = connection.execute(_present(deck)).mappings().all()
        return [replace(_screen(row), position=place) for place, row in enumerate(rows)]

    def cards(self, deck: str = "") -> list[Card]:
        """The screens of a deck without their figures, in order."""
        columns: list[sql.ColumnElement[Any]] = [column for column in screens_table.c if column.name != "figure"]
        columns.append((screens_table.c.figure != _NO_FIGURE).label("has_figure"))
        with self._database.reading() as connection:
            rows = connection.execute(_present(deck).with_only_columns(*columns)).mappings().all()
        return [
            Card(
                replace(_screen({**row, "figure": _NO_FIGURE}), position=place),
                None if row["preview"] is None else from_text(row["preview"]),
                bool(row["has_figure"]),
            )
            for place, row in enumerate(rows)
        ]

    def keep_preview(self, screen_id: str, preview: str) -> None:
        """Keep the small picture of a screen's figure; a screen that is gone is ignored. Raises `LimitError`."""
        kept = _checked_preview(preview)
        with self._database.writing() as connection:
            connection.execute(_where(screen_id).values(preview=kept))

    def decks(self) -> dict[str, int]:
        """The decks and how many screens each has, the first deck "" before the others, even when it is empty."""
        query = (
            sql.select(screens_table.c.deck, sql.func.count())
            .where(screens_table.c.deleted.is_(None))
            .group_by(screens_table.c.deck)
            .order_by(screens_table.c.deck)
        )
        with self._database.reading() as connection:
            return {"": 0} | {str(deck): int(count) for deck, count in connection.execute(query)}

    def edit(self, screen_id: str, **changes: Any) -> Screen:
        """Change fields of `EDITABLE` and return the screen as it is now. Raises `QueryError`, `LimitError`."""
        unknown = sorted(set(changes) - set(EDITABLE))
        if unknown:
            raise QueryError(f"The {unknown[0]} of a screen cannot be changed.")
        with self._database.writing() as connection:
            row = _row(connection, screen_id)
            changed = Screen.from_json(_screen(row).to_json() | changes)
            check(changed)
            connection.execute(_where(screen_id).values(data=_data(changed)))
        return changed

    def move(self, screen_id: str, by: int) -> None:
        """Move a screen by so many places, at most to either end of its deck."""
        with self._database.writing() as connection:
            deck = _row(connection, screen_id)["deck"]
            order = [str(row["id"]) for row in connection.execute(_present(deck)).mappings()]
            place = order.index(screen_id)
            order.insert(min(max(place + by, 0), len(order) - 1), order.pop(place))
            _number(connection, order)

    def transfer(self, screen_id: str, deck: str) -> None:
        """Put a screen at the end of another deck. Raises `LimitError` where that is full, `QueryError`."""
        _check_name(deck)
        with self._database.writing() as connection:
            row = _row(connection, screen_id)
            if row["deck"] != deck:
                place = _room(connection, deck)
                connection.execute(_where(screen_id).values(deck=deck, position=place))

    def delete(self, screen_id: str) -> None:
        """Take a screen out; `restore` brings it back for a day."""
        with self._database.writing() as connection:
            _row(connection, screen_id)
            connection.execute(_where(screen_id).values(deleted=time.time()))
            self._forget(connection)

    def restore(self, screen_id: str) -> None:
        """Bring a screen back to its place. Raises `QueryError` where it was deleted for good, `LimitError`."""
        with self._database.writing() as connection:
            row = _row(connection, screen_id, deleted=True)
            _room(connection, row["deck"])
            connection.execute(_where(screen_id).values(deleted=None))

    def export(self, deck: str = "") -> str:
        """A deck as JSON, for `read_deck`."""
        screens = [
            {name: value for name, value in screen.to_json().items() if name not in _COLUMNS}
            for screen in self.all(deck)
        ]
        return json.dumps({"format": FORMAT, "version": 1, "screens": screens}, indent=1, ensure_ascii=True)

    def load(self, text: str, deck: str = "") -> int:
        """Append the screens of a file of `export` to `deck`, all or none; returns how many were new.

        Raises `QueryError` for another file, and `LimitError` where there is no room.
        """
        screens = [replace(screen, deck=deck) for screen in read_deck(text)]
        for screen in screens:
            check(screen)
        with self._database.writing() as connection:
            known = set(connection.scalars(sql.select(screens_table.c.digest).where(*_in(deck))))
            new = [screen for screen in screens if digest(screen) not in known]
            for screen in new:
                _append(connection, screen)
        return len(new)

    def _forget(self, connection: Connection) -> None:
        """Remove for good the screens that were deleted over a day ago."""
        connection.execute(screens_table.delete().where(screens_table.c.deleted < time.time() - RESTORED_WITHIN))


def read_deck(text: str) -> list[Screen]:
    """The screens of a file of `ScreenStore.export`. Raises `QueryError` and `LimitError`."""
    if len(text) > LONGEST_FILE:
        raise LimitError(f"A file of screens has at most {LONGEST_FILE:,} characters.", limit="file")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise QueryError("This file is not JSON, so no screens can be read from it.") from error
    if not isinstance(data, Mapping) or data.get("format") != FORMAT or not isinstance(data.get("screens"), list):
        raise QueryError("This file holds no screens of Relens.")
    if data.get("version") != 1:
        raise QueryError("This file of screens was written by another version of Relens.")
    screens = []
    for number, described in enumerate(data["screens"], 1):
        if not isinstance(described, Mapping):
            raise QueryError(f"Screen {number} of this file is not described by a JSON object.")
        try:
            screens.append(Screen.from_json({key: value for key, value in described.items() if key not in _COLUMNS}))
        except QueryError as error:
            raise QueryError(f"Screen {number} of this file cannot be read: {error}") from error
    return screens


def check(screen: Screen) -> None:
    """Raise `LimitError` or `QueryError` for a screen that no store takes."""
    if not screen.title.strip():
        raise QueryError("A screen needs a title.")
    if len(screen.figure) > LONGEST_FIGURE or len(screen.figure.encode("utf-8", "replace")) > LONGEST_FIGURE:
        raise LimitError(
            f"The figure of “{screen.title[:60]}” takes more than {LONGEST_FIGURE:,} bytes, the most of a screen.",
            limit="figure",
        )
    cells = [cell for line in screen.table for cell in line]
    if len(cells) > MOST_CELLS:
        raise LimitError(f"The table of a screen has at most {MOST_CELLS} cells, not {len(cells):,}.", limit="table")
    texts = [screen.title, screen.explanation, screen.alt, *screen.sentences, *screen.caveats, *cells]
    length = sum(map(len, (*texts, *screen.source, *screen.source.values())))
    if length > LONGEST_TEXT:
        raise LimitError(
            f"The texts of a screen have at most {LONGEST_TEXT:,} characters together, not {length:,}.", limit="text"
        )
    _check_name(screen.deck)


def _check_name(deck: str) -> None:
    if len(deck) > LONGEST_DECK_NAME:
        raise LimitError(f"The name of a deck has at most {LONGEST_DECK_NAME} characters.", limit="deck")
    if not deck.isprintable():  # some databases refuse NUL, others lone surrogates
        raise QueryError("The name of a deck has a character that cannot be printed.")


def digest(screen: Screen) -> str:
    """A hash of the contents, the same when pinned twice; caveats and explanation do not enter it."""
    shown = [screen.title, list(screen.sentences), screen.figure, [list(line) for line in screen.table], screen.source]
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()


def _in(deck: str) -> tuple[sql.ColumnElement[bool], ...]:
    return screens_table.c.deck == deck, screens_table.c.deleted.is_(None)


def _present(deck: str) -> sql.Select[Any]:
    return sql.select(screens_table).where(*_in(deck)).order_by(screens_table.c.position, screens_table.c.sequence)


def _where(screen_id: str) -> sql.Update:
    return screens_table.update().where(screens_table.c.id == screen_id)


def _row(connection: Connection, screen_id: str, *, deleted: bool = False) -> RowMapping:
    row = connection.execute(sql.select(screens_table).where(screens_table.c.id == screen_id)).mappings().one_or_none()
    if row is None or (row["deleted"] is not None) != deleted:
        raise QueryError("This screen is not in its deck any more." if not deleted else "This screen is gone for good.")
    return row


def _room(connection: Connection, deck: str) -> int:
    """The position behind the last of a deck. Raises `LimitError` for a full deck, and for too many decks."""
    table = screens_table.c
    count, last = connection.execute(sql.select(sql.func.count(), sql.func.max(table.position)).where(*_in(deck))).one()
    if count >= MOST_SCREENS:
        raise LimitError(
            f"This deck has {count} screens already, the most that a deck may have; begin another.", limit="screens"
        )
    if not count:
        others = sql.select(sql.func.count(table.deck.distinct())).where(table.deleted.is_(None), table.deck != deck)
        if (connection.scalar(others) or 0) >= MOST_DECKS:
            raise LimitError(f"There are {MOST_DECKS} decks already, the most that are allowed.", limit="decks")
    return 0 if last is None else int(last) + 1


def _checked_preview(preview: str) -> str:
    text = to_text(preview)
    if len(preview.encode("utf-8", "replace")) > LONGEST_PREVIEW:
        raise LimitError(f"The small picture of a figure takes at most {LONGEST_PREVIEW:,} bytes.", limit="preview")
    return text


def _append(connection: Connection, screen: Screen, preview: str | None = None) -> Screen:
    place = _room(connection, screen.deck)
    kept = replace(screen, id=secrets.token_hex(8), position=place, created=time.time())
    connection.execute(
        screens_table.insert().values(
            id=kept.id,
            deck=kept.deck,
            position=place,
            digest=digest(kept),
            data=_data(kept),
            created=kept.created,
            figure=to_text(kept.figure),
            preview=None if preview is None else _checked_preview(preview),
        )
    )
    return kept


def _number(connection: Connection, order: list[str]) -> None:
    for place, screen_id in enumerate(order):
        connection.execute(_where(screen_id).values(position=place))


def _data(screen: Screen) -> str:
    return to_text({name: value for name, value in screen.to_json().items() if name not in (*_COLUMNS, "figure")})


def _screen(row: Mapping[Any, Any]) -> Screen:
    known = {item.name for item in fields(Screen)}
    data = {name: value for name, value in from_text(row["data"]).items() if name in known}
    return Screen.from_json(data | {name: row[name] for name in _COLUMNS} | {"figure": from_text(row["figure"])})
