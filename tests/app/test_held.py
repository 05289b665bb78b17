"""A link read before its fields are drawn: a wrong value stands for the default."""

import pytest

from relens_dashboard.components.held import from_link


@pytest.mark.parametrize(
    ("text", "default", "value"),
    [
        ("true", False, True),
        ("false", True, False),
        ("maybe", False, None),
        ("2", 0, 2),
        ("-2", 0, None),
        ("many", 0, None),
        ("Sample", "Best first", "Sample"),
        ("0.5", 1.0, None),
        ("40", None, None),
    ],
)
def test_a_parameter_is_read_like_its_field(text, default, value):
    assert from_link(text, default) == value
