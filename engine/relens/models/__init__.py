"""Models: which there are, how they are loaded, and how their next-token scores are had cheaply.

It uses torch, transformers and `relens.tokens`, and knows no search: a traversal asks a `Scorer`.
"""

import os

# Threads of torch that wait for each other spin by default. On a machine that also draws a page and runs a browser they
# spin away the very core the other one needs: on two busy cores a model took 15 s to check instead of 1.3 s, and on
# idle ones passive waiting cost nothing. It must be set before torch is imported; an operator's own value stays.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
