"""Fields of several pages around triggers that are no plain widgets: hit types, templates, and texts to check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import streamlit as st

from relens.counted import counted
from relens.setting import declared
from relens.studies.study import Study
from relens.triggers.causal.template import Template
from relens.triggers.hits import HIT_TYPES
from relens_dashboard.setting_fields import SettingFields, attempt
from relens_dashboard.studies.trigger_words import hit_label


def hit_names(*chosen: str) -> list[str]:
    """The hit types of the paper, and other ones of a study."""
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
    """The text around the free tokens, and its form; an invalid one is shown as an error, and `template` stays."""
    fields = SettingFields(template, kind)
    fields.draw("text", key=f"{kind}_template")
    fields.draw("form")
    return attempt(fields.record, template)


class Checkable(Protocol):
    """A text to check, of a search or typed."""

    @property
    def log_probs(self) -> tuple[float, ...]:
        """Those stored by a search, () without one."""
        ...


Checked = TypeVar("Checked", bound=Checkable)


def checked_field(
    items: Sequence[Checked],
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
    """The texts to check, one a line; those of a search stay hidden and unchanged behind a switch.

    tidy: applied to each line.
    """
    from_search = any(item.log_probs for item in items)
    shown = not from_search or st.toggle(
        f"Show and change the {noun}s", key=f"{key}_shown", help="They come from a search, so they may hold rude words."
    )
    if not shown:
        st.caption(f"{counted(len(items), noun)} of a search.")
        return tuple(items)
    before = {line_of(item): item for item in items}
    typed = st.text_area(label, value="\n".join(before), key=key, height=120, placeholder=placeholder, help=help)
    lines = [tidy(line) for line in str(typed or "").splitlines() if line.strip()]
    return tuple(before[line] if line in before else of_line(line) for line in lines)
