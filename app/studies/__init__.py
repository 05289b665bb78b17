"""What each study shows: its settings as widgets, its rows as figures and tables."""
