"""The command line: its options and its lines; `engine.__main__` runs it."""
