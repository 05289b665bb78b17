"""The pages of lessons: automata, tokens, and a search watched at work."""
