"""The command line: its options, read off the declared settings, and its printed lines.

`engine.__main__` runs it. It uses all of the engine and no web page.
"""
