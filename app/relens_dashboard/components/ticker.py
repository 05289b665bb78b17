"""A clock in the browser that runs the fragment around it again.

`st.fragment(run_every=...)` has two faults: its interval is fixed when the whole page runs, and it ticks without regard
to the server, so a busy server gets further and further behind. (Every fragment stands alone in a container: in
Streamlit, a missing part of a fragment moves the elements below it up.)

This clock is an element like any other: each run of the fragment sets the time of the next look, or none. It waits
while the page is being drawn. The browser sends only one of two looks at the same time, so the clock ticks again by
itself after a while.
"""

from __future__ import annotations

import streamlit as st

#: A busy browser may call this a second time before it ends the first call: each end stops its own clock and no other.
SCRIPT = """
const clocks = new WeakMap()
const isIdle = () =>
  document.querySelector("[data-testid=stApp]")?.getAttribute("data-test-script-state") === "notRunning"
export default function ({ data, parentElement, setTriggerValue }) {
  clearTimeout(clocks.get(parentElement)?.timer)
  const clock = {}
  clocks.set(parentElement, clock)
  const arm = (milliseconds) => {
    clock.timer = setTimeout(() => {
      if (!isIdle()) return arm(100)
      setTriggerValue("tick", Date.now())
      arm(Math.max(3000, 4 * data.milliseconds))
    }, milliseconds)
  }
  if (data.milliseconds > 0) arm(data.milliseconds)
  return () => clearTimeout(clock.timer)
}
"""
_TICKER = st.components.v2.component("relens.ticker", js=SCRIPT)


def ticker(seconds: float | None, *, key: str) -> None:
    """Run the fragment around this call again in `seconds`; None: no more."""
    looks = st.session_state[f"{key}_looks"] = st.session_state.get(f"{key}_looks", 0) + 1
    # The count makes each run's data new, so that the browser sets the clock again.
    _TICKER(
        key=key,
        data={"milliseconds": round(1000 * seconds) if seconds else 0, "looks": looks},
        height="content",
        on_tick_change=lambda: None,
    )
