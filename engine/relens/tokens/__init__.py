"""The alphabet of a model: its tokenizer, and regular languages spelled in its tokens.

It uses `relens.language`, and no torch.
"""
