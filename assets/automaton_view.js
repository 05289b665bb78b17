// Pan, zoom, fit, full screen and save for one drawing of an automaton; see app/components/automaton_view.py.

const ELEMENTS = new Set(["svg", "g", "title", "path", "polygon", "ellipse", "text"])
const ATTRIBUTES = new Set(["class", "d", "points", "cx", "cy", "rx", "ry", "x", "y", "transform", "text-anchor",
  "stroke-dasharray", "viewBox"])
const NAMESPACE = "http://www.w3.org/2000/svg"
const views = new WeakMap()

function cleaned(node) {
  const copy = document.createElementNS(NAMESPACE, node.localName)
  for (const { name, value } of node.attributes) if (ATTRIBUTES.has(name)) copy.setAttribute(name, value)
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.data)
    else if (child.nodeType === Node.ELEMENT_NODE && ELEMENTS.has(child.localName)) copy.append(cleaned(child))
  }
  return copy
}

export default function ({ data, parentElement }) {
  const frame = parentElement.querySelector(".frame"), host = frame.querySelector(".host")
  frame.style.height = data.height + "px"
  frame.setAttribute("aria-label", data.alt)
  const [red, green, blue] = (getComputedStyle(frame).backgroundColor.match(/\d+/g) || [255, 255, 255]).map(Number)
  frame.classList.toggle("dark", red + green + blue < 384)

  let view = views.get(parentElement)
  if (!view || view.version !== data.version) {
    const parsed = new DOMParser().parseFromString(data.svg, "image/svg+xml").documentElement
    if (parsed.localName !== "svg" || !parsed.hasAttribute("viewBox")) return
    const svg = cleaned(parsed)
    svg.setAttribute("preserveAspectRatio", "xMidYMid meet")
    host.replaceChildren(svg)
    const whole = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number)
    view = { version: data.version, svg, whole, box: whole.slice() }
    views.set(parentElement, view)
    begin()
  }
  frame.dataset.question = data.question
  function apply() { view.svg.setAttribute("viewBox", view.box.join(" ")) }
  // A large automaton that fits is too small to read: begin at a size that can be read, at the start state.
  function begin() {
    const [x, y, w, h] = view.whole, wide = host.clientWidth || 600, high = host.clientHeight || 200
    const fitting = Math.min(wide / w, high / h, 1.5), scale = Math.max(fitting, 0.65)
    const boxWidth = wide / scale, boxHeight = high / scale
    const left = w <= boxWidth ? x - (boxWidth - w) / 2 : x - 4
    let top = y - (boxHeight - h) / 2
    if (h > boxHeight) top = Math.min(Math.max(entryHeight() - boxHeight / 2, y), y + h - boxHeight)
    view.box = [left, top, boxWidth, boxHeight]
    apply()
  }
  function entryHeight() {
    const entry = view.svg.querySelector(".entry ellipse")
    const shift = /translate\(\S+ ([-\d.]+)\)/.exec(view.svg.querySelector("g").getAttribute("transform") || "")
    return entry && shift ? Number(entry.getAttribute("cy")) + Number(shift[1]) : view.whole[1] + view.whole[3] / 2
  }
  function zoom(factor, cx, cy) {
    const [x, y, w, h] = view.box
    if (w * factor < 20 || w * factor > view.whole[2] * 8 + 4000) return
    view.box = [cx - (cx - x) * factor, cy - (cy - y) * factor, w * factor, h * factor]
    apply()
  }
  const middle = () => [view.box[0] + view.box[2] / 2, view.box[1] + view.box[3] / 2]
  const point = (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(view.svg.getScreenCTM().inverse())
    return [at.x, at.y]
  }
  function move(dx, dy) { view.box[0] += dx; view.box[1] += dy; apply() }

  const actions = {
    in: () => zoom(1 / 1.35, ...middle()),
    out: () => zoom(1.35, ...middle()),
    fit: () => { view.box = view.whole.slice(); apply() },
    full: () => document.fullscreenElement ? document.exitFullscreen() : frame.requestFullscreen(),
    save: () => {
      const copy = view.svg.cloneNode(true)
      copy.setAttribute("viewBox", view.whole.join(" "))
      copy.setAttribute("xmlns", NAMESPACE)
      const style = document.createElementNS(NAMESPACE, "style")
      style.textContent = "text{font-family:monospace;fill:#1C2733} .node text{font-size:10px} .edge text{font-size:12px}" +
        " .node ellipse{fill:none;stroke:#1C2733} .entry ellipse{fill:#1C2733} .node.final ellipse{stroke:#0A6A9E}" +
        " .edge path{fill:none;stroke:#666} .edge polygon{fill:#666;stroke:none} .node.prefix ellipse,.edge.prefix path" +
        "{stroke:#B87A00} .edge.prefix polygon,.edge.prefix text{fill:#B87A00}"
      copy.prepend(style)
      const link = document.createElement("a")
      link.href = URL.createObjectURL(new Blob([copy.outerHTML], { type: "image/svg+xml" }))
      link.download = data.name + ".svg"
      link.click()
      URL.revokeObjectURL(link.href)
    },
  }
  frame.querySelectorAll(".bar button").forEach((button) => { button.onclick = actions[button.dataset.do] })
  const svg = view.svg
  // The page scrolls with the wheel; zooming asks for Ctrl, as maps do, unless the viewer fills the screen.
  svg.onwheel = (event) => {
    if (!(event.ctrlKey || event.metaKey || document.fullscreenElement)) return
    event.preventDefault()
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, ...point(event))
  }
  let held = null
  svg.onpointerdown = (event) => {
    held = point(event)
    svg.classList.add("dragging")
    svg.setPointerCapture(event.pointerId)
  }
  svg.onpointermove = (event) => { if (held) { const [x, y] = point(event); move(held[0] - x, held[1] - y) } }
  svg.onpointerup = svg.onpointercancel = () => { held = null; svg.classList.remove("dragging") }
  svg.ondblclick = (event) => zoom(1 / 1.6, ...point(event))
  frame.onkeydown = (event) => {
    const step = view.box[2] / 12
    const keys = { "+": actions.in, "=": actions.in, "-": actions.out, 0: actions.fit, f: actions.full,
      ArrowLeft: () => move(-step, 0), ArrowRight: () => move(step, 0),
      ArrowUp: () => move(0, -step), ArrowDown: () => move(0, step) }
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return
    event.preventDefault()
    keys[event.key]()
  }
  document.addEventListener("fullscreenchange", resize)
  function resize() {
    if (document.fullscreenElement && document.fullscreenElement.shadowRoot !== parentElement &&
        document.fullscreenElement !== frame) return
    frame.style.height = document.fullscreenElement ? "100%" : data.height + "px"
    requestAnimationFrame(document.fullscreenElement ? actions.fit : begin)
  }
  return () => document.removeEventListener("fullscreenchange", resize)
}
