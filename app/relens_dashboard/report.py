"""The report of a study: one HTML file that needs nothing else, to be mailed, kept, and opened in ten years.

    verdict, figures, tables        the findings
    specification, Python, command  how to repeat them

The frame of the file is `relens_dashboard.self_contained`. Every text is escaped on insertion; plotly escapes the data
of figures.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pandas as pd

from relens.counted import counted
from relens.runs.records import RunRecord
from relens.runs.specification import StudySpecification
from relens.studies.masking import Masker
from relens_dashboard.narrative import duration_text
from relens_dashboard.self_contained import html_file
from relens_dashboard.studies.view import Figure, StudyView, Table
from relens_dashboard.study_narrative import ending_sentence, units_sentence
from relens_dashboard.study_snippets import study_command, study_python
from relens_dashboard.text import as_html

_MASKED = (
    "Words are masked in this file. To repeat the study, or to read it with the words, open its page, switch on “Show "
    "the words” there and save the report again."
)

#: Lines of a table in a report; the page's other files have all rows.
_MOST_LINES = 500

_STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #1C2733; background: #fff; max-width: 68rem; margin: 2rem auto;
  padding: 0 1.2rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin-bottom: 0.2rem; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
h3 { font-size: 1.02rem; margin: 1.6rem 0 0.2rem; } .minor { color: #566270; font-size: 0.92rem; }
.notice { border-left: 4px solid #E69F00; padding: 0.3rem 0.8rem; background: #fdf6e7; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.86rem; }
th, td { text-align: left; padding: 0.22rem 0.6rem; border-bottom: 1px solid #D9DEDF; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; } th { border-bottom: 2px solid #8A939B; }
pre { background: #F0F2F1; padding: 0.7rem 0.9rem; border-radius: 0.4rem; font-size: 0.82rem; overflow-x: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; }
button { font: inherit; font-size: 0.8rem; margin: 0 0.3rem 0 0; }
@media print { button { display: none; } }
"""

_SAVING = """
for (const button of document.querySelectorAll("button[data-figure]")) button.addEventListener("click", () => {
  const figure = document.getElementById(button.dataset.figure)
  Plotly.downloadImage(figure, { format: button.dataset.format, filename: button.dataset.figure, width: 1000,
    height: figure.layout.height || 450, scale: button.dataset.format === "png" ? 2 : 1 })
})
"""


def study_report(
    run: RunRecord,
    specification: StudySpecification,
    view: StudyView,
    verdict: Sequence[str],
    figures: Sequence[Figure],
    tables: Sequence[Table],
    mask: Masker | None = None,
) -> bytes:
    """The file, in UTF-8. verdict, figures, tables: of the rows of `run`. mask: the one that hid words in these."""
    study = specification.study
    shown_settings = specification.to_json() if mask is None else next(mask.rows([specification.to_json()]))
    parts = [
        f"<h1>{as_html(study.title)}</h1>",
        f"<p>{as_html(study.question)}</p>",
        f'<p class="minor">{as_html(_account(run, mask))}</p>',
        f'<p class="notice">{as_html(view.notice)}</p>' if view.notice else "",
        f"<p>{as_html(view.introduction)}</p>",
        f'<p class="notice">{as_html(_MASKED)}</p>' if mask is not None else "",
        "<h2>Findings</h2>",
        *(f"<p>{as_html(sentence)}</p>" for sentence in verdict),
        "" if verdict else "<p>No piece of the study is done yet, so there is no verdict.</p>",
        _unfinished(run),
        *(_figure(figure, place) for place, figure in enumerate(figures, 1)),
        "<h2>Tables</h2>" if tables else "",
        *(_table(table) for table in tables),
        "<h2>How to repeat it</h2>",
        "<p>In Python, from the folder of Relens:</p>",
        f"<pre>{as_html(study_python(specification, mask))}</pre>",
        "<p>In a terminal; the same command resumes a study that was cut short:</p>",
        f"<pre>{as_html(study_command(specification, mask))}</pre>",
        "<p>All settings:</p>",
        f"<pre>{as_html(json.dumps(shown_settings, indent=1, ensure_ascii=False))}</pre>",
        f'<p class="minor">{as_html(_versions(run))}</p>',
    ]
    body = "\n".join(part for part in parts if part)
    written = html_file(f"{study.title} · Relens", body, style=_STYLE, script=_SAVING)
    return written.encode("utf-8", "replace")


def _account(run: RunRecord, mask: Masker | None) -> str:
    created = datetime.fromtimestamp(run.created, UTC).strftime("%Y-%m-%d %H:%M UTC")
    units = units_sentence(run)
    if mask is not None:  # a unit's name may contain the word searched for
        units = mask(units)
    parts = [f"Model {run.model}", f"created {created}", units, counted(run.row_count, "row")]
    seconds = float(run.progress.get("seconds_total", 0.0))
    parts.append(duration_text(seconds) if seconds else "")
    return " · ".join(part for part in parts if part)


def _unfinished(run: RunRecord) -> str:
    if run.status == "done":
        return ""
    reason = ending_sentence(run) or "It was still running when this report was made."
    return f'<p class="notice">The study is not finished. {as_html(reason)}</p>'


def _versions(run: RunRecord) -> str:
    parts = [f"{name} {version}" for name, version in run.versions.items()]
    if run.model_fingerprint:
        parts.append(f"fingerprint of the model {run.model_fingerprint}")
    return " · ".join([f"Run {run.id}", *parts])


def _figure(figure: Figure, place: int) -> str:
    name = f"figure-{place}"
    drawn = figure.chart.figure.to_html(
        full_html=False, include_plotlyjs=False, div_id=name, config={"displaylogo": False, "responsive": True}
    )
    buttons = "".join(
        f'<button type="button" data-figure="{name}" data-format="{format}">Save as {format.upper()}</button>'
        for format in ("svg", "png")
    )
    return (
        f"<h2>{as_html(figure.title)}</h2><p>{as_html(figure.sentence)}</p>"
        f'<div role="img" aria-label="{as_html(figure.chart.alt)}">{drawn}</div><p>{buttons}</p>'
    )


def _table(table: Table) -> str:
    shown = table.frame.head(_MOST_LINES)
    head = "".join(
        f'<th title="{as_html(table.help.get(str(name), ""))}">{as_html(str(name))}</th>' for name in shown.columns
    )
    lines = "".join(f"<tr>{''.join(map(_cell, line))}</tr>" for line in shown.itertuples(index=False, name=None))
    cut = len(table.frame) - len(shown)
    more = f'<p class="minor">{counted(cut, "more line")} not shown.</p>' if cut else ""
    notes = "".join(
        f"<dt><b>{as_html(name)}</b></dt><dd>{as_html(help)}</dd>"
        for name, help in table.help.items()
        if name in shown.columns
    )
    legend = f'<dl class="minor">{notes}</dl>' if notes else ""
    return (
        f'<h3>{as_html(table.title)}</h3><div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>{more}{legend}"
    )


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return "<td>–</td>"
    if pd.api.types.is_number(value):
        number = float(value)  # type: ignore[arg-type]
        return (
            f'<td class="number">{number:,.0f}</td>' if number.is_integer() else f'<td class="number">{number:.4g}</td>'
        )
    return f"<td>{as_html(str(value))}</td>"
