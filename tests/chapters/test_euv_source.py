"""The claims in the prose of silicon/euv-source that a number supports, each with its sentence.

Numbers from elsewhere that are used here: Wikipedia's article on EUV lithography (about 2 % of the light after 11
reflections, 9.64 kWh a wafer), and the sides of a scanner's field, 26 mm and 33 mm.
"""

from __future__ import annotations

import pytest

HOUR, KWH = 3600, 3.6e6


@pytest.fixture
def chapter(chapter_of):
    """The chapter."""
    return chapter_of("silicon/euv-source")


@pytest.fixture
def n(chapter):
    """The names of its worked example."""
    return chapter.n


def rows_of(n) -> list[tuple[float, float]]:
    """Return foretold and stated wafers an hour of each machine."""
    return [(row["foretold_wafers_per_s"] * HOUR, row["stated_wafers_per_s"] * HOUR) for row in n.machines]


def test_the_lede(chapter, n) -> None:
    assert chapter.says("About … to … of …: … to …. Of every watt, … is lost where the laser's light becomes EUV")
    assert n.lost_first_share == pytest.approx(0.94)
    assert chapter.says("and most of the rest before the light enters the scanner")
    assert (n.plasma_w - n.source_w) / (n.plasma_w - n.wafer_w) > 0.75
    assert n.low_wafer_w < n.wafer_w < n.high_wafer_w
    to_plasma, to_focus, to_wafer = 1 / n.conversion_share, 1 / n.collected_share, 1 / n.arriving_share
    assert to_plasma > 3 * to_focus
    assert to_wafer > 3 * to_focus
    assert n.laser_share == pytest.approx(1 / (to_plasma * to_focus * to_wafer))


def test_the_droplet_of_the_lecture(chapter, n) -> None:
    assert chapter.says("It divides a metre by that many millions where that many millionths of a metre")
    assert n.large_droplet_m == pytest.approx(30e-6)
    assert n.lecture_droplet_m == pytest.approx(1 / 30e6)


def test_the_mirrors(chapter, n) -> None:
    assert chapter.says("which for … of them is …. So at best … arrive.")
    assert n.mirrors == 11
    assert n.mirrors_share == pytest.approx(0.02, abs=0.002)
    assert n.best_w == pytest.approx(250 * 0.7**11)


def test_two_mirrors_fewer(chapter, n) -> None:
    assert chapter.says("Two mirrors fewer would give … the light")
    assert n.spared_ratio == pytest.approx(0.7**9 / 0.7**11)


def test_the_power_that_arrives(chapter, n) -> None:
    """By hand: 96 fields of 8.58 cm2 at 10 mJ/cm2 more take 8.24 J more, in 3600/135 - 3600/170 = 5.49 s more."""
    assert chapter.says("So the additional seconds are what the additional energy takes")
    assert n.wafer_w == pytest.approx(96 * 8.58 * 0.01 / (3600 / 135 - 3600 / 170))


def test_each_step_is_a_loss(chapter, n) -> None:
    assert chapter.says("Each step to the left is a loss.")
    powers = [row["power_w"] for row in n.chain]
    assert powers == sorted(powers, reverse=True)


def test_what_would_explain_the_difference(chapter, n) -> None:
    assert chapter.says("a little at each of … is much: … in place of … would explain it all.")
    assert n.source_w * n.explaining_share**n.mirrors == pytest.approx(n.wafer_w)
    assert 0 < n.reflectivity_share - n.explaining_share < 0.1


def test_the_table_of_machines(chapter, n) -> None:
    assert chapter.says("The first row agrees by construction, the second by itself.")
    assert chapter.says("It does, but that it does so to a wafer is luck")
    assert n.slow_wafers_per_s < rows_of(n)[1][0] / HOUR < n.fast_wafers_per_s
    assert n.slow_wafers_per_s * HOUR == pytest.approx(191, abs=1)
    assert n.fast_wafers_per_s * HOUR == pytest.approx(205, abs=1)
    assert chapter.says("the upgraded machine and the planned one are faster than light alone makes them")
    rows = rows_of(n)
    assert rows[0][0] == pytest.approx(rows[0][1])
    assert abs(rows[1][0] - rows[1][1]) < 1
    assert rows[2][1] > rows[2][0] + 10
    assert rows[3][1] > rows[3][0] + 10


def test_tin_is_no_longer_the_problem(chapter, n) -> None:
    assert chapter.says("the problem of the coming years is no longer tin. It is moving a wafer.")
    assert n.exposure_s > n.overhead_s
    assert n.next_exposure_s < n.next_overhead_s < n.overhead_s


def test_the_energy_of_a_wafer(chapter, n) -> None:
    assert chapter.says("The mains pay … for one layer of one wafer")
    assert n.wafer_j / KWH == pytest.approx(9.64, rel=0.02)


def test_the_estimate_lies_below_the_count(chapter, n) -> None:
    assert chapter.says("The usual estimate, which knows neither shape nor placement, says …")
    assert n.estimated_dies < n.fewest_dies <= n.most_dies


def test_a_stronger_laser(chapter, n) -> None:
    assert chapter.says("Only the … with light shrink, and the … without it stay.")
    faster = 1 / (n.exposure_s / 1.1 + n.overhead_s) / n.wafers_per_s
    low = n.exposure_s * n.low_dose_j_per_m2 / n.dose_j_per_m2
    low_faster = 1 / (low / 1.1 + n.overhead_s) / n.low_wafers_per_s
    assert chapter.says("At the lower dose of the data sheet it would gain even less.")
    assert 1 < low_faster < faster < 1.1


def test_half_a_field(chapter, n) -> None:
    assert chapter.says("so a chip of the size of an H100 no longer fits in one piece")
    assert n.die_m2 > 26e-3 * 33e-3 / 2
    assert n.shallow_m < n.deep_m


def test_the_margin_to_the_limit_of_optics(chapter, n) -> None:
    assert chapter.says("Both figures leave the same margin.")
    assert n.line_k1 == pytest.approx(n.fine_k1, rel=0.03)
    assert n.line_k1 > 0.25


def test_the_prices(chapter, n) -> None:
    assert chapter.says("The price is right in yuan, and the lecture writes dollars.")
    assert n.lecture_price_usd > 4 * n.price_usd
    assert n.usual_price_usd / n.price_usd == pytest.approx(0.5, abs=0.06)
    assert n.usual_price_usd * 6.5 > 1e9
