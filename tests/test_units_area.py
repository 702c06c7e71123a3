"""Areas, doses and photon energies: held in SI, shown in the units of a data sheet."""

import pint
import pytest

from gpumoat.units import UnitError, display_unit, format_value, hold

PINT = pint.UnitRegistry()


@pytest.mark.parametrize(
    ("name", "value", "spec", "shown"),
    [
        ("die_m2", 814e-6, ".0f mm²", "814 mm²"),
        ("field_m2", 858e-6, ".2f cm²", "8.58 cm²"),
        ("dose_j_per_m2", 300, ".0f mJ/cm²", "30 mJ/cm²"),
        ("photon_j", 1.4714e-17, ".2f eV", "91.84 eV"),
        ("defects_per_m2", 1000, ".1f defects/cm²", "0.1 defects/cm²"),
        ("photons_per_m2", 2e19, ".0f photons/nm²", "20 photons/nm²"),
        ("die_m2", 814e-6, "e", "8.140000e-04 m²"),
    ],
)
def test_shown_in_the_units_of_the_trade(name: str, value: float, spec: str, shown: str) -> None:
    assert format_value(value, spec, name) == shown


@pytest.mark.parametrize("unit", ["m²", "cm²", "mm²", "µm²", "nm²", "eV", "mJ/cm²"])
def test_scales_agree_with_pint(unit: str) -> None:
    """pint's own table of units is the independent source."""
    ours = display_unit(unit)
    theirs = PINT.Quantity(1, unit.replace("²", "**2")).to_base_units().magnitude
    assert ours.numerator / ours.denominator == pytest.approx(theirs, rel=1e-12)


def test_a_data_file_may_state_square_millimetres() -> None:
    assert hold(814, "mm²", "die_m2")[0] == pytest.approx(814e-6)
    assert hold(30, "mJ/cm²", "dose_j_per_m2")[0] == 300


def test_an_area_is_no_length() -> None:
    with pytest.raises(UnitError, match="die_m2"):
        format_value(814e-6, ".0f mm", "die_m2")
