"""A deck as one HTML file, for the wall and to take home.

    body       one <section> a screen: headline, figure, caveats, the speaker's notes; readable without any script
    figures    JSON; plotly, whose script is in the file once, draws each when its screen comes
    script     keyboard, notes, colours (assets/screens.js)

The Present page shows the same file inside itself, so the export looks like the show; there each figure is sent when
its screen comes (`shown_deck`). The file fetches nothing (`relens_dashboard.self_contained`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal

from relens.assets import ASSETS
from relens.counted import counted
from relens.runs.screens import Card, Screen
from relens_dashboard.present.figures import plotly_figure, projected, svg_picture
from relens_dashboard.self_contained import as_script_data, html_file
from relens_dashboard.text import as_html

Theme = Literal["light", "dark"]

#: A headline of more characters is set smaller, in two steps.
_LONG, _VERY_LONG = 90, 190
_SPOKEN = "What the speaker says"
_UNREADABLE = "The figure of this screen cannot be read."
_KEYS = "→ ← screens · N notes · T colours · F full screen"


def deck_name(deck: str) -> str:
    """The name of a deck; the first has none of its own."""
    return deck or "First deck"


def deck_html(screens: Iterable[Screen], deck: str = "", *, theme: Theme | None = None) -> str:
    """The file. theme: its first colours, None for those of the reader's system."""
    figures: list[str] = []
    screens = list(screens)
    sections = [
        _section(screen, number, len(screens), _picture(screen, figures)) for number, screen in enumerate(screens, 1)
    ]
    # Each is written by itself: one call for all would block the other sessions of the server.
    return _file(sections, f"[{','.join(figures)}]", deck, theme, plotly=bool(figures))


def shown_deck(cards: Sequence[Card], deck: str, theme: Theme) -> str:
    """The file inside the Present page: Esc leaves it, and the page sends it the current screen and the figures.

    A screen with a figure has a place for it; `shown_figure` goes there.
    """
    sections = [
        _section(card.screen, number, len(cards), _place(card.screen, number - 1) if card.has_figure else "")
        for number, card in enumerate(cards, 1)
    ]
    nothing_yet = f"[{','.join(['null'] * len(cards))}]"
    return _file(sections, nothing_yet, deck, theme, plotly=any(card.has_figure for card in cards), shown=True)


def shown_figure(figure: str) -> str:
    """A screen's figure for the script of a deck, as JSON: of plotly, {"svg"}, or {"missing": the reason}."""
    if figure.lstrip().startswith("<"):
        drawn = svg_picture(figure)
        data = {"missing": _UNREADABLE} if drawn is None else {"svg": drawn}
    else:
        parsed = plotly_figure(figure)
        data = {"missing": _UNREADABLE} if parsed is None else projected(parsed)
    return json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _file(
    sections: list[str], figures: str, deck: str, theme: Theme | None, *, plotly: bool, shown: bool = False
) -> str:
    count = max(len(sections), 1)
    if not sections:
        sections = ['<section class="screen"><h1>Nothing is pinned on this deck.</h1></section>']
    leave = '<button type="button" data-do="leave" title="Leave (Esc)">Leave</button>' if shown else ""
    back, on = "Previous screen", "Next screen"
    body = (
        f"<main>{''.join(sections)}</main>"
        '<nav aria-label="Screens">'
        f'<button type="button" data-do="back" title="{back} (←)" aria-label="{back}">←</button>'
        f'<output id="number" aria-live="polite">1 / {count}</output>'
        f'<button type="button" data-do="on" title="{on} (→ or space)" aria-label="{on}">→</button>'
        '<button type="button" data-do="notes" title="What the speaker says (N)" aria-pressed="false">Notes</button>'
        '<button type="button" data-do="theme" title="Light or dark (T)">Colours</button>'
        f'<button type="button" data-do="full" title="Full screen (F)">Full screen</button>{leave}'
        '<span id="more" hidden>↓ more below</span>'
        f'<span class="keys">{_KEYS}{" · Esc leaves" if shown else ""}</span></nav>'
        f'<script type="application/json" id="figures">{figures}</script>'
    )
    attributes = (f' data-theme="{theme}"' if theme else "") + (' data-shown="yes"' if shown else "")
    return html_file(
        f"{deck_name(deck)} · Relens",
        body,
        style=_asset("screens.css"),
        script=_asset("screens.js"),
        schemes="light dark",
        attributes=attributes,
        plotly=plotly,
    )


def _section(screen: Screen, number: int, count: int, picture: str) -> str:
    headline, *more = screen.sentences or (screen.title,)
    size = "very-long" if len(headline) > _VERY_LONG else "long" if len(headline) > _LONG else ""
    parts = [
        f'<p class="kicker">{as_html(screen.title)}</p>' if headline != screen.title else "",
        f'<h1 class="{size}">{as_html(headline)}</h1>',
        picture,
        "".join(f'<p class="sentence">{as_html(sentence)}</p>' for sentence in more),
        _table(screen),
        _caveats(screen),
        f'<p class="source"><span>{as_html(source_line(screen))}</span><span>{number} / {count}</span></p>',
        f'<aside class="notes" aria-label="{_SPOKEN}"><h2>{_SPOKEN}</h2>{_notes(screen)}</aside>',
    ]
    label = as_html(f"Screen {number} of {count}: {screen.title}")
    return f'<section class="screen" id="screen-{number}" tabindex="-1" aria-label="{label}">{"".join(parts)}</section>'


def source_line(screen: Screen) -> str:
    """The source of a screen in one line."""
    source = screen.source
    run = f"run {source['run'][:8]}" if source.get("run") else ""
    return " · ".join(part for part in (source.get("label", ""), run, "Relens") if part)


def _picture(screen: Screen, figures: list[str]) -> str:
    """The figure of a screen as HTML; one of plotly is added to `figures`, for the script to draw."""
    if not screen.figure:
        return ""
    if screen.figure.lstrip().startswith("<"):
        drawn = svg_picture(screen.figure)
        if drawn is not None:
            return f'<figure class="drawing" role="img" aria-label="{_alt(screen)}">{drawn}</figure>'
    else:
        figure = plotly_figure(screen.figure)
        if figure is not None:
            figures.append(as_script_data(projected(figure)))
            return _place(screen, len(figures) - 1)
    return f'<p class="sentence">{_UNREADABLE}</p>'


def _place(screen: Screen, figure: int) -> str:
    """The place where the script draws the figure of this number."""
    alt = _alt(screen)
    return (
        f'<figure class="plot" role="img" aria-label="{alt}" data-figure="{figure}"><noscript>{alt}</noscript></figure>'
    )


def _alt(screen: Screen) -> str:
    return as_html(screen.alt or screen.title)


def _table(screen: Screen) -> str:
    if not screen.table:
        return ""
    names, *lines = screen.table
    head = "".join(f"<th>{as_html(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{as_html(cell)}</td>' for cell in line)}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _caveats(screen: Screen) -> str:
    if not screen.caveats:
        return ""
    items = "".join(f"<li>{as_html(caveat)}</li>" for caveat in screen.caveats)
    return f'<div class="caveats"><h2>{counted(len(screen.caveats), "caveat")}</h2><ul>{items}</ul></div>'


def _notes(screen: Screen) -> str:
    paragraphs = [part for part in screen.explanation.split("\n\n") if part.strip()]
    return "".join(f"<p>{as_html(part)}</p>" for part in paragraphs) or "<p>There are no notes.</p>"


@cache
def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
