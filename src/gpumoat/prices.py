"""Rental prices by the hour: dated offers, chosen by card, terms and time.

``prices("h100-sxm", commitment="on-demand", since="2026-08")`` returns the offers that match. Choosing reads no price;
``usd_per_hour`` of an offer does, so a number rests on the offers whose prices went into it, and its card lists them.
Nor does ordering: ``by_price`` is for lists, ``spread`` and ``median_usd_per_hour`` are for numbers.

Promises: variants are different cards (SXM, PCIe and NVL; 40 and 80 GB) and never mix; the order is by date and then by
id. Left out: judging an offer. A list price is not what a large customer pays, and a low one may not be in stock.

Standard library only; runs on MicroPython.
"""

from collections.abc import Iterable

from gpumoat.facts import DataError, Read, Record, fact, held_value, near, note, registry
from gpumoat.units import Unit


class Offer:
    """One price of one provider on one day.

    Attributes:
        id: Its id, such as ``price-h100-sxm-lambda-on-demand-8x-2026-09-25``.
        name: Provider, card, terms and day in words.
        card: The card's id, such as ``h100-sxm``.
        provider: Who asked it.
        tier: ``hyperscaler``, ``specialist`` or ``marketplace``.
        commitment: ``on-demand``, ``spot``, or ``reserved-`` with the term.
        region: Where, if the price differs by place; else empty.
        date: The day for which it holds.
        cards: How many cards its price covers: all of a server's, or one.
    """

    __slots__ = ("card", "cards", "commitment", "date", "id", "name", "provider", "region", "tier")
    frozen = True  # the execution record need not fear that a call changes it

    def __init__(self, record: Record) -> None:
        self.id = record.id
        self.name = record.text("name")
        self.card = record.text("card")
        self.provider = record.text("provider")
        self.tier = record.text("tier")
        self.commitment = record.text("commitment")
        self.region = record.text("region")
        self.date = record.text("date")
        self.cards = int(str(record.row["cards"]))

    @property
    def fact(self) -> Record:
        """The row of its price; looking at it is no read."""
        return registry().facts[self.id + ".usd_per_hour"]

    @property
    def usd_per_hour(self) -> int | float:
        """The price of one card for one hour, in US dollars: a cited fact."""
        return fact(self.id + ".usd_per_hour")

    @property
    def day(self) -> str:
        """The day for which the price holds, as the file states it: cited text, where ``date`` is for choosing."""
        note(Read("cited", self.fact.id, self.fact.text("as_of"), Unit("", 1, 1, ""), self.fact))
        return self.fact.text("as_of")

    @property
    def source(self) -> str:
        """The short name of the price's source."""
        return registry().sources[self.fact.text("source")].text("short")

    @property
    def seller(self) -> str:
        """Who sells what: the provider, and whether its price is for a whole server of cards."""
        return f"{self.provider}, whole server" if self.cards > 1 else self.provider

    def __repr__(self) -> str:
        return f"Offer({self.id!r})"


def day_number(date: str) -> int:
    """Return a running number of a day, so that two days can be subtracted.

    With the year y beginning in March, month 3 of 12, and m months after it: 365 y + y/4 - y/100 + y/400 +
    (153 m + 2)/5 + day, each quotient rounded down, the usual rule of the Gregorian calendar. January and February
    belong to the year before. A month stands for its first day, a year for its first of January.
    """
    parts = [int(part) for part in date.split("-")] + [1, 1]
    year, month, day = parts[0], parts[1] - 3, parts[2]
    if month < 0:
        year, month = year - 1, month + 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day


def prices(
    card: str,
    commitment: str = "",
    tier: str = "",
    provider: str = "",
    since: str = "",
    until: str = "",
    days: float = float("inf"),
    cards: int = 0,
) -> tuple[Offer, ...]:
    """Return the offers for a card that match, in the order of their dates.

    A tuple, which no call can change: so a number rests on the offers whose prices it read, and on no others.

    Args:
        card: The card's id, such as ``"h100-sxm"``.
        commitment: ``"on-demand"``, ``"spot"`` or ``"reserved-3y"``; any where it is left out.
        tier: ``"hyperscaler"``, ``"specialist"`` or ``"marketplace"``.
        provider: The provider's name as the file has it.
        since: First day, month or year, such as ``"2026-08"``.
        until: Last day, month or year, which counts whole.
        days: Only offers of so many days up to the newest that matches.
        cards: Only prices that cover so many cards, such as 8 for a whole server; any where it is left out.

    Raises:
        DataError: No price of this card is known, or none matches.
    """
    known = [Offer(row) for row in registry().subjects.values() if row.text("kind") == "price"]
    names = sorted({offer.card for offer in known})
    if card not in names:
        hint = near(card, names) or f": there are prices of {', '.join(names)}"
        raise DataError(f"no price of {card!r}{hint}")
    found = [
        offer
        for offer in known
        if offer.card == card
        and commitment in ("", offer.commitment)
        and tier in ("", offer.tier)
        and provider in ("", offer.provider)
        and cards in (0, offer.cards)
        and offer.date >= since
        and (not until or offer.date[: len(until)] <= until)
    ]
    if not found:
        asked = ", ".join(word for word in (commitment, tier, provider, since, until) if word)
        asked += f"{', ' if asked else ''}{cards} cards" if cards else ""
        raise DataError(f"no price of {card!r} matches {asked}")
    newest = max(day_number(offer.date) for offer in found)
    found = [offer for offer in found if newest - day_number(offer.date) <= days]
    return tuple(sorted(found, key=lambda offer: (offer.date, offer.id)))


def latest(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """Return the newest of the offers that differ in their day alone, in the given order: one vote each."""
    newest: dict[str, Offer] = {}
    given = tuple(offers)
    for offer in given:
        same = offer.id[: -len(offer.date)]
        if same not in newest or offer.date >= newest[same].date:
            newest[same] = offer
    kept = [offer.id for offer in newest.values()]
    return tuple(offer for offer in given if offer.id in kept)


def by_price(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """Return the offers from the cheapest to the dearest, for a list; it reads no price, as no choosing does.

    A number about the cheapest or the dearest offer rests on all of them: take ``spread`` for it.
    """
    return tuple(sorted(offers, key=lambda offer: (held_value(offer.fact)[0], offer.id)))


def spread(offers: Iterable[Offer]) -> tuple[Offer, Offer]:
    """Return the cheapest of the offers and the dearest.

    It reads every price: what is computed from one of the two rests on all the offers, as its card then shows.

    Raises:
        ValueError: There are no offers.
    """
    ordered = sorted(offers, key=lambda offer: (offer.usd_per_hour, offer.id))
    if not ordered:
        raise ValueError("offers must hold at least one")
    return ordered[0], ordered[-1]


def median_usd_per_hour(offers: Iterable[Offer]) -> int | float:
    """Return the median of the offers' prices: the middle one, or the mean of the two in the middle.

    Raises:
        ValueError: There are no offers.
    """
    values = sorted(offer.usd_per_hour for offer in offers)
    if not values:
        raise ValueError("offers must hold at least one")
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
