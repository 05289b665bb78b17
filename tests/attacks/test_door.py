"""What comes in and what goes out: who may talk to the server, whom it talks to, and what a file from it does."""

from __future__ import annotations

import csv
import http.server
import io
import re
import threading
import time
from typing import NoReturn
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from relens.runs.export import export_rows
from relens.studies.safe_https import SafeHttps
from tests.attacks import made
from tests.attacks.server import ROOT, attacked, damage
from tests.attacks.session import RefusedError

#: What a spreadsheet takes for the beginning of a formula.
FORMULAS = ("=", "+", "-", "@", "\t", "\r")

NUMBER = re.compile(r"-?[0-9.e+-]+")

# ------------------------------------------------------------------------------------------------------ who comes


def test_a_page_of_this_machine_is_let_in(target):
    with target.visitor() as visitor:
        visitor.open("glossary")
        assert "token" in visitor.texts()


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "localhost.evil.example:{port}", "127.1.1.1.nip.io"]
)
def test_a_foreign_name_for_this_machine_is_not_let_in(target, host):
    """Whoever owns a name can make it lead here, and their page then comes from the host that it talks to."""
    name = host.format(port=urlsplit(target.url).port)
    with pytest.raises(RefusedError):  # noqa: SIM117
        with target.visitor(Host=name, Origin=f"http://{name}") as visitor:
            visitor.open("history")


@pytest.mark.parametrize("origin", ["http://evil.example", "https://evil.example:8501", "null", "file://"])
def test_a_foreign_page_is_not_let_in(target, origin):
    with pytest.raises(RefusedError):  # noqa: SIM117
        with target.visitor(Origin=origin) as visitor:
            visitor.open("history")


def test_what_is_no_message_ends_that_session_alone(target):
    with target.visitor() as other, target.visitor() as visitor:
        other.open("glossary")
        visitor.open("glossary")
        visitor._socket.send(b"\xff" * 1000)
        with pytest.raises((RefusedError, AssertionError)):
            visitor.rerun(patience=10.0)
        other.rerun()


def test_nobody_ends_the_server_or_writes_into_its_folder_by_a_message(target):
    before = set(ROOT.iterdir())
    with target.visitor() as visitor:
        visitor.open("glossary")
        for message in (
            BackMsg(debug_shutdown_runtime=True),
            BackMsg(set_run_on_save=True),
            BackMsg(load_git_info=True),
        ):
            visitor.send(message)
        asked = BackMsg()
        asked.backend_operation_request.request_id = "a"
        asked.backend_operation_request.session_id = visitor.session_id
        asked.backend_operation_request.install_skills.SetInParent()
        visitor.send(asked)
        visitor.rerun()
    with target.visitor() as visitor:
        visitor.open("glossary")
    assert set(ROOT.iterdir()) - before <= {ROOT / "__pycache__"}


# ------------------------------------------------------------------------------------------------- what it asks for


@pytest.fixture
def hub():
    """A server that stands in for the model hub and counts what is asked of it."""
    asked: list[str] = []

    class Hub(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def test_a_link_makes_the_server_ask_nobody_for_a_model(hub, own_target):
    """A model's name in an address is a wish; what is fetched for it, gigabytes maybe, is fetched by Run alone."""
    address, asked = hub
    online = {"HF_ENDPOINT": address, "HF_HUB_OFFLINE": "0"}
    huge = "Qwen/Qwen2.5-72B"
    with own_target(model="Qwen/Qwen2*", environment=online) as target, target.visitor() as visitor:
        for page, query in [
            ("workbench", f"pattern=The+cat&model={huge}"),
            ("automata", f"lesson=The+cat&lesson_model={huge}"),
            ("tokens", f"tokens_text=cat&tokens_model={huge}"),
            ("replay", f"replay_pattern=cat&model={huge}"),
            ("causal-triggers", ""),
        ]:
            visitor.open(page, query)
            # The children that work out previews are started, and ask whatever they ask.
            for _ in range(6 if page == "workbench" else 2):
                time.sleep(0.5)
                visitor.look()
            assert visitor.exceptions() == []
            assert not asked, f"{page} asked the hub for {asked[0]}"


def test_a_link_starts_nothing(target):
    before = target.store.count()
    links = [
        ("workbench", f"pattern=The+cat&model={target.model}&run_button=true&traversal=Sample"),
        ("memorization", "study_run_button=true&memorization_pattern=a"),
        ("triggers", "study_run_button=1"),
        ("tokens", f"tokens_text=cat&tokens_model={target.model}&samples=1"),
        ("replay", "study_run_button=true&replay_pattern=cat"),
        ("history", "repeat_button=true&purge_button=true&deleted=true"),
    ]
    for page, query in links:
        with target.visitor() as visitor:
            visitor.open(page, query)
            visitor.look()
    assert target.store.count() == before


#: This machine and its neighbours, written so that a quick look does not see it.
DISGUISED = [
    "https://127.1/", "https://0177.0.0.1/", "https://0x7f.0.0.1/", "https://0x7f000001/", "https://017700000001/",
    "https://localhost./", "https://LOCALHOST/", "https://[::ffff:7f00:1]/", "https://[0:0:0:0:0:ffff:127.0.0.1]/",
    "https://[::]/", "https://0/", "https://0.0.0.0/", "https://①②⑦.⓪.⓪.①/", "https://127。0。0。1/", "https://169.254.169.254/",
    "https://[fe80::1%25lo]/", "https://2852039166/", "https://example.com@127.0.0.1/", "https://127.0.0.1#@example.com/",
    "https://127.0.0.1\\@example.com/", "https://127.0.0.1%2f@example.com/", "https://[::1]:443/", "https://10.1/",
]  # fmt: skip


@pytest.mark.parametrize("address", DISGUISED)
def test_no_disguise_of_this_machine_is_connected_to(address):
    """With the machine's own resolver; a name that it does not know leads nowhere."""
    connected = []

    def connector(*to: object) -> NoReturn:
        connected.append(to)
        raise OSError("not here")

    answer = SafeHttps(per_second=100.0, connector=connector).head(address)
    assert not answer.exists
    assert not connected, f"{address} was connected to"


# ----------------------------------------------------------------------------------------------- what is taken away


HOSTILE_NAMES = [f"{sign}HYPERLINK(1)" for sign in FORMULAS]


def formulas_in(data: bytes) -> list[str]:
    """The cells and column names that a spreadsheet would compute; a number is what it says."""
    cells = [cell for line in csv.reader(io.StringIO(data.decode("utf-8-sig"))) for cell in line]
    assert any("HYPERLINK" in cell for cell in cells)
    return [cell for cell in cells if cell.startswith(FORMULAS) and not NUMBER.fullmatch(cell)]


def test_no_cell_and_no_column_of_a_csv_is_a_formula():
    rows = [{"number": -1, "text": f"{name} text", name: name} for name in HOSTILE_NAMES]
    assert formulas_in(export_rows(rows, "csv")) == []


def test_no_column_of_an_imported_run_is_a_formula_in_its_csv(target):
    named = dict.fromkeys(HOSTILE_NAMES, "=1+1")
    study = made.plant(
        target.store, made.study("bias", target.model), [{"unit": "a", "row": "note", "text": "=1+1", **named}]
    )
    search = made.plant(
        target.store, made.search("a", target.model), [made.match_row(1, "=1+1", groups=named)], {"matches": 1}
    )
    with target.visitor() as visitor:
        for page, run, key in [("workbench", search, "download_csv"), ("bias", study, "study_file_csv")]:
            visitor.open(page, f"run={run}")
            assert formulas_in(visitor.download(key)) == []


def test_tables_have_no_download_of_their_own(target):
    """Streamlit's own button over a table writes cells as they are, formulas included."""
    with target.visitor() as visitor:
        visitor.open("glossary")
        assert visitor.config.disable_data_export


# ------------------------------------------------------------------------------------------- what cannot be opened


@pytest.mark.parametrize(("store", "sentence"), [("file", "is not a database"), ("folder", "could not be opened")])
def test_a_store_that_cannot_be_opened_is_a_sentence_on_the_page(tmp_path, store, sentence):
    path = tmp_path / "notes.txt" if store == "file" else tmp_path / "nowhere" / "runs.db"
    if store == "file":
        path.write_bytes(b"These are my notes, and no database. " * 200)
    with attacked(tmp_path / "own", environment={"RELENS_STORE": f"sqlite:///{path}"}) as target:
        for page in ("", "workbench", "history", "memorization", "present", "compare", "tokens"):
            with target.visitor() as visitor:
                visitor.open(page)
                assert visitor.exceptions() == []
                assert sentence in visitor.texts()
    if store == "file":
        assert path.read_bytes().startswith(b"These are my notes")


@pytest.mark.slow
def test_a_store_that_is_damaged_while_it_is_used_is_a_sentence(own_target):
    with own_target(model="none") as target:
        with target.visitor() as visitor:
            visitor.open("history")
        damage(target, "runs", "status")
        for page in ("", "workbench", "history"):
            with target.visitor() as visitor:
                visitor.open(page)
                assert visitor.exceptions() == []
                assert "store of runs" in visitor.texts(), page
