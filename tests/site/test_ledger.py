"""The ledger of claims: complete, addressable, filtered without a page load."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import html
from playwright.sync_api import Browser, Page, expect

from gpumoat.facts import VERDICTS, Record, registry
from gpumoat.site.ledger import PARTS, part_of, to_json, used_by
from gpumoat.site.project import Project
from gpumoat.verdicts import SCALE


@pytest.fixture(scope="module")
def ledger(built_site: Path) -> html.HtmlElement:
    return html.parse(str(built_site / "claims" / "index.html")).getroot()


class TestComplete:
    def test_at_least_eighty_claims_each_once(self, ledger: html.HtmlElement) -> None:
        ids = [claim.get("id") for claim in ledger.xpath('//*[@class="gm-claim"]')]
        assert len(ids) >= 80
        assert sorted(ids) == sorted(registry().claims)

    def test_each_says_what_and_why(self, ledger: html.HtmlElement) -> None:
        for claim in ledger.xpath('//*[@class="gm-claim"]'):
            record = registry().claims[claim.get("id")]
            text = " ".join(claim.text_content().split())
            assert " ".join(record.text("says").split()) in text, claim.get("id")
            assert " ".join(record.text("explanation").split()) in text, claim.get("id")
            assert claim.get("data-verdict") == record.text("verdict")
            assert claim.get("data-verdict") in VERDICTS

    def test_a_judged_number_shows_what_decides_it(self, ledger: html.HtmlElement) -> None:
        (claim,) = ledger.xpath('//*[@id="lecture-attention-parameters"]')
        assert "604,028,928" in claim.text_content()
        assert "attention_parameters(gpt_shape('gpt3'))" in claim.text_content()

    def test_the_scale_is_that_of_the_check(self, ledger: html.HtmlElement) -> None:
        (scale,) = ledger.xpath('//dl[@id="scale"]')
        assert [term.text for term in scale.xpath("dt")] == list(VERDICTS) == list(SCALE)
        assert [meaning.text for meaning in scale.xpath("dd")] == list(SCALE.values())

    def test_a_bound_and_a_departure_from_the_scale_are_told(self, ledger: html.HtmlElement) -> None:
        (bound,) = ledger.xpath('//*[@id="lecture-dot-products"]')
        assert "Said: more than 70 million." in bound.text_content()
        (departure,) = ledger.xpath('//*[@id="lecture-range-end"]')
        assert "By the scale it would be approximately. It is a limit" in departure.text_content()

    def test_the_tally_adds_up(self, ledger: html.HtmlElement) -> None:
        (tally,) = ledger.xpath('//p[@class="gm-tally"]')
        total, rest = tally.text_content().rstrip(".").split(" claims: ")
        assert int(total) == sum(int(part.split()[0]) for part in rest.split(", ")) == len(registry().claims)

    def test_a_chapter_that_uses_a_claim_is_linked(self, root: Path) -> None:
        used = used_by(Project(root))
        assert "memory/gpt3.md" in used["lecture-matrix-rows"]
        assert set(used) <= set(registry().claims)

    def test_the_published_json_has_every_claim(self, root: Path, built_site: Path) -> None:
        published = json.loads((built_site / "claims" / "claims.json").read_text(encoding="utf-8"))
        assert published == json.loads(to_json(used_by(Project(root))))
        assert {row["id"] for row in published["claims"]} == set(registry().claims)


@pytest.mark.parametrize(
    ("document", "where", "pages", "part"),
    [
        ("lecture", "3.5", [], "memory"),
        ("lecture", "3.2", [], "compute"),
        ("lecture", "4.1", [], "silicon"),
        ("lecture", "5.4", [], "cloud"),
        ("chapter", "4", [], "moat"),
        ("chapter", "4", ["stack/libraries.md"], "stack"),
        ("lecture", "elsewhere", ["index.md"], "moat"),
    ],
)
def test_a_claim_belongs_to_one_part(document: str, where: str, pages: list[str], part: str) -> None:
    record = Record("claim", {"id": "x", "document": document, "where": where}, "t")
    assert part_of(record, pages) == part
    assert part in PARTS


@pytest.mark.browser
class TestFilter:
    @pytest.fixture
    def page(self, browser: Browser, site_url: str) -> Callable[[str], Page]:
        context = browser.new_context()

        def open_page(address: str) -> Page:
            page = context.new_page()
            page.goto(f"{site_url}/claims/{address}")
            return page

        yield open_page
        context.close()

    def test_it_shows_what_was_chosen_and_counts(self, page: Callable[[str], Page]) -> None:
        ledger = page("")
        loads: list[str] = []
        ledger.on("framenavigated", lambda frame: loads.append(frame.url))
        ledger.locator("select[name=verdict]").select_option("wrong")
        wrong = sum(record.text("verdict") == "wrong" for record in registry().claims.values())
        expect(ledger.locator(".gm-claim:visible")).to_have_count(wrong)
        expect(ledger.locator(".gm-filter output")).to_have_text(f"{wrong} of {len(registry().claims)} shown")
        ledger.locator("select[name=part]").select_option("memory")
        for claim in ledger.locator(".gm-claim:visible").all():
            assert claim.get_attribute("data-part") == "memory"
        assert "verdict=wrong" in ledger.url
        assert ledger.evaluate("performance.getEntriesByType('navigation').length") == 1

    def test_the_choice_comes_with_the_address(self, page: Callable[[str], Page]) -> None:
        ledger = page("?verdict=confirmed")
        for claim in ledger.locator(".gm-claim:visible").all():
            assert claim.get_attribute("data-verdict") == "confirmed"

    def test_a_link_to_a_claim_shows_it_whatever_is_chosen(self, page: Callable[[str], Page]) -> None:
        ledger = page("?verdict=confirmed#lecture-matrix-rows")
        assert registry().claims["lecture-matrix-rows"].text("verdict") != "confirmed"
        expect(ledger.locator("#lecture-matrix-rows")).to_be_visible()
