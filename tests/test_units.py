"""Units: names that state them, formats that fit them, and digits checked against Python's decimal."""

import decimal
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat import units
from gpumoat.units import (
    GB,
    GIB,
    KB,
    KIB,
    Unit,
    UnitError,
    display_unit,
    dtype_bytes,
    format_value,
    hold,
    name_unit,
    parse_spec,
    to_base,
)

WHOLE = st.integers(min_value=-(10**30), max_value=10**30)


def exactly(value: Decimal | int, digits: int) -> str:
    """Round half to even with Python's decimal, an implementation that shares nothing with ours."""
    with decimal.localcontext() as context:
        context.prec = 100
        step = Decimal(1).scaleb(-digits)
        return f"{Decimal(value).quantize(step, rounding=ROUND_HALF_EVEN):f}"


class TestNames:
    """The last suffix of a name decides its unit."""

    @pytest.mark.parametrize(
        ("name", "dimension", "text"),
        [
            ("weights_bytes", "bytes", "bytes"),
            ("bandwidth_bytes_per_s", "bytes/s", "bytes/s"),
            ("bytes_per_s", "bytes/s", "bytes/s"),
            ("training_flop", "flop", "FLOP"),
            ("peak_flop_per_s", "flop/s", "FLOP/s"),
            ("efficiency_flop_per_j", "flop/j", "FLOP/J"),
            ("int8_dense_op_per_s", "op/s", "OP/s"),
            ("memory_bus_bits", "bit", "bit"),
            ("die_area_m2", "m2", "m²"),
            ("time_s", "s", "s"),
            ("wavelength_m", "m", "m"),
            ("energy_j", "j", "J"),
            ("board_w", "w", "W"),
            ("clock_hz", "hz", "Hz"),
            ("revenue_usd", "usd", "USD"),
            ("price_usd_per_hour", "usd/s", "USD/h"),
            ("rented_hours", "s", "h"),
            ("kv_bytes_per_token", "bytes/token", "bytes/token"),
            ("state_bytes_per_card_per_s", "bytes/card/s", "bytes/card/s"),
            ("cost_usd_per_card_per_day_per_rack", "usd/card/day/rack", "USD/card/day/rack"),
            ("droplets_per_s", "/s", "droplets/s"),
            ("price_usd_per_million_tokens", "usd/million_tokens", "USD/million tokens"),
            ("used_share", "share", ""),
            ("speedup_ratio", "ratio", ""),
        ],
    )
    def test_a_suffix_states_a_unit(self, name, dimension, text):
        assert (name_unit(name).dimension, name_unit(name).text) == (dimension, text)

    @pytest.mark.parametrize("name", ["layers", "cards_count", "s", "m", "w", "bytes", "hidden_size", ""])
    def test_a_name_without_one_is_a_pure_number(self, name):
        assert name_unit(name).dimension == ""
        assert format_value(96, "", name) == "96"

    def test_an_earlier_suffix_does_not_count(self):
        assert name_unit("bytes_ratio").dimension == "ratio"
        assert name_unit("usd_count").dimension == ""


class TestDisplay:
    @pytest.mark.parametrize(
        ("value", "spec", "name", "shown"),
        [
            (698_417_037_312, ".0f GiB", "weights_bytes", "650 GiB"),
            (698_417_037_312, ".1f GB", "weights_bytes", "698.4 GB"),
            (698_417_037_312, ",d", "weights_bytes", "698,417,037,312 bytes"),
            (2048, "KiB", "page_bytes", "2 KiB"),
            (4.8e12, ".1f TB/s", "bandwidth_bytes_per_s", "4.8 TB/s"),
            (989.5e12, ".1f TFLOP/s", "peak_flop_per_s", "989.5 TFLOP/s"),
            (13.5e-9, ".1f nm", "wavelength_m", "13.5 nm"),
            (130_500_000_000, ".1f billion USD", "revenue_usd", "130.5 billion USD"),
            (2, "USD/h", "price_usd_per_hour", "2 USD/h"),
            (2, ".2f USD/h", "price_usd_per_hour", "2.00 USD/h"),
            (1, ".0f USD/h", "price_usd_per_s", "3600 USD/h"),
            (2**20, "MiB/token", "kv_bytes_per_token", "1 MiB/token"),
            (3, ".0f tokens/s", "tokens_per_s", "3 tokens/s"),
            (1e9, ".1f GB/s/W", "rate_bytes_per_s_per_w", "1.0 GB/s/W"),
            (7200, ".1f h", "run_s", "2.0 h"),
            (2, "", "rented_hours", "2 h"),
            (2, ".0f min", "rented_hours", "120 min"),
            (2.5, ".1f years", "lead_years", "2.5 years"),
            (2.5, ".1f", "lead_years", "2.5 years"),
            (2, ".1f days", "lead_years", "730.5 days"),
            (3, "", "cost_usd_per_years", "3 USD/years"),
            (2_500_000, ".1f million", "parameters_count", "2.5 million"),
            (0.45, "", "used_share", "45%"),
            (0.4567, ".1%", "used_share", "45.7%"),
            (0.4567, ".1f %", "used_share", "45.7%"),
            (0.4567, ".0%", "part", "46%"),
            (1, ".0%", "used_share", "100%"),
            (4, "", "speedup_ratio", "4×"),
            (3.98, ".1f x", "speedup_ratio", "4.0×"),
            (3.98, ".1f", "speedup_ratio", "4.0×"),
            ("H200", "", "card", "H200"),
        ],
    )
    def test_shown(self, value, spec, name, shown):
        assert format_value(value, spec, name) == shown

    @pytest.mark.parametrize(
        ("spec", "name"),
        [
            (".1f GB", "time_s"),
            (".1f GB", "bandwidth_bytes_per_s"),
            (".1f GB/s", "weights_bytes"),
            (".1f TFLOP", "peak_flop_per_s"),
            (".1f USD/h", "price_usd"),
            (".1f USD", "price_usd_per_hour"),
            (".1f GiB", "cards_count"),
            (".1f x", "cards_count"),
            (".1f nm", "layers"),
            (".0%", "weights_bytes"),
            (".0% GiB", "used_share"),
            (".1f tokens/s", "tokens_per_day"),
            (".1f bytes/card", "kv_bytes_per_token"),
            (".1f million", "weights_bytes"),
        ],
    )
    def test_a_unit_that_does_not_fit_is_an_error(self, spec, name):
        with pytest.raises(UnitError, match=name):
            format_value(3, spec, name)

    def test_the_error_says_what_would_fit(self):
        with pytest.raises(UnitError, match=r"unit 'GHz' does not fit weights_bytes, which is in bytes: use .*GiB"):
            format_value(3, ".1f GHz", "weights_bytes")

    def test_a_name_without_a_unit_hears_how_to_end(self):
        """`_days` is no base unit, so the name is a pure number, and its author wonders why days do not fit it."""
        with pytest.raises(UnitError, match=r"a pure number: end the name in _s or _hour or _hours or _years"):
            format_value(100, ".0f days", "window_days")
        with pytest.raises(UnitError, match=r"does not fit window, which is a pure number$"):
            format_value(100, ".0f GB/s/token", "window")

    @pytest.mark.parametrize("unit", ["Gb", "gb", "GIB", "Gib", "gib", "TFlops", "watt", "$", "µ", "GB/", "/s", "GB/x"])
    def test_a_unit_that_is_almost_one_is_an_error(self, unit):
        with pytest.raises(UnitError):
            format_value(3, f".1f {unit}", "weights_bytes")

    def test_gib_is_not_gb(self):
        assert format_value(GIB, ".0f GiB", "a_bytes") == "1 GiB"
        assert format_value(GIB, ".3f GB", "a_bytes") == "1.074 GB"
        assert (GIB, GB, KIB, KB) == (1_073_741_824, 1_000_000_000, 1024, 1000)

    def test_a_quantity_never_stands_without_its_unit(self):
        for name in (
            "a_bytes",
            "a_bytes_per_s",
            "a_usd",
            "a_s",
            "a_hours",
            "a_flop_per_s",
            "a_w",
            "a_j",
            "a_m",
            "a_hz",
        ):
            assert format_value(3, "d", name).split(" ", 1)[1]

    @pytest.mark.parametrize("value", [True, None, [1], 1j, float("nan"), float("inf"), float("-inf")])
    def test_only_numbers_and_text_stand_on_a_page(self, value):
        with pytest.raises(UnitError, match="layers is"):
            format_value(value, "", "layers")

    def test_text_takes_no_format(self):
        with pytest.raises(UnitError, match="takes no format"):
            format_value("H200", ".1f", "card")

    def test_a_fraction_is_no_whole_number(self):
        with pytest.raises(UnitError, match=r"'\.1f', not 'd'"):
            format_value(1.5, "d", "layers")
        with pytest.raises(UnitError, match=r"'\.1f', not 'd'"):
            format_value(1000, "d KiB", "a_bytes")


class TestFormats:
    @pytest.mark.parametrize(
        "spec", ["..2f", ".f", "2f", ".1fGiB", ".1f  GiB", ",.1fx", ".1f GiB ", "q", ".2", ".2d", "f,"]
    )
    def test_what_is_no_format_is_an_error(self, spec):
        with pytest.raises(UnitError):
            format_value(3, spec, "a_bytes")

    def test_the_parts_of_a_format(self):
        spec = parse_spec(",.1f GiB")
        assert (spec.comma, spec.digits, spec.kind, spec.unit) == (True, 1, "f", "GiB")
        assert parse_spec("GiB").unit == "GiB"
        assert parse_spec("days").unit == "days"  # no d with rests


class TestWholeNumbers:
    """Integers are formatted by integer arithmetic, half to even, whatever their size."""

    @given(WHOLE, st.integers(0, 12))
    def test_f_is_what_decimal_says(self, value, digits):
        assert format_value(value, f".{digits}f") == exactly(value, digits)

    @given(
        st.integers(0, 10**30), st.integers(0, 6), st.sampled_from(["KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB"])
    )
    def test_f_in_a_unit_is_what_decimal_says(self, value, digits, unit):
        one = display_unit(unit)
        with decimal.localcontext() as context:
            context.prec = 100
            expected = exactly(Decimal(value) / Decimal(one.numerator), digits)
        assert format_value(value, f".{digits}f {unit}", "a_bytes") == f"{expected} {unit}"

    @given(st.integers(0, 10**30), st.integers(0, 6))
    def test_percent_is_what_decimal_says(self, value, digits):
        assert format_value(value, f".{digits}%", "a_share") == exactly(value * 100, digits) + "%"

    @given(WHOLE, st.integers(0, 12))
    def test_e_is_what_decimal_says(self, value, digits):
        with decimal.localcontext() as context:
            context.prec = 100
            mantissa, _, exponent = f"{Decimal(value):.{digits}e}".partition("e")
        assert format_value(value, f".{digits}e") == f"{mantissa}e{exponent[0]}{int(exponent[1:]):02d}"

    @given(st.integers(-(10**15), 10**15), st.integers(1, 15))
    def test_g_is_what_a_float_says_where_a_float_is_exact(self, value, digits):
        assert format_value(value, f".{digits}g") == f"{float(value):.{digits}g}"

    @given(st.integers(1, 10**15), st.integers(1, 6))
    def test_g_of_a_fraction_is_what_decimal_says(self, value, digits):
        with decimal.localcontext() as context:
            context.prec = digits
            expected = Decimal(value) / Decimal(GIB)
        assert Decimal(format_value(value, f".{digits}g GiB", "a_bytes").split()[0]) == expected

    @pytest.mark.parametrize(("value", "shown"), [(512, "0"), (1536, "2"), (2560, "2"), (3584, "4"), (-1536, "-2")])
    def test_a_half_goes_to_the_even_side(self, value, shown):
        assert format_value(value, ".0f KiB", "a_bytes") == f"{shown} KiB"

    def test_a_float_would_round_these_wrongly(self):
        assert format_value(10**17 + 1, ",d") == "100,000,000,000,000,001"
        assert format_value(2**53 + 1, ".1f") == "9007199254740993.0"
        assert f"{float(2**53 + 1):.1f}" == "9007199254740992.0"  # the fault that exact arithmetic avoids

    def test_numbers_beyond_floats_do_not_crash(self):
        assert format_value(10**400, ".2e") == "1.00e+400"
        with pytest.raises(UnitError, match="too large"):
            format_value(10**400 + 1, "GiB", "a_bytes")

    @given(WHOLE)
    def test_commas(self, value):
        assert format_value(value, ",d") == f"{value:,d}"
        assert format_value(value, ",.2f") == f"{Decimal(value):,.2f}"


class TestFloats:
    @given(st.floats(min_value=-1e15, max_value=1e15), st.integers(0, 6), st.sampled_from(["f", "e", "g"]))
    def test_formatted_as_python_does_or_refused(self, value, digits, kind):
        try:
            assert format_value(value, f".{digits}{kind}") == f"{value:.{digits}{kind}}"
        except UnitError as error:
            assert "edge" in str(error)  # noqa: PT017 - both outcomes are right; this says which error is

    @given(st.floats(min_value=0, max_value=1e15), st.integers(0, 6))
    def test_commas_without_the_float_format(self, value, digits):
        # MicroPython knows commas for whole numbers only, so they are put in by hand.
        assert units._separated(f"{value:.{digits}f}", True) == f"{value:,.{digits}f}"
        assert units._separated(f"{-value:.{digits}f}", True) == f"{-value:,.{digits}f}"

    def test_commas_leave_exponents_alone(self):
        assert format_value(1.5e20, ",.1e") == "1.5e+20"
        assert format_value(12345.5, ",") == "12,345.5"


class TestAreas:
    """Square units scale by the square: a square millimetre is a millionth of a square metre."""

    @pytest.mark.parametrize(
        ("value", "spec", "text"),
        [
            (0.000814, ".0f mm²", "814 mm²"),
            (0.0006284, ".1f mm²", "628.4 mm²"),
            (0.000814, ".2f cm²", "8.14 cm²"),
            (2, "", "2 m²"),
        ],
    )
    def test_an_area_in_its_units(self, value, spec, text):
        assert format_value(value, spec, "die_area_m2") == text

    @given(st.integers(min_value=1, max_value=10**9))
    def test_a_square_of_whole_millimetres_is_exact_or_its_nearest_float(self, side):
        held, unit = hold(side * side, "mm²", "die_area_m2")
        assert Fraction(held) == Fraction(side * side, 10**6) or held == float(Fraction(side * side, 10**6))
        assert unit.dimension == "m2"

    @pytest.mark.parametrize("spec", [".1f mm", ".1f m", ".1f nm"])
    def test_a_length_is_no_area(self, spec):
        with pytest.raises(UnitError, match="does not fit"):
            format_value(0.000814, spec, "die_area_m2")

    def test_operations_are_no_flop(self):
        assert format_value(1979 * 10**12, ",.0f TOP/s", "int8_dense_op_per_s") == "1,979 TOP/s"
        with pytest.raises(UnitError, match="does not fit"):
            format_value(1979 * 10**12, ".0f TFLOP/s", "int8_dense_op_per_s")
        with pytest.raises(UnitError):
            hold(1979, "TFLOP/s", "int8_dense_op_per_s")

    def test_bits_are_no_bytes(self):
        assert hold(5120, "bit", "memory_bus_bits")[0] == 5120
        with pytest.raises(UnitError):
            hold(640, "bytes", "memory_bus_bits")


class TestEdges:
    """A float within 1e-9 of a rounding edge may print otherwise on another machine, so it is refused."""

    @pytest.mark.parametrize("value", [0.5, 1.5, 2.5, 2.5 * (1 + 1e-10), 2.5 * (1 - 1e-10), -2.5])
    def test_on_the_edge(self, value):
        with pytest.raises(UnitError, match=r"on the edge between .* use another number of digits"):
            format_value(value, ".0f")

    @pytest.mark.parametrize(
        ("value", "shown"), [(2.5 * (1 + 1e-8), "3"), (2.5 * (1 - 1e-8), "2"), (2.4, "2"), (3.0, "3")]
    )
    def test_beside_the_edge(self, value, shown):
        assert format_value(value, ".0f") == shown

    def test_in_a_display_unit_and_in_per_cent(self):
        with pytest.raises(UnitError, match="edge"):
            format_value(1.5 * GIB, ".0f GiB", "a_bytes")
        with pytest.raises(UnitError, match="edge"):
            format_value(0.125, ".0%", "a_share")
        assert format_value(0.125, ".1%", "a_share") == "12.5%"

    def test_a_whole_number_has_no_edge(self):
        assert format_value(3 * GIB // 2, ".0f GiB", "a_bytes") == "2 GiB"

    @given(st.integers(0, 10**6), st.integers(0, 3))
    def test_every_half_is_refused(self, whole, digits):
        value = (whole + 0.5) / 10**digits
        with pytest.raises(UnitError, match="edge"):
            format_value(value, f".{digits}f")

    @given(st.floats(min_value=1e-3, max_value=1e3), st.integers(0, 3))
    def test_what_is_shown_is_shown_for_every_close_value(self, value, digits):
        try:
            shown = format_value(value, f".{digits}f")
        except UnitError:
            return
        for factor in (1 - 5e-10, 1 + 5e-10):
            assert f"{value * factor:.{digits}f}" == shown

    def test_without_the_rule_the_edge_passes(self, monkeypatch):
        monkeypatch.setattr(units, "EDGE", 0)
        assert format_value(2.5, ".0f") == "2"


class TestDataTypes:
    def test_sizes(self):
        sizes = {"fp64": 8, "fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "int8": 1, "int4": 0.5, "fp4": 0.5}
        assert {name: dtype_bytes(name) for name in sizes} == sizes
        assert isinstance(dtype_bytes("fp32"), int)

    def test_an_unknown_one_names_the_known(self):
        with pytest.raises(UnitError, match=r"unknown data type 'float32': use one of .*fp32"):
            dtype_bytes("float32")


class TestHolding:
    """What a data file states comes in as base units, by the suffix of its id."""

    @pytest.mark.parametrize(
        ("value", "unit", "name", "held"),
        [
            (141, "GB", "memory_bytes", 141_000_000_000),
            (1.5, "GiB", "memory_bytes", 1_610_612_736),
            (989.5, "TFLOP/s", "peak_flop_per_s", 989_500_000_000_000.0),
            (130.5, "billion USD", "revenue_usd", 130_500_000_000.0),
            (13.5, "nm", "wavelength_m", 13.5e-9),
            (2, "USD/h", "price_usd_per_hour", 2),
            (3600, "USD/h", "price_usd_per_s", 1),
            (45, "%", "used_share", 0.45),
            (0.45, "", "used_share", 0.45),
            (4, "", "speedup_ratio", 4),
            (96, "", "layers", 96),
            (175, "billion", "parameters", 175_000_000_000),
        ],
    )
    def test_held(self, value, unit, name, held):
        assert hold(value, unit, name)[0] == held

    @given(st.integers(0, 10**6), st.sampled_from(["GB", "MB", "kB", "TB"]))
    def test_three_decimals_are_whole_bytes(self, thousandths, unit):
        value = float(Decimal(thousandths) / 1000)
        expected = Fraction(thousandths, 1000) * display_unit(unit).numerator
        assert hold(value, unit, "a_bytes")[0] == expected

    def test_binary_multiplication_would_not_be_whole(self):
        assert 17.179 * GB != 17_179_000_000  # the fault
        assert hold(17.179, "GB", "a_bytes")[0] == 17_179_000_000

    @pytest.mark.parametrize(
        ("unit", "name"), [("GB/s", "memory_bytes"), ("GB", "bandwidth_bytes_per_s"), ("", "a_bytes")]
    )
    def test_a_unit_that_does_not_fit_is_an_error(self, unit, name):
        with pytest.raises(UnitError, match=f"{name} is held in"):
            hold(3, unit, name)

    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    def test_only_finite_numbers(self, value):
        with pytest.raises(UnitError, match="finite"):
            hold(value, "GB", "a_bytes")

    def test_to_base(self):
        assert to_base(1, "GiB") == (GIB, "bytes")
        assert to_base(2.5, "TB/s") == (2_500_000_000_000, "bytes/s")
        assert to_base(3, "USD/h") == (3, "usd/s")
        assert hold(3, "thousand USD/h", "")[1].text == "USD/h"

    def test_the_unit_of_a_read_decides_where_the_name_is_silent(self):
        _, held = hold(141, "GB", "")
        assert format_value(141 * GB, ".0f GB", "capacity", held) == "141 GB"
        assert format_value(3, "", "", Unit("bytes", 1, 1, "bytes")) == "3 bytes"
