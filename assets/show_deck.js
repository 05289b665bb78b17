// A deck over the whole page: the exported file in a frame of its own, which may run its script and reach nothing else.
// Its figures come one by one, as they are wanted. See app/relens_dashboard/components/show_deck.py.

const decks = new WeakMap()

export default function ({ data, parentElement, setTriggerValue, setStateValue }) {
  let deck = decks.get(parentElement)
  if (deck?.version !== data.version) {
    deck?.close()
    deck = data.html ? { version: data.version, ...show(data, parentElement, setTriggerValue, setStateValue) } : null
    if (deck) decks.set(parentElement, deck)
    else decks.delete(parentElement)
  }
  if (!deck) {
    setStateValue("wanted", { number: 0, at: Date.now() })
    return () => {}
  }
  if (data.figure) deck.take(data.number, data.figure)
  // A busy browser may end a call when another has followed already: only the end of the last one counts.
  const call = deck.call = {}
  return () => {
    if (deck.call !== call) return
    deck.close()
    decks.delete(parentElement)
  }
}

// Opens the deck. `close` closes it; `take` is given a figure, as JSON, and the number of its screen.
function show(data, parentElement, setTriggerValue, setStateValue) {
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

  const tell = (message) => frame.contentWindow?.postMessage(message, "*")
  const having = new Set(data.figures ?? []), taken = new Set(), early = []
  let now = data.screen, isReady = false, asking = 0

  // The figure of the screen that one is at, and else of the next: asked for again where no answer comes.
  function want() {
    clearTimeout(asking)
    const number = [now, now + 1].find((one) => having.has(one) && !taken.has(one))
    if (!number) return
    setStateValue("wanted", { number, at: Date.now() })
    asking = setTimeout(want, 5000)
  }
  function take(number, figure) {
    if (taken.has(number)) return
    taken.add(number)
    const message = { relens: "figure", number, figure }
    if (isReady) tell(message)
    else early.push(message)
    want()
  }

  const leave = () => { dialog.close(); setTriggerValue("left", true) }
  const heard = (event) => {
    if (event.source !== frame.contentWindow || !event.data) return
    if (event.data.relens === "ready") {
      isReady = true
      early.splice(0).forEach(tell)
      // It is at the first one already, and perhaps, by a key, further.
      if (data.screen > 1) tell({ relens: "go", number: data.screen })
      frame.focus()
    } else if (event.data.relens === "leave") leave()
    else if (event.data.relens === "screen" && ready(event.data.number)) {
      const address = new URL(location.href)
      address.searchParams.set("screen", String(event.data.number))
      history.replaceState(history.state, "", address)
      if (now !== event.data.number) { now = event.data.number; want() }
    }
  }
  // The frame begins at its first screen and is then sent to the one in the address, which must not be lost meanwhile.
  let begun = data.screen <= 1
  const ready = (number) => { begun ||= number === data.screen; return begun }
  addEventListener("message", heard)
  dialog.addEventListener("cancel", (event) => { event.preventDefault(); leave() })
  const close = () => {
    clearTimeout(asking)
    removeEventListener("message", heard)
    dialog.close()
    dialog.remove()
  }
  return { close, take }
}
