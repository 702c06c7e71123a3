"""Own or rent: the formulas against independent figures, their properties, their dimensions, and what they refuse."""

import math

import pint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat import cloud

PLAIN = {
    "purchase_usd": 30000,
    "resale_share": 0.1,
    "lifetime_months": 60,
    "interest_share": 0.09,
    "working_w": 1000,
    "idle_w": 250,
    "pue_ratio": 1.5,
    "electricity_usd_per_j": 0.09 / 3.6e6,
    "reserved_w": 1200,
    "room_usd_per_w_per_month": 0.18,
    "staff_usd_per_month": 100,
    "repair_share": 0.02,
}


def ownership(**changes):
    return cloud.Ownership(**{**PLAIN, **changes})


def bare(**changes):
    """A card that costs its purchase and nothing else."""
    nothing = dict.fromkeys(cloud.INPUTS, 0)
    return cloud.Ownership(**{**nothing, "purchase_usd": 40000, "lifetime_months": 36, "pue_ratio": 1, **changes})


owners = st.builds(
    cloud.Ownership,
    purchase_usd=st.floats(1000, 1e5),
    resale_share=st.floats(0, 1),
    lifetime_months=st.integers(1, 120),
    interest_share=st.just(0) | st.floats(1e-4, 0.3),
    working_w=st.floats(100, 3000),
    idle_w=st.floats(0, 100),
    pue_ratio=st.floats(1, 2.5),
    electricity_usd_per_j=st.floats(0, 1e-7),
    reserved_w=st.floats(0, 3000),
    room_usd_per_w_per_month=st.floats(0, 1),
    staff_usd_per_month=st.floats(0, 1000),
    repair_share=st.floats(0, 0.3),
)


# Against figures of others


@pytest.mark.parametrize(("years", "said"), [(3, 1.52), (6, 0.76)])
def test_a_card_of_40000_dollars_by_the_hour(years, said):
    """Real Clear AI, "The three-year clock inside the thirty-year building" (2026): 1.52 or 0.76 USD an hour."""
    own = bare(lifetime_months=cloud.months(years))
    assert cloud.own_usd_per_hour(own, cloud.hours_per_month()) == pytest.approx(said, abs=0.005)


def test_the_payment_of_a_loan():
    """The textbook mortgage: 100,000 at 6 per cent over 30 years is 599.55 a month, in any table of annuities."""
    assert cloud.monthly_payment_usd(100_000, 0, 360, 0.06) == pytest.approx(599.55, abs=0.005)


def test_the_rent_of_room_by_the_hour():
    """184.06 USD a kW and month is 0.25 USD for each kilowatt and hour: 184.06 / 730."""
    own = bare(purchase_usd=0, reserved_w=1000, room_usd_per_w_per_month=0.18406)
    assert cloud.own_usd_per_hour(own, 730) == pytest.approx(0.2521, abs=0.0001)


def test_a_year_of_electricity():
    """700 W at a PUE of 1.5 and 0.085 USD a kWh all year is about 782 USD: 0.7 x 1.5 x 8,760 x 0.085."""
    own = bare(purchase_usd=0, working_w=700, pue_ratio=1.5, electricity_usd_per_j=0.085 / 3.6e6)
    assert cloud.own_usd_per_hour(own, 730) * 8760 == pytest.approx(0.7 * 1.5 * 8760 * 0.085)


# What must hold


@given(owners, st.floats(1, 730))
def test_the_parts_add_up(own, hours):
    parts = cloud.parts(own)
    assert math.fsum(part.cost_usd_per_hour(hours) for part in parts) == pytest.approx(
        cloud.own_usd_per_hour(own, hours)
    )
    assert all(part.usd_per_month >= -1e-9 and part.usd_per_hour >= 0 for part in parts)


OF_ITS_OWN = {
    "purchase": {"purchase_usd", "resale_share", "lifetime_months", "interest_share"},
    "room": {"reserved_w", "room_usd_per_w_per_month"},
    "staff": {"staff_usd_per_month"},
    "repairs": {"purchase_usd", "repair_share"},
    "power": {"working_w", "idle_w", "electricity_usd_per_j"},
    "cooling": {"working_w", "idle_w", "electricity_usd_per_j", "pue_ratio"},
}
"""What each part needs, said here once more and by hand."""


@pytest.mark.parametrize("name", cloud.INPUTS)
def test_a_part_moves_with_its_own_inputs_and_with_no_other(name):
    own = ownership()
    value = getattr(own, name)
    more = own.changed(**{name: value + 1 if name == "lifetime_months" else value * 1.1})
    moved = {one.name for one, other in zip(cloud.parts(own), cloud.parts(more), strict=True) if one != other}
    assert moved == {part for part, inputs in OF_ITS_OWN.items() if name in inputs}


def test_the_parts_by_hand():
    """30,000 USD, a tenth back after 60 months at 9 per cent: the tables' 20.76 USD a month for each 1,000 borrowed.

    The annuity of 1,000 at 9 per cent over 60 months is 20.7584; what comes back pays its interest only, 0.75 per cent.
    """
    parts = {part.name: part for part in cloud.parts(ownership())}
    assert parts["purchase"].usd_per_month == pytest.approx(27 * 20.7584 + 3000 * 0.0075, abs=0.01)
    assert parts["room"].usd_per_month == pytest.approx(1200 * 0.18)
    assert parts["repairs"].usd_per_month == pytest.approx(600 / 12)
    assert parts["power"].usd_per_month == pytest.approx(0.25 * 730 * 0.09)
    assert parts["power"].usd_per_hour == pytest.approx(0.75 * 0.09)
    assert parts["cooling"].usd_per_month == pytest.approx(0.125 * 730 * 0.09)
    assert parts["cooling"].usd_per_hour == pytest.approx(0.375 * 0.09)


def test_interest_is_what_the_payments_exceed_the_price_by():
    """The loan of 100,000 at 6 per cent over 30 years costs 215,838 in all, 115,838 of it interest."""
    assert cloud.interest_usd_per_month(100_000, 0, 360, 0.06) * 360 == pytest.approx(115_838, abs=1)
    assert cloud.interest_usd_per_month(100_000, 20_000, 36, 0) == 0


@given(owners, st.floats(0.01, 30))
def test_at_break_even_both_ways_cost_the_same(own, rent):
    even = cloud.break_even_hours(own, rent)
    if 0 < even <= 730:
        assert cloud.own_usd_per_hour(own, even) == pytest.approx(rent)
    elif even > 730:
        assert cloud.own_usd_per_hour(own, 730) >= rent * (1 - 1e-9)


@given(owners, st.floats(0.5, 10), st.floats(0.01, 10))
def test_a_higher_rent_makes_owning_pay_earlier(own, rent, more):
    assert cloud.break_even_hours(own, rent + more) <= cloud.break_even_hours(own, rent)


@given(owners, st.floats(1, 360), st.floats(1, 360))
def test_more_use_makes_an_hour_cheaper(own, hours, more):
    assert cloud.own_usd_per_hour(own, hours + more) <= cloud.own_usd_per_hour(own, hours)


@given(owners)
def test_interest_costs(own):
    free = cloud.fixed_usd_per_month(own.changed(interest_share=0))
    assert cloud.fixed_usd_per_month(own) >= free * (1 - 1e-12)


def test_the_payments_pay_the_purchase():
    """Month by month, as a bank would: interest on what is left, then the payment; in the end the resale is left."""
    payment = cloud.monthly_payment_usd(30000, 3000, 48, 0.12)
    left = 30000.0
    for _ in range(48):
        left = left * 1.01 - payment
    assert left == pytest.approx(3000)


def test_an_input_can_be_changed_in_passing():
    own = ownership()
    assert cloud.break_even_hours(own, 3, interest_share=0) == cloud.break_even_hours(own.changed(interest_share=0), 3)
    with pytest.raises(ValueError, match="'colour' is no input of owning"):
        cloud.break_even_hours(own, 3, colour=1)


@given(owners, owners, st.lists(st.floats(0.5, 20), min_size=1, max_size=4))
def test_below_the_interval_nobody_owns_and_above_it_everybody_does(own, other, rents):
    fewest, most = cloud.break_even_interval([own, other], rents)
    assert fewest <= most
    for each in (own, other):
        for rent in rents:
            if 1e-6 < fewest <= 730:
                assert cloud.own_usd_per_hour(each, fewest) >= rent * (1 - 1e-9)
            if most <= 730:
                assert cloud.own_usd_per_hour(each, max(most, 1e-6)) <= rent * (1 + 1e-9)


def test_an_interval_needs_an_owner_and_a_rent():
    with pytest.raises(ValueError, match="must hold at least one each"):
        cloud.break_even_interval([], [3])
    with pytest.raises(ValueError, match="must hold at least one each"):
        cloud.break_even_interval([ownership()], [])


def test_what_is_paid_does_not_count_for_keeping():
    """Room alone, 100 USD a month for a kilowatt, against a rent of one dollar: 100 hours, whatever the card cost."""
    dear = bare(reserved_w=1000, room_usd_per_w_per_month=0.1, interest_share=0.1)
    assert cloud.keep_hours(dear, 1) == pytest.approx(100)
    assert cloud.keep_hours(dear.changed(purchase_usd=1), 1) == pytest.approx(100)
    assert cloud.keep_hours(bare(), 1) == 0


@given(owners, st.floats(0.5, 20))
def test_keeping_pays_before_buying_does(own, rent):
    assert cloud.keep_hours(own, rent) <= cloud.break_even_hours(own, rent) * (1 + 1e-9)


def test_a_share_of_cards_a_year():
    """Two of a thousand cards in 73 days, a fifth of a year, is one in a hundred a year."""
    assert cloud.yearly_share(2, 1000, 73) == pytest.approx(0.01)
    with pytest.raises(ValueError, match="must be above zero, not 0 and 73"):
        cloud.yearly_share(2, 0, 73)


# What flips it


@given(owners, st.floats(0.5, 5), st.floats(50, 700))
def test_the_flip_is_where_both_ways_cost_the_same(own, rent, hours):
    price = cloud.flip_value(own, "purchase_usd", rent, hours, 0, 1e6)
    if price is not None:
        assert cloud.own_usd_per_hour(own.changed(purchase_usd=price), hours) == pytest.approx(rent, rel=1e-6)


def test_a_lifetime_flips_at_a_whole_month():
    own = ownership()
    rent = cloud.own_usd_per_hour(own, 300) * 0.98
    months = cloud.flip_value(own, "lifetime_months", rent, 300, 48, 84)
    assert months == int(months)
    assert cloud.own_usd_per_hour(own.changed(lifetime_months=months), 300) < rent
    assert cloud.own_usd_per_hour(own.changed(lifetime_months=months - 1), 300) >= rent


def test_what_does_not_decide_is_none():
    assert cloud.flip_value(ownership(), "electricity_usd_per_j", 0.5, 300, 0, 1e-7) is None


# Dimensions


def test_the_dimensions():
    unit = pint.UnitRegistry()
    own = ownership(
        purchase_usd=30000 * unit.count,  # money stands for itself: pint has no dollars, and one unit is enough
        working_w=1000 * unit.watt,
        idle_w=250 * unit.watt,
        electricity_usd_per_j=0.09 / 3.6e6 * unit.count / unit.joule,
        reserved_w=1200 * unit.watt,
        room_usd_per_w_per_month=0.18 * unit.count / unit.watt,
        staff_usd_per_month=100 * unit.count,
    )
    joule_usd = unit.second * own.electricity_usd_per_j  # the hour's seconds are a plain number in the package
    assert cloud.power_usd_per_hour(cloud.cooling_w(own.working_w - own.idle_w, own.pue_ratio), joule_usd).check("")
    assert cloud.power_usd_per_month(own.idle_w, joule_usd).check("")
    assert cloud.room_usd_per_month(own.reserved_w, own.room_usd_per_w_per_month).check("")
    assert cloud.repairs_usd_per_month(own.purchase_usd, own.repair_share).check("")
    assert cloud.monthly_payment_usd(own.purchase_usd, own.purchase_usd * 0.1, 60, 0.09).check("")
    with pytest.raises(pint.DimensionalityError):  # the planted fault: a power where an energy belongs
        (own.purchase_usd + own.working_w * own.electricity_usd_per_j).to("count")


# What is refused


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("purchase_usd", -1, "purchase_usd must be a number of zero or more"),
        ("electricity_usd_per_j", math.nan, "electricity_usd_per_j must be a number of zero or more"),
        ("staff_usd_per_month", math.inf, "staff_usd_per_month must be a number of zero or more"),
        ("lifetime_months", 0, "lifetime_months must be a whole number of one or more"),
        ("lifetime_months", 4.5, "lifetime_months must be a whole number of one or more"),
        ("pue_ratio", 0.9, "pue_ratio must be one or more"),
        ("resale_share", 1.1, "resale_share must be one or less"),
        ("idle_w", 2000, "idle_w must be no more than working_w"),
    ],
)
def test_what_no_owner_has(name, value, says):
    with pytest.raises(ValueError, match=says):
        cloud.parts(ownership(**{name: value}))


@pytest.mark.parametrize("hours", [0, -1, 731, math.nan])
def test_hours_that_no_month_has(hours):
    with pytest.raises(ValueError, match="hours must lie between 0 and 730"):
        cloud.own_usd_per_hour(ownership(), hours)


@pytest.mark.parametrize("rent", [0, -1, math.inf, math.nan])
def test_rents_that_nobody_asks(rent):
    with pytest.raises(ValueError, match="rent_usd_per_hour must be a number above zero"):
        cloud.break_even_hours(ownership(), rent)


def test_a_rent_below_the_running_cost_never_pays():
    assert cloud.break_even_hours(ownership(), 0.01) == math.inf


def test_an_unknown_input_is_named():
    with pytest.raises(ValueError, match="'price' is no input of owning: use purchase_usd"):
        ownership().changed(price=1)


def test_the_inputs_are_the_fields():
    assert tuple(cloud.Ownership.__dataclass_fields__) == cloud.INPUTS
