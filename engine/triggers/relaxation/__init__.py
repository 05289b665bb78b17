"""The continuous relaxation: a descent on inputs that need not be words, its study and its findings.

It uses `engine.triggers.model`, and the targets of `engine.triggers.search`.
"""
