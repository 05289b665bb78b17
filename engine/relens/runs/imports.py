"""Runs of other installations in this store: unchanged, marked as imported, to compare and to repeat."""

from __future__ import annotations

import secrets
import time

from sqlalchemy.engine import Connection

from relens.runs.ceilings import within_ceilings
from relens.runs.database import rows_table, runs_table, to_text
from relens.runs.run_file import RunFile
from relens.runs.search_words import search_words, variety
from relens.runs.sizes import check_sizes
from relens.runs.specification import specification_to_json
from relens.runs.store_part import StorePart

#: Rows that are written at once.
_BATCH = 1_000


class Imports(StorePart):
    """Taking in runs that were made elsewhere."""

    def import_run(self, run: RunFile) -> str:
        """Keep a run that was read from a file, with its own times and versions; returns the id it has here.

        One transaction: all of it is written, or nothing. Its limits are clamped (`relens.runs.ceilings`), for when it
        is repeated. Raises `LimitError` for a description that is too large.
        """
        specification = specification_to_json(within_ceilings(run.specification))
        check_sizes(specification)
        run_id = secrets.token_hex(8)
        model = run.specification.model
        origin = {"id": run.id, "exported": run.exported, "imported": time.time()}
        with self._database.writing() as connection:
            connection.execute(
                runs_table.insert().values(
                    id=run_id,
                    kind=run.specification.kind,
                    variety=variety(specification),
                    status=run.status,
                    model=model,
                    specification=to_text(specification),
                    progress=to_text(run.progress),
                    error=run.error,
                    created=run.created,
                    started=run.started,
                    ended=run.ended,
                    row_count=len(run.rows),
                    model_fingerprint=run.model_fingerprint,
                    versions=to_text(run.versions),
                    name=run.name,
                    note=run.note,
                    search_words=search_words(specification, run.name, run.note, model),
                    origin=to_text(origin),
                )
            )
            _write_rows(connection, run_id, run)
        return run_id


def _write_rows(connection: Connection, run_id: str, run: RunFile) -> None:
    for start in range(0, len(run.rows), _BATCH):
        batch = run.rows[start : start + _BATCH]
        connection.execute(
            rows_table.insert(),
            [{"run_id": run_id, "number": number, "data": to_text(row)} for number, row in enumerate(batch, start + 1)],
        )
