"""The mark of a fact that is due, at the number's card and on the page that lists them."""

import pytest

from gpumoat import facts
from gpumoat.facts import Registry
from gpumoat.site import cards
from gpumoat.site.page import Page
from gpumoat.site.project import Project
from gpumoat.site.reviews import review_html


@pytest.fixture
def known(monkeypatch):
    """One price that was checked long before the newest check, and one that was checked with it."""
    found = Registry()
    found.add("sources", {"id": "roe-2024", "short": "Roe 2024", "kind": "article"}, "t")
    row = {"statement": "A card costs <much>.", "source": "roe-2024", "status": "quoted", "unit": "USD", "locator": "p"}
    found.add("facts", {"id": "old-price", "value": 1000, "checked": "2026-01-01", **row}, "t")
    found.add("facts", {"id": "new-price", "value": 2000, "checked": "2026-06-01", **row}, "t")
    monkeypatch.setattr(facts, "_registry", found)
    return found


@pytest.fixture
def page(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: x\n")
    return Page(Project(tmp_path), "a/page.md")


def card(page, expression):
    number, _ = page.inline(f"{{{{ {expression} }}}}", 0)
    return cards.card_html(page, number)


def test_a_stale_fact_is_marked_at_its_number(known, page):
    html = card(page, 'fact("old-price")')
    assert "<b>due for review since 2026-04-01</b>" in html
    assert '<span class="gm-card-mark">rests on a fact due for review</span>' in html


def test_a_fresh_fact_is_not(known, page):
    html = card(page, 'fact("new-price")')
    assert "checked 2026-06-01" in html
    assert "review" not in html.replace("Report", "")


def test_the_page_lists_what_is_due_and_nothing_else(known):
    html = review_html(known, "../../")
    due = html.split('id="table-due"')[1].split("</table>")[0]
    assert "old-price" in due
    assert "new-price" not in due
    assert "A card costs &lt;much&gt;." in due
    assert 'href="../../bibliography/#roe-2024"' in due
    assert "2026-04-01" in due
    assert "1 fact is due" in html


def test_without_a_stale_fact_the_page_says_so(known):
    del known.facts["old-price"]
    html = review_html(known, "../../")
    assert "None of the 1 facts is due" in html
    assert "table-due" not in html
    assert "2026-08-30" in html, "the next day, ninety days after the check"
