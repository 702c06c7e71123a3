"""Figures: the same bytes twice, no text of its own, ids of its own, colours of the page, words beside it."""

import re
from xml.etree import ElementTree

import pytest

from gpumoat.site import figures
from gpumoat.site.errors import SiteError
from gpumoat.site.figures import CHARTS, draw, stray_texts

FIGURE = """\
/// figure | rows
    chart: {chart}
    x: {x}
    y: {y}
    title: Memory & cards
    alt: Of {{{{ layers }}}} "layers" <b>.
What {{{{ layers }}}} layers need.
///
"""
BARS = {"chart": "bars", "x": "memory_bytes:.1f GiB | Memory (GiB)", "y": "card | Card"}
LINES = {"chart": "lines", "x": "cards | Cards", "y": "memory_bytes:.1f GiB | Memory (GiB)"}


@pytest.fixture
def table(checkout):
    """The records of a page as a figure gets them."""
    return checkout.render(FIGURE.format(**BARS)).page.tables["rows"]


def drawing(table, chart="bars", **roles):
    return draw(chart, table, roles or {"y": 0, "x": 1}, "figure-rows", "Memory & cards", 'Of 96 "layers" <b>.')


class TestDrawing:
    def test_the_same_bytes_twice(self, table):
        first, second = drawing(table), drawing(table)
        assert (first.wide, first.narrow) == (second.wide, second.narrow)

    def test_both_widths(self, table):
        found = drawing(table)
        widths = [float(re.search(r'<svg[^>]* width="([\d.]+)"', svg)[1]) for svg in (found.wide, found.narrow)]
        assert 500 < widths[0] < 700
        assert widths[1] < 360

    @pytest.mark.parametrize("size", ["wide", "narrow"])
    def test_words_beside_it(self, table, size):
        root = ElementTree.fromstring(getattr(drawing(table), size))
        assert root.get("role") == "img"
        by_id = {each.get("id"): each.text for each in root.iter() if each.get("id")}
        named = [by_id[id] for id in root.get("aria-labelledby").split()]
        assert named == ["Memory & cards", 'Of 96 "layers" <b>.']

    def test_ids_are_unique_over_both(self, table):
        found = drawing(table)
        ids = re.findall(r'\bid="([^"]+)"', found.wide + found.narrow)
        assert len(ids) == len(set(ids)) >= 4
        assert all(one.startswith("figure-rows-") for one in ids)
        for used in re.findall(r"url\(#([^)]+)\)", found.wide + found.narrow):
            assert used in ids

    def test_colours_are_variables_of_the_page(self, table):
        for svg in (drawing(table).wide, drawing(table).narrow):
            assert not re.search(r"#0a0[ab]0\d", svg)
            assert re.search(r'fill="var\(--gm-c1, #[0-9a-f]{6}\)"', svg)
            plain = set(re.findall(r'(?:fill|stroke)="([^"]+)"', svg)) - {"none", "transparent"}
            assert not [colour for colour in plain if not colour.startswith("var(--gm-")]


class TestTexts:
    def test_every_text_is_a_tick_or_a_field(self, checkout):
        for settings in (BARS, LINES):
            checkout.render(FIGURE.format(**settings))  # stops where a text is neither

    @pytest.mark.parametrize("text", ["3.5 times", "650 GiB", "faster"])
    def test_a_planted_text_is_found(self, table, text):
        svg = drawing(table).wide.replace("</svg>", f"<text>{text}</text></svg>")
        allowed = {"A <b>", "B", "80.0 GiB", "2.0 GiB", "Memory (GiB)", "Card"}
        assert stray_texts(svg, allowed) == [text]

    def test_a_word_among_the_ticks_is_found(self):
        svg = '<svg><g class="mark-text role-axis-label"><text>20</text><text>about</text></g></svg>'
        assert stray_texts(svg, set()) == ["about"]

    def test_a_planted_text_stops_the_build(self, checkout, monkeypatch):
        real = figures._svg
        monkeypatch.setattr(figures, "_svg", lambda *a: real(*a).replace("</svg>", "<text>3.5 times</text></svg>"))
        with pytest.raises(SiteError, match=r"the drawing holds '3\.5 times', which is no formatted field"):
            checkout.render(FIGURE.format(**BARS))

    def test_a_number_typed_into_an_axis_title_is_the_authors(self, table):
        assert "Memory (GiB)" in drawing(table).wide


class TestOnThePage:
    def test_caption_alternative_and_data(self, checkout):
        tree = checkout.render(FIGURE.format(**BARS)).prose
        (figure,) = tree.xpath('.//figure[@class="gm-figure"]')
        assert figure.get("id") == "figure-rows"
        assert figure.xpath("string(figcaption)").strip() == "What 96 layers need."
        assert len(figure.xpath(".//svg")) == 2
        assert [each.text_content() for each in figure.xpath(".//details//tbody//data")] == ["80.0 GiB", "2.0 GiB"]
        assert figure.xpath('.//p[@class="gm-download"]/a/@href') == ["rows.csv", "rows.json"]

    def test_ids_are_unique_on_the_page(self, checkout):
        ids = checkout.render(FIGURE.format(**BARS)).tree.xpath("//@id")
        assert len(ids) == len(set(ids))

    @pytest.mark.parametrize("chart", CHARTS)
    def test_every_kind_of_chart(self, checkout, chart):
        settings = BARS if chart in ("bars", "stacked") else LINES
        assert checkout.render(FIGURE.format(**{**settings, "chart": chart})).tree.xpath("count(.//svg)") == 2

    def test_colours_are_explained_in_a_list(self, checkout):
        checkout.example(
            "rows = [{'case': c, 'part': p, 'size_bytes': 2**30} for c in ['one', 'two'] for p in ['x <b>', 'y']]\n"
        )
        text = (
            "/// figure | rows\n    chart: stacked\n    y: case | Case\n    x: size_bytes:.0f GiB | Memory (GiB)\n"
            "    color: part | Part\n    title: T\n    alt: A\nText.\n///"
        )
        keys = checkout.render(text).prose.xpath('.//ul[@class="gm-keys"]/li')
        assert [each.text_content() for each in keys] == ["x <b>", "y"]
        assert [each.get("style") for each in keys] == ["--gm-key:var(--gm-c1)", "--gm-key:var(--gm-c2)"]

    def test_more_parts_than_colours_are_an_error(self, checkout):
        checkout.example("rows = [{'case': 'one', 'part': f'p{i}', 'size_bytes': 2**30} for i in range(7)]\n")
        text = (
            "/// figure | rows\n    chart: stacked\n    y: case | Case\n    x: size_bytes:.0f GiB | Memory\n"
            "    color: part | Part\n    title: T\n    alt: A\nText.\n///"
        )
        with pytest.raises(SiteError, match="tells 6 parts apart, not 7"):
            checkout.render(text)
