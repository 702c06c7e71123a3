"""What the browser tests stand on: the built site behind a local server, and the machine's own Chromium.

Policy: nothing is downloaded. Without Chromium or Chrome the tests are skipped and say so; with
REQUIRE_BROWSER=1 they fail instead, so that a machine that must run them cannot pass by lacking one.
MOAT_SITE names a site folder that is already built; without it, `built_site` builds the site once.
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def find_browser() -> str | None:
    """Return the path of Chromium or Chrome: the variable CHROME first, then the usual names."""
    candidates = (os.environ.get("CHROME"), *NAMES)
    return next((found for name in candidates if name and (found := shutil.which(name))), None)


def no_browser(required: bool) -> None:
    """Skip with the reason, or fail with it where a browser is required."""
    reason = f"no Chromium or Chrome found: set CHROME to its path, or install one of {', '.join(NAMES)}"
    if required:
        pytest.fail(f"{reason} (REQUIRE_BROWSER=1)", pytrace=False)
    pytest.skip(reason)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """A file server that does not write a line for each request."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def site_folder(request: pytest.FixtureRequest) -> Path:
    """The folder of the built site."""
    given = os.environ.get("MOAT_SITE")
    folder = Path(given) if given else Path(request.getfixturevalue("built_site"))
    assert (folder / "index.html").is_file(), f"{folder} holds no built site: index.html is missing"
    return folder


@pytest.fixture(scope="session")
def site_url(site_folder: Path) -> Iterator[str]:
    """The address of the built site on this machine, without a slash at the end."""
    handler = functools.partial(QuietHandler, directory=str(site_folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium for all tests of a worker."""
    path = find_browser()
    if path is None:
        no_browser(os.environ.get("REQUIRE_BROWSER") == "1")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()
