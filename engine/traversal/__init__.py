"""Walking a token automaton with a model."""
