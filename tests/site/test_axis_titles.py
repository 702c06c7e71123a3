"""Titles of axes: broken into lines where the drawing is narrow, whole where there is room, never cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat.site import figures, trace_picture
from gpumoat.site.drawing import LETTER, axis_title

LONG = "Memory that all the cards of one server have together for a program (GiB)"
FIGURE = """\
/// figure | rows
    chart: {chart}
    x: {x}
    y: {y}
    title: Memory
    alt: Memory.
Memory.
///
"""
CHARTS = [
    {"chart": "bars", "x": f"memory_bytes:.1f GiB | {LONG}", "y": "card | Card"},
    {"chart": "points", "x": f"cards | {LONG}", "y": f"memory_bytes:.1f GiB | {LONG}"},
    {"chart": "lines", "x": f"cards | {LONG}", "y": f"memory_bytes:.1f GiB | {LONG}"},
    {"chart": "touches", "x": f"cards | {LONG}", "y": "cards | Thread"},
]
NARROWEST = 5.6
"""Pixels of a letter at 12 px in a narrow font, where the drawing allows for more."""


def titles(svg: str) -> list[tuple[float, list[str]]]:
    """The axis titles of a drawing, the horizontal one first: where its middle lies, and its lines."""
    found = []
    for text in re.findall(r'role-axis-title"[^>]*>(<text.*?</text>)', svg, re.DOTALL):
        place = re.search(r"translate\(([-\d.]+),", text)
        lines = re.findall(r"<tspan[^>]*>(.*?)</tspan>", text) or re.findall(r"<text[^>]*>(.*?)</text>", text)
        found.append((float(place[1]), lines, "rotate" in text))
    return [(place, lines) for place, lines, turned in sorted(found, key=lambda each: each[2])]


def beyond(svg: str) -> list[str]:
    """The lines of the horizontal title that reach out of the drawing."""
    left, _, width, _ = (float(part) for part in re.search(r'viewBox="([^"]+)"', svg)[1].split())
    (shift,) = re.findall(r'transform="translate\(([\d.]+),[\d.]+\)"', svg)[:1]
    middle, lines = titles(svg)[0]
    middle += float(shift) - left
    return [line for line in lines if not len(line) * NARROWEST / 2 <= min(middle, width - middle)]


def svg_of(checkout, settings, size) -> str:
    page = checkout.render(FIGURE.format(**settings)).page
    table = page.tables["rows"]
    roles = {"y": 0, "x": 1}
    drawing = figures.draw(settings["chart"], table, roles, "figure-rows", "Memory", "Memory.")
    return getattr(drawing, size)


@pytest.mark.parametrize("settings", CHARTS, ids=lambda each: each["chart"])
@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_a_long_title_stays_inside_and_whole(checkout, settings, size):
    svg = svg_of(checkout, settings, size)
    assert beyond(svg) == []
    assert {" ".join(lines) for _, lines in titles(svg)} <= {LONG, "Card", "Thread"}
    assert size == "wide" or len(titles(svg)[0][1]) > 1


@pytest.mark.parametrize("settings", CHARTS, ids=lambda each: each["chart"])
def test_without_breaking_it_would_be_cut(checkout, settings, monkeypatch):
    """The planted fault: the titles as they were."""
    monkeypatch.setattr(figures, "_drawn", {})
    for module in (figures, trace_picture):
        monkeypatch.setattr(module, "axis_title", lambda text, pixels: text)
    assert beyond(svg_of(checkout, settings, "narrow")) == [LONG]


def test_a_title_that_fits_is_one_text(checkout):
    short = {"chart": "bars", "x": "memory_bytes:.1f GiB | Memory (GiB)", "y": "card | Card"}
    assert "<tspan" not in svg_of(checkout, short, "narrow")


def test_a_broken_title_is_one_text_of_the_page():
    """Its lines are no texts of their own, which nobody allowed; another word among them is found."""
    svg = "<svg><text><tspan>Memory of</tspan><tspan>a card</tspan></text></svg>"
    assert figures.stray_texts(svg, {"Memory of a card"}) == []
    assert figures.stray_texts(svg.replace("a card", "two cards"), {"Memory of a card"}) == ["Memory of two cards"]


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), min_size=1), st.floats(0, 1000))
def test_no_word_is_lost_and_no_line_too_long(words, pixels):
    text = " ".join(words)
    found = axis_title(text, pixels)
    lines = [found] if isinstance(found, str) else found
    assert " ".join(lines) == text
    assert all(len(line) * LETTER <= pixels or " " not in line for line in lines)
