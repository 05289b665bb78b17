"""Automata as pictures of them: few states, merged arcs, labels for people.

It uses `engine.language` and `engine.tokens`; what is drawn is data, and a page draws it.
"""
