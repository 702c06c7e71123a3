"""Own or rent: what an hour of a GPU of one's own costs, by parts, and from how many hours of use it pays.

Owning costs money each month whether the card works or not, and a little more for each hour that it works. Renting
costs by the hour only. So there is one number of hours a month from which owning is cheaper: the break-even.

Promises: everything is for one card and carries a server's other parts as the card's share; the terms are listed, so
that a page can show them; no price, rate or lifetime is built in. Left out: taxes, the price of one's own waiting, a
rent that changes while the card is owned (``gpumoat.simulate`` draws those), moving data in and out of a cloud.

Standard library only, and plain features of it: the same file runs on MicroPython.
"""

from dataclasses import dataclass


def hours_per_month() -> float:
    """Return the hours of a month: 24 x 365 / 12, as the trade counts them."""
    return 24 * 365 / 12


def months(years: float) -> float:
    """Return the months of so many years, 12 to each."""
    return 12 * years


def seconds_per_hour() -> int:
    """Return the seconds of an hour, 3600: one watt for an hour is as many joules."""
    return 3600


def yearly_share(count: float, cards_count: float, days_count: float) -> float:
    """Return the share of cards that would meet an event in a year of 365 days, from how many did in some days.

    Raises:
        ValueError: There are no cards or no days.
    """
    if not cards_count > 0 or not days_count > 0:
        raise ValueError(f"cards_count and days_count must be above zero, not {cards_count} and {days_count}")
    return count / cards_count / days_count * 365


@dataclass(frozen=True)
class Ownership:
    """What it takes to own one card, with its share of the server and the room around it.

    Attributes:
        purchase_usd: Price of the card with its share of server and network, US dollars.
        resale_share: What it sells for at the end, as a share of the purchase.
        lifetime_months: Months from purchase to sale, a whole number.
        interest_share: Interest a year, as a share; the twelfth part is charged each month.
        working_w: Power of the card with its share of the server when it works, W.
        idle_w: The same when it waits, W.
        pue_ratio: Energy of the building over energy of its machines, one or more.
        electricity_usd_per_j: Price of electricity, US dollars a joule.
        reserved_w: Power for which room is rented, W: what the card draws at most.
        room_usd_per_w_per_month: Rent of room and cooling plant, US dollars a watt and month; electricity comes on top.
        staff_usd_per_month: People, as the card's share.
        repair_share: Repairs and spare parts a year, as a share of the purchase.
    """

    purchase_usd: float
    resale_share: float
    lifetime_months: float
    interest_share: float
    working_w: float
    idle_w: float
    pue_ratio: float
    electricity_usd_per_j: float
    reserved_w: float
    room_usd_per_w_per_month: float
    staff_usd_per_month: float
    repair_share: float

    def changed(self, **values: float) -> "Ownership":
        """Return the same with some inputs changed, given by name.

        Raises:
            ValueError: There is no such input.
        """
        for name in values:
            if name not in INPUTS:
                raise ValueError(f"{name!r} is no input of owning: use {', '.join(INPUTS)}")
        return Ownership(*[values.get(name, getattr(self, name)) for name in INPUTS])


INPUTS = (
    "purchase_usd",
    "resale_share",
    "lifetime_months",
    "interest_share",
    "working_w",
    "idle_w",
    "pue_ratio",
    "electricity_usd_per_j",
    "reserved_w",
    "room_usd_per_w_per_month",
    "staff_usd_per_month",
    "repair_share",
)
"""The inputs of ``Ownership`` in their order."""


@dataclass(frozen=True)
class Part:
    """One part of the cost of owning.

    Attributes:
        name: What is paid for.
        usd_per_month: What it costs a month, used or not.
        usd_per_hour: What each hour of use adds.
    """

    name: str
    usd_per_month: float
    usd_per_hour: float

    def cost_usd_per_hour(self, hours: float) -> float:
        """Return its cost for each of the hours of use in a month."""
        return self.usd_per_month / hours + self.usd_per_hour


def check(own: Ownership) -> None:
    """Refuse inputs that no owner has.

    Raises:
        ValueError: A lifetime below one month or not whole, a PUE below one, a resale of more than the purchase, an
            idle power above the working one, or anything negative; the message begins with the input's name.
    """
    for name in INPUTS:
        value = getattr(own, name)
        if not 0 <= value < float("inf"):
            raise ValueError(f"{name} must be a number of zero or more, not {value}")
    if own.lifetime_months < 1 or own.lifetime_months != int(own.lifetime_months):
        raise ValueError(f"lifetime_months must be a whole number of one or more, not {own.lifetime_months}")
    if own.pue_ratio < 1:
        raise ValueError(f"pue_ratio must be one or more, not {own.pue_ratio}: a building uses what its machines use")
    if own.resale_share > 1:
        raise ValueError(f"resale_share must be one or less, not {own.resale_share}")
    if own.idle_w > own.working_w:
        raise ValueError(f"idle_w must be no more than working_w, {own.working_w}, not {own.idle_w}")


def monthly_payment_usd(purchase_usd: float, resale_usd: float, months: float, interest_share: float) -> float:
    """Return the equal payment a month that pays a purchase, less its resale, with interest.

    The annuity with the capital recovery factor r / (1 - (1 + r)^-n), for n months at r = interest / 12; what the
    resale brings in the end is worth (1 + r)^-n of it today. Source: NREL, Annual Technology Baseline 2024, equations,
    CRF.

    Args:
        purchase_usd: Paid at the beginning.
        resale_usd: Received at the end.
        months: n, one or more.
        interest_share: Interest a year, as a share.
    """
    rate = interest_share / 12
    worth: float = (1 + rate) ** -months
    if worth == 1:  # no interest, or too little for a float to show
        return (purchase_usd - resale_usd) / months
    return (purchase_usd - resale_usd * worth) * rate / (1 - worth)


def interest_usd_per_month(purchase_usd: float, resale_usd: float, months: float, interest_share: float) -> float:
    """Return the part of ``monthly_payment_usd`` that is interest: what it exceeds the even loss of value by."""
    return monthly_payment_usd(purchase_usd, resale_usd, months, interest_share) - (purchase_usd - resale_usd) / months


def room_usd_per_month(reserved_w: float, room_usd_per_w_per_month: float) -> float:
    """Return the rent of the room for so much power, used or not."""
    return reserved_w * room_usd_per_w_per_month


def repairs_usd_per_month(purchase_usd: float, repair_share: float) -> float:
    """Return what repairs cost a month: a year's share of the purchase in 12 parts."""
    return purchase_usd * repair_share / 12


def power_usd_per_hour(power_w: float, electricity_usd_per_j: float) -> float:
    """Return what an hour of so much power costs: power x 3600 s x price of a joule."""
    return power_w * (seconds_per_hour() * electricity_usd_per_j)


def power_usd_per_month(power_w: float, electricity_usd_per_j: float) -> float:
    """Return what a month of so much power costs, day and night."""
    return power_usd_per_hour(power_w, electricity_usd_per_j) * hours_per_month()


def cooling_w(power_w: float, pue_ratio: float) -> float:
    """Return what the building draws on top of its machines: PUE - 1 of their power."""
    return power_w * (pue_ratio - 1)


def parts(own: Ownership) -> list[Part]:
    """Return the cost of owning one card by parts: purchase, room, staff, repairs, power, cooling.

    *Purchase* is the equal payment for the purchase less its resale, with interest. *Power* is what the machine itself
    draws: idle for all of a month, and what work adds for each hour of use. *Cooling* is what the building draws on
    top. Each part has a function of its own inputs alone: a page that calls it rests on these and on no others.

    Raises:
        ValueError: See ``check``.
    """
    check(own)
    price = own.electricity_usd_per_j
    work_w = own.working_w - own.idle_w
    idle_cooling_w, work_cooling_w = cooling_w(own.idle_w, own.pue_ratio), cooling_w(work_w, own.pue_ratio)
    resale_usd = own.purchase_usd * own.resale_share
    payment = monthly_payment_usd(own.purchase_usd, resale_usd, own.lifetime_months, own.interest_share)
    return [
        Part("purchase", payment, 0),
        Part("room", room_usd_per_month(own.reserved_w, own.room_usd_per_w_per_month), 0),
        Part("staff", own.staff_usd_per_month, 0),
        Part("repairs", repairs_usd_per_month(own.purchase_usd, own.repair_share), 0),
        Part("power", power_usd_per_month(own.idle_w, price), power_usd_per_hour(work_w, price)),
        Part("cooling", power_usd_per_month(idle_cooling_w, price), power_usd_per_hour(work_cooling_w, price)),
    ]


def totals(own: Ownership) -> tuple[float, float]:
    """Return what owning costs a month before the first hour of use, and what each hour of use adds, in US dollars."""
    fixed, running = 0.0, 0.0
    for part in parts(own):  # one by one: the built-in sum rounds otherwise from Python 3.12 on
        fixed += part.usd_per_month
        running += part.usd_per_hour
    return fixed, running


def fixed_usd_per_month(own: Ownership) -> float:
    """Return what owning costs a month before the first hour of use."""
    return totals(own)[0]


def running_usd_per_hour(own: Ownership) -> float:
    """Return what each hour of use adds."""
    return totals(own)[1]


def own_usd_per_hour(own: Ownership, hours: float) -> float:
    """Return the cost of an hour of use when the card is used for so many hours a month.

    Raises:
        ValueError: The hours are none, or more than a month has.
    """
    if not 0 < hours <= hours_per_month():
        raise ValueError(f"hours must lie between 0 and {hours_per_month():g}, the hours of a month, not {hours}")
    fixed, running = totals(own)
    return fixed / hours + running


def break_even_hours(own: Ownership, rent_usd_per_hour: float, **changes: float) -> float:
    """Return the hours of use a month from which owning is cheaper than renting.

    rent x hours = fixed + running x hours, so hours = fixed / (rent - running). More than ``hours_per_month()`` means
    that owning never pays; so does infinity, where an hour of one's own card costs more to run than to rent.

    Args:
        own: The inputs.
        rent_usd_per_hour: What renting costs.
        changes: Inputs that are to be other than in ``own``, by name.

    Raises:
        ValueError: The rent is not above zero, or see ``check`` and ``Ownership.changed``.
    """
    if not 0 < rent_usd_per_hour < float("inf"):
        raise ValueError(f"rent_usd_per_hour must be a number above zero, not {rent_usd_per_hour}")
    fixed, running = totals(own.changed(**changes))
    return fixed / (rent_usd_per_hour - running) if rent_usd_per_hour > running else float("inf")


def keep_hours(own: Ownership, rent_usd_per_hour: float) -> float:
    """Return the hours of use a month from which a card that is paid for already is worth keeping.

    The break-even without the payment for the purchase, which is owed whether it is kept or not; what it would sell
    for today is left out. Infinity where an hour costs more to run than to rent.

    Raises:
        ValueError: The rent is not above zero, or see ``check``.
    """
    paid = parts(own)[0].usd_per_month
    fixed = fixed_usd_per_month(own)
    return break_even_hours(own, rent_usd_per_hour) * (fixed - paid) / fixed if fixed > paid else 0.0


def break_even_interval(owners: list[Ownership], rents_usd_per_hour: list[float]) -> tuple[float, float]:
    """Return the fewest and the most hours of use a month from which an owner is cheaper than a rent.

    Below the fewest, renting is cheaper whoever asks; above the most, owning is. Between them it depends on which owner
    and which rent. Each owner is compared with each rent.

    Raises:
        ValueError: There is no owner or no rent, or see ``break_even_hours``.
    """
    if not owners or not rents_usd_per_hour:
        raise ValueError("owners and rents_usd_per_hour must hold at least one each")
    hours = [break_even_hours(own, rent) for own in owners for rent in rents_usd_per_hour]
    return min(hours), max(hours)


def flip_value(
    own: Ownership, name: str, rent_usd_per_hour: float, hours: float, low: float, high: float
) -> float | None:
    """Return the value of one input at which owning and renting cost the same, all others kept.

    Found by halving the interval 60 times; a lifetime is found as the first whole month of the other answer.

    Args:
        own: The inputs.
        name: Which of ``INPUTS`` to change.
        rent_usd_per_hour: What renting costs.
        hours: Hours of use a month.
        low: Least value to try.
        high: Greatest value to try.

    Returns:
        The value, or None where the answer is the same at both ends: then this input alone does not decide.

    Raises:
        ValueError: See ``check``, ``own_usd_per_hour`` and ``Ownership.changed``.
    """

    def pays(value: float) -> bool:
        return own_usd_per_hour(own.changed(**{name: value}), hours) < rent_usd_per_hour

    at_low = pays(low)
    if at_low == pays(high):
        return None
    if name == "lifetime_months":
        for month in range(int(low), int(high) + 1):
            if pays(month) != at_low:
                return month
    for _ in range(60):
        middle = (low + high) / 2
        if pays(middle) == at_low:
            low = middle
        else:
            high = middle
    return (low + high) / 2
