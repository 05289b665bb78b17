"""The view of results: by token sequence, by string, or by the named groups of the query.

The choice is in the address of the page (`relens_dashboard.links.VIEW`), so a link shows what its sender saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from relens.language.group_names import group_names
from relens_dashboard.links import BY, GIVEN, GROUPS

SEQUENCES, STRINGS, BY_GROUPS = "Encodings", "Strings", "Groups"


@dataclass(frozen=True)
class View:
    """by: one of the three constants above. names: the groups counted. given: those that shares are conditional on."""

    by: str
    names: tuple[str, ...] = ()
    given: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """The groups that are counted and not given."""
        return tuple(name for name in self.names if name not in self.given)


def choose_view(names: Sequence[str], prefix: str, *, prefer_groups: bool) -> View:
    """Let the reader choose. names: the query's named groups; those inside its `prefix` are given by default."""
    options = [SEQUENCES, STRINGS, *([BY_GROUPS] if names else [])]
    by = st.segmented_control(
        "Results by",
        options,
        default=BY_GROUPS if names and prefer_groups else STRINGS,
        required=True,
        key=BY,
        bind="query-params",
        label_visibility="collapsed",
        help="**Encodings**: one line for each token sequence. **Strings**: one line for each string, its token "
        "sequences added up. **Groups**: one line for each value of the named groups of the query.",
    )
    if by != BY_GROUPS or len(names) < 2:
        return View(str(by), tuple(names))
    counted = st.pills(
        "Count by",
        list(names),
        selection_mode="multi",
        default=list(names),
        key=GROUPS,
        bind="query-params",
        help="Which groups make a line of their own.",
    )
    chosen = [name for name in names if name in (counted or [])] or list(names)
    conditions = st.pills(
        "Given",
        list(names),
        selection_mode="multi",
        default=[name for name in names if name in group_names(prefix)],
        key=GIVEN,
        bind="query-params",
        help="Shares are among the matches with the same value of this group. Example: given the subject, the share of "
        "each outcome.",
    )
    return View(str(by), *arranged(chosen, conditions or []))


def arranged(names: Sequence[str], given: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The groups counted, and those of them that are given; if all would be given, none is."""
    conditions = tuple(name for name in names if name in given)
    return tuple(names), conditions if len(conditions) < len(names) else ()


def default_view(names: Sequence[str], prefix: str) -> View:
    """The view of all groups given those of the prefix, for sentences."""
    return View(BY_GROUPS, *arranged(names, group_names(prefix)))
