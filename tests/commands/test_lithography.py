"""`gpumoat dies` and `gpumoat resolution`: a table that explains itself, the same as JSON, one line on bad input."""

import json
import math

import pytest

from gpumoat import cli

H100 = ["--width-mm", "26", "--height-mm", "31.3"]
EUV = ["--wavelength-nm", "13.5", "--na", "0.33"]


@pytest.fixture
def gpumoat(monkeypatch, capsys):
    """Run the command as a shell does and return exit status, output and errors."""

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["gpumoat", *arguments])
        monkeypatch.setenv("COLUMNS", "100")
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code, *capsys.readouterr()

    return run


def test_dies_of_an_h100(gpumoat):
    status, out, err = gpumoat("dies", *H100, "--defects-per-cm2", "0.1")
    assert (status, err) == (0, "")
    for text in ("813.8 mm²", "67", "63.5", "44.3%", "29.7", "poisson model", "yes"):
        assert text in out


def test_json_holds_the_same_values_in_si_units(gpumoat):
    status, out, _ = gpumoat("dies", *H100, "--defects-per-cm2", "0.1", "--json")
    values = json.loads(out)
    assert status == 0
    assert values["die_m2"] == pytest.approx(813.8e-6)
    assert values["dies_count"] == 67
    assert values["fits_field"] is True
    assert values["yield_share"] == pytest.approx(math.exp(-0.8138))
    assert values["good_count"] == pytest.approx(67 * math.exp(-0.8138))


def test_a_die_that_no_field_holds_is_said_to_be_one(gpumoat):
    _, out, _ = gpumoat("dies", "--width-mm", "28.5", "--height-mm", "28.5", "--json")
    assert json.loads(out)["fits_field"] is False


def test_without_defects_no_yield_is_given(gpumoat):
    _, out, _ = gpumoat("dies", *H100, "--json")
    assert "yield_share" not in json.loads(out)


@pytest.mark.parametrize(
    ("model", "extra"), [("murphy", []), ("seeds", []), ("negative-binomial", ["--clustering", "2"])]
)
def test_every_yield_model_can_be_asked_for(gpumoat, model, extra):
    arguments = ["--defects-per-cm2", "0.1", "--yield-model", model, *extra, "--json"]
    status, out, _ = gpumoat("dies", *H100, *arguments)
    assert status == 0
    assert math.exp(-0.8138) < json.loads(out)["yield_share"] < 1


def test_resolution_of_an_nxe(gpumoat):
    status, out, err = gpumoat("resolution", *EUV, "--k1", "0.32")
    assert (status, err) == (0, "")
    for text in ("13.09 nm", "26.18 nm", "10.23 nm", "124.0 nm", "91.84 eV"):
        assert text in out
    assert "half_pitch_m" in json.loads(gpumoat("resolution", *EUV, "--k1", "0.32", "--json")[1])
    assert "half_pitch_m" not in json.loads(gpumoat("resolution", *EUV, "--json")[1])


def test_water_is_mentioned_where_it_is_needed(gpumoat):
    assert "liquid" in gpumoat("resolution", "--wavelength-nm", "193", "--na", "1.35")[1]
    assert "liquid" not in gpumoat("resolution", *EUV)[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dies", "--width-mm", "26"], "--height-mm"),
        (["dies", "--width-mm", "wide", "--height-mm", "3"], "--width-mm"),
        (["dies", "--width-mm", "0", "--height-mm", "3"], "--width-mm must be a number above zero"),
        (["dies", *H100, "--wafer-mm", "inf"], "--wafer-mm must be a number above zero"),
        (["dies", *H100, "--scribe-mm", "-1"], "--scribe-mm must be a number of zero or more"),
        (["dies", *H100, "--edge-mm", "150"], "--edge-mm must be less than half of the wafer"),
        (["dies", *H100, "--defects-per-cm2", "nan"], "--defects-per-cm2 must be"),
        (["dies", *H100, "--yield-model", "murphy"], "--defects-per-cm2 is missing"),
        (["dies", *H100, "--defects-per-cm2", "1", "--yield-model", "moore"], "--yield-model must be one of poisson"),
        (["dies", *H100, "--defects-per-cm2", "1", "--yield-model", "negative-binomial"], "--clustering is missing"),
        (["dies", *H100, "--defects-per-cm2", "1", "--clustering", "2"], "--clustering belongs to negative-binomial"),
        (["resolution", "--wavelength-nm", "-13.5", "--na", "0.33"], "--wavelength-nm must be a number above zero"),
        (["resolution", *EUV, "--k1", "0.2"], "--k1 must be at least 0.25"),
        (["resolution", *EUV, "--colour", "violet"], "--colour"),
        (["dyes"], "dyes"),
    ],
)
def test_bad_input_is_one_clear_line_and_status_2(gpumoat, arguments, message):
    status, out, err = gpumoat(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


def test_help_and_no_command(gpumoat):
    assert gpumoat("dies", "--help")[0] == 0
    status, out, err = gpumoat()
    assert status == 2
    assert "resolution" in out + err
