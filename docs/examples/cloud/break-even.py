"""When does a GPU of one's own pay? The cost of owning an H100 by parts, against dated rents."""

from gpumoat import assume, claim, cloud, fact
from gpumoat.hardware import subject
from gpumoat.prices import latest, prices
from gpumoat.simulate import Choice, Range, middle, quantile, share_where, simulate

# What it takes to own one card, with its share of the server around it.
server = subject("server", "h100-server")
place = subject("place", "data-centre")
debt = subject("loan", "gpu-debt")
life = subject("life", "gpu-life")
server_cards = server.cards_count
server_usd = server.price_usd
purchase_usd = server_usd / server_cards
lifetime_years = life.amazon_years
working_w = server.typical_w / server_cards
idle_share = assume(0.25, "a waiting server draws about a quarter of a working one; measure your own")
staff_usd_per_month = assume(100, "one engineer for some 150 cards; no source was found, so set your own")
repair_share = assume(0.03, "three cards in a hundred replaced a year at one's own cost; a guess")
month_hours = cloud.hours_per_month()
own = cloud.Ownership(
    purchase_usd=purchase_usd,
    resale_share=server.resale_low_share,
    lifetime_months=cloud.months(lifetime_years),
    interest_share=debt.notes_share,
    working_w=working_w,
    idle_w=idle_share * working_w,
    pue_ratio=place.pue_ratio,
    electricity_usd_per_j=place.electricity_usd_per_j,
    reserved_w=server.peak_w / server_cards,
    room_usd_per_w_per_month=place.rent_usd_per_w_per_month,
    staff_usd_per_month=staff_usd_per_month,
    repair_share=repair_share,
)
fixed_usd_per_month = cloud.fixed_usd_per_month(own)
running_usd_per_hour = cloud.running_usd_per_hour(own)
full_usd_per_hour = cloud.own_usd_per_hour(own, month_hours)
use_hours = assume(300, "hours of use a month for the question what would flip the answer")
use_usd_per_hour = cloud.own_usd_per_hour(own, use_hours)
cost_parts = []
for part in cloud.parts(own):
    cost_parts.append(
        {
            "part": part.name,
            "full_usd_per_hour": part.cost_usd_per_hour(month_hours),
            "use_usd_per_hour": part.cost_usd_per_hour(use_hours),
        }
    )
part_usd_per_hour = {row["part"]: row["full_usd_per_hour"] for row in cost_parts}
capital_share = (part_usd_per_hour["purchase"] + part_usd_per_hour["interest"]) / full_usd_per_hour
energy_share = (part_usd_per_hour["power"] + part_usd_per_hour["cooling"]) / full_usd_per_hour

# What others ask for the same card on demand: the last price of each offer of some weeks.
days_count = assume(50, "long enough for a price of every provider in the table, short enough to be one market")
offers = latest(prices("h100-sxm", "on-demand", days=days_count))
offers_count = len(offers)
first_day = offers[0].date
last_day = offers[-1].date
rents = [offer.usd_per_hour for offer in offers]
low_usd_per_hour = min(rents)
middle_usd_per_hour = middle(rents)
high_usd_per_hour = max(rents)
spread_ratio = high_usd_per_hour / low_usd_per_hour
least_hours = cloud.break_even_hours(own, high_usd_per_hour)
middle_hours = cloud.break_even_hours(own, middle_usd_per_hour)
most_hours = cloud.break_even_hours(own, low_usd_per_hour)
least_share = least_hours / month_hours
middle_share = middle_hours / month_hours
most_share = most_hours / month_hours
by_offer = []
for offer in sorted(offers, key=lambda each: each.usd_per_hour):
    by_offer.append(
        {
            "provider": offer.provider,
            "tier": offer.tier,
            "date": offer.date,
            "rent_usd_per_hour": offer.usd_per_hour,
            "even_hours": cloud.break_even_hours(own, offer.usd_per_hour),
        }
    )
for row in by_offer:
    print(
        f"{row['provider']}: {row['rent_usd_per_hour']:.2f} USD/h, owning pays from {row['even_hours']:.0f} h a month"
    )

# The prices in time, without those for a term of months or years.
words = {"on-demand": "on demand", "spot": "spot"}
history = []
for dated in [each for each in prices("h100-sxm") if each.commitment in words]:
    history.append(
        {
            "date": dated.date,
            "seller": f"{dated.tier}, {words[dated.commitment]}",
            "rent_usd_per_hour": dated.usd_per_hour,
        }
    )
aws = prices("h100-sxm", provider="AWS")
spot = prices("h100-sxm", "spot", provider="Google Cloud")
verda = prices("h100-sxm", "on-demand", provider="DataCrunch (Verda)")
vast_cheapest = prices("h100-sxm", provider="Vast.ai, cheapest")[-1]
vast_median = prices("h100-sxm", provider="Vast.ai, median")[-1]
aws_first_usd_per_hour = aws[0].usd_per_hour
aws_last_usd_per_hour = aws[-1].usd_per_hour
spot_first_usd_per_hour = spot[0].usd_per_hour
spot_least_usd_per_hour = min(offer.usd_per_hour for offer in spot)
spot_last_usd_per_hour = spot[-1].usd_per_hour
verda_least_usd_per_hour = min(offer.usd_per_hour for offer in verda)
verda_last_usd_per_hour = verda[-1].usd_per_hour
vast_first_usd_per_hour = vast_cheapest.usd_per_hour
vast_last_usd_per_hour = vast_median.usd_per_hour
aws_cut_day = aws[1].date
verda_least_day = verda[1].date
verda_last_day = verda[-1].date
history_first_day = history[0]["date"]
history_last_day = history[-1]["date"]
spot_lost_share = 1 - spot_least_usd_per_hour / spot_first_usd_per_hour
fall_ratio = aws_last_usd_per_hour / aws_first_usd_per_hour
rise_ratio = verda_last_usd_per_hour / verda_least_usd_per_hour

# Every input drawn from its range at once; the rent moves by up to the largest fall and rise seen.
staff_low_usd = assume(50, "half of the guess")
staff_high_usd = assume(300, "three times the guess: a small firm has fewer cards to an engineer")
draws_count = assume(400, "enough that the results below stand still")
inputs = {
    "purchase_usd": Range(server.used_high_usd_per_card, server.cluster_usd_per_card, purchase_usd),
    "lifetime_months": Choice(
        (cloud.months(life.nebius_years), own.lifetime_months, cloud.months(life.coreweave_years))
    ),
    "resale_share": Range(server.resale_low_share, server.resale_high_share),
    "interest_share": Range(debt.low_share, debt.high_share, debt.notes_share),
    "electricity_usd_per_j": Range(
        place.electricity_low_usd_per_j, place.electricity_high_usd_per_j, own.electricity_usd_per_j
    ),
    "staff_usd_per_month": Range(staff_low_usd, staff_high_usd, staff_usd_per_month),
}
cards = simulate(own.changed, inputs, draws_count)
drawn_rents = simulate(
    lambda rent, moved: rent * moved,
    {"rent": Choice(tuple(rents)), "moved": Range(fall_ratio, rise_ratio, 1)},
    draws_count,
)
evens = [cloud.break_even_hours(card, drawn_rents[index]) for index, card in enumerate(cards)]
tail_share = assume(0.05, "one draw in twenty lies below the interval, and one above")
drawn_low_hours = quantile(evens, tail_share)
drawn_middle_hours = middle(evens)
drawn_high_hours = quantile(evens, 1 - tail_share)
never_share = share_where(evens, lambda hours: hours > month_hours)
own_only = [cloud.break_even_hours(card, middle_usd_per_hour) for card in cards]
own_low_hours = quantile(own_only, tail_share)
own_high_hours = quantile(own_only, 1 - tail_share)
print(f"all inputs drawn: from {drawn_low_hours:.0f} to {drawn_high_hours:.0f} h a month, never in {never_share:.1%}")

# An hour of one's own card by hours of use, with the interval of the draws, and three rents.
drawn_totals = [cloud.totals(card) for card in cards]
steps_count = assume(10, "points of the figure")
curve = []
for step in range(2, steps_count + 1):
    hours = month_hours * step / steps_count
    costs = [fixed / hours + running for fixed, running in drawn_totals]
    curve.append(
        {
            "use_hours": hours,
            "way": "own",
            "cost_usd_per_hour": cloud.own_usd_per_hour(own, hours),
            "low_usd_per_hour": quantile(costs, tail_share),
            "high_usd_per_hour": quantile(costs, 1 - tail_share),
        }
    )
for way, rent in [
    ("lowest rent", low_usd_per_hour),
    ("middle rent", middle_usd_per_hour),
    ("highest rent", high_usd_per_hour),
]:
    for hours in [curve[0]["use_hours"], month_hours]:
        curve.append(
            {
                "use_hours": hours,
                "way": way,
                "cost_usd_per_hour": rent,
                "low_usd_per_hour": None,
                "high_usd_per_hour": None,
            }
        )

# What would flip the answer for a card used so many hours a month, against the middle rent.
flips = []
for label, name in [
    ("price of the card", "purchase_usd"),
    ("years of use", "lifetime_months"),
    ("resale", "resale_share"),
    ("interest", "interest_share"),
    ("staff", "staff_usd_per_month"),
    ("electricity", "electricity_usd_per_j"),
]:
    low, high = (
        (inputs[name].values[0], inputs[name].values[-1])
        if name == "lifetime_months"
        else (inputs[name].low, inputs[name].high)
    )
    flip = cloud.flip_value(own, name, middle_usd_per_hour, use_hours, low, high)
    flips.append(
        {
            "input": label,
            "low_usd_per_hour": cloud.own_usd_per_hour(own.changed(**{name: low}), use_hours),
            "high_usd_per_hour": cloud.own_usd_per_hour(own.changed(**{name: high}), use_hours),
            "change_share": None if flip is None else flip / getattr(own, name) - 1,
        }
    )
rise_share = use_usd_per_hour / middle_usd_per_hour - 1
more_share = middle_hours / use_hours - 1
flip_usd = cloud.flip_value(
    own, "purchase_usd", middle_usd_per_hour, use_hours, inputs["purchase_usd"].low, purchase_usd
)

# For the questions: a reservation is paid for every hour; electricity; a marketplace a few days later.
reserved = prices("h100-sxm", "reserved-2y", provider="DataCrunch (Verda)")[-1]
reserved_usd_per_hour = reserved.usd_per_hour
reserved_day = reserved.date
reserved_usd_per_month = reserved_usd_per_hour * month_hours
google_reserved_usd_per_hour = prices("h100-sxm", "reserved-3y", provider="Google Cloud")[-1].usd_per_hour
short_reserved_usd_per_hour = prices("h100-sxm", "reserved-3m")[0].usd_per_hour
short_rent_usd_per_hour = prices("h100-sxm", "on-demand", provider="Lambda")[0].usd_per_hour
short_day = prices("h100-sxm", "reserved-3m")[0].date
dear_power = own.changed(electricity_usd_per_j=place.electricity_high_usd_per_j)
dear_power_usd_per_hour = cloud.own_usd_per_hour(dear_power, month_hours) - full_usd_per_hour
vast_last_hours = cloud.break_even_hours(own, vast_last_usd_per_hour)

# What the two documents say.
one_hour_usd = 1 * fact("price-h100-sxm-runpod-secure-on-demand-1x-2026-09-25.usd_per_hour")
price_verdicts = [
    {
        "of": "a card for training, at least",
        "said_usd": claim("chapter-training-card-low"),
        "found_usd": fact("blackwell-price-low"),
    },
    {
        "of": "a card for training, at most",
        "said_usd": claim("chapter-training-card-high"),
        "found_usd": server.cluster_usd_per_card,
    },
    {
        "of": "a card for inference, at most",
        "said_usd": claim("chapter-inference-card-high"),
        "found_usd": fact("l40s-price-high"),
    },
    {
        "of": "an H100 for an hour",
        "said_usd": claim("chapter-five-dollars"),
        "found_usd": one_hour_usd,
    },
]
spending_verdicts = [
    {
        "of": "Microsoft, data centres",
        "said_usd": claim("chapter-microsoft-investment"),
        "found_usd": fact("microsoft-plan-fy2025"),
    },
    {
        "of": "Google, all investment",
        "said_usd": claim("chapter-google-investment"),
        "found_usd": fact("alphabet-capex-2024"),
    },
    {"of": "AWS, all investment", "said_usd": claim("chapter-aws-investment"), "found_usd": fact("aws-capex-2024")},
    {
        "of": "large firms together",
        "said_usd": claim("chapter-total-investment"),
        "found_usd": fact("big-four-capex-2024"),
    },
]
