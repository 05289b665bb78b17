"""The graph viewer as a person uses it: by mouse, by fingers, by the keyboard alone, in both themes."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from playwright.sync_api import expect

from relens.pictures.drawing import STYLES, graph_to_dot
from tests.browser.server import PATIENCE, running_page, wait_until
from tests.browser.viewer_graphs import large, small

pytestmark = pytest.mark.browser
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page with the viewer alone; it needs no model."""
    log = tmp_path_factory.mktemp("viewer") / "viewer.log"
    with running_page(Path("tests/browser/viewer_page.py"), log) as (url, _):
        yield url


class Viewer:
    """The viewer on its page."""

    def __init__(self, page, address):
        self.page = page
        self.address = address
        self.frame = page.locator(".st-key-viewer .frame")
        self.drawing = self.frame.locator(".host svg")
        self.details = self.frame.locator(".details")
        self.count = self.frame.locator(".search output")

    def open(self, which):
        self.page.goto(f"{self.address}/?graph={which}")
        expect(self.drawing).to_be_visible()

    def part(self, name):
        return self.drawing.locator(f"#{name}")

    def box(self):
        return [float(number) for number in self.drawing.get_attribute("viewBox").split()]

    def chosen(self, text):
        """The page was told."""
        expect(self.page.get_by_text(f"Chosen: {text}", exact=True)).to_be_visible()

    def keys(self, *names):
        for name in names:
            self.page.keyboard.press(name)

    def is_in_view(self, name):
        inner, outer = self.part(name).bounding_box(), self.frame.bounding_box()
        return all(
            outer[axis] <= inner[axis] and inner[axis] + inner[size] <= outer[axis] + outer[size]
            for axis, size in (("x", "width"), ("y", "height"))
        )


@pytest.fixture
def make_viewer(browser, address):
    """A function that gives a viewer in a browser context of its own, with the options of that context."""
    contexts = []

    def make(which="small", **options):
        options = {"viewport": {"width": 1200, "height": 700}, "reduced_motion": "reduce"} | options
        context = browser.new_context(accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        viewer = Viewer(page, address)
        viewer.open(which)
        return viewer

    yield make
    for context in contexts:
        context.close()


def test_every_state_and_arc_is_there_and_a_click_tells_what_it_is(make_viewer):
    viewer = make_viewer()
    graph, _ = small()
    ids = viewer.drawing.locator(".part").evaluate_all("parts => parts.map(part => part.id)")
    assert sorted(ids) == sorted(
        [*(f"state-{state}" for state in range(6)), *(f"arc-{place}" for place in range(len(graph.arcs)))]
    )
    viewer.part("state-2").click()
    expect(viewer.details).to_contain_text("State 2")
    expect(viewer.details).to_contain_text("A note on <b>two</b>.")
    expect(viewer.details).to_contain_text("␣cat from 1")
    viewer.chosen("state 2")
    viewer.part("arc-4").locator("text").click()
    expect(viewer.details).to_contain_text("Arc from 3 to 4")
    expect(viewer.details).to_contain_text("Reads: <img src=x onerror=alert(1)>")
    assert viewer.page.locator("img[src=x]").count() == 0
    viewer.chosen("arc 4")
    # A thin line can be hit a few pixels beside it. (The drawing was moved from under the details.)
    viewer.keys("Escape", "0")
    middle = viewer.part("arc-0").locator("path").first.bounding_box()
    viewer.page.mouse.click(middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2 + 5)
    expect(viewer.details).to_contain_text("Arc from 0 to 1")
    frame = viewer.frame.bounding_box()
    viewer.page.mouse.click(frame["x"] + 30, frame["y"] + 30)
    expect(viewer.details).to_be_hidden()
    viewer.chosen("nothing")


UNDER_THE_BOW = """part => {
  const line = part.querySelector("path"), length = line.getTotalLength()
  const points = [0, length / 2, length].map((at) => line.getPointAtLength(at))
  const mean = (axis) => points.reduce((sum, point) => sum + point[axis], 0) / 3
  const at = new DOMPoint(mean("x"), mean("y")).matrixTransform(line.getScreenCTM())
  return part.getRootNode().elementFromPoint(at.x, at.y)?.closest(".part")?.id || "nothing"
}"""


def test_the_bow_of_an_arc_hides_nothing_under_it(make_viewer):
    viewer = make_viewer("marked")
    for name in ("arc-0", f"arc-{len(STYLES) - 1}"):
        assert viewer.part(name).evaluate(UNDER_THE_BOW) != name


def test_dragging_moves_the_drawing_and_chooses_nothing(make_viewer):
    viewer = make_viewer()
    before, at = viewer.box(), viewer.part("state-2").bounding_box()
    viewer.page.mouse.move(at["x"] + 8, at["y"] + 8)
    viewer.page.mouse.down()
    viewer.page.mouse.move(at["x"] + 68, at["y"] + 38, steps=4)
    viewer.page.mouse.up()
    after = viewer.box()
    assert after[0] < before[0]
    assert after[1] < before[1]
    assert after[2:] == before[2:]
    expect(viewer.details).to_be_hidden()
    # The page scrolls with the wheel; the drawing is zoomed only with Ctrl.
    viewer.page.mouse.wheel(0, 200)
    assert viewer.box() == after
    viewer.page.keyboard.down("Control")
    viewer.page.mouse.wheel(0, -200)
    viewer.page.keyboard.up("Control")
    wait_until(lambda: viewer.box()[2] < after[2], 60, "Zooming")


def test_the_search_walks_through_what_it_finds_and_brings_it_into_view(make_viewer):
    viewer = make_viewer("300")
    graph, _ = large(300)
    hits = [f"arc-{place}" for place, arc in enumerate(graph.arcs) if "word14" in arc.label]
    viewer.frame.locator("[data-do=search]").click()
    viewer.page.keyboard.type("WORD14")
    highlighted = viewer.drawing.locator(".found")
    expect(highlighted).to_have_count(len(hits))
    assert sorted(highlighted.evaluate_all("parts => parts.map(part => part.id)")) == sorted(hits)
    expect(viewer.count).to_have_text(f"1 of {len(hits)}")
    seen = set()
    for _ in hits:
        here = viewer.drawing.locator(".here").get_attribute("id")
        assert viewer.is_in_view(here)
        seen.add(here)
        viewer.keys("Enter")
    assert seen == set(hits)
    expect(viewer.count).to_have_text(f"1 of {len(hits)}")
    viewer.keys("Shift+Enter")
    expect(viewer.count).to_have_text(f"{len(hits)} of {len(hits)}")
    viewer.page.locator(".search input").fill("299")
    expect(viewer.drawing.locator(".here")).to_have_attribute("id", "state-299")
    viewer.page.locator(".search input").fill("not there")
    expect(viewer.count).to_have_text("none found")
    expect(highlighted).to_have_count(0)
    viewer.keys("Escape")
    expect(viewer.frame.locator(".search")).to_be_hidden()


def test_the_keyboard_alone_reaches_and_opens_everything(make_viewer):
    viewer = make_viewer()
    viewer.frame.focus()
    viewer.keys("n", "n", "n", "Enter")
    expect(viewer.details).to_contain_text("State 1")
    viewer.chosen("state 1")
    viewer.keys("n", "Enter")
    expect(viewer.details).to_contain_text("Arc from 1 to 2")
    expect(viewer.details).to_contain_text("A note on the cat.")
    expect(viewer.frame.locator(".said")).to_contain_text("Arc from 1 to 2")
    viewer.keys("p", "p", "Enter")
    expect(viewer.details).to_contain_text("Arc from 0 to 1")
    viewer.keys("Escape")
    expect(viewer.details).to_be_hidden()
    viewer.keys("/", *"dog", "Escape", "Enter")
    expect(viewer.details).to_contain_text("Reads: ␣dog")
    viewer.keys("Escape", "?")
    expect(viewer.frame.locator("div.keys")).to_contain_text("full screen")
    viewer.keys("Escape")
    expect(viewer.frame.locator("div.keys")).to_be_hidden()
    before = viewer.box()
    viewer.keys("ArrowRight")
    assert viewer.box()[0] > before[0]
    viewer.keys("+")
    assert viewer.box()[2] < before[2]
    viewer.keys("s", "ArrowDown", "ArrowDown")
    with viewer.page.expect_download() as download:
        viewer.keys("Enter")
    assert download.value.suggested_filename == "a-graph.dot"


def test_it_is_saved_as_drawing_pixels_and_text(make_viewer, tmp_path):
    viewer = make_viewer(color_scheme="dark")
    viewer.part("state-2").click()
    files = {}
    for kind in ("svg", "png", "dot"):
        viewer.frame.locator("[data-do=save]").click()
        with viewer.page.expect_download() as download:
            viewer.frame.get_by_role("menuitem", name=kind.upper()).click()
        files[kind] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[kind])
    graph, marks = small()
    assert files["dot"].read_text(encoding="utf-8") == graph_to_dot(graph, marks)
    text = files["svg"].read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    ids = [element.get("id") for element in root.iter(f"{SVG}g") if element.get("id")]
    assert sorted(ids) == sorted([*(f"state-{n}" for n in range(6)), *(f"arc-{n}" for n in range(6))])
    # It stands alone: its colours are filled in, and nothing of the page or of the choice is left in it.
    assert "var(" not in text
    assert "#11161C" in text
    assert root.find(f".//{SVG}g[@role]") is None
    assert "chosen" not in text
    assert "grab" not in text
    head = files["png"].read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:])
    assert width == pytest.approx(2 * float(root.get("width")), abs=1)
    assert height == pytest.approx(2 * float(root.get("height")), abs=1)


CONTRASTS = """drawing => {
  const read = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map((part) => part / 255)
      .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const frame = read(getComputedStyle(drawing.closest(".frame")).backgroundColor)
  return [...drawing.querySelectorAll("text")].map((text) => {
    const circle = text.parentElement.querySelector("ellipse")
    const state = text.parentElement.classList.contains("node")
    const under = state ? read(getComputedStyle(circle).fill) : frame
    const [low, high] = [read(getComputedStyle(text).fill), under].sort((a, b) => a - b)
    return [text.textContent, (high + 0.05) / (low + 0.05)]
  })
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_label_can_be_read_in_both_themes(make_viewer, scheme):
    viewer = make_viewer("marked", color_scheme=scheme)
    measured = viewer.drawing.evaluate(CONTRASTS)
    assert {text for text, _ in measured} >= set(STYLES)
    assert {text: round(ratio, 2) for text, ratio in measured if ratio < 4.5} == {}


def test_a_step_with_other_marks_leaves_the_view_where_it_was(make_viewer):
    viewer = make_viewer("steps")
    viewer.frame.focus()
    viewer.keys("ArrowRight", "+", "n", "Enter")
    viewer.chosen("state 0")
    before = viewer.box()
    expect(viewer.drawing.locator("#state-3.current")).to_be_visible()
    viewer.page.get_by_role("button", name="Next step").click()
    expect(viewer.drawing.locator("#state-4.current")).to_be_visible()
    assert viewer.box() == before
    expect(viewer.details).to_contain_text("State 0")
    viewer.chosen("state 0")


def test_a_large_graph_begins_readable_and_the_overview_shows_where_one_is(make_viewer):
    viewer = make_viewer("300")
    overview = viewer.frame.locator(".overview")
    expect(overview).to_be_visible()
    assert viewer.is_in_view("state-0")
    assert not viewer.is_in_view("state-299")
    size = viewer.part("state-0").locator("ellipse").bounding_box()["width"]
    assert size >= 14  # pixels: its number can be read
    viewer.frame.focus()
    viewer.keys("0")
    assert viewer.is_in_view("state-0")
    assert viewer.is_in_view("state-299")
    expect(overview).to_be_hidden()


def test_two_fingers_zoom_and_one_may_scroll_the_page(make_viewer):
    viewer = make_viewer(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    before, at = viewer.box(), viewer.drawing.bounding_box()
    fingers = viewer.page.context.new_cdp_session(viewer.page)
    x, y = at["x"] + 180, at["y"] + 150

    def touch(kind, *places):
        points = [{"x": place, "y": y, "id": number} for number, place in enumerate(places)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", x - 20, x + 20)
    for step in range(1, 6):
        touch("touchMove", x - 20 - 8 * step, x + 20 + 8 * step)
    touch("touchEnd")
    # The fingers are three times as far apart, and the drawing three times as large.
    wait_until(lambda: viewer.box()[2] == pytest.approx(before[2] / 3, rel=0.05), 60, "Zooming by two fingers")
    assert viewer.drawing.evaluate("drawing => getComputedStyle(drawing).touchAction") == "pan-y"
