"""What the browser tests stand on: the built site behind a local server, and the machine's own Chromium.

Policy: nothing is downloaded. Without Chromium or Chrome the tests are skipped and say so; with
REQUIRE_BROWSER=1 they fail instead, so that a machine that must run them cannot pass by lacking one.
MOAT_SITE names a site folder that is already built; without it, `built_site` builds the site once.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from lxml import html as lxml_html
from playwright.sync_api import Browser, sync_playwright

from gpumoat import facts
from gpumoat.facts import Registry
from gpumoat.site.lock import render
from gpumoat.site.page import Page
from gpumoat.site.project import Project
from gpumoat.site.serve import make_server

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
    with make_server(site_folder, port=0) as server:
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


# A checkout of one page and one example, and a registry of a handful of rows, for tests of the extension.

SETTINGS = (Path(__file__).resolve().parents[2] / "mkdocs.yml").read_text(encoding="utf-8")
EXAMPLE = """\
from gpumoat import assume, claim, fact, measured
layers = fact("net.layers")
weights_bytes = layers * 2**30
trap = "<b>& **x** HTML"
rows = [
    {"card": "A <b>", "memory_bytes": fact("card.memory_bytes"), "cards": 2},
    {"card": "B", "memory_bytes": 2**31, "cards": 4},
]
"""


def small_registry() -> Registry:
    """A source, three facts of three statuses, a claim and a measurement, with characters that HTML must escape."""
    found = Registry()
    source = {"id": "paper", "short": "Paper <2020>", "title": "On & off", "url": "https://example.org/?a=1&b=2"}
    found.add("sources", {**source, "authors": ["A. <B>"], "copy": "a <copy>"}, "t")
    rest = {"source": "paper", "checked": "2026-11-30", "locator": "table <2>", "as_of": "2020-05"}
    found.add("facts", {"id": "net.layers", "value": 96, "unit": "", "statement": "It has <96> & more", **rest}, "t")
    found.facts["net.layers"].row["status"] = "verified"
    card = {"id": "card.memory_bytes", "value": 80, "unit": "GiB", "statement": "A card", "status": "quoted", **rest}
    found.add("facts", card, "t")
    found.add("facts", {**card, "id": "card.price_usd", "unit": "USD", "status": "unverified"}, "t")
    claim = {"id": "said", "value": 3, "unit": "GiB", "verdict": "wrong", "document": "lecture", "where": "3.5"}
    found.add("claims", {**claim, "says": "Three <GiB>", "explanation": "It is & four"}, "t")
    results = {"free_bytes": {"value": 79, "unit": "GiB", "what": "free <memory>"}}
    run = {
        "id": "run",
        "results": results,
        "device": "Card",
        "driver": "1.0",
        "script": "memory.py",
        "date": "2026-11-30",
    }
    found.add("measurements", run, "t")
    return found


@dataclass
class Rendered:
    """A page after rendering."""

    page: Page
    html: str

    @property
    def tree(self) -> lxml_html.HtmlElement:
        return lxml_html.fromstring(f"<div>{self.html}</div>")

    @property
    def prose(self) -> lxml_html.HtmlElement:
        """The page without the list of cards."""
        tree = self.tree
        for cards in tree.xpath('.//details[@id="numbers"]'):
            cards.drop_tree()
        return tree

    def shown(self) -> list[str]:
        """The text of every number in the prose."""
        return [each.text_content() for each in self.prose.xpath('.//data[@class="n"]')]


class Checkout:
    """A checkout in a folder of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.settings(SETTINGS)
        self.example(EXAMPLE)

    def settings(self, text: str) -> None:
        (self.root / "mkdocs.yml").write_text(text, encoding="utf-8")

    def example(self, text: str) -> None:
        path = self.root / "docs/examples/part/page.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def write(self, text: str) -> Project:
        path = self.root / "docs/en/part/page.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return Project(self.root)

    def render(self, text: str) -> Rendered:
        return Rendered(*render(self.write(text), "part/page.md"))


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """A checkout of its own, with a registry of its own."""
    monkeypatch.setattr(facts, "_registry", small_registry())
    return Checkout(tmp_path)
