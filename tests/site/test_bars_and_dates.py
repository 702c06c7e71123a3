"""Labels of bars stand beyond their ends, on whichever side of zero that is; a date in a table is one word."""

import re

import pytest

from gpumoat.site.figures import draw
from gpumoat.site.numbers import Inline, Number
from gpumoat.site.page import Column, Table
from gpumoat.site.provenance import Origin
from gpumoat.site.tables import text_html


def bars(*values: float) -> str:
    """Return a drawing of horizontal bars, named a, b, c …, labelled with their values."""
    table = Table("bars", [Column("name", "", "Name"), Column("size", ".0f", "Size")])
    for name, value in zip("abcdef", values, strict=False):
        number = Number(Inline("size", ".0f", ""), f"{value:.0f}", str(value), Origin(value, "computed", "size"))
        table.rows.append([name, number])
    return draw("bars", table, {"y": 0, "x": 1}, "figure-x", "Title", "Words").wide


def label(svg: str, text: str) -> str:
    """Return the tag of the label with that text."""
    tags = [tag for tag in re.findall(r"<text[^>]*>[^<]*</text>", svg) if tag.endswith(f">{text}</text>")]
    return next(tag for tag in tags if "translate" in tag and 'text-anchor="middle"' not in tag)


def test_a_bar_below_zero_has_its_label_on_the_left() -> None:
    svg = bars(41, -17)
    assert 'text-anchor="start"' in label(svg, "41")
    assert 'text-anchor="end"' in label(svg, "-17")


def test_bars_above_zero_need_no_second_layer() -> None:
    assert 'text-anchor="end"' not in label(bars(41, 17), "17")


@pytest.mark.parametrize("text", ["2026-11-30", "2026-11"])
def test_a_date_is_one_word(text: str) -> None:
    assert text_html(text) == f'<time datetime="{text}">{text}</time>'


@pytest.mark.parametrize(("text", "html"), [("fy2025", "fy2025"), ("a < b", "a &lt; b"), ("2026", "2026")])
def test_other_text_is_text(text: str, html: str) -> None:
    assert text_html(text) == html
