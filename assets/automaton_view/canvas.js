// What of a drawing is seen: a box in the drawing's own coordinates, moved and scaled by hand, wheel, fingers and keys.

const STEADY = matchMedia("(prefers-reduced-motion: reduce)")
// A large automaton that fits is too small to read: at first it is shown at this scale at least, from the start state.
const READABLE = 0.85
// The row of buttons at the lower edge is so high.
const BUTTONS = 46

class Canvas {
  // picked(element or null): somebody clicked there without moving it. seen(box): what is seen has changed.
  constructor(host, svg, picked, seen) {
    Object.assign(this, { host, svg, picked, seen })
    this.whole = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number)
    this.touched = false
    this.fingers = new Map()
    svg.setAttribute("preserveAspectRatio", "xMidYMid meet")
    svg.onwheel = (event) => this.#wheel(event)
    svg.onpointerdown = (event) => this.#down(event)
    svg.onpointermove = (event) => this.#moved(event)
    svg.onpointerup = (event) => this.#up(event, true)
    svg.onpointercancel = (event) => this.#up(event, false)
    svg.ondblclick = (event) => this.zoom(1 / 1.6, ...this.#point(event))
  }

  show(box) {
    cancelAnimationFrame(this.gliding)
    this.box = box
    this.svg.setAttribute("viewBox", box.join(" "))
    this.seen(box)
  }

  // All of it at the largest scale that has room for it, or at `least` where that is larger; above the buttons.
  #fitted(most, least) {
    const [x, y, w, h] = this.whole, wide = this.host.clientWidth || 600, all = this.host.clientHeight || 200
    const high = all - Math.min(BUTTONS, all / 5)
    const scale = Math.max(Math.min(wide / w, high / h, most), least)
    const boxWidth = wide / scale, boxHeight = high / scale
    const left = w <= boxWidth ? x - (boxWidth - w) / 2 : x - 4
    let top = y - (boxHeight - h) / 2
    if (h > boxHeight) top = Math.min(Math.max(this.#entryHeight() - boxHeight / 2, y), y + h - 0.7 * boxHeight)
    return [left, top, boxWidth, all / scale]
  }

  begin() { this.show(this.#fitted(1.5, READABLE)) }

  fit() { this.touched = true; this.show(this.#fitted(3, 0)) }

  #entryHeight() {
    const entry = this.svg.querySelector(".entry ellipse")
    const shift = /translate\(\S+ ([-\d.]+)\)/.exec(this.svg.querySelector("g").getAttribute("transform") || "")
    return entry && shift ? Number(entry.getAttribute("cy")) + Number(shift[1]) : this.whole[1] + this.whole[3] / 2
  }

  // The frame has another size: who has not moved the drawing yet sees it as at first, others keep the scale.
  resize() {
    const { clientWidth: wide, clientHeight: high } = this.host
    if (!wide || !high) return
    if (!this.touched) return this.begin()
    const [x, y, w, h] = this.box, boxHeight = w * high / wide
    this.show([x, y + (h - boxHeight) / 2, w, boxHeight])
  }

  zoom(factor, ...at) {
    const [x, y, w, h] = this.box, [cx, cy] = at.length ? at : [x + w / 2, y + h / 2]
    if (w * factor < 20 || w * factor > this.whole[2] * 8 + 4000) return
    this.touched = true
    this.show([cx - (cx - x) * factor, cy - (cy - y) * factor, w * factor, h * factor])
  }

  move(dx, dy) {
    const [x, y, w, h] = this.box
    this.touched = true
    this.show([x + dx, y + dy, w, h])
  }

  step(horizontal, vertical) { const far = this.box[2] / 12; this.move(horizontal * far, vertical * far) }

  // Bring an element into `free`, a rectangle of the screen that nothing covers; and make it large enough to read.
  reveal(element, free) {
    const scale = this.svg.getScreenCTM().a
    const at = element.getBoundingClientRect(), middle = [at.x + at.width / 2, at.y + at.height / 2]
    const inside = at.left >= free.left + 8 && at.right <= free.right - 8 && at.top >= free.top + 8 && at.bottom <= free.bottom - 8
    if (inside && scale >= READABLE * 0.9) return
    const to = scale < READABLE * 0.9 ? 0.9 : scale
    const [cx, cy] = this.#point({ clientX: middle[0], clientY: middle[1] }), frame = this.host.getBoundingClientRect()
    const [fx, fy] = [(free.left + free.right) / 2 - frame.left, (free.top + free.bottom) / 2 - frame.top]
    this.touched = true
    this.#glide([cx - fx / to, cy - fy / to, frame.width / to, frame.height / to])
  }

  #glide(to) {
    if (STEADY.matches) return this.show(to)
    const from = this.box, begun = performance.now()
    const frame = (now) => {
      const part = Math.min((now - begun) / 180, 1), eased = 1 - (1 - part) ** 3
      this.show(from.map((number, place) => number + (to[place] - number) * eased))
      if (part < 1) this.gliding = requestAnimationFrame(frame)
    }
    this.gliding = requestAnimationFrame(frame)
  }

  #point(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse())
    return [at.x, at.y]
  }

  // The page scrolls with the wheel; zooming asks for Ctrl, as maps do, unless the viewer fills the screen.
  #wheel(event) {
    if (!(event.ctrlKey || event.metaKey || document.fullscreenElement)) return
    event.preventDefault()
    this.zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, ...this.#point(event))
  }

  #down(event) {
    if (event.button) return
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY })
    this.pressed = this.fingers.size === 1 ? { part: event.target.closest(".part"), x: event.clientX, y: event.clientY } : null
    this.svg.setPointerCapture(event.pointerId)
  }

  #moved(event) {
    const before = this.fingers.get(event.pointerId)
    if (!before) return
    if (this.pressed && Math.hypot(event.clientX - this.pressed.x, event.clientY - this.pressed.y) < 4) return
    this.pressed = null
    this.svg.classList.add("dragging")
    const old = [...this.fingers.values()]
    const [ox, oy, apart] = middleOf(old)
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY })
    const [nx, ny, wider] = middleOf([...this.fingers.values()])
    const [fromX, fromY] = this.#point({ clientX: ox, clientY: oy }), [toX, toY] = this.#point({ clientX: nx, clientY: ny })
    this.move(fromX - toX, fromY - toY)
    if (apart && wider) this.zoom(apart / wider, ...this.#point({ clientX: nx, clientY: ny }))
  }

  #up(event, meant) {
    this.fingers.delete(event.pointerId)
    if (!this.fingers.size) this.svg.classList.remove("dragging")
    if (meant && this.pressed) this.picked(this.pressed.part)
    this.pressed = null
  }
}

// Where the fingers are on average, and how far apart the first two of them.
function middleOf(fingers) {
  const sum = fingers.reduce(([x, y], finger) => [x + finger.x, y + finger.y], [0, 0])
  const apart = fingers.length > 1 ? Math.hypot(fingers[0].x - fingers[1].x, fingers[0].y - fingers[1].y) : 0
  return [sum[0] / fingers.length, sum[1] / fingers.length, apart]
}
