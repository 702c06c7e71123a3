"""A band behind a line: between its bounds, in the line's colour, and only where a record has bounds."""

import re

import pytest

from gpumoat.site.errors import SiteError

ROWS = """\
rows = [{"use_hours": 3600 * hour, "way": "own", "cost_usd": 8 / hour, "low_usd": 6 / hour, "high_usd": 9 / hour}
        for hour in [1, 2]]
rows += [{"use_hours": 3600 * hour, "way": "rent", "cost_usd": 2, "low_usd": None, "high_usd": None} for hour in [1, 2]]
"""
FIGURE = """\
/// figure | rows
    chart: lines
    x: use_hours:.0f hours | Hours
    y: cost_usd:.1f USD | Cost
    color: way | Way{bounds}
    title: T
    alt: A
Text.
///
"""
BOUNDS = "\n    low: low_usd:.1f USD | lower end\n    high: high_usd:.1f USD | upper end"


@pytest.fixture
def page(checkout):
    checkout.example(ROWS)
    return checkout


def areas(tree) -> list[str]:
    found = []
    for svg in tree.xpath(".//svg"):
        found += svg.xpath('.//*[contains(@class, "mark-area")]//*[local-name()="path"]/@d')
    return found


def test_a_line_with_bounds_has_a_band_and_one_without_has_none(page):
    tree = page.render(FIGURE.format(bounds=BOUNDS)).tree
    assert len(areas(tree)) == 2, "one in the wide drawing and one in the narrow"


def test_without_the_option_there_is_none(page):
    assert areas(page.render(FIGURE.format(bounds="")).tree) == []


def test_the_band_has_the_colour_of_its_line(page):
    svg = page.render(FIGURE.format(bounds=BOUNDS)).html.split("mark-area", 1)[1][:600]
    assert re.search(r'fill="var\(--gm-c1', svg)


def test_the_bounds_stand_in_the_table(page):
    tree = page.render(FIGURE.format(bounds=BOUNDS)).prose
    assert [each.text_content() for each in tree.xpath(".//details//th")][:5] == [
        "Cost",
        "Way",
        "Hours",
        "lower end",
        "upper end",
    ]


def test_one_end_is_not_a_band(page):
    with pytest.raises(SiteError, match="one end of a band: give both 'low' and 'high'"):
        page.render(FIGURE.format(bounds=BOUNDS.rpartition("\n")[0]))
