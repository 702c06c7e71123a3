"""``gpumoat break-even``: what an hour of a GPU of one's own costs, and from how many hours of use a month it pays.

Without options it answers for an H100 SXM with the facts that the site uses; every option replaces one of them. Money
is in US dollars, power in watts, as on price lists and data sheets.
"""

from __future__ import annotations

from typing import Annotated

import typer

from gpumoat import cloud
from gpumoat.commands.answer import Answer, Json, bad_input, refuse
from gpumoat.facts import fact
from gpumoat.price_table import COMMITMENTS, card_name
from gpumoat.prices import latest, median_usd_per_hour, prices, spread
from gpumoat.units import UnitError, format_value

W_PER_KW, J_PER_KWH, PER_CENT = 1000, 3_600_000, 100

IDLE_SHARE, STAFF_USD, REPAIR_SHARE, DAYS = 0.25, 100.0, 3.0, 100
"""Assumptions, for want of a source: see the chapter ``cloud/break-even``, where each has its reason."""

OPTIONS = {
    "purchase_usd": "--purchase-usd",
    "resale_share": "--resale-percent",
    "lifetime_months": "--years",
    "interest_share": "--interest-percent",
    "working_w": "--working-w",
    "idle_w": "--idle-w",
    "pue_ratio": "--pue",
    "electricity_usd_per_j": "--usd-per-kwh",
    "reserved_w": "--peak-w",
    "room_usd_per_w_per_month": "--room-usd-per-kw-month",
    "staff_usd_per_month": "--staff-usd-per-month",
    "repair_share": "--repair-percent",
    "rent_usd_per_hour": "--rent-usd-per-hour",
    "hours": "--hours",
}

HOW = {
    "purchase": "equal payments for price less resale, with interest",
    "interest": "what the payments exceed the even loss of value by",
    "room": "rent by the peak power, electricity not included",
    "staff": "the card's share",
    "repairs": "a share of the purchase a year",
    "power": "what the machine draws",
    "cooling": "what the building draws on top, PUE - 1",
}


def register(app: typer.Typer) -> None:
    """Add the command of this subject."""
    app.command("break-even")(break_even)


def break_even(
    card: Annotated[str, typer.Option(help="The card whose offers it is compared with.")] = "h100-sxm",
    hours: Annotated[
        float | None, typer.Option(help="Hours of use a month, for the question whether it pays; all if left out.")
    ] = None,
    rent_usd_per_hour: Annotated[
        float | None, typer.Option(help="A rent of your own, in place of the offers of the table.")
    ] = None,
    commitment: Annotated[str, typer.Option(help=f"Terms of the offers: {', '.join(COMMITMENTS)}.")] = "on-demand",
    days: Annotated[int, typer.Option(help="How far back from the newest offer to look.", min=0)] = DAYS,
    purchase_usd: Annotated[float | None, typer.Option(help="Price of a card with its share of the server.")] = None,
    resale_percent: Annotated[float | None, typer.Option(help="What it brings in the end.")] = None,
    years: Annotated[float | None, typer.Option(help="Years of use.")] = None,
    interest_percent: Annotated[float | None, typer.Option(help="Interest a year.")] = None,
    working_w: Annotated[float | None, typer.Option(help="Power at work, a card with its share of the server.")] = None,
    idle_w: Annotated[float | None, typer.Option(help="Power when it waits.")] = None,
    peak_w: Annotated[float | None, typer.Option(help="Power for which room is rented.")] = None,
    pue: Annotated[float | None, typer.Option(help="Energy of the building over that of its machines.")] = None,
    usd_per_kwh: Annotated[float | None, typer.Option(help="Price of electricity.")] = None,
    room_usd_per_kw_month: Annotated[float | None, typer.Option(help="Rent of room and cooling plant.")] = None,
    staff_usd_per_month: Annotated[float, typer.Option(help="People, a card's share.")] = STAFF_USD,
    repair_percent: Annotated[float, typer.Option(help="Repairs a year, of the purchase.")] = REPAIR_SHARE,
    as_json: Json = False,
) -> None:
    """Say what an hour of one's own GPU costs by parts, and from which use it beats renting one."""
    given = dict(locals())
    for option in OPTIONS.values():
        value = given.get(option[2:].replace("-", "_"))
        if value is not None and not 0 <= value < float("inf"):
            refuse(f"{option} must be a number of zero or more, not {value:g}")
    if resale_percent is not None and resale_percent > PER_CENT:
        refuse(f"--resale-percent must be {PER_CENT} or less, not {resale_percent:g}")
    if years is not None and (years == 0 or cloud.months(years) != int(cloud.months(years))):
        refuse(f"--years must make one or more whole months, such as 5 or 4.5, not {years:g}")
    if commitment not in COMMITMENTS:
        refuse(f"--commitment must be one of {', '.join(COMMITMENTS)}, not {commitment}")
    if card != "h100-sxm" and (purchase_usd is None or working_w is None or peak_w is None):
        refuse(f"--purchase-usd, --working-w and --peak-w are needed for {card}: only for h100-sxm are they known")
    cards = fact("h100-server.cards_count")
    if working_w is None:
        working_w = fact("h100-server.typical_w") / cards
    with bad_input(OPTIONS):
        own = cloud.Ownership(
            purchase_usd=fact("h100-server.price_usd") / cards if purchase_usd is None else purchase_usd,
            resale_share=_part(resale_percent, fact("h100-server.resale_low_share")),
            lifetime_months=cloud.months(fact("gpu-life.amazon_years") if years is None else years),
            interest_share=_part(interest_percent, fact("gpu-debt.notes_share")),
            working_w=working_w,
            idle_w=IDLE_SHARE * working_w if idle_w is None else idle_w,
            pue_ratio=fact("data-centre.pue_ratio") if pue is None else pue,
            electricity_usd_per_j=_over(usd_per_kwh, J_PER_KWH, fact("data-centre.electricity_usd_per_j")),
            reserved_w=fact("h100-server.peak_w") / cards if peak_w is None else peak_w,
            room_usd_per_w_per_month=_over(
                room_usd_per_kw_month, W_PER_KW, fact("data-centre.rent_usd_per_w_per_month")
            ),
            staff_usd_per_month=staff_usd_per_month,
            repair_share=repair_percent / PER_CENT,
        )
        used = cloud.hours_per_month() if hours is None else hours
        parts = cloud.parts(own)
        cost = cloud.own_usd_per_hour(own, used)
        compared = _offers(card, commitment, days) if rent_usd_per_hour is None else [("given", rent_usd_per_hour, "")]
        evens = [cloud.break_even_hours(own, rent) for _, rent, _ in compared]
    answer = Answer(f"A {card_name(card)} of one's own, used {used:g} hours a month")
    for part in parts:
        _add(answer, f"{part.name}_usd_per_hour", part.name, part.cost_usd_per_hour(used), 3, "USD/h", HOW[part.name])
        if part.name == "purchase":
            price = (own.purchase_usd, own.purchase_usd * own.resale_share, own.lifetime_months, own.interest_share)
            interest = cloud.interest_usd_per_month(*price) / used
            _add(answer, "interest_usd_per_hour", "of it interest", interest, 3, "USD/h", HOW["interest"])
    _add(answer, "own_usd_per_hour", "an hour of use", cost, 2, "USD/h", "all parts")
    fixed, running = cloud.totals(own)
    _add(answer, "fixed_usd_per_month", "owed each month", fixed, 0, "USD/month", "used or not")
    _add(answer, "running_usd_per_hour", "added by an hour", running, 3, "USD/h", "power and cooling above idle")
    for (name, rent, where), even in zip(compared, evens, strict=True):
        _add(answer, f"{name}_rent_usd_per_hour", f"{name} rent", rent, 2, "USD/h", where)
        share = even / cloud.hours_per_month()
        how = f"{share:.0%} of a month" if share <= 1 else "more than a month has: never"
        _add(answer, f"{name}_even_hours", "owning pays from", even if share < float("inf") else None, 0, "hours", how)
        answer.add(f"{name}_own_pays", "at this use, own?", cost < rent, "", "an hour of one's own against the rent")
    answer.notes.append(
        "Staff, repairs and idle power are assumptions; taxes, discounts and a rent that moves are left out."
    )
    answer.show(as_json)


def _offers(card: str, commitment: str, days: int) -> list[tuple[str, float, str]]:
    """Return the lowest, the median and the highest of the newest offers' prices; the only one where there is one."""
    offers = latest(prices(card, commitment, days=days))
    low, high = (
        (offer.usd_per_hour, f"{offer.provider}, {offer.date}, {end} of {len(offers)}")
        for offer, end in zip(spread(offers), ("lowest", "highest"), strict=True)
    )
    if len(offers) == 1:
        return [("only", low[0], f"{offers[0].provider}, {offers[0].date}, the only one")]
    return [
        ("lowest", *low),
        ("median", median_usd_per_hour(offers), f"the middle of {len(offers)} offers"),
        ("highest", *high),
    ]


def _add(answer: Answer, name: str, label: str, value: float | None, digits: int, unit: str, how: str) -> None:
    """Add a row, with more digits where the value lies on the edge between two roundings."""
    for more in range(digits, digits + 6):
        try:
            if value is not None:
                format_value(value, f",.{more}f {unit}", name)
        except UnitError:
            continue
        answer.add(name, label, value, f",.{more}f {unit}", how)
        return


def _part(percent: float | None, default: float) -> float:
    return default if percent is None else percent / PER_CENT


def _over(value: float | None, units: int, default: float) -> float:
    return default if value is None else value / units
