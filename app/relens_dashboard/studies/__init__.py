"""What each study shows: where its settings stand, and its rows as figures and tables.

A view (`view.StudyView`) uses `relens_dashboard.setting_fields`, `relens_dashboard.charts` and the findings of its
study.
"""
