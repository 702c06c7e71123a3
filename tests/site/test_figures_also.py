"""Columns of a figure's data that are not drawn: in the table and the files, with their cards, not in the picture."""

import csv
import io
import json

import pytest

from gpumoat.site import figures, tables
from gpumoat.site.errors import SiteError

SCRIPT = """\
from gpumoat import fact
rows = []
for name, seller in [("one", "Acme"), ("two", "Bolt & Co.")]:
    rows.append({"case": name, "part_bytes": 2**30, "seller": seller, "layers": fact("net.layers")})
"""
FIGURE = """\
/// figure | rows
    chart: bars
    y: case | Case
    x: part_bytes:.0f GiB | Memory (GiB)
    title: T
    alt: A
{also}
Text.
///
"""
ALSO = "    also:\n      seller: Seller\n      layers:d: Layers"


@pytest.fixture
def rendered(checkout):
    checkout.example(SCRIPT)
    return checkout.render(FIGURE.format(also=ALSO))


def cells(rendered) -> list[str]:
    return [each.text_content() for each in rendered.tree.xpath("//details[@class='gm-figure-data']//tr/*")]


def test_they_stand_in_the_table_under_the_figure(rendered):
    assert cells(rendered) == [
        *("Case", "Memory (GiB)", "Seller", "Layers"),
        *("one", "1 GiB", "Acme", "96"),
        *("two", "1 GiB", "Bolt & Co.", "96"),
    ]


def test_a_number_among_them_has_its_card(rendered):
    kinds = rendered.tree.xpath("//details[@class='gm-figure-data']//data/@data-kind")
    assert kinds.count("cited") == 2


def test_they_stand_in_the_files(rendered):
    table = rendered.page.tables["rows"]
    (first, _) = csv.DictReader(io.StringIO(tables.to_csv(table)))
    assert first == {"case": "one", "part_bytes": "1073741824", "seller": "Acme", "layers": "96"}
    assert json.loads(tables.to_json(rendered.page, table))["records"][1]["seller"] == "Bolt & Co."


def test_the_picture_is_the_same_without_them(checkout, rendered):
    def pictures(page) -> list[str]:
        return ["".join(svg.itertext()) for svg in page.tree.xpath("//figure//svg")]

    with_them = pictures(rendered)
    assert with_them == pictures(checkout.render(FIGURE.format(also="")))
    assert not any("Acme" in text for text in with_them)


def test_their_texts_may_not_be_drawn(checkout, rendered, monkeypatch):
    """The planted fault: what is only in the data turns up in the drawing."""
    real = figures._svg
    monkeypatch.setattr(figures, "_svg", lambda *a: real(*a).replace("</svg>", "<text>Acme</text></svg>"))
    with pytest.raises(SiteError, match="the drawing holds 'Acme', which is no formatted field"):
        checkout.render(FIGURE.format(also=ALSO))


@pytest.mark.parametrize(
    ("also", "says"),
    [
        ("    also: seller", "needs also: a line 'field:format: Heading' for each"),
        ("    also:\n      vendor: Vendor", "has no field 'vendor': it has case, layers, part_bytes, seller"),
    ],
)
def test_what_is_wrong_is_named(checkout, also, says):
    checkout.example(SCRIPT)
    with pytest.raises(SiteError, match=says):
        checkout.render(FIGURE.format(also=also))
