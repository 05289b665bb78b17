"""Text that a model, a file or a link brought is shown as text: no script, no foreign address, no other meaning."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from urllib.parse import quote

import pytest

from relens.runs.screens import Screen, ScreenStore
from tests.attacks import made

EVIL = "http://evil.example"
TEXTS = {
    "html": f"\"'><img src={EVIL}/i onerror=alert(1)><script src={EVIL}/s></script><iframe src={EVIL}></iframe>",
    "closing": f"</textarea></title></style></script></svg>--><svg onload=alert(1)><base href={EVIL}>",
    "markdown": f"![y]({EVIL}/y.png) [z](javascript:alert(1)) <a href={EVIL}>z</a> :material/home: **b** `c` $x$",
    "latex": rf"$\href{{{EVIL}}}{{x}}$ $$\url{{javascript:alert(1)}}$$ \(\def\x{{\x}}\x\)",
    "dot": f'"]; a -> b [URL="{EVIL}" label=<<IMG SRC="/etc/passwd"/>>] //\n{{}}',
    "csv": f'=HYPERLINK("{EVIL}")\t@SUM(1)\r+1\n-1',
    "terminal": "\x1b]0;title\x07\x1b[31mred\x1b[0m\x08\x7f\x9b31m",
    "direction": "\u202egnp.exe\u2066\u2067\u2069 \ufeff\u200b\u2028\u2029\ufff9",
    "css": f'red;background:url({EVIL}/c)}} body{{background:url("{EVIL}/d")}} @import "{EVIL}/e";',
}
#: What a page of ours may hold; nothing of it is fetched from elsewhere.
_ACTING = ("iframe", "object", "embed", "base", "form", "frame", "applet", "link")
_FETCHING = ("src", "href", "action", "data", "poster", "srcset", "formaction", "background", "xlink:href", "ping")


EDIT = {"operation": "insertion", "part": "pattern", "position": 1, "removed": "", "written": "a"}


class Held(HTMLParser):
    """Everything in some HTML that acts: scripts, handlers, and addresses of elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.acting: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _ACTING or (tag == "meta" and ("http-equiv", "refresh") in attrs):
            self.acting.append(f"<{tag}>")
        for name, value in attrs:
            address = (value or "").strip().lower()
            if name.startswith("on") or address.startswith(("javascript:", "vbscript:", "data:text/html")):
                self.acting.append(f"<{tag} {name}={value}>")
            if name in _FETCHING and re.match(r"([a-z]+:)?//", address):
                self.acting.append(f"<{tag} {name}={value}>")
            if name == "style" and "url(" in address:
                self.acting.append(f"<{tag} style={value}>")

    handle_startendtag = handle_starttag


def acting_in(html: str) -> list[str]:
    """Whatever in a piece of a page, or in a file, is neither text nor a picture of its own."""
    reader = Held()
    reader.feed(html)
    return reader.acting


def shown_as_text(visitor) -> None:
    """Nothing on the page acts but what the page itself is made of."""
    assert visitor.exceptions() == []
    for element in visitor.elements("html"):
        if not element.body.startswith("<style>"):
            assert acting_in(element.body) == [], element.body[:2000]
            assert "<script" not in element.body
            assert not element.unsafe_allow_javascript
    for element in visitor.elements("markdown"):
        if element.allow_html:
            assert acting_in(element.body) == [], element.body[:2000]
    for text in markdown_of(visitor):
        # An address that would be fetched, or led to, has its brackets and colon kept from meaning anything.
        assert not re.search(r"(?<!\\)!\[[^\]\\]*\]\(", text), text[:500]
        assert not re.search(r"(?<!\\)\]\(\s*(javascript|http://evil)", text), text[:500]
        assert not re.search(r"(?<!\\)\$[^$]*\\(href|url)\{", text), text[:500]


def markdown_of(visitor):
    for kind, fields in {
        "markdown": ("body", "help"),
        "alert": ("body",),
        "heading": ("body", "help"),
        "button": ("label", "help"),
        "page_link": ("label", "help"),
        "download_button": ("label", "help"),
        "metric": ("label", "body"),
        "progress": ("text",),
    }.items():
        for element in visitor.elements(kind):
            if not (kind == "markdown" and element.allow_html):
                yield from (str(getattr(element, name, "")) for name in fields)


@pytest.mark.parametrize("text", made.some_are_slow(TEXTS, "html", "markdown"))
def test_hostile_text_of_a_run_is_shown_as_text(target, text):
    rows = [
        made.match_row(1, f"The {text}", prefix_text=text, groups={"animal": text, text[:60]: "x"}),
        made.match_row(2, text, edits=[EDIT | {"written": text[:1]}]),
    ]
    name = text.replace("\0", "")[:190]
    searched = target.store.import_run(
        made.read_run(
            made.run_file(
                made.search(re.escape(text), target.model),
                rows,
                progress={"matches": 2, "ended": "exhausted"},
                name=name,
                note=text,
                status="failed",
                error=text,
                versions={"relens": text[:90]},
                model_fingerprint=text[:190],
            )
        )
    )
    other = made.plant(target.store, made.search(text, text), rows, {"matches": 2})
    studied = made.plant(
        target.store,
        made.study("bias", target.model, subjects=[text, "b"], outcomes=[text + "o", "d"]),
        [{"unit": text, "row": "begin"}, {"unit": text, "row": "note", text[:50]: text}],
        {"unit": text, "units": 3},
    )
    seen = ""
    with target.visitor() as visitor:
        for page, query in [
            ("history", f"runs={searched}&find={quote(text[:300])}"),
            ("history", f"runs={searched},{other},{studied}"),
            ("workbench", f"run={searched}"),
            ("workbench", f"run={other}"),
            ("compare", f"runs={searched},{other}"),
            ("bias", f"run={studied}"),
            ("compare", f"runs={studied},{searched}"),
        ]:
            visitor.open(page, query)
            visitor.look()
            shown_as_text(visitor)
            seen += visitor.texts()
            if page == "bias" and visitor.has("study_report"):
                assert_file_is_quiet(visitor.download("study_report").decode(), text)

    # The text was there: a page that leaves it out would pass all of this.
    assert max(re.findall("[a-z]+", text), key=len) in seen


@pytest.mark.parametrize("text", made.some_are_slow(TEXTS, "html", "markdown"))
def test_hostile_text_of_a_link_is_shown_as_text(target, text):
    value = quote(text, safe="", errors="replace")
    with target.visitor() as visitor:
        for page, names in {
            "workbench": ("pattern", "prefix", "model", "exclude", "edit_alphabet", "encoding", "run"),
            "automata": ("lesson", "lesson_model", "lesson_text", "lesson_step"),
            "tokens": ("tokens_text", "tokens_model", "tokens_prefix"),
            "history": ("find", "kind", "ended", "of_model", "runs"),
            "present": ("deck", "screen"),
            "glossary": ("glossary_search",),
            "compare": ("runs",),
            "triggers": ("dialogue", "run"),
        }.items():
            visitor.open(page, "&".join(f"{name}={value}" for name in names))
            visitor.look()
            shown_as_text(visitor)


@pytest.mark.parametrize("text", made.some_are_slow(TEXTS, "html", "markdown"))
def test_hostile_text_of_a_deck_is_shown_as_text(target, text):
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><a href="{EVIL}"><text>x</text></a></svg>'
    )
    chart = {"data": [{"type": "bar", "x": [text], "y": [1], "name": text}], "layout": {"title": {"text": text}}}
    deck = "".join(sign for sign in f"deck {text}" if sign.isprintable())[:80]
    screens = ScreenStore(target.store_url)
    for figure in ("", drawn, json.dumps(chart), text):
        screens.add(
            Screen(
                text,
                (text, text),
                (text,),
                text,
                figure=figure,
                alt=text,
                table=((text, "b"), ("c", text)),
                source={"page": text, "run": text, "label": text},
                deck=deck,
            )
        )
    screens.close()
    with target.visitor() as visitor:
        visitor.open("present", f"deck={quote(deck)}")
        shown_as_text(visitor)
        assert_file_is_quiet(visitor.download("export_html").decode(), text)


def assert_file_is_quiet(html: str, text: str) -> None:
    """A file that somebody opens at home: no address of elsewhere in it, and no element that the text brought."""
    assert acting_in(html) == []
    for element in re.findall(r"<\w+[^>]*(?:evil|alert)[^>]*>", text):
        assert element not in html
