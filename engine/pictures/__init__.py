"""Pictures of automata: few states, merged arcs, labels for people.

It uses `engine.language` and `engine.tokens`; a picture is data, and a page draws it.
"""
