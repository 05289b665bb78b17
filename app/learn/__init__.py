"""The pages of lessons: automata, tokens, random walks, and a search replayed step by step.

Their data come from children (`app.answers`) or from runs; it uses `app.components`.
"""
