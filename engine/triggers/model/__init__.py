"""The dialogue model: corpora, vocabulary, both networks, their training, and the folder of a trained model.

It uses what the room shares (`engine.triggers`), and none of the other folders.
"""
