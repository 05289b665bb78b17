"""The command line: options as the settings are declared, and the lines that are printed.

`engine.__main__` runs it. It uses all of the engine and no web page.
"""
