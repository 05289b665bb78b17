"""A run as it goes: where it stands, what it has cost, and how much of the model's output is in the language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import narrative
from app.charts import BLUE, GREEN, ORANGE, RED
from app.text import as_html
from engine.runs.records import RunRecord

_HUES = {"queued": ORANGE, "running": BLUE, "done": GREEN, "stopped": ORANGE, "failed": RED, "interrupted": RED}


def run_status(run: RunRecord, queue_position: int | None) -> None:
    """The headline, a bar while it runs, the reason when it is over, and one line about the work."""
    headline = narrative.status_headline(run, queue_position)
    if run.is_live:
        detail = " · ".join(part for part in (narrative.work_sentence(run), narrative.time_left(run)) if part)
        st.progress(narrative.fraction_done(run), text=f"**{headline}**" + (f" · {detail}" if detail else ""))
    else:
        sentence = narrative.ending_sentence(run)
        st.html(
            f'<div class="relens-verdict" data-run-status="{run.status}">'
            f'<span><i class="relens-dot" style="--hue:{_HUES[run.status]}"></i><b>{headline}</b></span>'
            f"<span>{as_html(sentence)}</span></div>"
        )
        work = narrative.work_sentence(run)
        if work:
            st.caption(work)


def mass(run: RunRecord) -> None:
    """The bounds on the mass: a sentence, and a bar with what was found and what is still open."""
    if not run.progress:
        return
    end_of_text = bool(run.specification.get("query", {}).get("end_of_text"))
    lower, upper = narrative.mass_bounds(run.progress)
    sentence = narrative.mass_sentence(run.progress, end_of_text=end_of_text)
    st.html(
        '<div class="relens-mass">'
        f"<p>{as_html(sentence)}</p>"
        f'<div class="bar" role="img" aria-label="{as_html(sentence)}">'
        f'<div class="found" style="width:{100 * lower:.4f}%"></div>'
        f'<div class="open" style="left:{100 * lower:.4f}%;width:{100 * (upper - lower):.4f}%"></div></div>'
        '<div class="key">solid: found so far · hatched: not looked at yet · empty: certainly no match</div></div>'
    )


def device_line(device: Mapping[str, Any]) -> str:
    """What the worker uses, from the figures it reports; empty where it reports none."""
    parts = []
    if device.get("gpu_name") or device.get("name"):
        parts.append(str(device.get("gpu_name") or device["name"]))
    if device.get("cpu_percent") is not None:
        cores = device["cpu_percent"] / 100
        parts.append(f"{cores:.1f} of {narrative.count_text(int(device.get('cpu_count') or 1), 'core')} busy")
    if device.get("memory_bytes"):
        parts.append(f"{narrative.bytes_text(device['memory_bytes'])} of memory")
    if device.get("gpu_percent") is not None:
        parts.append(f"GPU {device['gpu_percent']:.0f} % busy")
    if device.get("gpu_memory_bytes"):
        parts.append(f"{narrative.bytes_text(device['gpu_memory_bytes'])} of GPU memory")
    return " · ".join(parts)
