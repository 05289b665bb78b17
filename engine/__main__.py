"""`python -m engine`, as the command was called before it was `relens`, in the repository's folder.

python -m engine "(cat|dog)" --top-k 40     relens query "(cat|dog)" --top-k 40
python -m engine study bias                 relens study bias
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))

    from relens.command_line.main import main

    words = sys.argv[1:]
    if words[:1] not in (["study"], ["runs"]):
        words = ["query", *words]
    print("`python -m engine` is now the command `relens`: relens", words[0], "...", file=sys.stderr)
    sys.exit(main(words))
