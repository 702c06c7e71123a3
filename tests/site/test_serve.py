"""The server: this machine only, a free port, the site's own page for what is not there, and no listing of folders."""

from __future__ import annotations

import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpumoat.site.errors import SiteError
from gpumoat.site.serve import make_server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A site of three pages."""
    for name, text in {"index.html": "home", "404.html": "lost", "a/index.html": "a", "assets/x.css": "p{}"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    """The address of a running server."""
    server = make_server(folder, 0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def get(address: str, method: str = "GET") -> tuple[int, str, str]:
    """Ask the server itself, past any proxy of the machine."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(address, method=method)) as answer:
            return answer.status, answer.read().decode(), answer.headers["Content-Type"]
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), error.headers["Content-Type"]


def test_pages_and_files(address: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert get(f"{address}/")[:2] == (200, "home")
    assert get(f"{address}/a/")[:2] == (200, "a")
    assert get(f"{address}/a")[:2] == (200, "a"), "a folder without its slash is sent on"
    assert get(f"{address}/assets/x.css")[:2] == (200, "p{}")
    assert capfd.readouterr().err == "", "no line for each request"


@pytest.mark.parametrize("path", ["/nowhere/", "/a/nowhere.html", "/assets/", "/../../etc/passwd"])
def test_what_is_not_there_gets_the_own_page(address: str, path: str) -> None:
    """A folder without a page is not listed: a static host would not do it either."""
    assert get(address + path) == (404, "lost", "text/html; charset=utf-8")


def test_a_question_for_the_head_gets_no_body(address: str) -> None:
    assert get(f"{address}/nowhere/", "HEAD")[:2] == (404, "")


def test_without_an_own_page_the_plain_one_is_sent(address: str, folder: Path) -> None:
    (folder / "404.html").unlink()
    assert get(f"{address}/nowhere/")[0] == 404


def test_only_this_machine_is_served(folder: Path) -> None:
    with make_server(folder, 0) as server:
        assert server.server_address[0] == "127.0.0.1"


def test_a_taken_port_is_passed_over(folder: Path) -> None:
    with make_server(folder, 0) as first:
        port = first.server_address[1]
        if port > 65000:
            pytest.skip("the system gave a port at the very end")
        with make_server(folder, port) as second:
            assert port < second.server_address[1] < port + 20


def test_no_free_port_is_one_line(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SiteError, match=f"no free port from {port} to {port}: give one with --port"):
            make_server(folder, port, tries=1)


def test_the_last_port_is_the_last_that_is_tried(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("http.server.ThreadingHTTPServer", refuse)
    with pytest.raises(SiteError, match="no free port from 65530 to 65535"):
        make_server(folder, 65530)


def test_without_a_site_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="no site here yet: run `make build` first"):
        make_server(tmp_path, 0)
