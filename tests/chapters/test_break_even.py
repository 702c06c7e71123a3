"""The claims in the prose of cloud/break-even that a number supports, each with its sentence.

Numbers from elsewhere: the server's price, the rents and the inputs of owning as their sources print them, typed here
on purpose, as a second hand; the annuity as in any textbook.
"""

from __future__ import annotations

import pytest

from gpumoat import cloud
from gpumoat.facts import registry
from gpumoat.prices import prices, spread


@pytest.fixture
def chapter(chapter_of):
    """The chapter."""
    return chapter_of("cloud/break-even")


@pytest.fixture
def n(chapter):
    """The names of its worked example."""
    return chapter.n


def by(rows: list[dict], key: str, name: str) -> dict:
    """The one row of that name."""
    (row,) = [row for row in rows if row[key] == name]
    return row


def owed_and_added() -> tuple[float, float]:
    """What owning costs, computed here without the package: by the month, and by the hour of use."""
    price, life, rate = 310_000 / 8, 60, 0.09 / 12
    payment = (price - 0.1 * price / (1 + rate) ** life) * rate / (1 - (1 + rate) ** -life)
    kw_hour = 1.54 * 0.0904  # with what the building draws on top
    idle = 0.25 * 8.5 / 8
    owed = payment + 10.2 / 8 * 184.06 + 100 + 0.03 * price / 12 + idle * kw_hour * 730
    return owed, (8.5 / 8 - idle) * kw_hour


# The answer


def test_the_interval(chapter, n) -> None:
    """Google's list price for a server of eight, and the cheapest machine of Vast.ai."""
    assert chapter.says("From … of use a month against the dearest rent that we found, from … against the cheapest.")
    assert chapter.says("There is none. Between … and …, sellers asked from … to … for an H100 SXM")
    owed, added = owed_and_added()
    assert n.low_hours == pytest.approx(owed / (88.49 / 8 - added))
    assert n.high_hours == pytest.approx(owed / (1.883 - added))
    assert 24 * 365 / 12 == n.month_hours > n.high_hours > 5 * n.low_hours


def test_one_division(chapter, n) -> None:
    assert chapter.says("Nearly all of it is owed whether the card works or not: …. Use adds …")
    owed, added = owed_and_added()
    assert n.fixed_usd_per_month == pytest.approx(owed)
    assert n.running_usd_per_hour == pytest.approx(added)
    assert n.fixed_usd_per_month > 0.9 * (n.fixed_usd_per_month + n.month_hours * n.running_usd_per_hour)
    assert by(n.parts, "part", "together")["usd_per_month"] == sum(row["usd_per_month"] for row in n.parts[:-1])


def test_electricity_hardly_matters(chapter, n) -> None:
    assert chapter.says("The price of electricity hardly matters: against the middle rent, the dearest region")
    assert chapter.says("and electricity does least. The cheapest rent does more than any of them.")
    base, *others, rent = [row["even_hours"] for row in n.worse]
    assert others[0] == by(n.worse, "of", "electricity")["even_hours"] == min(others)
    assert others[0] / base < 1.05
    assert rent > 1.7 * max(others)
    regions = [
        registry().facts[f"data-centre.electricity_{end}usd_per_j"].row["value"] for end in ("low_", "", "high_")
    ]
    assert max(regions) == 0.1729, "the dearest region that we found"


# Rents


def test_where_the_kinds_lie(chapter, n) -> None:
    assert chapter.says("The hyperscalers are at the upper left, the specialists close together in the middle")
    assert chapter.says("and the marketplaces at both ends of the rest.")
    rents = {kind: [row["rent_usd_per_hour"] for row in n.evens if row["kind"] == kind] for kind in
             ("hyperscaler", "specialist", "marketplace")}  # fmt: skip
    others = rents["specialist"] + rents["marketplace"]
    assert min(rents["hyperscaler"]) > max(others)
    assert max(rents["specialist"]) < 1.3 * min(rents["specialist"])
    assert (min(others), max(others)) == (min(rents["marketplace"]), max(rents["marketplace"]))


def test_the_offers_are_of_one_card_and_on_demand(chapter, n) -> None:
    assert chapter.says("All of these are H100 SXM.")
    assert chapter.says("All of these are *on demand*, by the hour.")
    assert {(offer.card, offer.commitment) for offer in n.offers} == {("h100-sxm", "on-demand")}
    assert len({offer.id[: -len(offer.date)] for offer in n.offers}) == len(n.offers) >= 10


def test_rents_fell_and_rose(chapter, n) -> None:
    """Google printed 62.4084, 20.3655 and 43.8044 USD for eight cards; Lambda 20.72 at first and 31.92 at last."""
    assert chapter.says("One expects the rent of an ageing card to fall, and for a time it did. Then it rose:")
    assert chapter.says("and Lambda asks more for this card than when it was new.")
    spot = [row["rent_usd_per_hour"] for row in n.rents if row["seller"] == "Google Cloud, spot"]
    assert (8 * spot[0], 8 * min(spot), 8 * spot[-1]) == pytest.approx((62.4084, 20.3655, 43.8044))
    assert n.rents[13]["rent_usd_per_hour"] == min(spot)
    lambdas = [row["rent_usd_per_hour"] for row in n.rents if row["seller"] == "Lambda, on-demand"]
    assert (8 * lambdas[0], 8 * lambdas[-1]) == pytest.approx((20.72, 31.92))


def test_the_low_price_says_rent_and_the_later_one_buy(chapter, n) -> None:
    assert chapter.says(
        "For a card that works half of the time, the lower of these prices says rent, and the later one"
    )
    owed, added = owed_and_added()
    assert owed / (20.3655 / 8 - added) > n.half_hours > owed / (43.8044 / 8 - added)


# What flips it


def test_only_the_network_turns_the_answer_around(chapter, n) -> None:
    assert chapter.says(
        "Say that a card works half of the time, … a month, and that the alternative is the middle rent."
    )
    assert chapter.says(
        "Of the inputs of owning, only the network of a large cluster turns the answer around by itself"
    )
    assert n.half_hours == 365 > n.worse[0]["even_hours"]
    assert [row["of"] for row in n.worse[1:-1] if row["even_hours"] > n.half_hours] == ["network"]
    assert all(row["even_hours"] > n.worse[0]["even_hours"] for row in n.worse[1:])


def test_the_repairs_are_the_faults_of_a_run(chapter, n) -> None:
    assert chapter.says("a new card for each fault that a large run met")
    assert n.faults_share == pytest.approx((148 + 72) / 16384 / 54 * 365)
    assert n.own.repair_share == pytest.approx(n.faults_share / 3, rel=0.02), "a third, as its reason says"


# The verdicts


def test_every_claim_is_judged(chapter, n) -> None:
    """The four of a price, and the four of an investment."""
    assert chapter.says("Investment a year. The last line is four companies.")
    used = {"chapter-five-dollars", "chapter-training-card-low", "chapter-training-card-high"}
    used |= {"chapter-inference-card-high", "chapter-total-investment"}
    used |= {f"chapter-{name}-investment" for name in ("microsoft", "google", "aws")}
    said = sorted(float(row["said_usd"]) for row in n.said + n.invested)
    claims = registry().claims
    units = {"USD": 1, "billion USD": 10**9}
    assert said == sorted(float(claims[id].row["value"] * units[claims[id].row["unit"]]) for id in used)


# The questions


def test_office_hours(chapter, n) -> None:
    """40 hours a week, 52 weeks a year."""
    assert chapter.says("Rent, from nearly everyone. At … one's own costs …, and only Google Cloud's list price was")
    assert n.office_hours == pytest.approx(40 * 52 / 12, abs=0.5)
    owed, added = owed_and_added()
    assert n.office_usd_per_hour == pytest.approx(owed / n.office_hours + added)
    assert {each.provider for each in n.offers if each.usd_per_hour > n.office_usd_per_hour} == {"Google Cloud"}


def test_the_h200_is_rented_out_for_not_much_more(chapter) -> None:
    assert chapter.says("The H200 is rented out for not much more.")
    assert chapter.says("for the H200 we have no price with a source")
    offers = {card: prices(card, commitment="on-demand", tier="specialist", since="2026-09") for card in
              ("h100-sxm", "h200-sxm")}  # fmt: skip
    middles = {card: spread(each)[1].usd_per_hour for card, each in offers.items()}
    assert 1 < middles["h200-sxm"] / middles["h100-sxm"] < 1.25
    assert not [id for id in registry().facts if id.startswith("h200") and id.endswith("price_usd")]


def test_a_card_that_is_paid_is_kept_longer(chapter, n) -> None:
    assert chapter.says("From … a month, not …. The purchase is paid and its interest owed either way")
    owed, added = owed_and_added()
    rate, price = 0.09 / 12, 310_000 / 8
    payment = (price - 0.1 * price / (1 + rate) ** 60) * rate / (1 - (1 + rate) ** -60)
    assert n.kept_hours == pytest.approx((owed - payment) / (1.883 - added))
    assert n.kept_hours == pytest.approx(cloud.keep_hours(n.own, 1.883))


def test_an_edited_sentence_is_noticed(chapter) -> None:
    with pytest.raises(AssertionError, match="the chapter no longer says"):
        chapter.says("All of these are H200.")
