"""The state of a run: its status, its cost, and the mass of its matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from relens.counted import counted
from relens.query import Distribution
from relens.runs.records import RunRecord
from relens_dashboard import findings, narrative
from relens_dashboard.charts import BLUE, GREEN, ORANGE, RED
from relens_dashboard.run_rows import RunRows
from relens_dashboard.text import as_html

#: How the bar of a search's mass is read.
BAR_KEY = "solid: found so far · hatched: not looked at yet · empty: certainly no match"

#: The colour of the dot of each status.
HUES = {"queued": ORANGE, "running": BLUE, "done": GREEN, "stopped": ORANGE, "failed": RED, "interrupted": RED}


def run_status(run: RunRecord, queue_position: int | None) -> None:
    """The headline, a bar while it runs, the reason of its end, and one line about the work."""
    headline = narrative.status_headline(run, queue_position)
    if run.is_live:
        detail = " · ".join(part for part in (narrative.work_sentence(run), narrative.time_left(run)) if part)
        st.progress(narrative.fraction_done(run), text=f"**{headline}**" + (f" · {detail}" if detail else ""))
    else:
        sentence = narrative.ending_sentence(run)
        st.html(
            f'<div class="relens-verdict" data-run-status="{run.status}">'
            f'<span><i class="relens-dot" style="--hue:{HUES[run.status]}"></i><b>{headline}</b></span>'
            f"<span>{as_html(sentence)}</span></div>"
        )
        work = narrative.work_sentence(run)
        if work:
            st.caption(work)


def mass(run: RunRecord, run_rows: RunRows) -> None:
    """The probability that the decoder writes a match: bounds, or of a sample an estimate with its interval.

    Nothing for a sample that is still being drawn, or whose draws are not all read.
    """
    if not run.progress:
        return
    draws = narrative.draws(run)
    if draws is not None:
        if run.is_live or not run_rows.is_whole:
            return
        estimate = run_rows.remember("mass", lambda: findings.sample_mass(run_rows.rows, draws))
        if estimate is not None:
            sentence = findings.sample_mass_sentence(estimate)
            st.html(mass_html(sentence, estimate.low, estimate.high, "hatched: the interval of 95 in 100 samples"))
        return
    sentence = mass_text(run, ())
    st.html(mass_html(sentence, *narrative.mass_bounds(run.progress), BAR_KEY))


def mass_text(run: RunRecord, rows: Sequence[Mapping[str, Any]]) -> str:
    """The same as a sentence; "" while a sample is being drawn, and before the first numbers."""
    draws = narrative.draws(run)
    if draws is not None:
        estimate = findings.sample_mass(rows, draws)
        return "" if estimate is None or run.is_live else findings.sample_mass_sentence(estimate)
    if not run.progress:
        return ""
    return narrative.mass_sentence(
        run.progress,
        end_of_text=bool(run.specification.get("query", {}).get("end_of_text")),
        exclusive=narrative.traversal_kind(run) == Distribution.kind,
    )


def mass_html(sentence: str, lower: float, upper: float, key: str) -> str:
    """The sentence over a bar that is solid up to `lower` and hatched from there to `upper`."""
    return (
        '<div class="relens-mass">'
        f"<p>{as_html(sentence)}</p>"
        f'<div class="bar" role="img" aria-label="{as_html(sentence)}">'
        f'<div class="found" style="width:{100 * lower:.4f}%"></div>'
        f'<div class="open" style="left:{100 * lower:.4f}%;width:{100 * (upper - lower):.4f}%"></div></div>'
        f'<div class="key">{as_html(key)}</div></div>'
    )


def device_line(device: Mapping[str, Any]) -> str:
    """The worker's use of processors and memory; "" where it reports none."""
    parts = []
    if device.get("gpu_name") or device.get("name"):
        parts.append(str(device.get("gpu_name") or device["name"]))
    if device.get("cpu_percent") is not None:
        cores = device["cpu_percent"] / 100
        parts.append(f"{cores:.1f} of {counted(int(device.get('cpu_count') or 1), 'core')} busy")
    if device.get("memory_bytes"):
        parts.append(f"{narrative.bytes_text(device['memory_bytes'])} of memory")
    if device.get("gpu_percent") is not None:
        parts.append(f"GPU {device['gpu_percent']:.0f} % busy")
    if device.get("gpu_memory_bytes"):
        parts.append(f"{narrative.bytes_text(device['gpu_memory_bytes'])} of GPU memory")
    return " · ".join(parts)
