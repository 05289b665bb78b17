"""The parts of Streamlit to change are checked first."""

from __future__ import annotations

import pytest

from relens.errors import RelensError
from relens_dashboard.streamlit_patches import known_messages, known_origins, patch_streamlit, whole_messages
from relens_dashboard.streamlit_patches.parts import Attribute, Function, check_parts


class Session:
    kind = "a"

    def __init__(self) -> None:
        self._runner = None
        print(self.read_only)

    def handle(self, message, more=None, *others):
        """Something."""


def test_existing_parts_are_there():
    check_parts(
        [
            Function(Session.handle, ("self", "message")),
            Function(Session.handle, ("self", "message", "more")),
            Attribute(Session, "_runner"),
            Attribute(Session, "kind"),
        ]
    )


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (Function(Session.handle, ("self",)), r"Session\.handle\(self\)"),
        (Function(Session.handle, ("self", "more")), r"Session\.handle\(self, more\)"),
        (Attribute(Session, "_scriptrunner"), r"Session\._scriptrunner"),
        (Attribute(Session, "read_only"), r"Session\.read_only"),
    ],
)
def test_missing_parts_are_named(part, name):
    with pytest.raises(RelensError, match=rf"Streamlit \d.* it has no {name}\.$"):
        check_parts([Attribute(Session, "kind"), part])


def test_nothing_is_changed_where_a_part_is_missing(monkeypatch):
    applied = []
    for patch in (whole_messages, known_messages, known_origins):
        monkeypatch.setattr(patch, "apply", lambda patch=patch: applied.append(patch))
    patch_streamlit()
    assert len(applied) == 3
    monkeypatch.setattr(known_origins, "PARTS", (Attribute(Session, "gone"),))
    with pytest.raises(RelensError, match="gone"):
        patch_streamlit()
    assert len(applied) == 3
