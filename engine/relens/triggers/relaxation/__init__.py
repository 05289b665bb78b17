"""The continuous relaxation: gradient descent on embeddings or mixtures of words, its study and its findings.

It uses `relens.triggers.model`, and the targets of `relens.triggers.search`.
"""
