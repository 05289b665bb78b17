"""Two or more runs side by side: settings, strings, shares, questions.

It uses the findings of studies, and the charts and tables of `relens_dashboard`.
"""
