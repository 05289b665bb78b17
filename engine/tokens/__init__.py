"""The alphabet of a model: its tokenizer, and regular languages spelled in its tokens.

It uses `engine.language`, and no torch.
"""
