"""Trigger search: which input makes a dialogue model say exactly this?

Source: He and Glass, "Detecting Egregious Responses in Neural Sequence-to-Sequence Models", ICLR 2019.
"""
