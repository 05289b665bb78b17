"""Two or more runs side by side: which go together, and what differs.

It uses the findings of studies, and the charts and tables of `app`.
"""
