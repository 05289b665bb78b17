"""A clock in the browser that makes the fragment it stands in run again.

`st.fragment(run_every=...)` would do, but for two things. Its interval is fixed when the whole page runs. And it ticks
whatever goes on: when a fragment begins again while the server has not yet sent what the whole page's run said of it,
that is thrown away; the browser then takes the fragment for gone, moves up what stands below it, cannot place what
comes next, and shows a blank page. With one reader this is rare; with ten it happened to most. (For the same reason
every fragment stands alone in a container, so that there is nothing to move up.)

This clock is an element like any other: each run of the fragment says when the next look is due, or that none is. It
waits while the page is being drawn, and since a look may get lost, it asks again by itself after a while.
"""

from __future__ import annotations

import streamlit as st

_TICKER = st.components.v2.component(
    "relens.ticker",
    js="""
    const timers = new WeakMap()
    const isIdle = () =>
      document.querySelector("[data-testid=stApp]")?.getAttribute("data-test-script-state") === "notRunning"
    export default function ({ data, parentElement, setTriggerValue }) {
      clearTimeout(timers.get(parentElement))
      const arm = (milliseconds) => timers.set(parentElement, setTimeout(() => {
        if (!isIdle()) return arm(100)
        setTriggerValue("tick", Date.now())
        arm(Math.max(3000, 4 * data.milliseconds))
      }, milliseconds))
      if (data.milliseconds > 0) arm(data.milliseconds)
      return () => clearTimeout(timers.get(parentElement))
    }
    """,
)


def ticker(seconds: float | None, *, key: str) -> None:
    """Run the fragment around this call again in `seconds`; None: not any more."""
    looks = st.session_state[f"{key}_looks"] = st.session_state.get(f"{key}_looks", 0) + 1
    # The count makes each run's data new, so that the browser winds the clock up again.
    _TICKER(
        key=key,
        data={"milliseconds": round(1000 * seconds) if seconds else 0, "looks": looks},
        height="content",
        on_tick_change=lambda: None,
    )
