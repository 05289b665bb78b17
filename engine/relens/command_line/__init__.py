"""The command line: its options, read off the declared settings, and its printed lines.

`main` takes the words of a terminal to one of the commands. It uses all of the engine and no web page.
"""
