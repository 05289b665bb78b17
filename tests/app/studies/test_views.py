"""What every view of a study has, and what drawing one does without."""

from __future__ import annotations

import subprocess
import sys

import pytest

from relens_dashboard.study_views import study_views


def test_showing_studies_needs_no_torch():
    program = (
        "import sys; from relens_dashboard.study_views import study_views; study_views()\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("view", study_views().values(), ids=study_views())
def test_a_view_introduces_its_study(view):
    assert view.introduction == "" or view.introduction.endswith((".", "?"))
    assert view.notice == "" or view.notice.endswith(".")
