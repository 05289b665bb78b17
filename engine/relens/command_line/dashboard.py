"""The dashboard, started from a terminal, a script or a notebook.

    relens run                              http://localhost:8501, until Ctrl+C
    relens run --port 8600
    relens run -- --server.address 0.0.0.0  options of Streamlit's own

The dashboard is the package `relens_dashboard`, with requirements of its own: pip install 'relens[dashboard]'.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from relens.errors import RelensError

PORT = 8501


def dashboard_parser() -> argparse.ArgumentParser:
    """The options of `relens run`."""
    parser = argparse.ArgumentParser(
        prog="relens run",
        description="Open the dashboard for browsers on this machine, until Ctrl+C.",
        epilog="Options after -- go to Streamlit, such as --server.address 0.0.0.0 to let other machines in.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--port", type=int, default=PORT, help="port of the address, http://localhost:PORT (%(default)s)"
    )
    parser.add_argument("streamlit", nargs="*", help=argparse.SUPPRESS)
    return parser


def dashboard_main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    options = dashboard_parser().parse_args(arguments)
    try:
        command = _command(options.port, options.streamlit)
    except RelensError as error:
        print(error.sentence, file=sys.stderr)
        return 1
    _announce(options.port)
    # Streamlit in place of this process: whoever ends this one ends the dashboard.
    return os.execv(command[0], command)


def run_dashboard(port: int = PORT, streamlit: Sequence[str] = ()) -> int:
    """Open the dashboard at http://localhost:`port`, and wait until it ends; returns its exit status.

    streamlit: further options of `streamlit run`. Raises `RelensError` where the dashboard is not installed.
    """
    process = subprocess.Popen(_command(port, streamlit))
    _announce(port)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            # The terminal interrupts the server too; from a notebook, it has to be ended here.
            process.terminate()


def _announce(port: int) -> None:
    print(f"Relens is starting on http://localhost:{port}", flush=True)


def _command(port: int, streamlit: Sequence[str]) -> list[str]:
    """What starts the dashboard. Raises `RelensError` where it or Streamlit is missing."""
    dashboard = importlib.util.find_spec("relens_dashboard")
    if dashboard is None or dashboard.origin is None or importlib.util.find_spec("streamlit") is None:
        raise RelensError("The dashboard is not installed: pip install 'relens[dashboard]'.")
    script = Path(dashboard.origin).with_name("main.py")
    return [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port), *streamlit]
