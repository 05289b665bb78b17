"""Fields that several pages around triggers have: what is searched for, for which targets, and of what model.

Each page says in its own words what a choice does to its answer; label, choices and bounds are the same on all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.setting_fields import attempt
from app.studies.fields import number_field
from app.studies.trigger_words import hit_label, list_label
from engine.counted import counted
from engine.triggers.causal.template import Template
from engine.triggers.hits import HIT_TYPES

_LISTS = ("normal", "mal", "random")

#: What a page offers; from Python and a terminal there may be more.
MOST_RESTARTS = 50
_MOST_SWEEPS, _MOST_SEED = 500, 2**31 - 1

#: How the decoder sees the input, see `engine.triggers.model.seq2seq`.
_CONTEXT_LABELS = {"last": "its last state", "general": "attention", "mlp-query": "attention, authors' variant"}


def hit_names(*chosen: str) -> list[str]:
    """The hit types of the paper, and those that a study has besides."""
    return list(dict.fromkeys((*(kind.name for kind in HIT_TYPES), *chosen)))


def named_hit(name: str) -> str:
    """A hit type in words, and as the paper calls it."""
    return f"{hit_label(name)} · {name}"


def hit_field(label: str, chosen: str, *, kind: str, help: str) -> str:
    """The choice of a hit type."""
    names = hit_names(chosen)
    key = f"{kind}_hit_type"
    return str(st.selectbox(label, names, index=names.index(chosen), format_func=named_hit, key=key, help=help))


def template_fields(template: Template, *, kind: str) -> Template:
    """The text around the free tokens, and how it is written; `template` where it is not one, which is said."""
    text = st.text_input(
        "Prompt, with {} for the free tokens",
        value=template.text,
        key=f"{kind}_template",
        help="The text around the trigger. Only what stands at {} is searched for or changed.",
    )
    form = st.segmented_control(
        "Written as",
        ("chat", "plain"),
        default=template.form,
        required=True,
        key=f"{kind}_form",
        help="**chat**: as a message of the user, in the model's own chat format. **plain**: as the beginning of a "
        "text that the model continues.",
    )
    return attempt(lambda: Template(text or "", form), template)


class Told(Protocol):
    """Something to be checked, which a search may have told."""

    @property
    def log_probs(self) -> tuple[float, ...]:
        """() where nothing was told."""
        ...


Checked = TypeVar("Checked", bound=Told)


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
    """What is to be checked, one a line; what a search has told stays hidden, and as it is, until somebody asks.

    tidy: what is done to a line before it is read.
    """
    told = any(one.log_probs for one in asked)
    shown = not told or st.toggle(
        f"Show and change the {noun}s", key=f"{key}_shown", help="They come from a search, so they may hold rude words."
    )
    if not shown:
        st.caption(f"{counted(len(asked), noun)}, as a search told them.")
        return tuple(asked)
    before = {line_of(one): one for one in asked}
    typed = st.text_area(label, value="\n".join(before), key=key, height=120, placeholder=placeholder, help=help)
    lines = [tidy(line) for line in str(typed or "").splitlines() if line.strip()]
    return tuple(before[line] if line in before else of_line(line) for line in lines)


def lists_field(place: DeltaGenerator, chosen: Sequence[str], *, kind: str, help: str) -> tuple[Any, ...]:
    """The choice of lists of targets, in their usual order."""
    lists = place.pills(
        "Lists of targets",
        _LISTS,
        selection_mode="multi",
        default=list(chosen),
        format_func=list_label,
        key=f"{kind}_lists",
        help=help,
    )
    return tuple(name for name in _LISTS if name in lists)


def count_field(place: DeltaGenerator, count: int, *, most: int, kind: str) -> int:
    """How many targets of each list."""
    return int(
        number_field(
            place,
            "Targets of each list",
            count,
            least=1,
            most=most,
            key=f"{kind}_count",
            help="More targets make narrower intervals, and take longer in proportion.",
        )
    )


def own_targets_field(place: DeltaGenerator, targets: Sequence[str], *, kind: str, help: str) -> tuple[str, ...]:
    """Targets that somebody types."""
    typed = place.text_area(
        "Targets of your own, one a line",
        value="\n".join(targets),
        key=f"{kind}_targets",
        height=80,
        placeholder="you are so boring",
        help=help,
    )
    return tuple(line.strip() for line in str(typed or "").splitlines() if line.strip())


def normal_field(place: DeltaGenerator, chosen: str, *, kind: str, help: str) -> Any:
    """How the list "normal" is made."""
    return place.segmented_control(
        "Replies of the list “normal”",
        ("sampled", "greedy"),
        default=chosen,
        required=True,
        key=f"{kind}_normal",
        help=help,
    )


def sweeps_field(place: DeltaGenerator, sweeps: int, *, kind: str, of: str) -> int:
    """How often is swept; of: "the search", or "a search" where there are many."""
    return int(
        number_field(
            place,
            "Sweeps at most",
            sweeps,
            least=1,
            most=_MOST_SWEEPS,
            key=f"{kind}_sweeps",
            help=f"How often {of} goes over all places of the input. It ends earlier when a sweep brings nothing.",
        )
    )


def seed_field(place: DeltaGenerator, seed: int, *, kind: str, help: str) -> int:
    """The seed."""
    return int(number_field(place, "Seed", seed, least=0, most=_MOST_SEED, key=f"{kind}_seed", help=help))


def context_field(place: DeltaGenerator, chosen: str, *, kind: str, help: str) -> Any:
    """How the decoder sees the input."""
    return place.selectbox(
        "What a reply sees of the input",
        tuple(_CONTEXT_LABELS),
        index=list(_CONTEXT_LABELS).index(chosen),
        format_func=_CONTEXT_LABELS.__getitem__,
        key=f"{kind}_context",
        help=help,
    )
