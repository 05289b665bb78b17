// The drawing as a file: SVG with its looks filled in, pixels of that, or the DOT text it was laid out from.

// Canvases larger than this are refused by one browser or another.
const MOST_PIXELS = 8000

// A drawing that needs nothing of this page: only what it is, with its colours filled in.
function standalone(svg, whole, frame) {
  const theme = getComputedStyle(frame)
  const copy = svg.cloneNode(true)
  copy.querySelectorAll(".grab").forEach((line) => line.remove())
  for (const part of copy.querySelectorAll(".part")) {
    part.classList.remove("part", "chosen", "near", "found", "here")
    for (const name of ["role", "tabindex", "aria-label"]) part.removeAttribute(name)
  }
  for (const name of ["style", "class"]) copy.removeAttribute(name)
  const [x, y, w, h] = whole
  const attributes = { xmlns: NAMESPACE, viewBox: whole.join(" "), width: w, height: h }
  for (const [name, value] of Object.entries(attributes)) copy.setAttribute(name, value)
  const paper = document.createElementNS(NAMESPACE, "rect")
  for (const [name, value] of Object.entries({ x, y, width: w, height: h, fill: resolved("var(--paper)", theme) })) paper.setAttribute(name, value)
  const style = document.createElementNS(NAMESPACE, "style")
  style.textContent = resolved(DRAWING_STYLE, theme)
  copy.prepend(style, paper)
  return new XMLSerializer().serializeToString(copy)
}

function resolved(text, theme) {
  return text.replace(/var\((--[\w-]+)\)/g, (_, name) => theme.getPropertyValue(name).trim() || "currentColor")
}

async function pixels(text, whole) {
  const [, , w, h] = whole, scale = Math.min(2, MOST_PIXELS / w, MOST_PIXELS / h)
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }))
  try {
    const image = new Image()
    image.src = address
    await image.decode()
    const canvas = Object.assign(document.createElement("canvas"), { width: Math.ceil(w * scale), height: Math.ceil(h * scale) })
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height)
    return await new Promise((done) => canvas.toBlob(done, "image/png"))
  } finally {
    URL.revokeObjectURL(address)
  }
}

function download(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}
