"""The same complaint once, another one at once, and all of it again after a while."""

from __future__ import annotations

import logging

from relens.runs.complaints import Complaints


def test_lasting_trouble_is_logged_once(caplog, monkeypatch):
    now = 0.0
    monkeypatch.setattr("relens.runs.complaints.time.monotonic", lambda: now)
    complaints = Complaints(logging.getLogger("test"))
    for _ in range(3):
        complaints.warn(ValueError("full"))
    complaints.warn(ValueError("locked"))
    complaints.warn(ValueError("locked"))
    now = 61.0
    complaints.warn(ValueError("locked"))
    assert [record.message for record in caplog.records] == ["full", "locked", "locked"]
