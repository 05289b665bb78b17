"""The evaluations of the ReLM paper as typed studies, each a thin use of the engine."""
