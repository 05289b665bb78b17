"""`python -m relens` is the command `relens`."""

from __future__ import annotations

import sys

from relens.command_line.main import main

if __name__ == "__main__":
    sys.exit(main())
