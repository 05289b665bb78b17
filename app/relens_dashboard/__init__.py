"""The web application: pages and their texts; the engine, `relens`, computes.

Everything here may use `relens`. Modules that several pages share are at the top: charts, forms, tables, texts.
"""
