"""Models: which there are, how they are loaded, and how their next-token scores are had cheaply."""
