"""What the chapter on owning and renting says in words, held against its own numbers and against others'."""

import pytest

from gpumoat import cloud
from gpumoat.facts import registry
from gpumoat.prices import prices
from gpumoat.simulate import simulate


@pytest.fixture(scope="module")
def chapter(chapter_of):
    return chapter_of("cloud/break-even")


@pytest.fixture(scope="module")
def n(chapter):
    return chapter.n


def test_the_interval_of_the_first_sentence(chapter, n) -> None:
    assert chapter.says("From … of use a month, or from …, or anywhere between.")
    evens = [row["even_hours"] for row in n.by_offer]
    assert (min(evens), max(evens)) == (n.least_hours, n.most_hours)
    assert n.least_hours < n.middle_hours < n.most_hours < n.month_hours


def test_the_spread_is_of_one_card(chapter, n) -> None:
    assert chapter.says("offers of one and the same card, an H100 SXM by the hour without commitment")
    assert {(offer.card, offer.commitment) for offer in n.offers} == {("h100-sxm", "on-demand")}
    assert n.spread_ratio == pytest.approx(10.9791 / 1.883)
    assert n.offers_count == 11


# What owning costs


def test_by_hand(n) -> None:
    """The fixed cost once more, from the numbers that the sources print, with the payment as a bank reckons it."""
    price, rate, months = 310_000 / 8, 0.09 / 12, 60
    payment = (price - 0.1 * price / (1 + rate) ** months) * rate / (1 - (1 + rate) ** -months)
    idle_kw = 0.25 * 8.5 / 8
    fixed = payment + 10.2 / 8 * 184.06 + 100 + 0.03 * price / 12 + idle_kw * 730 * 0.0904 * 1.54
    assert n.fixed_usd_per_month == pytest.approx(fixed)
    assert n.running_usd_per_hour == pytest.approx(0.75 * 8.5 / 8 * 0.0904 * 1.54)


def test_most_is_capital_and_little_is_electricity(chapter, n) -> None:
    assert chapter.says("Electricity, of which so much is said, is … with its cooling.")
    assert n.capital_share > 0.5
    assert n.energy_share < 0.1
    assert sum(row["full_usd_per_hour"] for row in n.cost_parts) == pytest.approx(n.full_usd_per_hour)


def test_nearly_all_is_owed_either_way(chapter, n) -> None:
    assert chapter.says("Nearly all of it is owed whether the card works or not")
    assert n.fixed_usd_per_month / (n.full_usd_per_hour * n.month_hours) > 0.9


def test_sell_it_for_a_tenth(chapter, n) -> None:
    assert chapter.says("sell it for a tenth")
    assert n.own.resale_share == 0.1


# What others ask


def test_every_price_is_quoted(chapter, n) -> None:
    assert chapter.says("all read in tables that copy the providers' pages, so each is marked *quoted*")
    facts = registry().facts
    assert {facts[f"{offer.id}.usd_per_hour"].text("status") for offer in n.offers} == {"quoted"}


def test_lambda_asks_two_prices(chapter, n) -> None:
    assert chapter.says("Lambda's two prices are for a server of eight and for one card.")
    rows = [offer for offer in sorted(n.offers, key=lambda each: each.usd_per_hour) if offer.provider == "Lambda"]
    assert ["-8x-" in rows[0].id, "-1x-" in rows[1].id] == [True, True]


def test_prices_fell_and_then_rose(chapter, n) -> None:
    assert chapter.says("They fell, and then they rose.")
    for seller in (n.spot, n.verda):
        values = [offer.usd_per_hour for offer in seller]
        lowest = values.index(min(values))
        assert 0 < lowest < len(values) - 1
        assert values[0] > values[lowest] < values[-1]


def test_googles_spot_price(chapter, n) -> None:
    assert chapter.says("Google's spot price lost … and won most of it back.")
    won = n.spot_last_usd_per_hour - n.spot_least_usd_per_hour
    assert won / (n.spot_first_usd_per_hour - n.spot_least_usd_per_hour) > 0.5


def test_the_fall_and_the_rise_are_the_largest(chapter, n) -> None:
    assert chapter.says("moved by up to the largest fall and rise above")
    assert n.fall_ratio == pytest.approx(55.04 / 98.32)
    assert n.rise_ratio == pytest.approx(3.627 / 2.19)
    assert (n.aws_cut_day, n.verda_least_day, n.verda_last_day) == ("2025-06-05", "2025-02-12", "2026-10-01")


def test_within_a_week(chapter, n) -> None:
    assert chapter.says("within a week the median of the few offers left was")
    assert (n.vast_cheapest.date, n.vast_median.date) == ("2026-10-01", "2026-10-07")


# The interval


def test_the_rents_make_the_interval(chapter, n) -> None:
    assert chapter.says("So the second interval is the rents' work.")
    own_width = n.own_high_hours - n.own_low_hours
    rent_width = n.most_hours - n.least_hours
    drawn_width = n.drawn_high_hours - n.drawn_low_hours
    assert own_width < drawn_width / 3
    assert rent_width == pytest.approx(drawn_width, rel=0.1)


def test_other_seeds_tell_the_same(n) -> None:
    """The interval is not the seed's: with others, both ends stay within a seventh."""
    for seed in (2, 3):
        cards = simulate(n.own.changed, n.inputs, n.draws_count, seed)
        costs = sorted(cloud.break_even_hours(card, n.middle_usd_per_hour) for card in cards)
        tail = int(n.draws_count * n.tail_share)
        assert costs[tail] == pytest.approx(n.own_low_hours, rel=1 / 7)
        assert costs[-tail] == pytest.approx(n.own_high_hours, rel=1 / 7)


def test_the_curve_crosses_where_the_text_says(chapter, n) -> None:
    assert chapter.says("It crosses the highest rent before the first point drawn")
    assert n.least_hours < n.curve[0]["use_hours"]
    for row in n.curve:
        if row["way"] == "own":
            assert row["low_usd_per_hour"] < row["cost_usd_per_hour"] < row["high_usd_per_hour"]
            assert (row["cost_usd_per_hour"] < n.middle_usd_per_hour) == (row["use_hours"] > n.middle_hours)


# What flips it


def test_rent_is_the_answer_and_close(chapter, n) -> None:
    assert chapter.says("Owning costs … then: rent. It is close")
    assert n.use_usd_per_hour > n.middle_usd_per_hour
    assert n.use_usd_per_hour / n.middle_usd_per_hour < 1.1
    assert n.rise_share == pytest.approx(n.use_usd_per_hour / n.middle_usd_per_hour - 1)
    assert n.more_share == pytest.approx(n.middle_hours / n.use_hours - 1)


def test_what_does_it_and_what_does_not(chapter, n) -> None:
    assert chapter.says("or less would do it, … more life, a better resale, or fewer people, each alone.")
    assert chapter.says("Cheaper money or the cheapest electricity would not.")
    decides = {row["input"]: row["change_share"] for row in n.flips}
    assert {name for name, change in decides.items() if change is None} == {"interest", "electricity"}
    assert decides["price of the card"] < 0 < decides["years of use"]
    assert decides["staff"] < 0 < decides["resale"]
    assert cloud.own_usd_per_hour(n.own.changed(purchase_usd=n.flip_usd), n.use_hours) == pytest.approx(
        n.middle_usd_per_hour
    )


# The verdicts and the questions


def test_hardly_ever(chapter, n) -> None:
    assert chapter.says("owning pays long before there is volume, and with the lowest hardly ever")
    assert n.least_share < 0.2
    assert n.most_share > 0.9
    assert registry().claims["lecture-switch-by-phase"].text("verdict") == "opinion"


def test_a_reservation_costs_about_what_owning_does(chapter, n) -> None:
    assert chapter.says("about what owning costs before its first hour of use")
    assert n.reserved_usd_per_month == pytest.approx(n.fixed_usd_per_month, rel=0.05)
    assert n.reserved_day == "2025-02-12"


def test_a_term_need_not_be_cheaper(chapter, n) -> None:
    assert chapter.says("the shortest term at Lambda cost … where an hour without commitment cost …")
    assert n.short_reserved_usd_per_hour == 4.85
    assert n.short_rent_usd_per_hour == 2.59
    assert prices("h100-sxm", provider="Lambda")[0].date == n.short_day == "2023-10-02"


def test_electricity_hardly_changes_the_answer(chapter, n) -> None:
    assert chapter.says("Hardly. At New England's price an hour in full use costs … more.")
    assert n.dear_power_usd_per_hour / n.full_usd_per_hour < 0.1
    assert n.dear_power.electricity_usd_per_j / n.place.electricity_low_usd_per_j > 2


def test_every_number_is_a_name_in_the_script(chapter, n) -> None:
    assert chapter.says("Every number above is a name in this script.")
    assert [name for name in chapter.expressions if not hasattr(n, name)] == []


def test_an_edited_sentence_is_noticed(chapter) -> None:
    with pytest.raises(AssertionError, match="the chapter no longer says"):
        chapter.says("Cheaper money or the cheapest electricity would.")
