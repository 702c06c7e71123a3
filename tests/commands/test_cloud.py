"""`gpumoat break-even`: a table that explains itself, the same as JSON, one line on bad input."""

import json

import pytest

from gpumoat import cli


@pytest.fixture
def gpumoat(monkeypatch, capsys):
    """Run the command as a shell does and return exit status, output and errors."""

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["gpumoat", *arguments])
        monkeypatch.setenv("COLUMNS", "110")
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code, *capsys.readouterr()

    return run


def test_without_options(gpumoat):
    status, out, err = gpumoat("break-even")
    assert (status, err) == (0, "")
    for text in (
        "used 730 hours a month",
        "1.77 USD/h",
        "Vast.ai, cheapest, 2026-10-01, lowest of 11",
        "3.99 USD/h",
        "the middle of 11 offers",
        "of it interest",
        "684 hours",
        "assumptions",
    ):
        assert text in out


def test_json_holds_the_same_values(gpumoat):
    status, out, _ = gpumoat("break-even", "--hours", "300", "--json")
    values = json.loads(out)
    assert status == 0
    assert values["own_usd_per_hour"] == pytest.approx(4.149, abs=0.001)
    assert values["median_even_hours"] == pytest.approx(312.3, abs=0.1)
    assert (values["highest_own_pays"], values["lowest_own_pays"]) == (True, False)


def test_an_option_replaces_a_fact(gpumoat):
    """A card for 40,000 written off over three years costs 1.52 an hour, and this card has other costs of zero."""
    zero = ["--resale-percent", "--interest-percent", "--working-w", "--idle-w", "--usd-per-kwh", "--peak-w"]
    zero += ["--room-usd-per-kw-month", "--staff-usd-per-month", "--repair-percent"]
    options = [word for option in zero for word in (option, "0")]
    _, out, err = gpumoat("break-even", "--purchase-usd", "40000", "--years", "3", "--json", *options)
    assert err == ""
    assert json.loads(out)["own_usd_per_hour"] == pytest.approx(1.52, abs=0.005)


def test_a_rent_of_ones_own(gpumoat):
    _, out, _ = gpumoat("break-even", "--rent-usd-per-hour", "0.05", "--json")
    values = json.loads(out)
    assert values["given_even_hours"] is None
    assert values["given_own_pays"] is False
    assert "lowest_rent_usd_per_hour" not in values


def test_another_card_and_other_terms(gpumoat):
    options = ["--card", "l4", "--purchase-usd", "2500", "--working-w", "120", "--peak-w", "150"]
    status, out, _ = gpumoat("break-even", *options, "--commitment", "spot")
    assert status == 0
    assert "only rent" in out
    assert "the only one" in out


def test_a_value_on_the_edge_of_two_roundings_gets_another_digit(gpumoat):
    assert "0.3125 USD/h" in gpumoat("break-even", "--hours", "320")[1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--years", "0"], "--years must make one or more whole months, such as 5 or 4.5, not 0"),
        (["--years", "1.01"], "--years must make one or more whole months"),
        (["--hours", "900"], "--hours must lie between 0 and 730, the hours of a month, not 900"),
        (["--pue", "0.9"], "--pue must be one or more, not 0.9"),
        (["--idle-w", "2000"], "--idle-w must be no more than working_w"),
        (["--resale-percent", "120"], "--resale-percent must be 100 or less, not 120"),
        (["--interest-percent", "-3"], "--interest-percent must be a number of zero or more, not -3"),
        (["--rent-usd-per-hour", "0"], "--rent-usd-per-hour must be a number above zero"),
        (["--commitment", "weekly"], "--commitment must be one of on-demand, spot"),
        (["--card", "a100"], "--purchase-usd, --working-w and --peak-w are needed for a100"),
        (
            ["--card", "a100", "--purchase-usd", "1", "--working-w", "1", "--peak-w", "1"],
            "no price of 'a100': did you mean a100-pcie-80",
        ),
        (["--hours", "many"], "Invalid value for '--hours'"),
    ],
)
def test_bad_input_is_one_line(gpumoat, options, says):
    status, out, err = gpumoat("break-even", *options)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert says in err
    assert len(err.strip().splitlines()) == 1
