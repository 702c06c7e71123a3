"""What a question gets back, whatever numbers somebody types."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat.commands.answer import Row, shown
from gpumoat.units import UnitError, format_value

EDGE = 0.15e-9 / 0.1  # 1.5 nm, where a page would be asked to choose between 1 and 2


def test_a_value_on_the_edge_of_rounding_gets_one_more_digit() -> None:
    with pytest.raises(UnitError, match="on the edge"):
        format_value(EDGE, ".0f nm", "width_m")
    assert shown(Row("width_m", "", EDGE, ".0f nm", "")) == "1.5 nm"


@given(st.floats(0, 1e6), st.sampled_from([".0f nm", ".1f nm", ",.2f nm", ".3g nm"]))
def test_every_finite_value_is_shown_near_to_what_it_is(value: float, spec: str) -> None:
    text = shown(Row("width_m", "", value * 1e-9, spec, ""))
    assert text.endswith(" nm")
    number = float(text.removesuffix(" nm").replace(",", ""))
    assert math.isclose(number, value, rel_tol=0.01, abs_tol=0.5)
