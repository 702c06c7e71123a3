"""From laser to working chip: vendors' published figures, properties, dimensions, and refused nonsense."""

import math
import random

import pint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumoat import lithography as litho
from gpumoat.facts import recording

steady = settings(deadline=None)  # a busy machine is no fault

NM, MM, CM2, MJ_PER_CM2, HOUR = 1e-9, 1e-3, 1e-4, 10.0, 3600.0
EUV, ARF = 13.5 * NM, 193 * NM
FIELD = 26 * MM * 33 * MM


# The image


@pytest.mark.parametrize(
    ("name", "wavelength", "na", "resolution", "k1"),
    [
        ("ASML NXE:3400C to NXE:3800E, product pages: 13 nm", EUV, 0.33, 13 * NM, 0.318),
        ("ASML EXE:5000, product page: 8 nm", EUV, 0.55, 8 * NM, 0.326),
        ("ASML NXT:2000i, product page: 38 nm", ARF, 1.35, 38 * NM, 0.266),
    ],
)
def test_published_resolutions_lie_above_the_limit_of_one_exposure(name, wavelength, na, resolution, k1):
    assert litho.k1_factor(resolution, wavelength, na) == pytest.approx(k1, abs=0.0005)
    assert litho.smallest_half_pitch_m(wavelength, na) < resolution
    assert litho.resolution_m(wavelength, na, litho.k1_factor(resolution, wavelength, na)) == pytest.approx(resolution)


def test_high_na_prints_1_7_times_finer():
    """ASML, 5 things you should know about High NA EUV: features 1.7 times smaller, density 2.9 times higher."""
    finer = litho.smallest_half_pitch_m(EUV, 0.33) / litho.smallest_half_pitch_m(EUV, 0.55)
    assert finer == pytest.approx(1.7, abs=0.05)
    assert finer**2 == pytest.approx(2.9, abs=0.15)


def test_finer_costs_depth():
    assert litho.depth_of_focus_m(EUV, 0.33) == pytest.approx(124 * NM, rel=0.001)
    assert litho.depth_of_focus_m(EUV, 0.55) == pytest.approx(44.6 * NM, rel=0.001)


# Photons


def test_photon_energies_of_the_handbook():
    """Levinson, Extreme Ultraviolet Lithography (2020): 92 eV at 13.5 nm; 6.4 eV at 193 nm."""
    electronvolt = 1.602176634e-19
    assert litho.photon_energy_j(EUV) / electronvolt == pytest.approx(91.84, abs=0.005)
    assert litho.photon_energy_j(ARF) / electronvolt == pytest.approx(6.424, abs=0.0005)


def test_a_photon_rests_on_two_constants_of_the_si():
    with recording() as reads:
        litho.photon_energy_j(EUV)
    assert {read.id for read in reads} == {"si.planck_j_per_hz", "si.light_m_per_s"}


def test_euv_brings_fourteen_times_fewer_photons():
    """Twenty in a square nanometre at 30 mJ/cm2, the figure of every text on shot noise."""
    euv = litho.photons_per_m2(30 * MJ_PER_CM2, litho.photon_energy_j(EUV))
    arf = litho.photons_per_m2(30 * MJ_PER_CM2, litho.photon_energy_j(ARF))
    assert euv * NM**2 == pytest.approx(20.4, abs=0.05)
    assert arf / euv == pytest.approx(193 / 13.5)


def test_shot_noise_of_a_contact():
    """The documentation of highuvlith: 2.2 % for 2,040 photons in a square of 10 nm at 30 mJ/cm2."""
    assert litho.shot_noise_share(2040) == pytest.approx(0.022, abs=0.0005)


def test_shot_noise_agrees_with_thrown_photons():
    """A thousand squares with a hundred photons each on average spread by a tenth."""
    dice, counts = random.Random(3), [0] * 1000
    for _ in range(100_000):
        counts[dice.randrange(1000)] += 1
    spread = math.sqrt(sum((count - 100) ** 2 for count in counts) / 1000) / 100
    assert spread == pytest.approx(litho.shot_noise_share(100), rel=0.1)


# The light's way


def test_source_of_the_nxe_3400b():
    """Fomenkov, EUV Source Workshop 2017: 21.5 kW of laser, 6 % conversion, 250 W at the focus, 50 kHz, 5 mJ."""
    in_band = litho.source_power_w(21_500, 0.06)
    assert in_band == pytest.approx(1290)
    assert litho.source_power_w(21_500, 0.06, 250 / in_band) == pytest.approx(250)
    assert litho.pulse_energy_j(250, 50_000) == pytest.approx(5e-3)


def test_eleven_mirrors_leave_two_per_cent():
    """Wikipedia, Extreme ultraviolet lithography: 4 + 6 mirrors and the mask, about 2 % left. Hecht: 1.4 % after 12."""
    assert litho.mirrors_share(0.7, 11) == pytest.approx(0.02, abs=0.001)
    assert litho.mirrors_share(0.7, 12) == pytest.approx(0.014, abs=0.0005)
    assert litho.mirrors_share(0.7, 0) == 1


@steady
@given(st.floats(0.01, 1), st.integers(0, 30), st.integers(0, 30))
def test_mirrors_in_a_row_multiply(reflectivity, first, second):
    together = litho.mirrors_share(reflectivity, first + second)
    apart = litho.chain_share(litho.mirrors_share(reflectivity, first), litho.mirrors_share(reflectivity, second))
    assert apart == pytest.approx(together)
    assert 0 < together <= 1


def test_droplets_fly_1_4_mm_apart():
    """ASML, Light and lasers: 70 m/s and 50,000 a second."""
    assert litho.spacing_m(70, 50_000) == pytest.approx(1.4 * MM)


# Wafers an hour


def nxe_3400c():
    """ASML NXE:3400C, product page: at least 170 wafers an hour at 20 mJ/cm2 and 135 at 30, 96 fields of 26 x 33 mm."""
    area = 96 * FIELD
    power = litho.implied_power_w(area, 20 * MJ_PER_CM2, 170 / HOUR, 30 * MJ_PER_CM2, 135 / HOUR)
    overhead = litho.implied_overhead_s(litho.exposure_s(20 * MJ_PER_CM2, area, power), 170 / HOUR)
    return area, power, overhead


def test_two_published_throughputs_give_power_and_overhead():
    area, power, overhead = nxe_3400c()
    assert power == pytest.approx(1.5, abs=0.005)
    assert overhead == pytest.approx(10.2, abs=0.05)
    for dose, wafers in ((20, 170), (30, 135)):
        rate = litho.wafers_per_s(litho.exposure_s(dose * MJ_PER_CM2, area, power), overhead)
        assert rate * HOUR == pytest.approx(wafers)


def test_the_fit_to_one_machine_predicts_the_next():
    """ASML NXE:3800E: a 500 W source in place of 250 W, and more than 195 wafers an hour at 30 mJ/cm2 as first sold."""
    area, power, overhead = nxe_3400c()
    predicted = litho.wafers_per_s(litho.exposure_s(30 * MJ_PER_CM2, area, 500 / 250 * power), overhead) * HOUR
    assert predicted == pytest.approx(195, rel=0.01)


@steady
@given(st.floats(1e-3, 1), st.floats(1, 1e3), st.floats(1.01, 5), st.floats(0.1, 100), st.floats(0, 100))
def test_a_machine_is_found_again_from_its_two_throughputs(area, dose, more, power, overhead):
    rates = [litho.wafers_per_s(litho.exposure_s(each, area, power), overhead) for each in (dose, more * dose)]
    if rates[1] < rates[0] * (1 - 1e-6):
        found = litho.implied_power_w(area, dose, rates[0], more * dose, rates[1])
        assert found == pytest.approx(power, rel=1e-4)


# Dies on a wafer


@pytest.mark.parametrize("width", [24.7, 25, 25.5, 25.8, 26])
def test_an_h100_die_of_any_printable_shape(width):
    """NVIDIA: 814 mm2, sides not published. The usual estimate gives 63, and texts on the H100 say about 60 to 65.

    The count lies a little above: an estimate does not know that a grid can be shifted until it fits best.
    """
    dies = litho.dies_on_wafer(width * MM, 814 / width * MM, 300 * MM, 3 * MM, 0.1 * MM)
    assert 64 <= dies <= 67
    assert dies == pytest.approx(litho.dies_less_edge(814e-6, 0.3), rel=0.06)
    assert litho.fits_field(width * MM, 814 / width * MM, 26 * MM, 33 * MM)


def test_a_square_of_814_mm2_cannot_be_printed():
    side = math.sqrt(814) * MM
    assert not litho.fits_field(side, side, 26 * MM, 33 * MM)
    assert litho.fits_field(33 * MM, 26 * MM, 26 * MM, 33 * MM)


def test_the_estimates_for_814_mm2():
    assert litho.dies_less_edge(814e-6, 0.3) == pytest.approx(63.5, abs=0.1)
    assert litho.dies_ferris_prabhu(814e-6, 0.3) == pytest.approx(71.8, abs=0.1)
    assert litho.dies_by_area(814e-6, 0.3) == pytest.approx(86.8, abs=0.1)


def brute(width, height, wafer, edge, scribe, shift_x, shift_y):
    """Count by looking at the four corners of every die, an independent and slow way."""
    radius, count = wafer / 2 - edge, 0
    reach = int(wafer / min(width, height)) + 2
    for column in range(-reach, reach + 1):
        for row in range(-reach, reach + 1):
            x = (column + shift_x) * (width + scribe) - width / 2
            y = (row + shift_y) * (height + scribe) - height / 2
            corners = [(x + a, y + b) for a in (0, width) for b in (0, height)]
            count += all(math.hypot(*corner) <= radius * (1 + 1e-12) for corner in corners)
    return count


@settings(deadline=None, max_examples=60)
@given(
    st.floats(20, 200),
    st.floats(20, 200),
    st.floats(0, 20),
    st.floats(0, 5),
    st.sampled_from([0, 0.5]),
    st.sampled_from([0, 0.5, 0.3]),
)
def test_the_count_is_what_looking_at_every_corner_gives(width, height, edge, scribe, shift_x, shift_y):
    counted = litho.placed_dies(width, height, 300, edge, scribe, shift_x, shift_y)
    exact = brute(width, height, 300, edge, scribe, shift_x, shift_y)
    assert counted == exact or (abs(counted - exact) <= 4 and touches(width, height, edge, scribe, shift_x, shift_y))


def touches(width, height, edge, scribe, shift_x, shift_y):
    """Say whether the count hangs on rounding: whether a wafer larger by a billionth holds another number."""
    near = [brute(width, height, 300 * (1 + change), edge, scribe, shift_x, shift_y) for change in (-1e-8, 1e-8)]
    return near[0] != near[1]


def test_a_die_that_touches_the_edge_counts():
    """Corners 3-4-5: one die of 6 x 8 in a circle of diameter 10; four of 3 x 4 too."""
    assert litho.dies_on_wafer(6, 8, 10) == 1
    assert litho.dies_on_wafer(3, 4, 10) == 4
    assert litho.dies_on_wafer(6.000001, 8, 10) == 0


@steady
@given(st.floats(0.005, 0.03), st.floats(0.005, 0.03))
def test_no_count_beats_the_area_and_turning_the_wafer_changes_nothing(width, height):
    dies = litho.dies_on_wafer(width, height, 0.3, 0.003, 0.0001)
    assert dies <= litho.dies_by_area(width * height, 0.3)
    assert dies == litho.dies_on_wafer(height, width, 0.3, 0.003, 0.0001)
    assert dies <= litho.dies_on_wafer(width, height, 0.3)


def test_the_estimate_is_near_the_count_for_small_square_dies():
    for side in (5 * MM, 8 * MM, 12 * MM):
        counted = litho.dies_on_wafer(side, side, 300 * MM)
        assert litho.dies_less_edge(side**2, 300 * MM) == pytest.approx(counted, rel=0.03)


# Yield


@steady
@given(st.floats(1e-9, 20), st.floats(0.1, 100))
def test_clustered_defects_spare_more_dies(mean, clustering):
    poisson, murphy, seeds = (litho.yield_share(1, mean, model) for model in ("poisson", "murphy", "seeds"))
    clustered = litho.yield_share(1, mean, "negative-binomial", clustering)
    slack = 1 + 1e-12
    assert 0 < poisson <= murphy * slack
    assert murphy <= seeds * slack
    assert poisson <= clustered * slack
    assert clustered <= 1


def test_the_limits_of_the_negative_binomial():
    assert litho.yield_share(1, 0.8, "negative-binomial", 1) == pytest.approx(litho.yield_share(1, 0.8, "seeds"))
    assert litho.yield_share(1, 0.8, "negative-binomial", 1e9) == pytest.approx(litho.yield_share(1, 0.8, "poisson"))


def test_anandtechs_yield_of_a_chip_of_100_mm2():
    """AnandTech on TSMC's 5 nm process: 1.271 defects a square centimetre leave 32.0 % of dies of 100 mm2 (Murphy)."""
    assert litho.yield_share(1 * CM2, 1.271 / CM2, "murphy") == pytest.approx(0.320, abs=0.002)


def test_poisson_agrees_with_thrown_defects():
    """Defects thrown at random dies: the share that none hits is exp(-x)."""
    dice, dies, mean = random.Random(7), 20_000, 0.814
    hit = {dice.randrange(dies) for _ in range(int(dies * mean))}
    assert 1 - len(hit) / dies == pytest.approx(litho.yield_share(1, mean), abs=0.01)


def test_no_defects_no_loss_and_good_dies():
    for model in litho.YIELD_MODELS[:3]:
        assert litho.yield_share(1, 0, model) == 1
    assert litho.yield_share(1, 0, "negative-binomial", 2) == 1
    assert litho.good_dies(62, 0.5) == 31


# Dimensions


def test_units_come_out_right():
    u = pint.UnitRegistry()
    wavelength, dose = 13.5 * u.nm, 30 * u.mJ / u.cm**2
    planck, light = 6.62607015e-34 * u.J / u.Hz, 299792458 * u.m / u.s
    photon = litho.photon_energy_j(wavelength, planck, light)
    assert photon.to(u.eV).magnitude == pytest.approx(91.84, abs=0.005)
    assert litho.photons_per_m2(dose, photon).to(1 / u.nm**2).magnitude == pytest.approx(20.4, abs=0.05)
    assert litho.resolution_m(wavelength, 0.33, 0.32).to(u.nm).magnitude == pytest.approx(13.09, abs=0.01)
    assert litho.smallest_half_pitch_m(wavelength, 0.33).check("[length]")
    assert litho.depth_of_focus_m(wavelength, 0.33).check("[length]")
    assert litho.k1_factor(13 * u.nm, wavelength, 0.33).check("[]")
    assert litho.spacing_m(70 * u.m / u.s, 50 * u.kHz).to(u.mm).magnitude == pytest.approx(1.4)
    assert litho.pulse_energy_j(250 * u.W, 50 * u.kHz).to(u.mJ).magnitude == pytest.approx(5)
    assert litho.source_power_w(21.5 * u.kW, 0.06).to(u.W).magnitude == pytest.approx(1290)
    area = 96 * 26 * u.mm * 33 * u.mm
    time = litho.exposure_s(dose, area, 1.5 * u.W)
    assert time.to(u.s).magnitude == pytest.approx(16.47, abs=0.01)
    rate = litho.wafers_per_s(time, 10 * u.s)
    assert rate.to(1 / u.hour).magnitude == pytest.approx(136, abs=0.1)
    assert litho.implied_overhead_s(time, rate).to(u.s).magnitude == pytest.approx(10)
    low = litho.wafers_per_s(litho.exposure_s(dose / 2, area, 1.5 * u.W), 10 * u.s)
    assert litho.implied_power_w(area, dose / 2, low, dose, rate).to(u.W).magnitude == pytest.approx(1.5)
    die = 814 * u.mm**2
    assert litho.dies_by_area(die, 30 * u.cm).to("").magnitude == pytest.approx(86.8, abs=0.1)
    assert litho.dies_less_edge(die, 30 * u.cm).to("").magnitude == pytest.approx(63.5, abs=0.1)
    assert litho.dies_ferris_prabhu(die, 30 * u.cm).to("").magnitude == pytest.approx(71.8, abs=0.1)
    assert litho.yield_share(die, 0.1 / u.cm**2) == pytest.approx(0.443, abs=0.001)
    counted = litho.dies_on_wafer(26 * u.mm, 31.3 * u.mm, 30 * u.cm, 3 * u.mm, 100 * u.um)
    assert counted == litho.dies_on_wafer(0.026, 0.0313, 0.3, 0.003, 0.0001)
    assert litho.fits_field(26 * u.mm, 3.13 * u.cm, 26 * u.mm, 33 * u.mm)


@pytest.mark.parametrize(
    "call",
    [
        lambda u: litho.exposure_s(30 * u.mJ, 1 * u.cm**2, 1 * u.W) + 1 * u.s,
        lambda u: litho.wafers_per_s(10 * u.s, 5 * u.m),
        lambda u: litho.dies_on_wafer(26 * u.mm, 31 * u.mm, 300 * u.mm, 3 * u.s),
        lambda u: litho.yield_share(814 * u.mm**2, 0.1 / u.cm),
    ],
)
def test_units_that_do_not_fit_are_refused(call):
    with pytest.raises(pint.DimensionalityError):
        call(pint.UnitRegistry())


# Nonsense


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: litho.resolution_m(0, 0.33, 0.3), "wavelength_m"),
        (lambda: litho.resolution_m(EUV, -1, 0.3), "na"),
        (lambda: litho.resolution_m(EUV, 0.33, 0.2), "k1 must be at least 0.25"),
        (lambda: litho.depth_of_focus_m(EUV, math.nan), "na"),
        (lambda: litho.k1_factor(math.inf, EUV, 0.33), "half_pitch_m"),
        (lambda: litho.photon_energy_j(-EUV), "wavelength_m"),
        (lambda: litho.photons_per_m2(0, 1), "dose_j_per_m2"),
        (lambda: litho.shot_noise_share(0), "photons"),
        (lambda: litho.spacing_m(70, 0), "rate_hz"),
        (lambda: litho.pulse_energy_j(0, 1), "power_w"),
        (lambda: litho.chain_share(0.5, 1.5), "share"),
        (lambda: litho.mirrors_share(0, 3), "reflectivity_share"),
        (lambda: litho.mirrors_share(0.7, 1.5), "mirrors_count"),
        (lambda: litho.mirrors_share(0.7, -1), "mirrors_count"),
        (lambda: litho.source_power_w(-1, 0.06), "laser_w"),
        (lambda: litho.source_power_w(1, 6), "share"),
        (lambda: litho.exposure_s(300, 0, 1), "area_m2"),
        (lambda: litho.wafers_per_s(0, 1), "exposure_s"),
        (lambda: litho.wafers_per_s(1, -1), "overhead_s"),
        (lambda: litho.implied_power_w(1, 300, 1, 200, 0.5), "high_dose_j_per_m2"),
        (lambda: litho.implied_power_w(1, 200, 0.5, 300, 1), "high_wafers_per_s"),
        (lambda: litho.implied_overhead_s(10, 1), "exposure_s"),
        (lambda: litho.fits_field(1, 1, 0, 1), "field_width_m"),
        (lambda: litho.dies_on_wafer(0, 1, 10), "width_m"),
        (lambda: litho.dies_on_wafer(1, 1, 10, 5), "edge_m"),
        (lambda: litho.dies_on_wafer(1, 1, 10, -1), "edge_m"),
        (lambda: litho.dies_on_wafer(1, 1, 10, 0, math.nan), "scribe_m"),
        (lambda: litho.dies_by_area(0, 1), "die_m2"),
        (lambda: litho.dies_less_edge(1, 0), "wafer_m"),
        (lambda: litho.yield_share(1, -1), "defects_per_m2"),
        (lambda: litho.yield_share(1, math.inf), "defects_per_m2"),
        (lambda: litho.yield_share(1, 1, "moore"), "poisson, murphy"),
        (lambda: litho.yield_share(1, 1, "negative-binomial"), "clustering is missing"),
        (lambda: litho.yield_share(1, 1, "murphy", 2), "clustering belongs"),
        (lambda: litho.yield_share(1, 1, "negative-binomial", 0), "clustering"),
        (lambda: litho.good_dies(-1, 0.5), "dies_count"),
        (lambda: litho.good_dies(1, 2), "yield_share"),
    ],
)
def test_nonsense_is_refused_by_the_name_of_its_field(call, field):
    with pytest.raises(ValueError, match=field):
        call()
