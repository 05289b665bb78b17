"""HTML files that need nothing else: to be mailed, kept, and opened in ten years.

A policy in the head forbids the browser to fetch anything, plotly's script is in the file once, and the data of scripts
is JSON in which no `</script>` can stand. The caller escapes every text of the body with
`relens_dashboard.text.as_html`.
"""

from __future__ import annotations

import json
from typing import Any

from plotly.offline import get_plotlyjs

from relens_dashboard.text import as_html

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def html_file(
    title: str, body: str, *, style: str, script: str, schemes: str = "light", attributes: str = "", plotly: bool = True
) -> str:
    """One file. title: any text; body, style, script and attributes (of `<html>`): safe already.

    schemes: the colour schemes it is made for, "light" or "light dark". plotly: whether plotly's script is needed.
    """
    drawing = f"<script>{get_plotlyjs()}</script>" if plotly else ""
    return (
        f'<!doctype html>\n<html lang="en"{attributes}><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="{schemes}">'
        f"<title>{as_html(title)}</title><style>{style}</style>{drawing}</head><body>\n"
        f"{body}\n<script>{script}</script></body></html>\n"
    )


def as_script_data(value: Any) -> str:
    """`value` as JSON to stand inside a `<script type="application/json">`."""
    written = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
