"""How a scanner turns laser power into wafers, and wafers into chips that work.

The chain is followed link by link: the laser's power, the share that becomes light of the right colour, the share
that the mirrors pass on, the energy that a resist asks for, the seconds that a wafer then takes, the dies that fit
on it, and the share of them without a defect.

Promises: each function is one formula, with its source, in SI units that its arguments' names state. Formulas are
plain arithmetic: a quantity that carries its unit passes through, and the tests send some. Dies are counted, not
estimated; the usual estimates stand beside the count, to be compared with it. What no machine can do, such as a
share above one, is refused.

Left out: how an image forms (partial coherence, aberrations, the thick mask), what the resist does with the light,
defects that are no accident (edge of the wafer, systematic faults), and repair by spare parts of a chip.

Standard library only; runs on MicroPython.
"""

from __future__ import annotations

import math

from gpumoat.facts import fact

K1_FLOOR = 1 / 4
"""The least k1 of one exposure: lines closer than that send no second beam of light through the lens."""

YIELD_MODELS = ("poisson", "murphy", "seeds", "negative-binomial")
"""How the defects of a wafer are spread, in the order of their inventors' years."""

TOUCHING = 1 / 2**30
"""A die that overlaps the edge by less than this share of its pitch touches it: floats round, wafers do not."""


# The image


def resolution_m(wavelength_m: float, na: float, k1: float) -> float:
    """Return the smallest half-pitch that one exposure prints: k1 times wavelength over numerical aperture.

    Rayleigh (1879), in the form of Levinson, Principles of Lithography, section on the diffraction limit. The
    half-pitch is the width of a line among lines and gaps of equal width.

    Args:
        wavelength_m: Wavelength in vacuum.
        na: Numerical aperture on the wafer's side; above 1 it needs a liquid between lens and wafer.
        k1: What process, mask and illumination leave of the ideal; no single exposure goes below `K1_FLOOR`.

    Raises:
        ValueError: An argument is not above zero, or k1 is below what one exposure can do.
    """
    _positive("wavelength_m", wavelength_m)
    _positive("na", na)
    _positive("k1", k1)
    if k1 < K1_FLOOR:
        raise ValueError(f"k1 must be at least {K1_FLOOR} for one exposure, not {k1}")
    return k1 * wavelength_m / na


def smallest_half_pitch_m(wavelength_m: float, na: float) -> float:
    """Return the half-pitch at which the light of one exposure no longer makes an image: wavelength / (4 na)."""
    return resolution_m(wavelength_m, na, K1_FLOOR)


def k1_factor(half_pitch_m: float, wavelength_m: float, na: float) -> float:
    """Return the k1 that a stated resolution implies; below `K1_FLOOR` the pattern takes several exposures.

    Raises:
        ValueError: An argument is not above zero.
    """
    _positive("half_pitch_m", half_pitch_m)
    _positive("wavelength_m", wavelength_m)
    _positive("na", na)
    return half_pitch_m * na / wavelength_m


def depth_of_focus_m(wavelength_m: float, na: float, k2: float = 1) -> float:
    """Return the whole depth in which the image stays sharp: k2 times wavelength over aperture^2.

    With k2 = 1 it is Rayleigh's quarter-wave limit, half of it on either side of the best focus. It holds for small
    apertures and in vacuum or air: at 0.55 it is an order of size, and under water the wavelength is shorter.

    Raises:
        ValueError: An argument is not above zero.
    """
    _positive("wavelength_m", wavelength_m)
    _positive("na", na)
    _positive("k2", k2)
    return k2 * wavelength_m / na**2


# Photons


def photon_energy_j(
    wavelength_m: float, planck_j_per_hz: float | None = None, light_m_per_s: float | None = None
) -> float:
    """Return the energy of one photon: Planck's constant times the speed of light over the wavelength.

    Args:
        wavelength_m: Wavelength in vacuum.
        planck_j_per_hz: Planck's constant; the SI's own where it is left out.
        light_m_per_s: Speed of light; the SI's own where it is left out.

    Raises:
        ValueError: The wavelength is not above zero.
    """
    _positive("wavelength_m", wavelength_m)
    planck = fact("si.planck_j_per_hz") if planck_j_per_hz is None else planck_j_per_hz
    light = fact("si.light_m_per_s") if light_m_per_s is None else light_m_per_s
    return planck * light / wavelength_m


def photons_per_m2(dose_j_per_m2: float, photon_j: float) -> float:
    """Return how many photons of one energy make a dose.

    Raises:
        ValueError: An argument is not above zero.
    """
    _positive("dose_j_per_m2", dose_j_per_m2)
    _positive("photon_j", photon_j)
    return dose_j_per_m2 / photon_j


def shot_noise_share(photons: float) -> float:
    """Return how much a number of photons varies by chance alone: one standard deviation over the mean, 1 / sqrt(n).

    Photons arrive independently of each other, so their number is Poisson's.

    Raises:
        ValueError: The number is not above zero.
    """
    _positive("photons", photons)
    spread: float = 1 / photons ** (1 / 2)
    return spread


# The light's way


def spacing_m(speed_m_per_s: float, rate_hz: float) -> float:
    """Return how far apart droplets fly that leave a nozzle at a steady rate.

    Raises:
        ValueError: An argument is not above zero.
    """
    _positive("speed_m_per_s", speed_m_per_s)
    _positive("rate_hz", rate_hz)
    return speed_m_per_s / rate_hz


def pulse_energy_j(power_w: float, rate_hz: float) -> float:
    """Return the energy of each pulse of a beam of a mean power.

    Raises:
        ValueError: An argument is not above zero.
    """
    _positive("power_w", power_w)
    _positive("rate_hz", rate_hz)
    return power_w / rate_hz


def chain_share(*shares: float) -> float:
    """Return what a chain of losses leaves: the product of the shares that each link passes on.

    Raises:
        ValueError: A share is not above 0 and at most 1.
    """
    left = 1.0
    for share in shares:
        left *= _share("each share", share)
    return left


def mirrors_share(reflectivity_share: float, mirrors_count: int) -> float:
    """Return what mirrors of one reflectivity leave of the light: reflectivity to the power of their number.

    Raises:
        ValueError: The reflectivity is not above 0 and at most 1, or the number is no whole number of at least 0.
    """
    if not isinstance(mirrors_count, int) or mirrors_count < 0:
        raise ValueError(f"mirrors_count must be a whole number of at least 0, not {mirrors_count!r}")
    return _share("reflectivity_share", reflectivity_share) ** mirrors_count


def source_power_w(laser_w: float, conversion_share: float, collected_share: float = 1) -> float:
    """Return the light that a plasma source delivers: the laser's power, converted and collected.

    Conversion efficiency is counted as the trade does: light within 2 per cent of the wavelength that goes into the
    half of space where the collector stands, over laser power (Versolato 2019). What the collector gets of it and
    passes on to the intermediate focus is the other share.

    Raises:
        ValueError: The power is not above zero, or a share is not above 0 and at most 1.
    """
    _positive("laser_w", laser_w)
    return laser_w * chain_share(conversion_share, collected_share)


# Wafers an hour


def exposure_s(dose_j_per_m2: float, area_m2: float, power_w: float) -> float:
    """Return the seconds that the light is on for one wafer: energy over power.

    Args:
        dose_j_per_m2: Energy that the resist asks for on each square metre.
        area_m2: Area of all exposed fields, which is more than the wafer's: fields reach over its edge.
        power_w: Power that arrives at the wafer.

    Raises:
        ValueError: An argument is not above zero.
    """
    _positive("dose_j_per_m2", dose_j_per_m2)
    _positive("area_m2", area_m2)
    _positive("power_w", power_w)
    return dose_j_per_m2 * area_m2 / power_w


def wafers_per_s(exposure_s: float, overhead_s: float) -> float:
    """Return the throughput of a scanner that adds a fixed time to each wafer's exposure.

    The overhead is everything that the dose does not change: stepping from field to field, turning, exchange of
    wafers as far as the second stage does not hide it.

    Raises:
        ValueError: The exposure is not above zero, or the overhead is below zero.
    """
    _positive("exposure_s", exposure_s)
    if overhead_s < 0 * overhead_s:
        raise ValueError(f"overhead_s must not be below zero, and is {overhead_s}")
    return 1 / (exposure_s + overhead_s)


def implied_power_w(
    area_m2: float,
    low_dose_j_per_m2: float,
    low_wafers_per_s: float,
    high_dose_j_per_m2: float,
    high_wafers_per_s: float,
) -> float:
    """Return the power at the wafer that two published throughputs of one machine imply.

    The two differ in dose only, so the difference of their times is the difference of their energies over the
    power. It is the mean while the light is on, with all that a real scan loses.

    Raises:
        ValueError: An argument is not above zero, or the higher dose is not the slower one.
    """
    _positive("area_m2", area_m2)
    _positive("low_dose_j_per_m2", low_dose_j_per_m2)
    _positive("low_wafers_per_s", low_wafers_per_s)
    _positive("high_wafers_per_s", high_wafers_per_s)
    if not high_dose_j_per_m2 > low_dose_j_per_m2:
        raise ValueError(f"high_dose_j_per_m2 must be above {low_dose_j_per_m2}, not {high_dose_j_per_m2}")
    if not high_wafers_per_s < low_wafers_per_s:
        raise ValueError(f"high_wafers_per_s must be below {low_wafers_per_s}: more dose is slower")
    return area_m2 * (high_dose_j_per_m2 - low_dose_j_per_m2) / (1 / high_wafers_per_s - 1 / low_wafers_per_s)


def implied_overhead_s(exposure_s: float, wafers_per_s: float) -> float:
    """Return the time a wafer that is left of a published throughput once the exposure is taken off.

    Raises:
        ValueError: An argument is not above zero, or the exposure alone takes longer.
    """
    _positive("exposure_s", exposure_s)
    _positive("wafers_per_s", wafers_per_s)
    left = 1 / wafers_per_s - exposure_s
    if left < 0 * left:
        raise ValueError(f"exposure_s must be at most the time of a wafer, {1 / wafers_per_s}, not {exposure_s}")
    return left


# Dies on a wafer


def fits_field(width_m: float, height_m: float, field_width_m: float, field_height_m: float) -> bool:
    """Say whether a scanner can print a die in one piece, lying either way in its field.

    Raises:
        ValueError: An argument is not above zero.
    """
    _positive("width_m", width_m)
    _positive("height_m", height_m)
    _positive("field_width_m", field_width_m)
    _positive("field_height_m", field_height_m)
    wide, high = field_width_m * (1 + TOUCHING), field_height_m * (1 + TOUCHING)
    return (width_m <= wide and height_m <= high) or (width_m <= high and height_m <= wide)


def placed_dies(
    width_m: float,
    height_m: float,
    wafer_m: float,
    edge_m: float = 0,
    scribe_m: float = 0,
    shift_x: float = 0,
    shift_y: float = 0,
) -> int:
    """Count the whole dies of one regular grid that lie within the usable circle of a wafer.

    Args:
        width_m: Width of a die.
        height_m: Height of a die.
        wafer_m: Diameter of the wafer.
        edge_m: Ring at the edge that is not used.
        scribe_m: Gap between dies, where the saw goes.
        shift_x: Where the grid lies: with 0 a die's middle is over the wafer's, with 1/2 the gap's.
        shift_y: The same upwards.

    Raises:
        ValueError: A size is not above zero, a gap is below zero, or the edge leaves nothing of the wafer.
    """
    _positive("width_m", width_m)
    _positive("height_m", height_m)
    _positive("wafer_m", wafer_m)
    for field, value in (("edge_m", edge_m), ("scribe_m", scribe_m)):
        if not value >= 0 * value:
            raise ValueError(f"{field} must not be below zero, and is {value}")
    radius = wafer_m / 2 - edge_m
    if not radius > 0 * radius:
        raise ValueError(f"edge_m must be less than half of the wafer, {wafer_m / 2}, not {edge_m}")
    pitch_x = width_m + scribe_m
    pitch_y = height_m + scribe_m
    first = shift_y * pitch_y - height_m / 2  # lower edge of the row of number 0
    count = 0
    for row in range(
        math.ceil(float((-radius - first) / pitch_y) - TOUCHING),
        math.floor(float((radius - height_m - first) / pitch_y) + TOUCHING) + 1,
    ):
        low = first + row * pitch_y
        far = max(-low, low + height_m)  # the row's edge that is farther from the middle decides
        inside = radius**2 - far**2
        if inside < 0 * inside:
            inside = 0 * inside
        half = inside ** (1 / 2)
        left = shift_x * pitch_x - width_m / 2
        most = math.floor(float((half - width_m - left) / pitch_x) + TOUCHING)
        least = math.ceil(float((-half - left) / pitch_x) - TOUCHING)
        count += max(0, most - least + 1)
    return count


def dies_on_wafer(width_m: float, height_m: float, wafer_m: float, edge_m: float = 0, scribe_m: float = 0) -> int:
    """Return the most whole dies on a wafer, over the four ways to centre their grid.

    A die's middle or a gap's middle lies over the wafer's middle, in each direction: the four placements that leave
    the wafer symmetric. A lopsided grid holds one or two more at times. See `placed_dies` for the arguments.

    Raises:
        ValueError: See `placed_dies`.
    """
    return max(placed_dies(width_m, height_m, wafer_m, edge_m, scribe_m, x, y) for x in (0, 1 / 2) for y in (0, 1 / 2))


def dies_by_area(die_m2: float, wafer_m: float) -> float:
    """Return wafer area over die area, pi d^2 / (4 A): what no cut reaches.

    Raises:
        ValueError: An argument is not above zero.
    """
    _positive("die_m2", die_m2)
    _positive("wafer_m", wafer_m)
    return math.pi * wafer_m**2 / (4 * die_m2)


def dies_less_edge(die_m2: float, wafer_m: float) -> float:
    """Return the usual estimate of whole dies: by area, less a ring of dies cut by the edge.

    With d the wafer's diameter and A the die's area it is pi d^2 / (4 A) - pi d / sqrt(2 A). It knows neither the
    die's shape nor gaps. De Vries, Investigation of gross die per wafer formulas, IEEE Transactions on
    Semiconductor Manufacturing 18 (2005), compares it with others.

    Raises:
        ValueError: An argument is not above zero.
    """
    cut: float = math.pi * wafer_m / (2 * die_m2) ** (1 / 2)
    return dies_by_area(die_m2, wafer_m) - cut


def dies_ferris_prabhu(die_m2: float, wafer_m: float) -> float:
    """Return Ferris-Prabhu's estimate of whole dies: by area, times exp(-2 sqrt(A) / d).

    A is the die's area and d the wafer's diameter. Ferris-Prabhu, An algebraic expression to count the number of
    chips on a wafer, IEEE Circuits and Devices Magazine 5 (1989).

    Raises:
        ValueError: An argument is not above zero.
    """
    return dies_by_area(die_m2, wafer_m) * math.exp(-2 * float(die_m2 ** (1 / 2) / wafer_m))


def yield_share(die_m2: float, defects_per_m2: float, model: str = "poisson", clustering: float | None = None) -> float:
    """Return the share of dies without a defect.

    With x for the defects that a die has on average, area times density: `poisson` exp(-x), defects that know
    nothing of each other; `murphy` ((1 - exp(-x)) / x)^2, a density that varies over wafers as a triangle (Murphy
    1964); `seeds` 1 / (1 + x), one that varies exponentially (Seeds 1967); `negative-binomial` (1 + x / a)^(-a),
    defects in clusters, the more clustered the smaller a is (Stapper 1973). With a = 1 the last is Seeds, without
    bound it is Poisson.

    Args:
        die_m2: Area of a die.
        defects_per_m2: Defects that kill a die, on each square metre.
        model: One of `YIELD_MODELS`.
        clustering: The a of the negative binomial, and of no other model.

    Raises:
        ValueError: The area is not above zero, the density is below zero, the model is unknown, or the clustering
            is missing, not above zero, or given to another model.
    """
    _positive("die_m2", die_m2)
    if not defects_per_m2 >= 0 * defects_per_m2:
        raise ValueError(f"defects_per_m2 must not be below zero, and is {defects_per_m2}")
    if model not in YIELD_MODELS:
        raise ValueError(f"model must be one of {', '.join(YIELD_MODELS)}, not {model!r}")
    if model != "negative-binomial" and clustering is not None:
        raise ValueError(f"clustering belongs to negative-binomial, not to {model}")
    mean = float(die_m2 * defects_per_m2)
    if mean == float("inf"):
        raise ValueError(f"defects_per_m2 must be finite, not {defects_per_m2}")
    if model == "negative-binomial":
        if clustering is None:
            raise ValueError("clustering is missing: negative-binomial takes a number above zero")
        _positive("clustering", clustering)
        clustered: float = (1 + mean / clustering) ** -clustering
        return clustered
    if mean == 0:
        return 1.0
    if model == "murphy":
        return (_lost(mean) / mean) ** 2
    if model == "seeds":
        return 1 / (1 + mean)
    return math.exp(-mean)


def good_dies(dies_count: int, yield_share: float) -> float:
    """Return how many dies of a wafer work, on average over wafers.

    Raises:
        ValueError: The count is below zero, or the share is not between 0 and 1.
    """
    if dies_count < 0:
        raise ValueError(f"dies_count must not be below zero, and is {dies_count}")
    if not 0 <= yield_share <= 1:
        raise ValueError(f"yield_share must lie between 0 and 1, not {yield_share}")
    return dies_count * yield_share


def _lost(mean: float) -> float:
    """Return 1 - exp(-mean), to full precision for a mean near zero too."""
    return -math.expm1(-mean)


def _share(field: str, value: float) -> float:
    if not 0 < value <= 1:
        raise ValueError(f"{field} must be above 0 and at most 1, not {value}")
    return value


def _positive(field: str, value: float) -> None:
    if not value > 0 * value:
        raise ValueError(f"{field} must be above zero, not {value}")
    if value - value != 0 * value:
        raise ValueError(f"{field} must be finite, not {value}")
