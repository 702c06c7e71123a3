"""What the chapter on the company says in words, held against the filings typed here a second time.

NVIDIA's figures were typed from the summary tables of its own releases and the SEC's company facts, in millions.
"""

import runpy
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from gpumoat import as_of, fact
from gpumoat.facts import registry

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/en/moat/company.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def chapter() -> dict:
    return runpy.run_path(str(ROOT / "docs/examples/moat/company.py"))


def says(sentence: str) -> None:
    assert sentence in PAGE, "the page no longer says so"


def sunday(year: int) -> date:
    """Return the last Sunday of January, on which NVIDIA's fiscal year of that name ends."""
    last = date(year, 1, 31)
    return date(year, 1, 31 - (last.weekday() + 1) % 7)


@pytest.mark.parametrize("year", range(2006, 2027))
def test_a_fiscal_year_ends_on_the_last_sunday_of_its_january(year: int) -> None:
    says("ends on the last Sunday of January and takes the name of the year in which it ends")
    for kind in ("revenue", "net-income"):
        id = f"nvidia-{kind}-fy{year}"
        assert as_of(id) == sunday(year).isoformat()
        assert sunday(year).isoformat() in registry().facts[id].text("statement")


@pytest.mark.parametrize("year", range(2006, 2027))
def test_the_statement_says_the_value(year: int) -> None:
    for kind in ("revenue", "net-income"):
        row = registry().facts[f"nvidia-{kind}-fy{year}"]
        assert f"{abs(row.row['value']):,}" in row.text("statement")
        assert ("lost" in row.text("statement")) == (row.row["value"] < 0)


@pytest.mark.parametrize(("nvidia", "first"), [("fy2025", True), ("fy2026", False)])
def test_a_peers_year_is_the_one_that_ends_nearest(nvidia: str, first: bool) -> None:
    says("the year whose end lies nearest to the end of NVIDIA's")
    end = date.fromisoformat(as_of(f"nvidia-revenue-{nvidia}"))
    for peer, years in {
        "apple": ("fy2024", "fy2025"),
        "microsoft": ("fy2025", "fy2026"),
        "alphabet": ("fy2024", "fy2025"),
        "amd": ("fy2024", "fy2025"),
        "intel": ("fy2024", "fy2025"),
    }.items():
        chosen = date.fromisoformat(as_of(f"{peer}-revenue-{years[0 if first else 1]}"))
        assert abs((end - chosen).days) <= 183, "another year of that company ends nearer"


def test_the_lean_years(chapter: dict) -> None:
    says('bars NVIDIA kept {{ years[2]["margin_share"]:.0%}} at best, and twice it lost money')
    # 301.2 + 448.8 + 797.6 - 30.0 - 68.0 + 253.1 + 581.1 + 562.5 + 440 + 631 + 614, in millions
    assert chapter["lean_usd"] / 1e6 == pytest.approx(4531.3, abs=0.2)
    assert chapter["lean_now_years"] == pytest.approx(4531.3 / 120_067, rel=1e-3)
    assert chapter["band_count"] == 2
    assert chapter["losses_count"] == 2
    margins = [row["margin_share"] for row in chapter["years"]]
    assert max(margins[:11]) == margins[2] < 0.2 < min(margins[11:17])
    says("Then came years in which it kept {{ middle_low_share:.0%}} to {{ middle_high_share:.0%}}")
    assert (chapter["middle_low_share"], chapter["middle_high_share"]) == (min(margins[11:17]), max(margins[11:17]))


def test_the_two_years_in_the_lectures_range_are_no_neighbours(chapter: dict) -> None:
    says("and they are not neighbours")
    inside = [i for i, row in enumerate(chapter["years"][:11]) if 400e6 <= row["income_usd"] <= 500e6]
    assert len(inside) == 2
    assert inside[1] - inside[0] > 1


def test_the_lectures_early_margins(chapter: dict) -> None:
    assert (chapter["early_count"], chapter["range_count"]) == (18, 3)
    assert chapter["lowest_early_share"] == pytest.approx(-68 / 3326, abs=1e-4)
    assert chapter["highest_early_share"] == pytest.approx(9752 / 26914, abs=1e-4)


def test_the_lean_years_reach_further_than_the_lectures_range(chapter: dict) -> None:
    lean = [row["income_usd"] for row in chapter["years"][:11]]
    assert (chapter["worst_lean_usd"], chapter["best_lean_usd"]) == (min(lean), max(lean))
    for id in ("lecture-ten-years", "lecture-ten-years-high", "lecture-margin-before", "lecture-margin-before-high"):
        assert registry().claims[id].text("verdict") == "wrong"


def test_the_fall_before_the_rise(chapter: dict) -> None:
    says("its net income fell by {{ fall_share:.0%}}")
    assert chapter["fall_share"] == pytest.approx(1 - 4368 / 9752)
    says("the largest fall in dollars came just before the rise")
    incomes = [row["income_usd"] for row in chapter["years"]]
    falls = [before - after for before, after in pairwise(incomes)]
    assert chapter["years"][falls.index(max(falls)) + 1]["year"] == "fy2023"
    shares = [fall / before for fall, before in zip(falls, incomes, strict=False) if before > 0]
    assert max(shares) > chapter["fall_share"], "as a share, another fall was larger"
    first_trillion = date.fromisoformat(as_of("nvidia-value-2023-06-13"))
    assert (first_trillion - sunday(2023)).days < (sunday(2024) - sunday(2023)).days / 2


def test_the_peers(chapter: dict) -> None:
    says("In fy2025 NVIDIA still earned less than any of the three giants; a year later it had passed Apple")
    nvidia, apple, microsoft, alphabet, amd, intel = chapter["peers"]
    giants = (apple, microsoft, alphabet)
    assert all(nvidia["first_income_usd"] < giant["first_income_usd"] for giant in giants)
    assert apple["second_income_usd"] < nvidia["second_income_usd"]
    assert all(nvidia["second_income_usd"] < giant["second_income_usd"] for giant in (microsoft, alphabet))
    says("Its margin was the highest of the six in both")
    for column in ("first_margin_share", "second_margin_share"):
        assert all(nvidia[column] > peer[column] for peer in chapter["peers"][1:])
    says("and Intel lost money in both years")
    assert max(intel["first_income_usd"], intel["second_income_usd"]) < 0 < amd["first_income_usd"]


def test_the_market_paid_first(chapter: dict) -> None:
    says("Between them lies a rise in value, and a faster one in profit")
    first, last = chapter["values"][0], chapter["values"][-1]
    assert last["value_usd"] > first["value_usd"]
    assert last["profits_ratio"] < first["profits_ratio"]
    assert first["profits_ratio"] == pytest.approx(1.01e12 / 4.368e9)
    assert last["profits_ratio"] == pytest.approx(5.054e12 / 72.88e9)
    assert chapter["before_fall_ratio"] == pytest.approx(1.01e12 / 9.752e9)
    assert last["profits_ratio"] < chapter["before_fall_ratio"]
    days = [row["day"] for row in chapter["values"]]
    assert days == sorted(days)


def test_a_years_profit_was_over_when_it_is_compared(chapter: dict) -> None:
    for row in chapter["values"]:
        assert as_of(f"nvidia-net-income-{row['profit_year']}") < row["day"]


def test_at_the_margin_of_apple(chapter: dict) -> None:
    assert chapter["at_apple_usd"] / 1e9 == pytest.approx(215.938 * 112.010 / 416.161)
    assert chapter["above_apple_usd"] == fact("nvidia-net-income-fy2026") - chapter["at_apple_usd"]
