"""What helps a reader beside the text, in a real browser: terms, a missing address, the pages about the book.

Policy: as in `test_look`: what a reader does is done here, by mouse, keyboard and touch; tests wait for a state and not
for a time. The page for a missing address is also asked for below a folder, as a project's own pages are served.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from lxml import html
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from gpumoat.site.serve import make_server

pytestmark = pytest.mark.browser

ASSETS = Path(__file__).parents[2] / "docs" / "en" / "assets"
CHAPTER = "/memory/gpt3/"
PAGES = [CHAPTER, "/glossary/", "/errata/", "/paths/", "/style/", "/nothing/here/"]
TERM = "abbr.gm-term"
TIP = "#gm-tip"

Opener = Callable[..., Page]
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="session")
def server(site_folder: Path) -> Iterator[str]:
    """The site behind the project's own server, which answers with the page for a missing address."""
    made = make_server(site_folder, 0)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_address[1]}"
    made.shutdown()


@pytest.fixture
def opener(browser: Browser, server: str) -> Iterator[Opener]:
    """Open a page in a fresh context; at the end: no script has failed."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def open_page(path: str, width: int = 1440, scheme: Scheme = "light", base: str = "", **options: Any) -> Page:
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto((base or server) + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not faults, "\n".join(faults)


def term(page: Page, name: str = "kv-cache") -> Locator:
    """A term of the running text."""
    return page.locator(f"{TERM}[data-term={name}]")


def expect_tip(word: Locator) -> Locator:
    """The definition of this term is there, said to belong to it, and inside the window."""
    page = word.page
    tip = page.locator(TIP)
    expect(tip).to_be_visible()
    expect(word).to_have_attribute("aria-describedby", "gm-tip")
    expect(tip).to_have_text(word.get_attribute("data-short") or "no text")
    box = tip.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= page.evaluate("innerWidth")
    return tip


# ---- terms ----


def test_the_mouse_shows_a_definition_and_can_cross_to_it(opener: Opener) -> None:
    page = opener(CHAPTER)
    word = term(page)
    word.hover()
    tip = expect_tip(word)
    assert word.get_attribute("title") is None, "or the browser would show it a second time"
    tip.hover()
    page.evaluate("new Promise((done) => setTimeout(done, 400))")
    expect(tip).to_be_visible()
    page.locator("h1").hover()
    expect(tip).to_be_hidden()


def test_the_keyboard_shows_a_definition_and_escape_hides_it(opener: Opener) -> None:
    page = opener(CHAPTER)
    word = term(page)
    word.focus()
    tip = expect_tip(word)
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    expect(word).to_be_focused()
    assert word.get_attribute("aria-describedby") is None
    page.keyboard.press("Tab")
    expect(tip).to_be_hidden()


def test_tab_reaches_the_terms_of_a_page_in_their_order(opener: Opener) -> None:
    page = opener(CHAPTER)
    terms = page.locator(TERM)
    assert terms.count() > 10
    terms.nth(0).focus()
    for _ in range(60):  # numbers and links lie between
        page.keyboard.press("Tab")
        if terms.nth(1).evaluate("(node) => node === document.activeElement"):
            break
    expect(terms.nth(1)).to_be_focused()
    expect_tip(terms.nth(1))


@pytest.mark.parametrize("name", ["kv-cache", "mixed-precision", "fused", "adam"])
def test_a_finger_shows_a_definition_inside_the_window(opener: Opener, name: str) -> None:
    page = opener(CHAPTER, 390, has_touch=True, is_mobile=True)
    word = term(page, name)
    word.tap()
    tip = expect_tip(word)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("h1").tap()
    expect(tip).to_be_hidden()


def test_only_one_definition_and_no_card_at_a_time(opener: Opener) -> None:
    page = opener(CHAPTER)
    term(page).click()
    term(page, "weights").click()
    expect_tip(term(page, "weights"))
    expect(page.locator(TIP)).to_have_count(1)
    page.locator("data.n[data-card]").first.click()
    expect(page.locator(TIP)).to_be_hidden()


def test_without_the_script_the_title_stays_and_focus_shows_it(opener: Opener) -> None:
    page = opener(CHAPTER, 390, java_script_enabled=False)
    word = term(page)
    assert "keys and values" in (word.get_attribute("title") or "")
    word.focus()
    assert page.locator("html.no-js").count() == 1
    rules = (ASSETS / "reader.css").read_text(encoding="utf-8")
    assert ".no-js .md-typeset abbr.gm-term:focus::after {\n  content: attr(title);" in rules


def test_a_term_has_no_line_that_means_a_number(opener: Opener) -> None:
    word = term(opener(CHAPTER))
    expect(word).to_have_css("text-decoration-line", "none")
    expect(word).to_have_css("border-bottom-width", "0px")


def test_the_script_is_small_and_stands_alone() -> None:
    text = (ASSETS / "reader.js").read_text(encoding="utf-8")
    assert len(text.encode()) < 5_000
    assert "fetch(" not in text
    assert "://" not in text


# ---- the pages ----


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opener: Opener, path: str, scheme: Scheme) -> None:
    page = opener(path, 390, scheme=scheme)
    if path != CHAPTER:  # its cards are looked at in test_look.py
        page.locator("details").evaluate_all("(all) => all.forEach((box) => (box.open = true))")
    if page.locator(TERM).count():
        page.locator(TERM).first.focus()
        expect(page.locator(TIP)).to_be_visible()
    found = Axe().run(page).response["violations"]
    report = [f"{rule['id']}: {node['html'][:160]}" for rule in found for node in rule["nodes"]]
    assert not report, "\n".join(report)


@pytest.mark.parametrize("path", PAGES)
def test_nothing_scrolls_sideways(opener: Opener, path: str) -> None:
    page = opener(path, 390)
    page.locator("details").evaluate_all("(all) => all.forEach((box) => (box.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("box", [".gm-scroll", ".gm-formula"])
def test_a_box_that_holds_more_than_it_shows_says_so(opener: Opener, box: str) -> None:
    """A phone shows no scroll bar: a shade at the edge stands still, and the paper over it moves with the content."""
    look = (
        opener(CHAPTER, 390)
        .locator(box)
        .first.evaluate(
            """(box) => {
          const style = getComputedStyle(box);
          const shades = style.backgroundImage.split("linear-gradient").length - 1;
          return [style.overflowX, style.backgroundAttachment, shades, box.tabIndex];
        }"""
        )
    )
    assert look == ["auto", "local, local, scroll, scroll", 4, 0]


def test_the_citation_can_be_unfolded(opener: Opener) -> None:
    page = opener(CHAPTER)
    page.get_by_text("Cite this page").click()
    expect(page.locator(".gm-cite-page pre")).to_contain_text("@incollection{gpumoat-memory-gpt3,")


# ---- an address that does not exist ----


@pytest.fixture(scope="session")
def below(site_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site below a folder of a host that has other things too, with its page for missing addresses."""
    top = tmp_path_factory.mktemp("host")
    shutil.copytree(site_folder, top / "them" / "moat")
    shutil.copy(site_folder / "404.html", top)
    (top / "index.html").write_text("another site", encoding="utf-8")
    made = make_server(top, 0)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_address[1]}"
    made.shutdown()


def test_a_missing_page_names_the_address_and_what_is_near(opener: Opener) -> None:
    page = opener("/memory/gtp3/")
    expect(page.locator("#asked")).to_contain_text("/memory/gtp3/")
    near = page.locator("#near a")
    expect(near.first).to_have_attribute("href", "/memory/gpt3/")
    near.first.click()
    expect(page.locator("h1")).to_contain_text("How many cards")


def test_nothing_is_near_a_wild_address(opener: Opener) -> None:
    page = opener("/zzzz/qqqq/")
    expect(page.locator("#find")).to_be_visible()
    expect(page.locator("#near")).to_be_hidden()


@pytest.mark.parametrize("path", ["/them/moat/memory/gtp3/", "/them/moat/a/b/c/glosary.html", "/them/moat/gpt3"])
def test_below_a_folder_every_link_leads_into_the_site(opener: Opener, below: str, path: str) -> None:
    page = opener(path, base=below)
    expect(page.locator("#near")).to_be_visible()
    for link in page.locator("a[data-to]").all():
        address = link.get_attribute("href") or ""
        assert address.startswith("/them/moat/"), address
        assert page.request.get(below + address).ok, address
    assert page.locator("form").get_attribute("action") == "/them/moat/"


def test_search_leads_to_the_search_of_the_book(opener: Opener) -> None:
    page = opener("/nothing/")
    page.get_by_role("searchbox").fill("cache")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".md-search-result__item").first).to_be_visible()
    assert page.url.endswith("/?q=cache")


def test_without_the_script_the_parts_are_there(site_folder: Path) -> None:
    page = html.parse(str(site_folder / "404.html"))
    linked = set(page.xpath("//section[@id='all']//a/@href"))
    assert {"/moat/", "/compute/", "/memory/gpt3/", "/glossary/", "/contribute/"} <= linked
    assert all((site_folder / link.lstrip("/")).exists() for link in linked)
    assert not page.xpath("//link[@rel='stylesheet'] | //script[@src]"), "it brings all that it needs"


def test_an_address_that_is_no_text_is_shown_as_it_is(opener: Opener) -> None:
    expect(opener("/%E0%A4%A").locator("#asked")).to_contain_text("%E0%A4%A")
