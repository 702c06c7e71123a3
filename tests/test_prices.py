"""The file of prices and the door to it: lines become facts, choosing reads none, variants never mix."""

import collections
import datetime
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat import assume
from gpumoat.facts import DATA, DataError, load_registry, recording, registry
from gpumoat.price_table import COLUMNS, PriceError, as_fact, as_subject, card_name, price_id, read_prices
from gpumoat.prices import by_price, day_number, latest, median_usd_per_hour, prices, spread
from gpumoat.registry_check import check_registry

LINE = {
    "date": "2026-09-25",
    "card": "h100-sxm",
    "provider": "Example (Cloud)",
    "tier": "specialist",
    "commitment": "on-demand",
    "region": "",
    "price_usd": "31.92",
    "cards": "8",
    "source": "silybench-prices",
    "locator": "row 8x H100 SXM",
    "checked": "2026-11-30",
    "status": "quoted",
    "note": "",
}


def text(**changes):
    return ",".join(COLUMNS) + "\n" + ",".join({**LINE, **changes}.values()) + "\n"


def test_a_line_becomes_a_fact():
    (row,) = read_prices(text())
    fact, subject = as_fact(row), as_subject(row)
    assert fact["id"] == "price-h100-sxm-example-cloud-on-demand-8x-2026-09-25.usd_per_hour"
    assert fact["value"] == 3.99
    assert fact["as_of"] == "2026-09-25"
    assert fact["statement"] == (
        "Example (Cloud) asked 31.92 US dollars an hour for a server with 8 H100 SXM, on-demand, "
        "so a card's hour costs the share shown."
    )
    assert subject["id"] == price_id(row)
    assert subject["kind"] == "price"


def test_a_region_shows_in_id_and_statement():
    (row,) = read_prices(text(region="us-east-1", cards="1"))
    assert price_id(row).endswith("-1x-us-east-1-2026-09-25")
    assert as_fact(row)["statement"].endswith("for one H100 SXM, on-demand in us-east-1.")


def test_an_unverified_price_says_what_would_settle_it():
    (row,) = read_prices(text(status="unverified", note="the provider's price page"))
    assert as_fact(row)["to_check"] == "the provider's price page"


@pytest.mark.parametrize(
    ("card", "name"),
    [("h100-sxm", "H100 SXM"), ("a100-pcie-80", "A100 PCIe 80 GB"), ("rtx-4090", "RTX 4090"), ("l40s", "L40S")],
)
def test_names_of_cards(card, name):
    assert card_name(card) == name


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"price_usd": "$31.92"}, "line 2: price_usd: '\\$31.92' is no price: write dollars an hour"),
        ({"price_usd": "0"}, "line 2: price_usd: '0' is no price"),
        ({"cards": "0"}, "line 2: cards: '0' is no number of cards"),
        ({"tier": "cloud"}, "line 2: tier: 'cloud' is unknown: use one of hyperscaler"),
        ({"commitment": "reserved"}, "line 2: commitment: 'reserved' is unknown: use one of on-demand"),
        ({"card": "H100 SXM"}, "line 2: card: 'H100 SXM' is no id of a card: use one such as h100-sxm"),
        ({"source": ""}, "line 2: source: is empty"),
        ({"locator": "row 8x, H100"}, "line 2: has 14 fields, not 13: put a field with a comma in quotes"),
    ],
)
def test_a_wrong_line_is_named(changes, says):
    with pytest.raises(PriceError, match=says):
        read_prices(text(**changes))


def test_the_header_is_checked():
    with pytest.raises(PriceError, match="line 1: the columns must be date,card"):
        read_prices("date,card\n")


@pytest.fixture
def folder(tmp_path):
    """A copy of the data folder to spoil."""
    import shutil

    shutil.copytree(DATA, tmp_path / "data")
    return tmp_path / "data"


def add(folder, **changes):
    path = folder / "prices.csv"
    path.write_text(path.read_text(encoding="utf-8") + text(**changes).split("\n")[1] + "\n", encoding="utf-8")


def test_a_broken_file_is_one_problem_and_one_line(folder):
    add(folder, cards="eight")
    with pytest.raises(DataError, match=r"^prices\.csv: line \d+: cards: 'eight' is no number of cards"):
        load_registry(str(folder))
    (problem,) = check_registry(folder)
    assert "cards: 'eight' is no number of cards" in str(problem)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"source": "nobody"}, "source: no source 'nobody'"),
        ({"card": "h100-sxm5"}, "card: 'h100-sxm5' is no card of the catalogue: did you mean h100-sxm"),
        ({"status": "sure"}, "status: 'sure' is unknown: use one of verified, quoted, unverified"),
        ({"date": "2026-13-01"}, "as_of: '2026-13-01' is no date"),
        ({"status": "unverified"}, "to_check: missing: name the document"),
        ({"checked": "2026-09-01"}, "as_of: 2026-09-25 lies after the day it was checked"),
    ],
)
def test_a_price_is_judged_like_any_fact(folder, changes, says):
    add(folder, **changes)
    assert any(says in str(problem) for problem in check_registry(folder))


def test_one_offer_cannot_stand_twice(folder):
    add(folder)
    add(folder, price_usd="20")
    assert any("stands already in prices.csv" in str(problem) for problem in check_registry(folder))


def test_choosing_reads_no_price_and_asking_reads_one():
    with recording() as reads:
        offers = prices("h100-sxm", "on-demand", since="2026-09")
        assert reads == []
        value = offers[0].usd_per_hour
    assert [(read.kind, read.id) for read in reads] == [("cited", offers[0].id + ".usd_per_hour")]
    assert value > 0


def test_variants_never_mix():
    for card in ("h100-sxm", "h100-pcie", "h100-nvl", "a100-sxm-80", "a100-pcie-80"):
        assert {offer.card for offer in prices(card)} == {card}


def test_the_filters():
    spot = prices("h100-sxm", "spot", tier="hyperscaler", provider="Google Cloud", since="2025", until="2026-01")
    assert [offer.date for offer in spot] == ["2025-04-03", "2025-10-02", "2026-01-01"]
    recent = prices("h100-sxm", "spot", days=90)
    assert [offer.date for offer in recent] == ["2026-07-02", "2026-09-26"]


def test_the_newest_of_each_offer_has_one_vote():
    offers = prices("h100-sxm", "on-demand", provider="RunPod Secure")
    assert len(offers) > 1
    assert latest(offers) == offers[-1:]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("h100",), "no price of 'h100': did you mean h100-nvl, h100-pcie, h100-sxm?"),
        (("tpu-v4",), "no price of 'tpu-v4': there are prices of a10, a100-pcie-80"),
        (("a10", "spot"), "no price of 'a10' matches spot"),
    ],
)
def test_what_there_is_no_price_of(arguments, says):
    with pytest.raises(DataError, match=says):
        prices(*arguments)


@given(st.dates(min_value=datetime.date(1900, 3, 1)), st.dates(min_value=datetime.date(1900, 3, 1)))
def test_days_are_counted_as_the_calendar_does(first, second):
    assert day_number(second.isoformat()) - day_number(first.isoformat()) == (second - first).days


def test_a_month_and_a_year_are_their_first_day():
    assert day_number("2026-09") == day_number("2026-09-01")
    assert day_number("2026") == day_number("2026-01-01")


# The file itself


def lines():
    return [row for row in registry().subjects.values() if row.text("kind") == "price"]


def test_there_are_enough_prices_of_enough_kinds():
    """What the project promises: sixty dated price points, variants apart, every kind of seller and of terms."""
    assert len(lines()) >= 60
    for field, least in (("card", 12), ("provider", 8), ("commitment", 6), ("tier", 3)):
        assert len({row.text(field) for row in lines()}) >= least


def test_no_price_is_out_of_its_cards_range():
    """A server's price taken for a card's is eight times too high, the reverse eight times too low."""
    by_card = collections.defaultdict(list)
    for offer in (each for card in {row.text("card") for row in lines()} for each in prices(card)):
        by_card[offer.card].append(offer.usd_per_hour)
    for card, values in by_card.items():
        assert max(values) / min(values) < 8, card


def test_cheapest_median_and_dearest():
    """Lambda's H100 SXM for a whole server, by day: 2.59, 3.49, 2.99 four times, 3.44 and 3.99 an hour."""
    offers = prices("h100-sxm", commitment="on-demand", provider="Lambda", cards=8)
    assert [offer.usd_per_hour for offer in spread(offers)] == pytest.approx([2.59, 3.99])
    assert spread(iter(offers[:1])) == (offers[0],) * 2
    assert median_usd_per_hour(offers) == pytest.approx(2.99)
    assert median_usd_per_hour(offers[:2]) == pytest.approx((2.59 + 3.49) / 2), "the mean of two, not the cheaper"
    assert median_usd_per_hour(iter(offers[:3])) == pytest.approx(2.99)
    for function in (spread, median_usd_per_hour):
        with pytest.raises(ValueError, match="must hold at least one"):
            function([])


def test_a_number_about_all_offers_rests_on_all():
    offers = prices("h100-sxm", commitment="on-demand", provider="Lambda", cards=8)
    for function in (spread, median_usd_per_hour):
        with recording() as reads:
            function(offers)
        assert {read.id for read in reads} == {offer.id + ".usd_per_hour" for offer in offers}


def test_a_list_from_the_cheapest_reads_no_price():
    offers = prices("h100-sxm", "on-demand")
    with recording() as reads:
        ordered = by_price(offers)
        assert reads == []
    values = [offer.usd_per_hour for offer in ordered]
    assert values == sorted(values)
    assert set(ordered) == set(offers)
    assert isinstance(ordered, tuple)


def test_the_day_of_a_price_is_cited():
    """The day has the price's source: on a page its card is that of a fact."""
    (offer,) = latest(prices("h100-sxm", provider="Nebius"))
    with recording() as reads:
        assert offer.day == offer.date == "2026-09-25"
    assert [(read.kind, read.id, read.value) for read in reads] == [("cited", offer.id + ".usd_per_hour", "2026-09-25")]
    assert offer.source == registry().sources["silybench-prices"].text("short")


def test_what_is_sold_as_spot_only_is_not_on_demand():
    """A list price at which nobody can rent is no offer; one stood in the file, with that very note."""
    on_demand = [
        each.fact
        for card in {row.text("card") for row in lines()}
        for each in prices(card)
        if each.commitment == "on-demand"
    ]
    assert not [fact.id for fact in on_demand if "spot only" in fact.text("note")]


def test_prices_for_a_whole_server():
    offers = prices("h100-sxm", provider="Lambda", since="2026-09")
    assert {offer.seller for offer in offers} == {"Lambda", "Lambda, whole server"}
    assert [offer.cards for offer in prices("h100-sxm", provider="Lambda", since="2026-09", cards=8)] == [8]
    with pytest.raises(DataError, match=r"no price of 'h100-sxm' matches Lambda, 16 cards"):
        prices("h100-sxm", provider="Lambda", cards=16)


def test_no_call_can_change_the_offers():
    """What an example computes from a tuple rests on the prices that it read, and not on those of a call before."""
    assert isinstance(prices("h100-sxm"), tuple)
    assert isinstance(latest(prices("h100-sxm")), tuple)


def test_the_guide_says_how_a_script_chooses_prices():
    """What CONTRIBUTING.md shows under A price is run as it stands there."""
    text = (pathlib.Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    shown = text.split("A script chooses prices")[1].split("They are in")[0]
    code = "\n".join(line[4:] for line in shown.splitlines() if line.startswith("    "))
    names = {"assume": assume, "latest": latest, "prices": prices, "spread": spread}
    names["median_usd_per_hour"] = median_usd_per_hour
    exec(code, names)
    assert names["low"].usd_per_hour < names["middle_usd_per_hour"] < names["high"].usd_per_hour
