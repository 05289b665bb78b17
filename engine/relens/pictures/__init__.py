"""Pictures of automata: few states, merged arcs, labels for people.

It uses `relens.language` and `relens.tokens`; a picture is data, and a page draws it.
"""
