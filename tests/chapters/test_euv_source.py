"""The chapter on the EUV source: sentences that a number supports, and figures from elsewhere that agree with it."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOUR = 3600


@pytest.fixture(scope="module")
def found():
    return runpy.run_path(str(ROOT / "docs" / "examples" / "silicon" / "euv-source.py"))


def test_most_of_the_light_is_lost_in_two_places(found):
    """The lede. From laser to plasma and from focus to wafer; the collector loses less than either."""
    steps = [1 / found["conversion_share"], 1 / found["collected_share"], 1 / found["arriving_share"]]
    assert steps[0] > 3 * steps[1]
    assert steps[2] > 3 * steps[1]


def test_it_divides_a_metre_by_that_many_millions(found):
    """Droplets of 30 millionths of a metre, and the lecture's one part in 30 millions."""
    assert found["large_droplet_m"] == pytest.approx(30e-6)
    assert found["lecture_droplet_m"] == pytest.approx(1 / 30e6)


def test_the_chain_only_ever_loses(found):
    powers = [row["power_w"] for row in found["chain"]]
    assert powers == sorted(powers, reverse=True)


def test_about_two_per_cent_of_the_light_pass_the_mirrors(found):
    """Wikipedia, Extreme ultraviolet lithography: with 11 reflections, only about 2 % of the source's light arrives."""
    assert found["mirrors"] == 11
    assert found["mirrors_share"] == pytest.approx(0.02, abs=0.002)


def test_energy_of_a_wafer_agrees_with_another_text(found):
    """Wikipedia: 9.64 kWh a wafer pass for the NXE:3400C at 30 mJ/cm2, at 136 wafers an hour."""
    assert found["wafer_j"] / 3.6e6 == pytest.approx(9.64, rel=0.02)


def test_foretold_to_a_wafer_and_then_faster_than_light_alone(found):
    """The table of machines: the second row agrees by itself, the last two are faster than foretold."""
    rows = [(row["foretold_wafers_per_s"] * HOUR, row["stated_wafers_per_s"] * HOUR) for row in found["machines"]]
    assert rows[0][0] == pytest.approx(rows[0][1])
    assert abs(rows[1][0] - rows[1][1]) < 1
    assert rows[2][1] > rows[2][0] + 10
    assert rows[3][1] > rows[3][0] + 10


def test_what_is_not_light_must_shrink(found):
    """The problem of the coming years: of a wafer's time, less than half is then light."""
    assert found["next_overhead_s"] < found["overhead_s"]
    assert found["next_exposure_s"] < found["next_overhead_s"]
    assert found["exposure_s"] > found["overhead_s"]


def test_mirrors_of_63_per_cent_would_explain_the_gap(found):
    assert found["source_w"] * found["explaining_share"] ** found["mirrors"] == pytest.approx(found["wafer_w"])
    assert found["explaining_share"] < found["reflectivity_share"]


def test_a_tenth_more_laser_is_not_a_tenth_more_wafers(found):
    """First question."""
    faster = 1 / (found["exposure_s"] / 1.1 + found["overhead_s"])
    assert 1.03 < faster / found["wafers_per_s"] < 1.07


def test_an_h100_no_longer_fits_in_half_a_field(found):
    """Second question."""
    assert found["die_m2"] > 26e-3 * 33e-3 / 2


def test_the_usual_price_is_about_half_of_the_dearest(found):
    """The explanation of the claim on the price, in yuan at 6.5 to 7.5 a dollar too: between 1.3 and 3 billion."""
    assert found["usual_price_usd"] / found["price_usd"] == pytest.approx(0.5, abs=0.06)
    assert found["usual_price_usd"] * 7.1 == pytest.approx(1.3e9, rel=0.01)
    assert found["price_usd"] * 7.5 == 3e9
