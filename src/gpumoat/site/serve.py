"""Serving the built site on this machine only, as a static host would."""

import functools
import http.server
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpumoat.site.errors import SiteError


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line of log for each, and the site's own page where there is no file."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def list_directory(self, path: Any) -> None:
        """Answer a folder without a page as a static host does: there is nothing."""
        self.send_error(404)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a missing page with the site's 404 page."""
        page = Path(self.directory) / "404.html"
        if code != 404 or not page.is_file():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def make_server(folder: Path, port: int = 8000, tries: int = 20) -> http.server.ThreadingHTTPServer:
    """Return a server for a folder on the first free port from ``port`` on; 0 takes any.

    Raises:
        SiteError: The folder holds no site, or no port is free.
    """
    if not (folder / "index.html").is_file():
        raise SiteError(folder, 0, "there is no site here yet: run `make build` first")
    handler: Callable[..., Any] = functools.partial(Handler, directory=str(folder))
    last = min(port + tries - 1, 65535)
    for number in range(port, last + 1):
        try:
            return http.server.ThreadingHTTPServer(("127.0.0.1", number), handler)
        except OSError:
            continue
    raise SiteError(folder, 0, f"no free port from {port} to {last}: give one with --port")
