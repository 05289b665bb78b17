"""Fields of several pages around triggers that are no plain widgets: hit types, and what is to be checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import streamlit as st

from app.setting_fields import SettingFields, attempt
from app.studies.trigger_words import hit_label
from engine.counted import counted
from engine.setting import declared
from engine.studies.study import Study
from engine.triggers.causal.template import Template
from engine.triggers.hits import HIT_TYPES


def hit_names(*chosen: str) -> list[str]:
    """The hit types of the paper, and those that a study has besides."""
    return list(dict.fromkeys((*(kind.name for kind in HIT_TYPES), *chosen)))


def named_hit(name: str) -> str:
    """A hit type in words, and as the paper calls it."""
    return f"{hit_label(name)} · {name}"


def hit_field(study: Study, chosen: str) -> str:
    """The choice of the hit type of a study, by its name; `chosen` is the first value."""
    setting, names = declared(type(study), "hit_type").setting, hit_names(chosen)
    return str(
        st.selectbox(
            setting.label,
            names,
            index=names.index(chosen),
            format_func=named_hit,
            key=f"{study.kind}_hit_type",
            help=setting.help,
        )
    )


def template_fields(template: Template, *, kind: str) -> Template:
    """The text around the free tokens, and how it is written; `template` where it is not one, which is said."""
    fields = SettingFields(template, kind)
    fields.draw("text", key=f"{kind}_template")
    fields.draw("form")
    return attempt(fields.record, template)


class Checkable(Protocol):
    """Something to be checked, which a search may have found."""

    @property
    def log_probs(self) -> tuple[float, ...]:
        """() where no search has stored any."""
        ...


Checked = TypeVar("Checked", bound=Checkable)


def checked_field(
    asked: Sequence[Checked],
    line_of: Callable[[Checked], str],
    of_line: Callable[[str], Checked],
    *,
    noun: str,
    label: str,
    key: str,
    placeholder: str,
    help: str,
    tidy: Callable[[str], str] = str,
) -> tuple[Checked, ...]:
    """What is to be checked, one a line; what a search has found stays hidden, and as it is, until somebody asks.

    tidy: what is done to a line before it is read.
    """
    is_found = any(one.log_probs for one in asked)
    shown = not is_found or st.toggle(
        f"Show and change the {noun}s", key=f"{key}_shown", help="They come from a search, so they may hold rude words."
    )
    if not shown:
        st.caption(f"{counted(len(asked), noun)}, as a search found them.")
        return tuple(asked)
    before = {line_of(one): one for one in asked}
    typed = st.text_area(label, value="\n".join(before), key=key, height=120, placeholder=placeholder, help=help)
    lines = [tidy(line) for line in str(typed or "").splitlines() if line.strip()]
    return tuple(before[line] if line in before else of_line(line) for line in lines)
