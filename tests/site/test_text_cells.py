"""Text that a source states, such as a card's form factor, has a card on the page like any number."""

import pytest

from gpumoat import facts
from gpumoat.facts import Registry
from gpumoat.site import cards, tables
from gpumoat.site.errors import SiteError
from gpumoat.site.lock import lock_text
from gpumoat.site.numbers import Number
from gpumoat.site.page import Column, Page
from gpumoat.site.project import Project

SCRIPT = """
from gpumoat import gpu
rows = [{"card": "Card One", "form": gpu("one").form_factor, "memory_bytes": gpu("one").memory_bytes}]
"""


@pytest.fixture
def page(tmp_path, monkeypatch):
    small = Registry()
    small.add("sources", {"id": "s", "short": "Roe 2024"}, "t")
    small.add("subjects", {"id": "one", "kind": "gpu", "name": "Card One"}, "t")
    row = {"statement": "Card One is a module.", "source": "s", "status": "quoted", "locator": "table 1"}
    small.add("facts", {"id": "one.form_factor", "value": "SXM5 <module>", "unit": "", **row}, "t")
    small.add("facts", {"id": "one.memory_bytes", "value": 8, "unit": "GiB", **row}, "t")
    monkeypatch.setattr(facts, "_registry", small)
    (tmp_path / "docs" / "examples").mkdir(parents=True)
    (tmp_path / "docs" / "examples" / "page.py").write_text(SCRIPT)
    (tmp_path / "mkdocs.yml").write_text("site_name: x\n")
    return Page(Project(tmp_path), "page.md")


COLUMNS = [Column("card", "", "Card"), Column("form", "", "Form"), Column("memory_bytes", ".0f GiB", "Memory")]


def test_a_text_of_a_source_is_a_cited_cell_and_a_heading_is_none(page):
    (row,) = page.table("rows", COLUMNS, "").rows
    assert row[0] == "Card One"
    assert isinstance(row[1], Number)
    assert (row[1].text, row[1].full, row[1].origin.kind) == ("SXM5 <module>", "SXM5 <module>", "cited")
    assert row[1].origin.marks == ["rests on a quoted source"]


def test_it_stands_left_is_escaped_and_has_a_card(page):
    table = page.table("rows", COLUMNS, "")
    html = tables.table_html(page, table)
    assert html.count('class="gm-num"') == 1, "the memory alone stands right"
    assert "SXM5 &lt;module&gt;</data>" in html
    card = cards.cards_html(page, list(page.numbers.values()))
    assert "Card One is a module." in card
    assert "table 1" in card
    assert 'rows[0]["form"] | SXM5 <module> | cited | one.form_factor' in lock_text([page])


def test_it_is_in_the_table_that_is_published(page):
    assert tables.to_csv(page.table("rows", COLUMNS, "")).splitlines()[1] == "Card One,SXM5 <module>,8589934592"


@pytest.mark.parametrize("expression", ['fact_text("one.form_factor")', 'gpu("one").form_factor'])
def test_it_can_stand_in_a_sentence(page, expression):
    number, _ = page.inline(f"a {{{{ {expression} }}}} b", 2)
    assert (number.text, number.origin.kind) == ("SXM5 <module>", "cited")


def test_a_text_takes_no_format(page):
    with pytest.raises(SiteError, match="is text and takes no format"):
        page.inline('{{ fact_text("one.form_factor"):.0f GiB }}', 0)


def test_a_door_needs_no_import_on_a_page_to_keep_its_kind(page):
    """Found here: without ``fact`` in the script, a page's own ``fact(…)`` was shown as computed."""
    number, _ = page.inline('{{ fact("one.memory_bytes"):.0f GiB }}', 0)
    assert (number.text, number.origin.kind) == ("8 GiB", "cited")


def test_the_card_of_a_text_shows_no_lines(checkout):
    """Lines that carry a name around made nothing: only its source says something."""
    record = {"id": "card-x.form_factor", "value": "module", "unit": "", "statement": "s", "status": "quoted"}
    rest = {"source": "paper", "checked": "2026-11-30", "locator": "p", "as_of": "2026"}
    facts.registry().facts["card-x.form_factor"] = facts.Record("fact", {**record, **rest}, "t")
    checkout.example("from gpumoat import fact_text\nform = fact_text('card-x.form_factor')\nparts = len(form)\n")
    found = checkout.render("A {{ form }} of {{ parts }} letters.")
    cards = {card.get("id"): card.xpath('.//pre[@class="gm-card-lines"]') for card in found.tree.xpath("//article")}
    assert [bool(cards["n-form"]), bool(cards["n-parts"])] == [False, True]
