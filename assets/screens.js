// One screen at a time, by keyboard, buttons or swipe; figures are drawn when their screen comes. See
// app/relens_dashboard/present/deck_file.py. The file runs by itself, from disk, and inside the Present page, which it
// tells where it is.

(() => {
  const root = document.documentElement
  const screens = [...document.querySelectorAll("main > .screen")]
  const figures = JSON.parse(document.getElementById("figures").textContent)
  const shown = root.hasAttribute("data-shown")
  const number = document.getElementById("number")
  const button = (name) => document.querySelector(`nav [data-do=${name}]`)
  // A layout is 1440 pixels wide; on a small display text would be too small if all of it were scaled alike.
  const WIDTH = 1440, LEAST = 0.5
  let now = 0
  let printing = false
  root.classList.add("js")

  const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark"

  function template() {
    const style = getComputedStyle(root), value = (name) => style.getPropertyValue(name).trim()
    const axis = { gridcolor: value("--grid"), linecolor: value("--line"), zerolinecolor: value("--quiet"),
      tickcolor: value("--line"), automargin: true }
    return { layout: { font: { color: value("--text"), family: getComputedStyle(document.body).fontFamily },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", xaxis: axis, yaxis: axis,
      colorway: ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"],
      hoverlabel: { bgcolor: value("--panel"), font: { color: value("--text") } } } }
  }

  // The figure takes the room that the text leaves, and no less than its labels need; then the screen scrolls.
  function draw(screen) {
    drawFigure(screen)
    lookBelow()
  }
  function lookBelow() {
    const screen = screens[now]
    document.getElementById("more").hidden = screen.scrollTop + screen.clientHeight > screen.scrollHeight - 12
  }
  screens.forEach((screen) => screen.addEventListener("scroll", lookBelow, { passive: true }))

  function drawFigure(screen) {
    const holder = screen.querySelector(".plot")
    const figure = holder && figures[Number(holder.dataset.figure)]
    if (!figure) return  // there is none, or it has not come yet
    if (!figure.data) { holder.replaceWith(drawing(figure, holder)); return }
    const { data, layout, height } = figure
    const scale = Math.max(LEAST, (printing ? 1040 : innerWidth) / WIDTH)
    holder.style.height = ""
    const room = Math.max(holder.clientHeight, 0)
    const high = printing ? Math.min(Math.max(height, 420), 900) : Math.max(height, Math.min(room / scale, 2 * height + 300))
    const wide = (printing ? 1040 : holder.clientWidth) / scale
    holder.style.height = Math.ceil(high * scale) + "px"
    let place = holder.querySelector(":scope > div")
    if (!place) { place = document.createElement("div"); holder.append(place) }
    place.style.width = wide + "px"
    place.style.height = high + "px"
    place.style.transform = `scale(${scale})`
    const mine = { ...layout, width: wide, height: high, autosize: false, template: template() }
    Plotly.react(place, data, mine, { displayModeBar: false, displaylogo: false })
  }

  // What is shown in place of a plot: a drawing, which the server has cleaned, or why there is nothing.
  function drawing({ svg, missing }, holder) {
    const place = document.createElement(svg ? "figure" : "p")
    if (svg) {
      place.className = "drawing"
      place.setAttribute("role", "img")
      place.setAttribute("aria-label", holder.getAttribute("aria-label"))
      place.innerHTML = svg
    } else {
      place.className = "sentence"
      place.textContent = missing
    }
    return place
  }

  // Inside the Present page figures come one by one.
  function take(number, figure) {
    figures[number - 1] = JSON.parse(figure)
    if (now === number - 1) draw(screens[now])
  }

  function go(to, quietly) {
    if (!screens.length) return
    now = Math.min(Math.max(to, 0), screens.length - 1)
    screens.forEach((screen, place) => screen.classList.toggle("now", place === now))
    number.textContent = `${now + 1} / ${screens.length}`
    button("back").disabled = now === 0
    button("on").disabled = now === screens.length - 1
    screens[now].scrollTop = 0
    draw(screens[now])
    if (!quietly) screens[now].focus({ preventScroll: true })
    if (shown) parent.postMessage({ relens: "screen", number: now + 1 }, "*")
    else try { history.replaceState(null, "", "#" + (now + 1)) } catch { /* some places forbid it; nothing is lost */ }
  }

  function full() {
    if (document.fullscreenElement) document.exitFullscreen()
    else root.requestFullscreen?.().catch(() => {})
  }

  const actions = {
    on: () => go(now + 1), back: () => go(now - 1), first: () => go(0), last: () => go(screens.length - 1), full,
    notes: () => {
      button("notes").setAttribute("aria-pressed", String(root.classList.toggle("with-notes")))
    },
    theme: () => { root.dataset.theme = isDark() ? "light" : "dark"; draw(screens[now]) },
    leave: () => { if (shown) parent.postMessage({ relens: "leave" }, "*") },
  }
  const keys = { ArrowRight: "on", PageDown: "on", " ": "on", Enter: "on", ArrowLeft: "back", PageUp: "back",
    Backspace: "back", Home: "first", End: "last", n: "notes", t: "theme", f: "full", Escape: "leave" }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.target.closest?.("button") && (event.key === " " || event.key === "Enter")) return
    const name = event.key === " " && event.shiftKey ? "back" : keys[event.key.length === 1 ? event.key.toLowerCase() : event.key]
    if (!name) return
    event.preventDefault()
    actions[name]()
  })
  document.querySelectorAll("nav button").forEach((one) => { one.onclick = () => actions[one.dataset.do]() })

  let touched = null
  document.addEventListener("touchstart", (event) => { touched = event.changedTouches[0] }, { passive: true })
  document.addEventListener("touchend", (event) => {
    const end = event.changedTouches[0], across = end.clientX - touched.clientX, along = end.clientY - touched.clientY
    if (Math.abs(across) > 60 && Math.abs(across) > 2 * Math.abs(along)) go(now + (across < 0 ? 1 : -1))
  }, { passive: true })

  document.addEventListener("fullscreenchange", () => root.toggleAttribute("data-full", Boolean(document.fullscreenElement)))
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(screens[now]))
  let waiting = 0
  addEventListener("resize", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(() => draw(screens[now])) })
  addEventListener("hashchange", () => { const to = Number(location.hash.slice(1)) - 1; if (!shown && to !== now && to >= 0) go(to) })
  addEventListener("message", (event) => {
    if (!shown || event.source !== parent) return
    if (event.data?.relens === "go") go(event.data.number - 1)
    else if (event.data?.relens === "figure") take(event.data.number, event.data.figure)
  })
  addEventListener("beforeprint", () => { printing = true; screens.forEach(draw) })
  addEventListener("afterprint", () => { printing = false; go(now, true) })

  go((shown ? 1 : Number(location.hash.slice(1)) || 1) - 1)
  if (shown) parent.postMessage({ relens: "ready" }, "*")
})()
