"""Regular languages over bytes: from the text of a regular expression to a minimal automaton."""
