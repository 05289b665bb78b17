"""The history of runs: search by words, names, notes, pins, deletion and restoring.

    store.find("washington born", varieties=("sampling",))   pinned ones first, then the newest
    store.rename(run, "Birth dates, top-k 40")
    store.delete(run)                                        gone from every list, its rows kept for a while
    store.restore(run)                                       as it was

Deleting marks a run and can be undone. After `RELENS_KEEP_DELETED` days a deleted run is removed for good, at the next
deletion or when a worker starts. Deleting a live run also stops it.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

import sqlalchemy as sql

from relens import settings
from relens.errors import LimitError, QueryError
from relens.runs.database import from_text, runs_table
from relens.runs.listed_runs import COLUMNS, ListedRun, listed_run
from relens.runs.records import ENDED, RunRecord
from relens.runs.search_words import ESCAPE, like_patterns, search_words
from relens.runs.store_part import INSPECT, StorePart, count_runs, is_kept, run_record

LONGEST_NAME, LONGEST_NOTE = 200, 10_000
#: Only this many characters of a search text count.
_LONGEST_SEARCH = 400


class History(StorePart):
    """Searching runs, and changing their names, notes, pins and deletion."""

    def find(
        self,
        text: str = "",
        *,
        kinds: Collection[str] = (),
        varieties: Collection[str] = (),
        statuses: Collection[str] = (),
        models: Collection[str] = (),
        pinned: bool | None = None,
        deleted: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> list[RunRecord]:
        """The runs with all words of `text` in their name, note, model or query, in upper or lower case.

        Each filter is off where it is empty. varieties: as `RunRecord.variety`. deleted: those in the bin in place of
        the others. Pinned ones first, then the newest; inspections are never among them.
        """
        conditions = _conditions(text, kinds, varieties, statuses, models, pinned, deleted)
        query = _in_order(sql.select(runs_table).where(*conditions), limit, offset)
        with self._database.reading() as connection:
            return [run_record(row) for row in connection.execute(query).mappings()]

    def listed(
        self,
        text: str = "",
        *,
        kinds: Collection[str] = (),
        varieties: Collection[str] = (),
        statuses: Collection[str] = (),
        models: Collection[str] = (),
        pinned: bool | None = None,
        deleted: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> list[ListedRun]:
        """The same runs in the same order as `find`, without their specifications."""
        conditions = _conditions(text, kinds, varieties, statuses, models, pinned, deleted)
        columns = [runs_table.c[name] for name in COLUMNS]
        query = _in_order(sql.select(*columns).where(*conditions), limit, offset)
        with self._database.reading() as connection:
            return [listed_run(row) for row in connection.execute(query).mappings()]

    def specification(self, run_id: str) -> dict[str, Any] | None:
        """The specification of a run, also of one in the bin; None for an unknown id."""
        query = sql.select(runs_table.c.specification).where(runs_table.c.id == run_id)
        with self._database.reading() as connection:
            text = connection.scalar(query)
        return None if text is None else from_text(text)

    def count(
        self,
        text: str = "",
        *,
        kinds: Collection[str] = (),
        varieties: Collection[str] = (),
        statuses: Collection[str] = (),
        models: Collection[str] = (),
        pinned: bool | None = None,
        deleted: bool = False,
    ) -> int:
        """How many runs `find` has with these filters."""
        conditions = _conditions(text, kinds, varieties, statuses, models, pinned, deleted)
        with self._database.reading() as connection:
            return connection.scalar(count_runs(*conditions)) or 0

    def beginning_with(self, letters: str, limit: int = 2) -> list[RunRecord]:
        """Runs whose id begins with these letters; none for no letters."""
        if not letters:
            return []
        query = (
            sql.select(runs_table)
            .where(runs_table.c.id.startswith(letters, autoescape=True), runs_table.c.kind != INSPECT, is_kept())
            .limit(limit)
        )
        with self._database.reading() as connection:
            return [run_record(row) for row in connection.execute(query).mappings()]

    def models(self) -> list[str]:
        """The names of the models of all runs."""
        query = sql.select(runs_table.c.model).where(is_kept(), runs_table.c.kind != INSPECT).distinct()
        with self._database.reading() as connection:
            return sorted(connection.scalars(query))

    def fingerprint_here(self, model: str) -> str | None:
        """The latest fingerprint of the model of that name on this installation; None if unknown."""
        query = (
            sql.select(runs_table.c.model_fingerprint)
            .where(
                runs_table.c.model == model,
                runs_table.c.model_fingerprint.is_not(None),
                runs_table.c.origin.is_(None),
            )
            .order_by(runs_table.c.started.desc())
            .limit(1)
        )
        with self._database.reading() as connection:
            return connection.scalar(query)

    def rename(self, run_id: str, name: str) -> None:
        """Give a run a name, "" for none. `LimitError` for one that is too long, `QueryError` where there is no run."""
        self._describe(run_id, name=clean_line(name, LONGEST_NAME, "name"))

    def annotate(self, run_id: str, note: str) -> None:
        """Give a run a note in place of the one it has. Errors as of `rename`."""
        self._describe(run_id, note=clean_text(note, LONGEST_NOTE, "note"))

    def pin(self, run_id: str, pinned: bool = True) -> None:
        """Keep a run above the others, or no longer. `QueryError` where there is no run."""
        with self._database.writing() as connection:
            changed = connection.execute(
                runs_table.update().where(runs_table.c.id == run_id, is_kept()).values(pinned=pinned)
            ).rowcount
        if not changed:
            raise _missing(run_id)

    def delete(self, run_id: str) -> None:
        """Put a run into the bin, and stop it if it is live; runs that were in the bin too long are removed."""
        now = time.time()
        chosen = runs_table.update().where(runs_table.c.id == run_id, is_kept())
        with self._database.writing() as connection:
            connection.execute(
                chosen.where(runs_table.c.status.not_in(ENDED)).values(
                    status="stopped", ended=now, stop_requested=True, stage="", stage_fraction=None
                )
            )
            connection.execute(chosen.values(deleted=now))
        self.purge()

    def restore(self, run_id: str) -> None:
        """Take a run out of the bin, as it was. `QueryError` where it is not there any more."""
        with self._database.writing() as connection:
            restored = connection.execute(
                runs_table.update()
                .where(runs_table.c.id == run_id, runs_table.c.deleted.is_not(None))
                .values(deleted=None)
            ).rowcount
        if not restored:
            raise QueryError(f"The run {run_id!r} cannot be restored: it is not among the deleted ones (any more).")

    def purge(self, older_than: float | None = None) -> int:
        """Remove for good, with their rows, the runs that were deleted over `older_than` seconds ago; how many.

        None: as long as RELENS_KEEP_DELETED says.
        """
        keep = settings.keep_deleted_seconds() if older_than is None else older_than
        with self._database.writing() as connection:
            return connection.execute(
                runs_table.delete().where(runs_table.c.deleted.is_not(None), runs_table.c.deleted <= time.time() - keep)
            ).rowcount

    def _describe(self, run_id: str, **changes: str) -> None:
        """Change name or note, and the search words with it."""
        chosen = sql.and_(runs_table.c.id == run_id, is_kept())
        columns = runs_table.c
        with self._database.writing() as connection:
            run = connection.execute(
                sql.select(columns.specification, columns.name, columns.note, columns.model).where(chosen)
            ).one_or_none()
            if run is None:
                raise _missing(run_id)
            now: dict[str, Any] = {"name": run.name, "note": run.note} | changes
            words = search_words(from_text(run.specification), now["name"], now["note"], run.model)
            connection.execute(runs_table.update().where(chosen).values(**now, search_words=words))


def clean_line(text: str, longest: int, what: str) -> str:
    """`text` in one line, as a database takes it. Raises `LimitError` where it is too long."""
    return clean_text(" ".join(text.split()), longest, what)


def clean_text(text: str, longest: int, what: str) -> str:
    """`text` without characters that databases refuse, stripped. Raises `LimitError` where it is too long."""
    text = text.replace("\0", "").encode("utf-8", "replace").decode().strip()
    if len(text) > longest:
        raise LimitError(
            f"The {what} of a run may have {longest:,} characters; this one has {len(text):,}.", limit=what
        )
    return text


def _in_order(query: sql.Select[Any], limit: int, offset: int) -> sql.Select[Any]:
    """Pinned runs first, then the newest."""
    return query.order_by(runs_table.c.pinned.desc(), runs_table.c.sequence.desc()).limit(limit).offset(offset)


def _conditions(
    text: str,
    kinds: Collection[str],
    varieties: Collection[str],
    statuses: Collection[str],
    models: Collection[str],
    pinned: bool | None,
    deleted: bool,
) -> list[sql.ColumnElement[bool]]:
    columns = runs_table.c
    conditions = [columns.kind != INSPECT, columns.deleted.is_not(None) if deleted else is_kept()]
    for column, values in (
        (columns.kind, kinds),
        (columns.variety, varieties),
        (columns.status, statuses),
        (columns.model, models),
    ):
        if values:
            conditions.append(column.in_(values))
    if pinned is not None:
        conditions.append(columns.pinned.is_(pinned))
    conditions += [
        columns.search_words.like(pattern, escape=ESCAPE) for pattern in like_patterns(text[:_LONGEST_SEARCH])
    ]
    return conditions


def _missing(run_id: str) -> QueryError:
    return QueryError(f"There is no run {run_id!r} (any more).")
