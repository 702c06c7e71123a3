"""The claims in the prose of cloud/break-even that a number supports, each with its sentence.

Numbers from elsewhere: the server's price, the rents and the inputs of owning as their sources print them, typed here
on purpose, as a second hand; the annuity as in any textbook.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpumoat import cloud
from gpumoat.facts import registry
from gpumoat.prices import median_usd_per_hour, prices
from gpumoat.site.execute import run_example
from gpumoat.site.provenance import element, origin


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


def test_the_age_of_the_inputs(chapter, n) -> None:
    assert chapter.says("The rents are of July to October 2026, and the price of the server is of August 2024")
    assert (n.offers[0].date[:7], n.offers[-1].date[:7]) == ("2026-07", "2026-10")
    assert registry().facts["h100-server.price_usd"].text("as_of") == "2024-08"


def test_a_cheaper_server(chapter, n) -> None:
    """What enters is the payment for the purchase and the repairs, both by the price: 250 to 310."""
    assert chapter.says("the two ends are … and …: the interval moves, and its ends stay as many times apart.")
    owed, added = owed_and_added()
    price, rate = 310_000 / 8, 0.09 / 12
    of_price = (1 - 0.1 / (1 + rate) ** 60) * rate / (1 - (1 + rate) ** -60) + 0.03 / 12
    less = owed - of_price * price * 60 / 310
    assert n.less_low_hours == pytest.approx(less / (88.49 / 8 - added))
    assert n.less_high_hours == pytest.approx(less / (1.883 - added))
    assert n.less_high_hours / n.less_low_hours == pytest.approx(n.high_hours / n.low_hours)


def test_one_division(chapter, n) -> None:
    assert chapter.says("Nearly all of it is owed whether the card works or not: …. Use adds …")
    owed, added = owed_and_added()
    assert n.fixed_usd_per_month == pytest.approx(owed)
    assert n.running_usd_per_hour == pytest.approx(added)
    assert n.fixed_usd_per_month > 0.9 * (n.fixed_usd_per_month + n.month_hours * n.running_usd_per_hour)
    for column in ("usd_per_month", "usd_per_hour"):
        together = sum(row[column] or 0 for row in n.parts[:-1])
        assert by(n.parts, "part", "together")[column] == pytest.approx(together)


def test_the_parts_are_those_of_the_model(n) -> None:
    for row, part in zip(n.parts[:-1], cloud.parts(n.own), strict=True):
        assert row["part"].split(",")[0] == part.name
        assert (row["usd_per_month"], row["usd_per_hour"] or 0) == (part.usd_per_month, part.usd_per_hour)


@pytest.fixture(scope="module")
def traced():
    """The worked example with the record of what each number rests on."""
    root = Path(__file__).parent.parent.parent
    return run_example(root / "docs/examples/cloud/break-even.py")


def test_a_part_rests_on_its_own_inputs(chapter, traced) -> None:
    """The purchase on price, resale, months and interest, and on no price of electricity; it names the annuity."""
    assert chapter.says("makes equal payments of purchase, resale and interest; of each, … is interest.")
    purchase, room, staff, repairs, power, cooling = (
        element(traced, "parts", row, "usd_per_month") for row in range(6)
    )
    assert {read.id for read in purchase.reads} == {
        *("h100-server.price_usd", "h100-server.cards_count", "h100-server.resale_low_share"),
        *("gpu-life.amazon_years", "gpu-debt.notes_share"),
    }
    assert "gpumoat.cloud.monthly_payment_usd" in purchase.functions
    assert "rests on an assumption" not in purchase.marks + room.marks
    assert staff.kind == "assumed"
    for part in (room, repairs, power):
        assert "data-centre.pue_ratio" not in {read.id for read in part.reads}
    assert "data-centre.pue_ratio" in {read.id for read in cooling.reads}


def test_the_days_of_the_rents_are_cited(chapter, traced) -> None:
    assert chapter.says("There is none. Between … and …, sellers asked from … to … for an H100 SXM")
    for text, day in (("offers[0].day", "2026-07-02"), ("offers[-1].day", "2026-10-07")):
        found = origin(traced, text)
        assert (found.kind, found.value, len(found.reads)) == ("cited", day, 1)


def test_electricity_hardly_matters(chapter, n) -> None:
    assert chapter.says("The price of electricity hardly matters: against the median rent, the dearest region")
    assert chapter.says("Electricity does least, and the cheapest rent does more than any of them.")
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


def test_what_a_point_is(chapter, n) -> None:
    assert chapter.says("Each point is the newest price of one offer, and a seller may have several")
    assert chapter.says("Vast.ai has two, its cheapest machine on one day, and the median of what was offered there on")
    sellers = [row["seller"] for row in n.evens]
    assert [each for each in sellers if each.startswith("Vast.ai")] == ["Vast.ai, cheapest", "Vast.ai, median"]
    assert {"Lambda", "Lambda, whole server", "RunPod Secure", "RunPod Community"} < set(sellers)
    assert len(set(sellers)) == len(sellers)


def test_the_data_is_from_the_cheapest_on_and_names_the_sellers(chapter, n) -> None:
    assert chapter.says("The data has the sellers, from the cheapest on.")
    rents = [row["rent_usd_per_hour"] for row in n.evens]
    assert rents == sorted(rents)
    assert all(row["seller"] and row["day"] and row["source"] for row in n.evens)


def test_the_median_is_the_middle(chapter, n) -> None:
    """Of eleven offers the sixth: five are cheaper than Lambda's 31.92 USD for eight cards, and five dearer."""
    assert chapter.says("the median of the offers, …, is nobody's answer.")
    rents = [offer.usd_per_hour for offer in n.offers]
    assert (sum(rent < 31.92 / 8 for rent in rents), sum(rent > 31.92 / 8 for rent in rents)) == (5, 5)
    assert n.middle_usd_per_hour == pytest.approx(31.92 / 8)


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


def test_three_inputs_are_at_the_edge(chapter, n) -> None:
    assert chapter.says(
        "Say that a card works half of the time, … a month, and that the alternative is the median rent."
    )
    assert chapter.says(
        "Three inputs of owning are at the edge. The network of a large cluster turns the answer around."
    )
    assert chapter.says("Repairs and staff come within a few hours of it, and for staff we have no source")
    assert n.half_hours == 365 > n.worse[0]["even_hours"]
    near = {row["of"] for row in n.worse[1:-1] if row["even_hours"] > n.half_hours - 5}
    assert near == {"network", "repairs", "staff"}
    assert [row["of"] for row in n.worse[1:-1] if row["even_hours"] > n.half_hours] == ["network"]
    assert all(row["even_hours"] > n.worse[0]["even_hours"] for row in n.worse[1:])


def test_where_staff_turns_the_answer_around(chapter, n) -> None:
    """At half of the time, what the rent is above all other costs: 365 x (3.99 - added) - (owed - 100)."""
    assert chapter.says("from … on it turns the answer around as well.")
    owed, added = owed_and_added()
    assert n.flip_usd_per_month == pytest.approx(365 * (31.92 / 8 - added) - (owed - 100))


def test_the_repairs_are_the_faults_of_a_run(chapter, n) -> None:
    assert chapter.says("a new card for each fault that a large run met")
    assert n.faults_share == pytest.approx((148 + 72) / 16384 / 54 * 365)
    assert n.own.repair_share == pytest.approx(n.faults_share / 3, rel=0.02), "a third, as its reason says"


# The verdicts

OF_PRICES = (
    "chapter-five-dollars",
    "chapter-training-card-low",
    "chapter-training-card-high",
    "chapter-inference-card-high",
)
"""The claims of the table, in its order."""


def test_every_claim_is_judged(chapter, n) -> None:
    """The four of a price; those of investments are in the list of claims, to which the page links."""
    assert chapter.says("What it says of investments is in the [list of claims]")
    claims = registry().claims
    assert [row["said_usd"] for row in n.said] == [claims[id].row["value"] for id in OF_PRICES]
    assert "chapter-total-investment" in claims


def test_the_chapter_finds_what_the_list_of_claims_finds(chapter, n) -> None:
    """One truth: what is said to be found here is what the claim's entry calls right."""
    assert chapter.says("Prices of an hour at RunPod, which the chapter names")
    rights = [registry().claims[id].row["right"] for id in OF_PRICES]
    assert [row["found_usd"] for row in n.said] == pytest.approx(rights)


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
    middles = {card: median_usd_per_hour(each) for card, each in offers.items()}
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
