"""The server as `.streamlit/config.toml` sets it up: allowed connections, and the largest message of a browser."""

from __future__ import annotations

import http.client
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from streamlit import config
from streamlit.runtime.runtime_util import get_max_widget_state_size_bytes

from relens.runs.sizes import MOST_CHARACTERS
from tests.browser.server import running_page


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with running_page(Path("app/relens_dashboard/main.py"), tmp_path_factory.mktemp("server") / "log") as (url, _):
        yield urlsplit(url).port


def connecting(port, host, **headers):
    """The status of the answer to a websocket opened under that name."""
    connection = http.client.HTTPConnection("localhost", port, timeout=30)
    handshake = {
        "Host": host,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    try:
        connection.request("GET", "/_stcore/stream", headers=handshake | headers)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
def test_a_browser_on_this_machine_may_connect(port, name):
    host = f"{name}:{port}"
    assert connecting(port, host, Origin=f"http://{host}") == http.client.SWITCHING_PROTOCOLS


@pytest.mark.parametrize(
    "name", ["foreign.example", "localhost.foreign.example", "192.0.2.7", "127.0.0.2", "localhost@x"]
)
def test_a_page_under_another_name_may_not_though_it_is_its_own(port, name):
    host = f"{name}:{port}"
    assert connecting(port, host, Origin=f"http://{host}") == http.client.FORBIDDEN
    assert connecting(port, host) == http.client.FORBIDDEN


def test_a_browser_says_no_more_at_once_than_a_run_may_be_described_by():
    assert MOST_CHARACTERS <= get_max_widget_state_size_bytes() <= 4 * MOST_CHARACTERS


def test_tables_offer_no_file_that_a_spreadsheet_would_run():
    assert config.get_option("client.disableDataExport") is True
