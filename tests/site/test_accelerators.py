"""The catalogue page: each cell a cited number with its card, and the files that the build publishes."""

import csv
import json
import re

import pytest

from gpumoat.catalogue import cards, entries
from gpumoat.facts import registry
from gpumoat.site.accelerators import TABLES, accelerators_html, downloads_html, files
from gpumoat.site.cards import card_html
from gpumoat.site.page import Page
from gpumoat.site.project import Project


@pytest.fixture
def page(root):
    return Page(Project(root), "reference/accelerators.md")


@pytest.fixture
def html(page):
    return accelerators_html(page)


def test_every_cell_opens_a_card_with_a_source(page, html):
    assert html.count("<data ") == len(page.numbers)
    shown = {number.origin.door.id for number in page.numbers.values()}
    for number in page.numbers.values():
        assert number.origin.kind in ("cited", "measured")
        card = card_html(page, number)
        assert 'data-status="' in card or 'data-kind="measured"' in card
    names = {field.name for _, fields in TABLES.values() for field in fields}
    wanted = {
        entry.record.id if entry.kind == "cited" else "h200-memory.total_bytes"
        for row in cards()
        for entry in entries(row)
        if entry.field.name in names
    }
    assert shown == wanted


def test_dense_and_sparse_stand_apart(html):
    dense, sparse = (html.split(f'id="table-{name}"')[1].split("</figure>")[0] for name in ("dense", "sparse"))
    assert "sparse" not in " ".join(re.findall(r'data-expr="([^"]+)"', dense))
    assert "dense" not in " ".join(re.findall(r'data-expr="([^"]+)"', sparse))
    assert ">989</data>" in dense
    assert ">1,979</data>" in sparse


def test_memory_stands_in_gib_and_in_gb(html):
    row = html.split('id="h100-sxm">')[1].split("</tr>")[0]
    assert re.findall(r">([\d,.]+)</data>", row)[:2] == ["80", "85.9"]
    heads = html.split("</thead>")[0]
    assert "Label, GiB" in heads
    assert "If that is GiB, GB" in heads


def test_a_cell_that_nobody_has_read_is_marked_and_others_are_not(html):
    marked = re.findall(
        r'data-expr="gpu\(&quot;([\w-]+)&quot;\)\.(\w+):[^"]*"[^>]*>[^<]*</data>'
        r'(?:&nbsp;<abbr title="[^"]*">†</abbr>)?&nbsp;<abbr title="unverified',
        html,
    )
    facts = registry().facts
    assert ("h100-nvl", "bf16_dense_flop_per_s") in marked
    assert all(facts[f"{card}.{field}"].text("status") == "unverified" for card, field in marked)


def test_a_rate_on_other_terms_is_marked_and_others_are_not(html):
    """142 TFLOP/s with sums in FP16 stand in one column with 165 with sums in FP32."""
    marked = re.findall(
        r'data-expr="gpu\(&quot;([\w-]+)&quot;\)\.(\w+):[^"]*"[^>]*>[^<]*</data>&nbsp;<abbr title="[^"]*">†', html
    )
    facts = registry().facts
    assert {("rtx-3090", "fp16_dense_flop_per_s"), ("gaudi3", "bf16_dense_flop_per_s")} <= set(marked)
    assert all(facts[f"{card}.{field}"].text("note") for card, field in marked)
    assert ("h100-sxm", "bf16_dense_flop_per_s") not in marked


def test_a_planted_fact_changes_its_cell(page, monkeypatch):
    row = registry().facts["h100-sxm.tdp_w"].row
    monkeypatch.setitem(row, "value", 701)
    assert ">701</data>" in accelerators_html(page)


def test_the_page_links_the_files_that_it_publishes(page):
    html = downloads_html(page)
    for name, text in files():
        assert f'href="{name}"' in html
        assert text.endswith("\n")


def test_the_build_publishes_them(built_site):
    folder = built_site / "reference" / "accelerators"
    assert len(list(csv.DictReader((folder / "accelerators.csv").open(encoding="utf-8")))) == len(cards())
    assert len(json.loads((folder / "facts.json").read_text(encoding="utf-8"))["facts"]) == len(registry().facts)
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "gm-card" in page
    assert 'href="facts.csv"' in page
