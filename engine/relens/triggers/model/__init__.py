"""The dialogue model: corpora, vocabulary, both networks, their training, and the folder of a trained model.

It uses the shared modules of `relens.triggers`, and none of the other folders.
"""
