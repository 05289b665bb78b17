"""The continuous relaxation: gradient descent on embeddings or mixtures of words, its study and its findings.

It uses `engine.triggers.model`, and the targets of `engine.triggers.search`.
"""
