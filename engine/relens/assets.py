"""The folder of files that come with Relens: texts of studies, and style, scripts and pictures of the dashboard.

repository           assets/passages.jsonl
installed package    site-packages/relens/_assets/passages.jsonl
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "_assets"

ASSETS = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parents[1] / "assets"
