"""Trigger search: which input makes a model say exactly this?

What all folders share stands here: hit types, the objective, the problem with its losses and gradients, checks and
their rows. It uses `relens.models` and `relens.studies`; of the folders, `model` uses none of the others, and nothing
uses `causal`, `relaxation` or `brute_force`.

Source: He and Glass, "Detecting Egregious Responses in Neural Sequence-to-Sequence Models", ICLR 2019.
"""
