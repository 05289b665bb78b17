// A deck over the whole page: the exported file in a frame of its own, which may run its script and reach nothing else.
// See app/components/show_deck.py.

const decks = new WeakMap()

export default function ({ data, parentElement, setTriggerValue }) {
  let deck = decks.get(parentElement)
  if (deck?.version !== data.version) {
    deck?.close()
    deck = { version: data.version, close: show(data, parentElement, setTriggerValue) }
    decks.set(parentElement, deck)
  }
  // A busy browser may end a call when another has followed already: only the end of the last one counts.
  const call = deck.call = {}
  return () => {
    if (deck.call !== call) return
    deck.close()
    decks.delete(parentElement)
  }
}

// Opens the deck; what it returns closes it.
function show(data, parentElement, setTriggerValue) {
  const dialog = document.createElement("dialog")
  dialog.setAttribute("aria-label", data.name)
  const frame = document.createElement("iframe")
  // Without allow-same-origin: what somebody's deck holds is strange to this page, whatever it is.
  frame.setAttribute("sandbox", "allow-scripts")
  frame.setAttribute("allow", "fullscreen")
  frame.title = data.name
  frame.srcdoc = data.html
  dialog.append(frame)
  parentElement.querySelector(".place").replaceChildren(dialog)
  dialog.showModal()

  const leave = () => { dialog.close(); setTriggerValue("left", true) }
  const heard = (event) => {
    if (event.source !== frame.contentWindow || !event.data) return
    if (event.data.relens === "ready") {
      // It is at the first one already, and perhaps, by a key, further.
      if (data.screen > 1) frame.contentWindow.postMessage({ relens: "go", number: data.screen }, "*")
      frame.focus()
    } else if (event.data.relens === "leave") leave()
    else if (event.data.relens === "screen" && ready(event.data.number)) {
      const address = new URL(location.href)
      address.searchParams.set("screen", String(event.data.number))
      history.replaceState(history.state, "", address)
    }
  }
  // The frame begins at its first screen and is then sent to the one in the address, which must not be lost meanwhile.
  let begun = data.screen <= 1
  const ready = (number) => { begun ||= number === data.screen; return begun }
  addEventListener("message", heard)
  dialog.addEventListener("cancel", (event) => { event.preventDefault(); leave() })
  return () => { removeEventListener("message", heard); dialog.close(); dialog.remove() }
}
