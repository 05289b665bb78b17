"""Automata as pictures of them: few states, merged arcs, labels for people."""
