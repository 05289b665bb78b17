"""What each study shows: where its settings stand, and its rows as figures and tables.

A view (`view.StudyView`) uses `app.setting_fields`, `app.charts` and the findings of its study.
"""
