"""The web application: what pages show and ask; computation is the engine's.

Everything here may use `engine`. What several pages share stands at the top: charts, forms, tables, texts.
"""
