// One drawing of an automaton to look at closely; see app/relens_dashboard/components/automaton_view.py.

const viewers = new WeakMap()

class Viewer {
  constructor(root) {
    this.root = root
    this.frame = root.querySelector(".frame")
    this.find = (selector) => this.frame.querySelector(selector)
    this.host = this.find(".host")
    this.panels = { menu: this.find(".menu"), search: this.find(".search"), details: this.find(".details"), keys: this.find("div.keys") }
    this.input = this.find(".search input")
    this.chosen = null
    this.found = []
    this.here = -1
    this.actions = {
      in: () => this.canvas.zoom(1 / 1.35),
      out: () => this.canvas.zoom(1.35),
      fit: () => this.canvas.fit(),
      full: () => this.filling() ? document.exitFullscreen() : this.frame.requestFullscreen(),
      search: () => { this.open("search"); this.input.focus(); this.input.select() },
      before: () => this.walk(-1),
      after: () => this.walk(1),
      leave: () => this.leaveSearch(),
      close: () => this.choose(null, true),
      keys: () => { this.open("keys", this.panels.keys.hidden); if (!this.panels.keys.hidden) this.find("div.keys button").focus(); else this.frame.focus() },
      save: () => { this.open("menu", this.panels.menu.hidden); if (!this.panels.menu.hidden) this.find(".menu button").focus() },
      svg: () => this.save("svg"),
      png: () => this.save("png"),
      dot: () => this.save("dot"),
      next: () => this.go(1),
      previous: () => this.go(-1),
    }
    this.frame.querySelectorAll("button").forEach((button) => { button.onclick = () => this.actions[button.dataset.do]() })
    this.frame.onkeydown = (event) => this.key(event)
    this.input.oninput = () => this.look()
    this.panels.search.onsubmit = (event) => event.preventDefault()
    const overview = this.find(".overview")
    overview.onpointerdown = overview.onpointermove = (event) => this.jump(event)
    this.observer = new ResizeObserver(() => this.resize())
    this.fullscreen = () => this.size()
  }

  filling() { return this.frame.getRootNode().fullscreenElement === this.frame }

  update({ data, setStateValue }) {
    Object.assign(this, { data, setStateValue })
    this.size()
    this.frame.setAttribute("aria-label", data.alt)
    const [red, green, blue] = (getComputedStyle(this.frame).backgroundColor.match(/\d+/g) || [255, 255, 255]).map(Number)
    this.frame.classList.toggle("dark", red + green + blue < 384)
    if (this.version !== data.version) this.draw()
    this.frame.dataset.question = data.question
    this.observer.observe(this.host)
    document.addEventListener("fullscreenchange", this.fullscreen)
  }

  rest() {
    this.observer.disconnect()
    document.removeEventListener("fullscreenchange", this.fullscreen)
  }

  // A step of a lesson often has the drawing of the step before with other marks: then one goes on looking where one was.
  draw() {
    const svg = drawingOf(this.data.svg)
    if (!svg) return
    const before = this.canvas, focused = this.focused()
    this.version = this.data.version
    this.host.replaceChildren(svg)
    this.canvas = new Canvas(this.host, svg, (element) => this.choose(this.parts.idOf(element), true), (box) => this.outline(box))
    this.parts = new Parts(svg, this.data.details, this.data.ends)
    this.find(".arcs").replaceChildren(...this.parts.list().map((line) => Object.assign(document.createElement("li"), { textContent: line })))
    this.survey(svg)
    const same = before && before.whole.join() === this.canvas.whole.join()
    if (same) { this.canvas.touched = before.touched; this.canvas.show(before.box) } else this.canvas.begin()
    this.choose(this.graph === this.data.graph ? this.chosen : null, false)
    this.graph = this.data.graph
    if (same && focused) this.parts.focus(focused)
    this.look(false)
  }

  size() { this.frame.style.height = this.filling() ? "100%" : this.data.height + "px" }
  resize() { this.canvas?.resize() }

  // The state or arc that has the keyboard's focus, if one has.
  focused() {
    const element = this.frame.getRootNode().activeElement
    return this.parts ? this.parts.idOf(element?.closest?.(".part")) : null
  }

  // The part of the screen where the drawing is not covered.
  free() {
    const { left, right, top, bottom } = this.host.getBoundingClientRect(), free = { left, right, top }
    free.bottom = bottom - Math.max(BUTTONS, this.find(".overview").getBoundingClientRect().height + 10)
    if (!this.panels.search.hidden) free.top = this.panels.search.getBoundingClientRect().bottom
    if (!this.panels.details.hidden) {
      const panel = this.panels.details.getBoundingClientRect()
      if (panel.width < 0.6 * (right - left)) free.right = panel.left
      else free.bottom = panel.top
    }
    return free
  }

  open(name, shown = true) {
    for (const other of ["menu", "keys"]) if (other !== name) this.panels[other].hidden = true
    this.panels[name].hidden = !shown
    this.find(".bar [data-do=save]").setAttribute("aria-expanded", String(!this.panels.menu.hidden))
    this.find(".bar [data-do=keys]").setAttribute("aria-expanded", String(!this.panels.keys.hidden))
  }

  say(text) { this.find(".said").textContent = text }

  // tell: the page hears of it, if it wants to; not when a new drawing alone is the reason.
  choose(id, tell) {
    const detail = id && this.data.details[id]
    this.open("details", Boolean(detail))
    this.parts.mark("chosen", id ? [id] : [])
    this.parts.mark("near", id ? this.parts.near(id) : [])
    this.frame.classList.toggle("choosing", Boolean(id))
    if (detail) {
      this.find(".details h4").textContent = detail.title
      this.find(".details .lines").replaceChildren(...detail.lines.map((line) => {
        const item = line.startsWith("  ")
        return Object.assign(document.createElement("p"), { textContent: item ? line.slice(2) : line, className: item ? "item" : "" })
      }))
      this.find(".details .lines").scrollTop = 0
      if (tell) {
        this.say([detail.title, ...detail.lines].map((line) => line.trim().replace(/\.$/, "")).join(". "))
        this.parts.focus(id)
        this.canvas.reveal(this.parts.elements.get(id), this.free())
      }
    }
    const changed = this.chosen !== id
    this.chosen = id
    if (tell && changed && this.data.selectable) this.setStateValue("selected", id ? { part: id, graph: this.graph } : null)
  }

  go(step) {
    const from = this.focused()
    const id = from ? this.parts.following(from, step) : this.chosen || this.parts.order[0]
    if (!id) return
    this.parts.focus(id)
    this.canvas.reveal(this.parts.elements.get(id), this.free())
  }

  look(moves = true) {
    const text = this.panels.search.hidden ? "" : this.input.value
    this.found = this.parts.matching(text)
    this.here = -1
    this.parts.mark("found", this.found)
    this.parts.mark("here", [])
    this.find(".search output").textContent = text ? (this.found.length ? `${this.found.length} found` : "none found") : ""
    if (moves && this.found.length) this.walk(1)
  }

  walk(step) {
    if (!this.found.length) return
    this.here = (this.here + step + this.found.length) % this.found.length
    const id = this.found[this.here]
    this.parts.mark("here", [id])
    const place = `${this.here + 1} of ${this.found.length}`
    this.find(".search output").textContent = place
    this.say(`${place}. ${spoken(this.data.details[id])}`)
    this.canvas.reveal(this.parts.elements.get(id), this.free())
  }

  // Whoever found something goes on from there: Enter shows its details.
  leaveSearch() {
    const id = this.found[this.here]
    this.open("search", false)
    this.look(false)
    if (id) this.parts.focus(id)
    else this.frame.focus()
  }

  async save(format) {
    this.open("menu", false)
    this.frame.focus()
    const name = `${this.data.name}.${format}`
    if (format === "dot") return download(new Blob([this.data.dot], { type: "text/vnd.graphviz" }), name)
    const text = standalone(this.canvas.svg, this.canvas.whole, this.frame)
    if (format === "svg") return download(new Blob([text], { type: "image/svg+xml" }), name)
    const blob = await pixels(text, this.canvas.whole)
    if (blob) download(blob, name)
  }

  // The overview: all of the drawing without its labels, and the box that is seen of it.
  survey(svg) {
    const copy = svg.cloneNode(true)
    copy.querySelectorAll("text, polygon, polyline, .grab").forEach((element) => element.remove())
    for (const element of copy.querySelectorAll("*")) for (const name of ["id", "class", "role", "tabindex", "aria-label", "stroke-dasharray", "stroke-width"]) element.removeAttribute(name)
    const overview = this.find(".overview")
    overview.setAttribute("viewBox", this.canvas.whole.join(" "))
    const [, , wide, high] = this.canvas.whole, scale = Math.min(190 / wide, 84 / high)
    Object.assign(overview.style, { width: `${Math.max(wide * scale, 24)}px`, height: `${Math.max(high * scale, 24)}px` })
    overview.querySelector("g").replaceChildren(...copy.childNodes)
  }

  outline(box) {
    const [x, y, w, h] = this.canvas?.whole || box, overview = this.find(".overview"), slack = 2
    overview.toggleAttribute("hidden", box[0] <= x + slack && box[1] <= y + slack && box[0] + box[2] >= x + w - slack && box[1] + box[3] >= y + h - slack)
    const rectangle = overview.querySelector("rect")
    for (const [name, value] of Object.entries({ x: box[0], y: box[1], width: box[2], height: box[3] })) rectangle.setAttribute(name, value)
  }

  jump(event) {
    if (!event.buttons) return
    const overview = this.find(".overview"), [x, y, w, h] = this.canvas.box
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(overview.getScreenCTM().inverse())
    this.canvas.move(at.x - (x + w / 2), at.y - (y + h / 2))
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const action = this.binding(event)
    if (!action) return
    event.preventDefault()
    event.stopPropagation()
    action()
  }

  binding(event) {
    const { key, target } = event
    if (key === "Escape") return this.escape()
    if (target === this.input) return { Enter: () => this.walk(event.shiftKey ? -1 : 1) }[key]
    if (!this.panels.menu.hidden && this.panels.menu.contains(target)) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[key]
      return step && (() => this.inMenu(target, step))
    }
    if (target.closest(".lines") && key.startsWith("Arrow")) return null
    const part = target.closest(".part")
    if (part && (key === "Enter" || key === " ")) return () => this.choose(this.parts.idOf(part), true)
    if (target === this.frame && key === "Enter") return () => this.go(0)
    const { canvas, actions } = this
    return {
      "+": actions.in, "=": actions.in, "-": actions.out, 0: actions.fit, f: actions.full, s: actions.save,
      "/": actions.search, "?": actions.keys, n: actions.next, p: actions.previous,
      ArrowLeft: () => canvas.step(-1, 0), ArrowRight: () => canvas.step(1, 0),
      ArrowUp: () => canvas.step(0, -1), ArrowDown: () => canvas.step(0, 1),
    }[key]
  }

  inMenu(target, step) {
    const items = [...this.panels.menu.querySelectorAll("button")]
    items[(items.indexOf(target) + step + items.length) % items.length].focus()
  }

  // The topmost thing that is open closes; nothing open, and the key is not ours.
  escape() {
    const { menu, keys, search, details } = this.panels
    if (!menu.hidden || !keys.hidden) return () => { this.open("menu", false); this.open("keys", false); this.frame.focus() }
    if (!search.hidden) return () => this.leaveSearch()
    if (!details.hidden) return () => { const id = this.chosen; this.choose(null, true); this.parts.focus(id) }
    return null
  }
}

export default function (component) {
  const root = component.parentElement
  let viewer = viewers.get(root)
  if (!viewer || viewer.frame !== root.querySelector(".frame")) {
    viewer = new Viewer(root)
    viewers.set(root, viewer)
  }
  viewer.update(component)
  // A busy browser may end a call when another has followed already: only the end of the last one counts.
  const call = viewer.call = {}
  return () => { if (viewer.call === call) viewer.rest() }
}
