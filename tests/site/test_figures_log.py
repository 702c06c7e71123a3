"""Figures: a log axis, labels beside points, and what cannot be drawn."""

import re

import pytest

from gpumoat.site import figures
from gpumoat.site.numbers import Inline, Number
from gpumoat.site.page import Column, Table
from gpumoat.site.provenance import Origin


def number(value):
    text = f"{value} W"
    return Number(Inline("power_w", "", "power_w"), text, text, Origin(value, "computed", "power_w"))


def draw(values, chart="points", scale="log"):
    columns = [Column("stage", "", "Stage"), Column("power_w", ".0f W", "Power (W)")]
    rows = [[f"stage {index}", number(value)] for index, value in enumerate(values)]
    return figures.draw(chart, Table("chain", columns, rows), {"y": 0, "x": 1}, "f", "A chain", "Points.", scale)


def places(svg):
    """Return where the points lie, from left to right, in the order of the records."""
    marks = re.search(r'class="mark-symbol role-mark.*?</g>', svg, re.DOTALL)[0]
    return [float(x) for x in re.findall(r'transform="translate\(([\d.]+),', marks)]


def test_on_a_log_axis_equal_factors_are_equal_steps():
    one, ten, hundred = places(draw([1, 10, 100]).wide)
    assert ten - one == pytest.approx(hundred - ten, abs=0.01)
    one, ten, hundred = places(draw([1, 10, 100], scale="").wide)
    assert hundred - ten > 5 * (ten - one)


def test_points_with_names_carry_their_formatted_number_inside_the_drawing():
    drawing = draw([1, 1_000_000])
    for svg in (drawing.wide, drawing.narrow):
        assert 'text-anchor="end"' in re.search(r"<text[^>]*>1000000 W", svg)[0]
        assert 'text-anchor="start"' in re.search(r"<text[^>]*>1 W", svg)[0]
        allowed = {"1 W", "1000000 W", "Power (W)", "stage 0", "stage 1"}
        assert figures.stray_texts(svg, allowed) == []
        assert figures.stray_texts(svg, allowed - {"1 W"}) == ["1 W"]


def test_a_log_axis_has_no_zero():
    with pytest.raises(ValueError, match="above zero"):
        draw([0, 1])
    with pytest.raises(ValueError, match="bars begin at zero"):
        draw([1, 10], chart="bars")
