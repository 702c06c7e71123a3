"""Pictures of layers: a band for each record, a tile for each maker in its place, gaps that show, cards that stay."""

import pytest

from gpumoat.facts import Record, registry
from gpumoat.site.errors import SiteError
from gpumoat.site.layers import MAKERS

EXAMPLE = """\
from gpumoat import fact_text
stack = [
    {"layer": "Your <program>", "job": "what you wrote", "one": None, "two": None},
    {"layer": "Links", "job": "carry & copy", "one": fact_text("layer-links.one"), "two": None},
    {"layer": "Chip", "job": None, "one": "Chip <A>", "two": "B"},
]
"""
LAYERS = """\
/// layers | stack
    title: From the chip & up
    empty: none found
    columns:
      layer: Layer
      job: Job
      one: Maker <1>
      two: Maker B
The caption.
///
"""


@pytest.fixture
def page(checkout):
    """Render a page of layers; a fact stands behind one of the tiles."""
    row = {"id": "layer-links.one", "value": "Link-L", "unit": "", "statement": "It links", "status": "quoted"}
    rest = {"source": "paper", "checked": "2026-11-30", "locator": "p", "as_of": "2026"}
    registry().facts["layer-links.one"] = Record("fact", {**row, **rest}, "t")
    checkout.example(EXAMPLE)
    return checkout.render


def words(element) -> str:
    return " ".join(element.text_content().split())


class TestPicture:
    def test_bands_in_the_order_of_the_records(self, page):
        bands = page(LAYERS).prose.xpath('.//ol[@class="gm-layers"]/li')
        names = [words(band.xpath('./p[@class="gm-layer-name"]')[0]) for band in bands]
        assert names == ["Your <program> what you wrote", "Links carry & copy", "Chip"]

    def test_each_maker_has_its_place(self, page):
        bands = page(LAYERS).prose.xpath('.//ol[@class="gm-layers"]/li')
        tiles = [[words(tile) for tile in band.xpath("./ul/li")] for band in bands]
        assert tiles == [[], ["Maker <1> Link-L", "Maker B none found"], ["Maker <1> Chip <A>", "Maker B B"]]

    def test_what_belongs_to_nobody_goes_across(self, page):
        classes = page(LAYERS).prose.xpath('.//ol[@class="gm-layers"]/li/@class')
        assert classes == ["gm-layer gm-across", "gm-layer", "gm-layer"]

    def test_a_gap_shows_without_colour(self, page):
        (gap,) = page(LAYERS).prose.xpath('.//li[@class="gm-none"]')
        assert words(gap) == "Maker B none found"

    def test_a_screen_reader_hears_a_named_list(self, page):
        (stack,) = page(LAYERS).prose.xpath('.//ol[@class="gm-layers"]')
        assert stack.get("aria-label") == "From the chip & up"

    def test_a_fact_keeps_its_card(self, page):
        found = page(LAYERS)
        (tile,) = found.prose.xpath('.//ul[@class="gm-tiles"]//data')
        assert (tile.text, tile.get("data-kind")) == ("Link-L", "cited")
        assert found.tree.xpath(f'//article[@id="{tile.get("data-card")}"]')

    def test_caption_data_and_files(self, page):
        (figure,) = page(LAYERS).prose.xpath('.//figure[@id="figure-stack"]')
        assert words(figure.xpath("figcaption")[0]) == "The caption."
        rows = [[words(cell) for cell in row] for row in figure.xpath(".//details//tbody/tr")]
        assert rows[1] == ["Links", "carry & copy", "Link-L", "–"]
        assert figure.xpath('.//p[@class="gm-download"]/a/@href') == ["stack.csv", "stack.json"]

    def test_ids_are_unique(self, page):
        ids = page(LAYERS).tree.xpath("//@id")
        assert len(ids) == len(set(ids))


class TestErrors:
    def fails(self, page, text: str, message: str) -> None:
        with pytest.raises(SiteError, match=message):
            page(text)

    def test_without_a_title(self, page):
        self.fails(page, LAYERS.replace("    title: From the chip & up\n", ""), "have no 'title'")

    def test_without_columns(self, page):
        self.fails(page, "/// layers | stack\n    title: T\nText.\n///", "needs columns")

    def test_without_a_maker(self, page):
        text = LAYERS.replace("      one: Maker <1>\n      two: Maker B\n", "")
        self.fails(page, text, f"1 to {MAKERS} makers after them, not 0")

    def test_with_too_many_makers(self, page, checkout):
        makers = "".join(f"      m{number}: M\n" for number in range(MAKERS + 1))
        fields = ", ".join(f"'m{number}': 'x'" for number in range(MAKERS + 1))
        checkout.example(f"stack = [{{'layer': 'L', 'job': None, {fields}}}]\n")
        text = LAYERS.replace("      one: Maker <1>\n      two: Maker B\n", makers)
        self.fails(page, text, f"not {MAKERS + 1}")

    def test_a_band_without_a_name(self, page, checkout):
        checkout.example("stack = [{'layer': None, 'job': 'j', 'one': 'x', 'two': None}]\n")
        self.fails(page, LAYERS, "a record has no 'layer'")

    def test_unknown_records(self, page):
        self.fails(page, LAYERS.replace("| stack", "| heap"), "no list or dict of records called 'heap'")

    def test_shown_twice(self, page):
        self.fails(page, LAYERS + "\n" + LAYERS, "shown twice")
