"""The pages of lessons: automata, tokens, random walks, and a search replayed step by step.

Their data come from children (`relens_dashboard.answers`) or from runs; it uses `relens_dashboard.components`.
"""
