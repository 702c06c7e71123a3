"""Tables, cards and the bibliography: what is escaped, what is linked, and what a reader is told."""

import csv
import io
import json
import re

import pytest
from lxml import html as lxml_html

from gpumoat.facts import registry
from gpumoat.site import cards
from gpumoat.site.bibliography import entries
from gpumoat.site.cards import DOCUMENTS, reference_page, show
from gpumoat.site.tables import parse_column, to_csv, to_json
from gpumoat.units import name_unit

TABLE = """\
/// table | rows
    columns:
      card: Card <i>
      memory_bytes:.1f GiB: Memory
      cards: "Cards for {{ layers }}"
Two cards & more.
///
"""


class TestTable:
    def test_cells_are_numbers_and_names_are_heads(self, checkout):
        tree = checkout.render(TABLE).prose
        assert tree.xpath('.//figure[@class="gm-table"]/@id') == ["table-rows"]
        assert [each.text_content() for each in tree.xpath(".//tbody//data")] == ["80.0 GiB", "2", "2.0 GiB", "4"]
        assert [each.text_content() for each in tree.xpath('.//tbody//th[@scope="row"]')] == ["A <b>", "B"]
        assert tree.xpath(".//tbody//data/@data-kind") == ["cited", "computed", "computed", "computed"]

    def test_headings_are_escaped_and_may_hold_numbers(self, checkout):
        heads = [each.text_content() for each in checkout.render(TABLE).prose.xpath(".//thead//th")]
        assert heads == ["Card <i>", "Memory", "Cards for 96"]

    def test_it_scrolls_in_a_box_that_its_caption_names(self, checkout):
        tree = checkout.render(TABLE).prose
        (box,) = tree.xpath('.//div[@class="gm-scroll"]')
        assert (box.get("tabindex"), box.get("role")) == ("0", "region")
        (caption,) = tree.xpath(f'.//figcaption[@id="{box.get("aria-labelledby")}"]')
        assert caption.text_content().strip() == "Two cards & more."

    def test_every_cell_has_a_card(self, checkout):
        tree = checkout.render(TABLE).tree
        wanted = set(tree.xpath(".//data/@data-card"))
        assert len(wanted) == 4
        # The number in a heading of the table is plain text there, and has a card all the same.
        assert set(tree.xpath(".//article/@id")) == wanted | {"n-layers"}

    def test_nothing_is_a_dash(self, checkout):
        checkout.example("rows = [{'card': 'A', 'n': None}, {'card': 'B', 'n': 3}]\n")
        tree = checkout.render("/// table | rows\n    columns:\n      card: Card\n      n: N\nText.\n///").prose
        assert [each.text_content() for each in tree.xpath(".//tbody//td")] == ["–", "3"]

    def test_a_verdict(self, checkout):
        checkout.example("from gpumoat import claim\nrows = [{'of': 'A', 'said_bytes': claim('said')}]\n")
        text = (
            "/// table | rows\n    columns:\n      said_bytes:GiB: Said\n      said_bytes.verdict: Verdict\nText.\n///"
        )
        tree = checkout.render(text).prose
        assert tree.xpath(".//tbody//data/@data-kind") == ["claimed"]
        assert "wrong" in tree.xpath("string(.//tbody)")

    def test_the_files_hold_base_units(self, checkout):
        page = checkout.render(TABLE).page
        table = page.tables["rows"]
        first = next(csv.DictReader(io.StringIO(to_csv(table))))
        assert first == {"card": "A <b>", "memory_bytes": str(80 * 2**30), "cards": "2"}
        document = json.loads(to_json(page, table))
        assert document["page"] == "part/page.md"
        assert document["units"] == {"card": "", "memory_bytes": "bytes", "cards": ""}
        assert document["records"][1] == {"card": "B", "memory_bytes": 2**31, "cards": 4}

    def test_a_column_splits_at_its_first_colon(self):
        column = parse_column("memory_bytes:.1f GiB", "Memory")
        assert (column.field, column.spec, column.title) == ("memory_bytes", ".1f GiB", "Memory")


def card(checkout, expression: str) -> lxml_html.HtmlElement:
    (found,) = checkout.render(f"It has {{{{ {expression} }}}}.").tree.xpath('.//article[@class="gm-card"]')
    return found


class TestCard:
    def test_value_in_full_and_as_shown(self, checkout):
        found = card(checkout, "weights_bytes:.0f GiB")
        assert found.xpath('string(.//*[@class="gm-card-value"])') == "103,079,215,104 bytes"
        assert found.xpath('string(.//*[@class="gm-card-kind"])') == "computed"
        assert found.xpath('string(.//*[@class="gm-card-shown"])') == "Shown as 96 GiB: weights_bytes"

    def test_the_lines_that_made_it(self, checkout):
        found = card(checkout, "weights_bytes")
        assert found.xpath('.//*[contains(@class, "gm-line")]/@data-line') == ["2", "3"]
        assert 'layers = fact("net.layers")' in found.xpath('string(.//pre[@class="gm-card-lines"])')
        assert found.xpath("string(.//footer/a[1])") == "page.py, lines 2 to 3"
        assert found.xpath("string(.//footer/a[1]/@href)") == "page.py"

    def test_lines_left_out_leave_a_gap(self, checkout):
        checkout.example("x = 1\ny = 2\nz = x + 1\n")
        found = card(checkout, "z")
        assert found.xpath('.//*[contains(@class, "gm-line")]/@class') == ["gm-line", "gm-line gm-gap"]

    def test_html_in_the_script_is_escaped(self, checkout):
        checkout.example("x = '<script>alert(1)</script>'\nn = len(x)\n")
        found = card(checkout, "n")
        assert not found.xpath(".//script")
        assert "<script>" in found.text_content()

    def test_a_fact_is_escaped_linked_and_dated(self, checkout):
        (read,) = card(checkout, "layers").xpath('.//ul[@class="gm-card-reads"]/li')
        assert (read.get("data-kind"), read.get("data-status")) == ("cited", "verified")
        assert read.xpath("string(b)") == "96"
        assert "It has <96> & more Paper <2020>, table <2> (as of 2020-05)" in read.text_content()
        assert read.xpath("string(.//a/@href)") == "../../bibliography/#paper"
        assert read.xpath("string(small)") == "verified, checked 2026-11-30"

    def test_without_escaping_a_statement_would_be_markup(self, checkout, monkeypatch):
        registry().facts["net.layers"].row["statement"] = "It is <u>so</u>"
        assert not card(checkout, "layers").xpath(".//li//u")
        monkeypatch.setattr(cards, "escape", lambda text: text)  # the fault
        assert card(checkout, "layers").xpath(".//li//u")

    @pytest.mark.parametrize(
        ("status", "mark"),
        [
            ("verified", ""),
            ("quoted", "rests on a quoted source"),
            ("unverified", "rests on an unverified source"),
        ],
    )
    def test_the_status_is_a_word_and_a_mark(self, checkout, status, mark):
        registry().facts["net.layers"].row["status"] = status
        found = card(checkout, "weights_bytes")
        assert found.xpath("string(.//small)").startswith(status)
        assert found.xpath('string(.//*[@class="gm-card-mark"])') == mark

    def test_a_claim_says_what_we_think_of_it(self, checkout):
        (read,) = card(checkout, 'claim("said")').xpath('.//ul[@class="gm-card-reads"]/li')
        assert read.get("data-verdict") == "wrong"
        assert f"Three <GiB> ({DOCUMENTS['lecture']}, section 3.5) It is & four" in read.text_content()
        assert read.xpath("string(small)") == "verdict: wrong"

    def test_a_measurement_says_where(self, checkout):
        (read,) = card(checkout, 'measured("run", "free_bytes")').xpath('.//ul[@class="gm-card-reads"]/li')
        assert "free <memory>. Card, driver 1.0, by memory.py" in read.text_content()
        assert read.xpath("string(small)") == "measured 2026-11-30"

    def test_an_assumption_gives_its_reason(self, checkout):
        checkout.example("from gpumoat import assume\nn = assume(3, 'a <guess>') * 2\n")
        found = card(checkout, "n")
        (read,) = found.xpath('.//ul[@class="gm-card-reads"]/li')
        assert read.text_content() == "3a <guess>assumed"
        assert found.xpath('string(.//*[@class="gm-card-mark"])') == "rests on an assumption"

    def test_a_library_function_is_linked(self, checkout):
        checkout.example("from gpumoat.units import dtype_bytes\nn = dtype_bytes('fp32') * 2\n")
        (link,) = card(checkout, "n").xpath('.//footer/a[contains(@href, "reference")]')
        assert link.get("href") == "../../reference/units/#gpumoat.units.dtype_bytes"
        assert link.text == "dtype_bytes"
        assert reference_page("gpumoat.llm.gpt.f") == "reference/llm/"


class TestReport:
    def test_without_an_address_it_stays_on_the_site(self, checkout):
        link = card(checkout, "layers").xpath('string(.//a[@class="gm-report"]/@href)')
        assert link == "../../contribute/?number=part/page.md%3A%20layers%20%3D%2096#report-a-number"

    def test_with_an_address_it_fills_in_the_form(self, checkout):
        settings = (checkout.root / "mkdocs.yml").read_text(encoding="utf-8")
        checkout.settings(re.sub(r"(?m)^  repository:.*$", "  repository: https://git.example.org/a/b/", settings))
        link = card(checkout, "layers").xpath('string(.//a[@class="gm-report"]/@href)')
        assert link.startswith("https://git.example.org/a/b/issues/new?template=wrong-number.yml&title=Wrong%20number")
        assert "number=96%20%28layers%29" in link


class TestIds:
    def test_one_expression_in_two_formats_has_two_cards(self, checkout):
        tree = checkout.render("{{ weights_bytes:.0f GiB }} or {{ weights_bytes:.0f GB }}").tree
        assert tree.xpath(".//article/@id") == ["n-weights-bytes", "n-weights-bytes-2"]
        every = tree.xpath("//@id")
        assert len(every) == len(set(every))


class TestInputs:
    @pytest.mark.parametrize(
        ("value", "unit", "text"),
        [(96, "", "96"), (12288, "", "12,288"), (85899345920, "a_bytes", "85,899,345,920 bytes"), (0.4, "", "0.4")],
    )
    def test_an_input_is_shown_in_full(self, value, unit, text):
        assert show(value, name_unit(unit)) == text


class TestBibliography:
    def test_an_entry(self, checkout):
        ((id, text),) = entries()
        tree = lxml_html.fromstring(f"<div>{text}</div>")
        assert id == "paper"
        assert "Paper <2020>. On & off. A. <B>." in tree.text_content()
        assert tree.xpath("string(.//a/@href)") == "https://example.org/?a=1&b=2"
        assert "Read: a <copy>" in tree.text_content()
        facts = [each.text_content() for each in tree.xpath(".//li")]
        assert len(facts) == 3
        assert facts[0] == "It has <96> & more table <2>; verified, checked 2026-11-30"

    def test_the_block_gives_every_source_an_id(self, checkout):
        assert checkout.render("/// bibliography\n///").tree.xpath('.//section[@class="gm-source"]/@id') == ["paper"]
