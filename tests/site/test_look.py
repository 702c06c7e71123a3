"""The pages in a real browser: cards by mouse, keyboard and touch, layout, print, accessibility.

Policy: whatever a reader can do with a number is done here as the reader does it, at phone and desktop width.
Tests wait for a state; only where nothing must happen do they let the script's delay pass, on the page's
clock. Left out: whether a number is right (the lock and the models' tests hold that), and pixels (a person
looks at those).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

pytestmark = pytest.mark.browser

ASSETS = Path(__file__).parents[2] / "docs" / "en" / "assets"
HOME, CHAPTER = "/", "/memory/gpt3/"
WIDTHS = {390: 844, 1440: 900}
KINDS = {"computed": "solid", "cited": "dotted", "measured": "double", "assumed": "wavy", "claimed": "dashed"}
NUMBER = "data.n[data-card]"
CARD = "#gm-open-card"

Opener = Callable[..., Page]
Scheme = Literal["light", "dark"]

both_pages = pytest.mark.parametrize("path", [HOME, CHAPTER], ids=["home", "chapter"])
both_widths = pytest.mark.parametrize("width", WIDTHS)
both_schemes = pytest.mark.parametrize("scheme", ["light", "dark"])


@pytest.fixture
def opener(browser: Browser, site_url: str) -> Iterator[Opener]:
    """Open a page in a fresh context; at the end: no console error, no request to another host."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def watch(page: Page) -> None:
        own = urlsplit(site_url).netloc

        def note(is_fault: bool, text: str) -> None:
            if is_fault:
                faults.append(text)

        page.on("console", lambda m: note(m.type in {"error", "warning"}, f"console: {m.text}"))
        page.on("pageerror", lambda error: note(True, f"script: {error}"))
        # A request that is dropped because the reader has left the page is no fault.
        page.on("requestfailed", lambda r: note("ABORTED" not in str(r.failure), f"failed request: {r.url}"))
        page.on("response", lambda r: note(r.status >= 400, f"{r.status}: {r.url}"))
        page.on("request", lambda r: note(foreign(r.url, own), f"foreign request: {r.url}"))

    def open_page(path: str, width: int = 1440, *, scheme: Scheme = "light", **options: Any) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": WIDTHS[width]},
            color_scheme=scheme,
            reduced_motion="reduce",
            **options,
        )
        contexts.append(context)
        page = context.new_page()
        watch(page)
        page.goto(site_url + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not faults, "\n".join(faults)


def foreign(url: str, own: str) -> bool:
    """Whether a request leaves the site's own host (inline data is no request)."""
    parts = urlsplit(url)
    return parts.scheme not in {"data", "blob", "about"} and parts.netloc != own


def a_number(page: Page) -> Locator:
    """A computed number in the running text: the first of the first paragraph that holds one."""
    return page.locator(f".md-content__inner > p {NUMBER}[data-kind=computed]").first


def expect_open(number: Locator) -> Locator:
    """The card of this number, and of no other, is open and says what its entry in the list says."""
    page = number.page
    card = page.locator(CARD)
    expect(card).to_be_visible()
    expect(number).to_have_attribute("aria-expanded", "true")
    expect(page.locator(f"{NUMBER}[aria-expanded=true]")).to_have_count(1)
    article = page.locator(f"article#{number.get_attribute('data-card')}")
    value = article.locator(".gm-card-value").text_content() or ""
    expect(card.locator(".gm-card-value")).to_have_text(value)
    expect(card.locator(".gm-card-kind")).to_have_text(number.get_attribute("data-kind") or "")
    return card


def let_delays_pass(page: Page) -> None:
    """Wait, on the page's clock, for longer than the script waits before it hides a preview."""
    page.evaluate("new Promise((done) => setTimeout(done, 600))")


def unfold(page: Page, which: str = "details") -> None:
    """Open the folded parts of the text."""
    page.locator(f".md-content {which}").evaluate_all("(all) => all.forEach((box) => (box.open = true))")


def expect_closed(page: Page) -> None:
    """No card is open, and no number says that one is."""
    expect(page.locator(CARD)).to_be_hidden()
    expect(page.locator(f"{NUMBER}[aria-expanded=true]")).to_have_count(0)


# ---- the card ----


@both_pages
@both_widths
def test_a_click_opens_the_card_and_a_second_one_closes_it(opener: Opener, path: str, width: int) -> None:
    page = opener(path, width)
    number = a_number(page)
    number.click()
    expect_open(number)
    number.click()
    expect_closed(page)


@both_pages
def test_a_tap_opens_the_card_and_a_tap_elsewhere_closes_it(opener: Opener, path: str) -> None:
    page = opener(path, 390, has_touch=True, is_mobile=True)
    number = a_number(page)
    number.tap()
    expect_open(number)
    page.locator("h1").tap(position={"x": 5, "y": 5})
    expect_closed(page)


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_keyboard_opens_the_card_and_escape_returns_to_the_number(opener: Opener, key: str) -> None:
    page = opener(CHAPTER)
    number = a_number(page)
    number.focus()
    page.keyboard.press(key)
    card = expect_open(number)
    expect(card).to_be_focused()
    page.keyboard.press("Escape")
    expect_closed(page)
    expect(number).to_be_focused()


def test_tab_reaches_every_number(opener: Opener) -> None:
    page = opener(CHAPTER)
    first, second = page.locator(f".md-content__inner > p {NUMBER}").all()[:2]
    first.focus()
    page.keyboard.press("Tab")
    expect(second).to_be_focused()


def test_tab_goes_into_the_links_of_the_card_and_out_to_what_follows(opener: Opener) -> None:
    page = opener(CHAPTER)
    numbers = page.locator(f".md-content__inner > p {NUMBER}").all()
    number, following = numbers[0], numbers[1]
    number.focus()
    page.keyboard.press("Enter")
    card = expect_open(number)
    links = card.locator("a[href], button, [tabindex='0']").all()
    assert links, "a card without a link leads nowhere"
    for link in links:
        page.keyboard.press("Tab")
        expect(link).to_be_focused()
    page.keyboard.press("Tab")
    expect(following).to_be_focused()
    expect_closed(page)


def test_tab_goes_into_a_card_that_the_mouse_opened_and_shift_tab_back(opener: Opener) -> None:
    page = opener(CHAPTER)
    number = a_number(page)
    number.click()
    card = expect_open(number)
    number.focus()
    page.keyboard.press("Tab")
    expect(card.locator("a[href], [tabindex='0']").first).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(number).to_be_focused()


def test_hovering_previews_and_leaving_closes(opener: Opener) -> None:
    page = opener(CHAPTER)
    number = a_number(page)
    number.hover()
    card = expect_open(number)
    expect(page.locator("body")).to_be_focused()
    card.locator(".gm-card-value").hover()
    page.locator("h1").hover()
    expect_closed(page)


def test_a_preview_stays_while_the_pointer_is_on_the_card(opener: Opener) -> None:
    page = opener(CHAPTER)
    number = a_number(page)
    number.hover()
    card = expect_open(number)
    card.locator(".gm-card-value").hover()
    let_delays_pass(page)
    expect_open(number)


def test_a_click_keeps_the_preview_when_the_pointer_leaves(opener: Opener) -> None:
    page = opener(CHAPTER)
    number = a_number(page)
    number.hover()
    expect_open(number)
    number.click()
    page.locator("h1").hover()
    let_delays_pass(page)
    expect_open(number)


def test_a_click_outside_closes_and_one_inside_does_not(opener: Opener) -> None:
    page = opener(CHAPTER)
    number = a_number(page)
    number.click()
    card = expect_open(number)
    card.locator(".gm-card-value").click()
    expect_open(number)
    page.locator("h1").click(position={"x": 5, "y": 5})
    expect_closed(page)


def test_only_one_card_is_open(opener: Opener) -> None:
    page = opener(CHAPTER)
    first, second = page.locator(f".md-content__inner > p {NUMBER}").all()[:2]
    first.hover()
    expect_open(first)
    second.hover()
    expect_open(second)
    second.click()
    first.focus()
    page.keyboard.press("Enter")
    expect_open(first)
    expect(page.locator(".gm-open:visible")).to_have_count(1)


# Opens the card of each number in turn, as a click does, and says where it stands.
PLACES = """() => [...document.querySelectorAll("data.n[role=button]")].map((node) => {
  node.scrollIntoView({ block: "nearest" });
  node.click();
  const card = document.getElementById("gm-open-card");
  const box = card.getBoundingClientRect(), column = card.parentElement.getBoundingClientRect();
  const number = node.getBoundingClientRect();
  const corners = [[8, 8], [box.width - 8, 8], [8, box.height - 8], [box.width - 8, box.height - 8]];
  const place = {
    card: node.dataset.card, width: box.width, column: column.width, gap: box.top - number.bottom,
    open: !card.hidden && node.getAttribute("aria-expanded") === "true",
    seen: corners.every(([x, y]) => card.contains(document.elementFromPoint(box.left + x, box.top + y))),
    inside: box.left >= Math.max(0, column.left - 1) && box.right <= Math.min(innerWidth, column.right + 1),
    within: box.top >= 0 && box.bottom <= innerHeight,
    number: number.top >= 0 && number.bottom <= innerHeight,
    scrolls: document.documentElement.scrollWidth > innerWidth,
  };
  node.click();
  return { ...place, closed: card.hidden };
})"""


@both_pages
@both_widths
def test_every_number_opens_its_card_under_its_line_unclipped(opener: Opener, path: str, width: int) -> None:
    page = opener(path, width)
    unfold(page, "details:not(.gm-cards)")
    places = page.evaluate(PLACES)
    assert places, "no number on the page is a button"
    for place in places:
        assert place["open"], f"does not open: {place}"
        assert place["seen"], f"clipped or covered: {place}"
        assert place["inside"], f"outside its column: {place}"
        assert place["within"], f"outside the screen: {place}"
        assert place["number"], f"its number left the screen: {place}"
        assert 0 <= place["gap"] <= 16, f"not under its line: {place}"
        assert not place["scrolls"], f"pushes the page sideways: {place}"
        assert place["closed"], f"does not close: {place}"
        if width == 390:
            assert place["width"] >= place["column"] - 2, f"narrower than the column of a phone: {place}"


def test_opening_a_card_moves_no_text(opener: Opener) -> None:
    page = opener(CHAPTER)
    where = """[...document.querySelectorAll(".md-content__inner > :not(.gm-card)")]
      .map((node) => [node.offsetTop, node.offsetLeft])"""
    before = page.evaluate(where)
    number = a_number(page)
    number.click()
    expect_open(number)
    assert page.evaluate(where) == before


def test_a_number_in_the_head_of_a_fold_leaves_the_click_to_the_fold(opener: Opener) -> None:
    page = opener(CHAPTER)
    page.add_init_script(
        """document.addEventListener("DOMContentLoaded", () => {
          const copy = document.querySelector("data.n[data-card]").cloneNode(true);
          copy.removeAttribute("id");
          document.querySelector(".md-content details:not(.gm-cards) > summary").append(" ", copy);
        })"""
    )
    page.reload()
    expect(page.locator(f"{NUMBER}[role=button]").first).to_be_visible()
    number = page.locator(f"summary > {NUMBER}").first
    expect(number).to_have_attribute("title", re.compile("."))
    expect(number).not_to_have_attribute("role", "button")
    number.click()
    expect(page.locator("details:has(> summary data.n)").first).to_have_attribute("open", "")
    expect_closed(page)


def test_folding_what_holds_the_number_closes_its_card(opener: Opener) -> None:
    page = opener(CHAPTER)
    page.evaluate(
        """() => {
          const box = document.querySelector(".md-content details:not(.gm-cards)");
          box.open = true;
          box.append(document.querySelector("data.n[role=button]"));
        }"""
    )
    number = page.locator(f"details:not(.gm-cards) > {NUMBER}").first
    number.click()
    expect_open(number)
    page.evaluate("document.querySelector('.md-content details:not(.gm-cards)').open = false")
    expect_closed(page)


def test_the_tooltip_gives_way_to_the_card(opener: Opener) -> None:
    page = opener(CHAPTER)
    expect(page.locator(f"{NUMBER}[role=button]").first).to_be_visible()
    expect(page.locator(f"{NUMBER}[role=button][title]")).to_have_count(0)
    described = page.evaluate(
        """[...document.querySelectorAll("data.n[role=button]")].every((n) =>
          document.getElementById(n.getAttribute("aria-describedby"))?.textContent === n.dataset.kind)"""
    )
    assert described, "a number's kind must be told to those who do not see the line"


def test_ids_stay_unique_with_a_card_open(opener: Opener) -> None:
    page = opener(HOME)
    a_number(page).click()
    expect_open(a_number(page))
    ids = page.evaluate("[...document.querySelectorAll('.md-content [id]')].map((node) => node.id)")
    assert sorted(set(ids)) == sorted(ids)


# ---- addresses ----


@both_widths
def test_the_address_of_a_card_opens_the_list_at_that_card(opener: Opener, width: int) -> None:
    page = opener(CHAPTER, width)
    name = page.locator("article.gm-card").last.get_attribute("id")
    for step in (lambda: page.evaluate("(name) => { location.hash = name }", name), page.reload):
        step()
        article = page.locator(f"article#{name}")
        expect(article).to_be_visible()
        expect(article).to_be_in_viewport()
        expect(page.locator("details.gm-cards")).to_have_attribute("open", "")


def test_the_address_of_a_number_opens_its_card_at_the_spot(opener: Opener, site_url: str) -> None:
    page = opener(CHAPTER)
    # Only the first place of a number has an address; the others lead to it.
    number = page.locator(f".md-content__inner {NUMBER}[role=button]:not([id]):visible").first
    number.click()
    expect_open(number).get_by_role("link", name="Link to this number").click()
    name = urlsplit(page.url).fragment
    assert name.startswith("at-"), f"the link leads to {page.url}, not to a number"
    page.goto("about:blank")
    page.goto(f"{site_url}{CHAPTER}#{name}")
    number = page.locator(f"#{name}")
    expect_open(number)
    expect(number).to_be_in_viewport()


# ---- the home page ----


@both_widths
def test_the_home_page_shows_the_idea_in_one_screen(opener: Opener, width: int) -> None:
    page = opener(HOME, width)
    for part in ("h1", ".gm-say", ".gm-live", ".gm-specimen .gm-card-value"):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)
    kinds = set(page.locator(f".gm-live {NUMBER}").evaluate_all("(all) => all.map((n) => n.dataset.kind)"))
    assert kinds == set(KINDS), "the paragraph shows each kind of number"


def test_the_card_shown_on_the_home_page_is_the_one_of_a_marked_number(opener: Opener) -> None:
    page = opener(HOME)
    name = page.locator(".gm-specimen").get_attribute("data-card")
    value = page.locator(f"article#{name} .gm-card-value").text_content() or ""
    expect(page.locator(".gm-specimen .gm-card-value")).to_have_text(value)
    expect(page.locator(f".gm-live .gm-shown[data-card={name}]")).to_have_count(1)


# ---- layout and colours ----


@both_pages
@both_widths
@both_schemes
def test_nothing_scrolls_sideways_but_its_own_box(opener: Opener, path: str, width: int, scheme: Scheme) -> None:
    page = opener(path, width, scheme=scheme)
    unfold(page)
    wide = page.evaluate(
        """() => {
          const own = (node) => node.closest(".gm-scroll, pre, .gm-formula, .md-typeset__scrollwrap");
          return [...document.querySelectorAll(".md-content *")]
            .filter((node) => node.getBoundingClientRect().right > innerWidth + 1 && !own(node))
            .map((node) => node.outerHTML.slice(0, 90));
        }"""
    )
    assert not wide, "\n".join(wide)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_line_tells_the_kind(opener: Opener) -> None:
    page = opener(HOME)
    for kind, line in KINDS.items():
        for mark in (f".gm-live {NUMBER}[data-kind={kind}]", f".gm-legend .gm-mark[data-kind={kind}]"):
            expect(page.locator(mark).first).to_have_css("text-decoration-style", line)


@both_schemes
def test_figure_colours_stand_out_from_the_paper(opener: Opener, scheme: Scheme) -> None:
    page = opener(CHAPTER, scheme=scheme)
    colours = page.evaluate(
        """() => {
          const style = getComputedStyle(document.body);
          const names = ["paper", "ink", "soft", "copper", "mark", "c1", "c2", "c3", "c4", "c5", "c6"];
          return Object.fromEntries(names.map((name) => [name, style.getPropertyValue("--gm-" + name).trim()]));
        }"""
    )
    paper = colours.pop("paper")
    for name, colour in colours.items():
        least = 4.5 if name in {"ink", "soft", "copper"} else 3.0
        assert contrast(colour, paper) >= least, f"--gm-{name} {colour} on {paper} in the {scheme} scheme"


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two hexadecimal colours (WCAG 2, relative luminance)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_agrees_with_the_ends_of_the_scale() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@both_schemes
def test_the_scheme_follows_the_system(opener: Opener, scheme: Scheme) -> None:
    page = opener(HOME, scheme=scheme)
    expect(page.locator("body")).to_have_css("color-scheme", scheme)


def test_focus_is_visible(opener: Opener) -> None:
    page = opener(CHAPTER)
    link = page.locator(".md-content__inner a:not(.headerlink)").first
    for target in (a_number(page), link, page.locator(".md-content summary").first):
        target.focus()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        expect(target).to_be_focused()
        expect(target).to_have_css("outline-style", "solid")
        expect(target).to_have_css("outline-width", "2px")


def test_links_in_the_text_are_underlined(opener: Opener) -> None:
    page = opener(CHAPTER)
    lines = page.locator(".md-content__inner p > a, .gm-cards a").evaluate_all(
        "(all) => all.map((link) => getComputedStyle(link).textDecorationLine)"
    )
    assert lines
    assert set(lines) == {"underline"}


def test_a_listing_is_as_high_as_its_lines(opener: Opener) -> None:
    """A theme that lays code out in a grid puts each word on a line of its own, and no other test reads the script."""
    code = opener(CHAPTER).locator("pre#listing > code, .gm-worked pre > code").first
    lines = len(code.inner_text().rstrip().splitlines())
    height, line = code.evaluate(
        "(one) => [one.getBoundingClientRect().height, parseFloat(getComputedStyle(one).lineHeight)]"
    )
    assert lines > 20
    assert height < 1.1 * (lines + 2) * line


def test_less_motion_means_none(opener: Opener) -> None:
    page = opener(CHAPTER)
    number = a_number(page)
    number.click()
    expect(expect_open(number)).to_have_css("animation-name", "none")


# ---- without JavaScript, on paper, for everybody ----


@both_pages
@both_widths
def test_readable_without_javascript(opener: Opener, path: str, width: int) -> None:
    page = opener(path, width, java_script_enabled=False)
    number = a_number(page)
    expect(number).to_be_visible()
    expect(number).to_have_attribute("title", re.compile("computed"))
    card = page.locator("article.gm-card").first
    expect(card).to_be_hidden()
    page.locator("details.gm-cards > summary").click()
    expect(card).to_be_visible()
    expect(card.locator(".gm-card-value")).to_be_visible()


def test_without_javascript_the_home_page_links_to_the_card(opener: Opener) -> None:
    page = opener(HOME, java_script_enabled=False)
    name = page.locator(".gm-specimen").get_attribute("data-card")
    expect(page.locator(f".gm-specimen a[href='#{name}']")).to_be_visible()


def test_on_paper_the_cards_are_unfolded_and_the_frame_is_gone(opener: Opener) -> None:
    page = opener(CHAPTER, scheme="dark")
    page.emulate_media(media="print")
    for frame in (".md-header", ".md-footer", ".md-sidebar--primary", ".md-sidebar--secondary"):
        expect(page.locator(frame)).to_be_hidden()
    expect(page.locator("article.gm-card .gm-card-value").last).to_be_visible()
    assert page.locator("article.gm-card").last.evaluate("(card) => card.checkVisibility()"), "folded on paper"
    expect(page.locator("body")).to_have_css("color-scheme", "light")


@both_pages
@both_widths
@both_schemes
@pytest.mark.parametrize("card", ["open", "list"])
def test_axe_finds_nothing(opener: Opener, path: str, width: int, scheme: Scheme, card: str) -> None:
    page = opener(path, width, scheme=scheme)
    if card == "open":
        a_number(page).click()
        expect_open(a_number(page))
    elif card == "list":
        unfold(page)
        # Each kind of card, a few times: the hundredth is built as the first, and axe looks at every pair.
        page.evaluate(
            """for (const kind of ["computed", "cited", "measured", "assumed", "claimed"])
                 [...document.querySelectorAll(`article.gm-card[data-kind=${kind}]`)]
                   .slice(4).forEach((card) => card.remove())"""
        )
    found = Axe().run(page).response["violations"]
    report = [f"{rule['id']}: {node['html'][:160]}" for rule in found for node in rule["nodes"]]
    assert not report, "\n".join(report)


def test_the_script_is_small_and_stands_alone() -> None:
    text = (ASSETS / "moat.js").read_text(encoding="utf-8")
    assert len(text.encode()) < 10_000
    assert not re.search(r"https?://|\bimport\b|fetch\(|XMLHttpRequest|localStorage", text)


def test_a_report_brings_its_number_along(opener: Opener) -> None:
    page = opener(CHAPTER)
    a_number(page).click()
    shown = page.locator(CARD).locator(".gm-card-shown code").inner_text()
    page.locator(CARD).locator("a.gm-report").click()
    expect(page.locator("#reported")).to_contain_text(shown)
    assert not opener("/contribute/").locator("#reported").is_visible()
