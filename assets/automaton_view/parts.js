// The drawing's states and arcs, as elements that one can reach, read and choose.

const NAMESPACE = "http://www.w3.org/2000/svg"
const ELEMENTS = new Set(["svg", "g", "title", "path", "polygon", "polyline", "ellipse", "text"])
const ATTRIBUTES = new Set(["class", "d", "points", "cx", "cy", "rx", "ry", "x", "y", "transform", "text-anchor",
  "stroke-dasharray", "stroke-width", "viewBox"])
const PART = /^(state|arc)-\d+$/
const LISTED = 150

// The SVG is data: parsed as XML, and only the few elements and attributes that a drawing needs are copied.
function drawingOf(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement
  return parsed.localName === "svg" && parsed.hasAttribute("viewBox") ? cleaned(parsed) : null
}

function cleaned(node) {
  const copy = document.createElementNS(NAMESPACE, node.localName)
  for (const { name, value } of node.attributes) {
    if (ATTRIBUTES.has(name) || (name === "id" && PART.test(value))) copy.setAttribute(name, value)
  }
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.data)
    // A title would be shown as a tooltip, `3->7`; the details say more.
    else if (child.nodeType === Node.ELEMENT_NODE && ELEMENTS.has(child.localName) && child.localName !== "title") {
      copy.append(cleaned(child))
    }
  }
  return copy
}

class Parts {
  // details: by id, what there is to say. ends: source and target of each arc, in the order of their numbers.
  constructor(svg, details, ends) {
    Object.assign(this, { details, ends })
    this.elements = new Map()
    for (const [id, detail] of Object.entries(details)) {
      const element = svg.querySelector(`#${id}`)
      if (!element) continue
      element.classList.add("part")
      element.setAttribute("role", "button")
      element.setAttribute("tabindex", "-1")
      element.setAttribute("aria-label", spoken(detail))
      const line = element.classList.contains("edge") && element.querySelector("path")
      if (line) {
        // A thin line is hard to hit: one that is not seen lies over it.
        const grab = line.cloneNode()
        grab.setAttribute("class", "grab")
        element.append(grab)
      }
      this.elements.set(id, element)
    }
    this.order = this.#walk()
    this.elements.get(this.order[0])?.setAttribute("tabindex", "0")
  }

  // A state, then the arcs that leave it, then the next state.
  #walk() {
    const leaving = new Map()
    this.ends.forEach(([source], place) => leaving.set(source, [...(leaving.get(source) || []), `arc-${place}`]))
    const states = [...this.elements.keys()].filter((id) => id.startsWith("state-"))
    return states.flatMap((id) => [id, ...(leaving.get(Number(id.slice(6))) || [])]).filter((id) => this.elements.has(id))
  }

  idOf(element) { return element && this.elements.has(element.id) ? element.id : null }

  // What belongs to a part at a glance: an arc's ends; a state's arcs and where they lead or come from.
  near(id) {
    if (id.startsWith("arc-")) return this.ends[Number(id.slice(4))].map((state) => `state-${state}`)
    const number = Number(id.slice(6))
    return this.ends.flatMap((pair, place) => pair.includes(number) ? [`arc-${place}`, ...pair.map((state) => `state-${state}`)] : [])
  }

  mark(name, ids) {
    const wanted = new Set(ids)
    for (const [id, element] of this.elements) element.classList.toggle(name, wanted.has(id))
  }

  // One part at a time is reached by Tab; n and p go on from there.
  focus(id) {
    const element = this.elements.get(id)
    if (!element) return
    for (const other of this.elements.values()) other.setAttribute("tabindex", "-1")
    element.setAttribute("tabindex", "0")
    element.focus({ preventScroll: true })
  }

  following(id, step) {
    if (!this.order.length) return null
    const place = this.order.indexOf(id)
    if (place < 0) return this.order[0]
    return this.order[(place + step + this.order.length) % this.order.length]
  }

  // The ids whose label, or whose number, is what is looked for; states that are called exactly so come first.
  matching(text) {
    const wanted = text.toLowerCase(), visible = wanted.replaceAll(" ", "␣")
    if (!wanted) return []
    const found = this.order.filter((id) => {
      const label = this.details[id].label.toLowerCase()
      return label.includes(visible) || label.includes(wanted)
    })
    const exact = (id) => id === `state-${wanted.trim()}`
    return [...found.filter(exact), ...found.filter((id) => !exact(id))]
  }

  // The arcs as sentences, for who reads with the ears.
  list() {
    const arcs = this.ends.slice(0, LISTED).map((pair, place) => spoken(this.details[`arc-${place}`]))
    return this.ends.length > LISTED ? [...arcs, `And ${this.ends.length - LISTED} more arcs.`] : arcs
  }
}

// The title and the first lines as one sentence after the other; lists of arcs are for the eyes.
function spoken(detail) {
  return [detail.title, ...detail.lines.slice(0, 2)].filter((line) => !line.endsWith(":") && !line.startsWith("  "))
    .map((line) => line.replace(/\.$/, "")).join(". ")
}
