"""A page of another site is refused without a request to another machine."""

from __future__ import annotations

import pytest
from streamlit import config, net_util
from streamlit.web.server.server_util import is_url_from_allowed_origins

from relens_dashboard.streamlit_patches import known_origins


@pytest.fixture
def requests(monkeypatch):
    """The addresses requested; none answers."""
    addresses = []
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, timeout: addresses.append(url))
    monkeypatch.setattr(net_util, "get_external_ip", known_origins._get_external_ip)
    monkeypatch.setattr(net_util, "_external_ip", None)
    return addresses


def test_a_foreign_page_is_refused_without_asking_another_machine(requests):
    known_origins.apply()
    assert not is_url_from_allowed_origins("https://foreign.example")
    assert not requests


def test_this_machine_and_the_named_ones_are_let_in(requests, monkeypatch):
    known_origins.apply()
    monkeypatch.setattr(
        config, "get_option", {"server.enableCORS": True, "server.corsAllowedOrigins": ["https://a.example"]}.get
    )
    monkeypatch.setattr(config, "is_manually_set", lambda name: False)
    assert is_url_from_allowed_origins("http://localhost:8501")
    assert is_url_from_allowed_origins("https://a.example")
    assert not is_url_from_allowed_origins("https://b.example")


def test_streamlit_alone_asks(requests):
    """If this fails, Streamlit has fixed it, and the module can go."""
    assert not is_url_from_allowed_origins("https://foreign.example")
    assert len(requests) == 2
