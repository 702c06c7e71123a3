"""Dates along the bottom of a figure lie where they belong in time."""

import re

import pytest

from gpumoat.site.figures import draw, stray_texts, year_of
from gpumoat.site.page import Column, Table


def table(dates: list[str]) -> Table:
    columns = [Column("name", "", "Who"), Column("when", "", "When")]
    found = Table("counts", columns)
    found.rows = [[f"row {place}", text] for place, text in enumerate(dates)]
    return found


def marks(dates: list[str]) -> list[float]:
    """Return where the points of a figure lie, from left to right as drawn."""
    svg = draw("points", table(dates), {"y": 0, "x": 1}, "figure-x", "Title", "Words").wide
    group = re.search(r'class="mark-symbol role-mark.*?</g>', svg, re.DOTALL)
    assert group
    return [float(place) for place in re.findall(r'transform="translate\(([\d.]+),', group[0])]


@pytest.mark.parametrize(
    ("text", "year"),
    [("2025-01-01", 2025.0), ("2024-07-02", 2024.5), ("2023", 2023 + 182 / 365), ("2025-02", 2025 + 31 / 365)],
)
def test_a_date_has_its_place_in_its_year(text: str, year: float) -> None:
    assert year_of(text) == pytest.approx(year)


@pytest.mark.parametrize("text", ["", "fy2025", "2025-13", "2025-02-30", "25-01-01", "2025-1"])
def test_what_is_no_date_has_no_place(text: str) -> None:
    assert year_of(text) is None


def test_an_uneven_step_in_time_is_an_uneven_step_on_paper() -> None:
    first, second, third = marks(["2017-01-01", "2018-01-01", "2026-01-01"])
    assert (third - second) / (second - first) == pytest.approx(8, rel=0.01)


def test_one_text_that_is_no_date_makes_them_all_names() -> None:
    first, second, third = marks(["2017-01-01", "2018-01-01", "soon"])
    assert third - second == pytest.approx(second - first)


def test_the_axis_shows_whole_years_without_a_comma() -> None:
    svg = draw("points", table(["2017-05", "2026-01"]), {"y": 0, "x": 1}, "figure-x", "Title", "Words").narrow
    labels = re.findall(r">(\d[\d,.]*)</text>", svg)
    assert labels
    assert all(re.fullmatch(r"20\d\d", label) for label in labels)
    assert stray_texts(svg, {"When", "row 0", "row 1"}) == []
