"""The web application: pages and their texts; the engine computes.

Everything here may use `engine`. Modules that several pages share are at the top: charts, forms, tables, texts.
"""
