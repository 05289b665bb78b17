"""A clock in the browser that makes the fragment it stands in run again.

`st.fragment(run_every=...)` fixes its interval when the whole page runs, so starting or stopping such a clock means
drawing the whole page anew, and a request of an old clock that arrives while that happens can cost the page its
content (Streamlit drops what a script run has still to say once the next one begins). This clock is an element like any
other: each run of the fragment says when the next look is due, or that none is.

A look that got lost would stop a clock that waits to be told, so it asks again by itself after a while.
"""

from __future__ import annotations

import streamlit as st

_TICKER = st.components.v2.component(
    "relens.ticker",
    js="""
    const timers = new WeakMap()
    export default function ({ data, parentElement, setTriggerValue }) {
      clearTimeout(timers.get(parentElement))
      const arm = (milliseconds) => timers.set(parentElement, setTimeout(() => {
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
