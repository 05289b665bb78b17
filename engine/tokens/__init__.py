"""The alphabet of a model: its vocabulary, and regular languages spelled in its tokens."""
