"""When does a GPU of one's own pay?"""

from gpumoat import assume, claim, cloud, fact
from gpumoat.hardware import subject
from gpumoat.prices import latest, prices, spread

# Owning an H100 SXM: its share of a server, in rented space.
server = subject("server", "h100-server")
place = subject("place", "data-centre")
debt = subject("loan", "gpu-debt")
working_w = server.typical_w / server.cards_count
own = cloud.Ownership(
    purchase_usd=server.price_usd / server.cards_count,
    resale_share=server.resale_low_share,
    lifetime_months=cloud.months(fact("gpu-life.amazon_years")),
    interest_share=debt.notes_share,
    working_w=working_w,
    idle_w=assume(0.25, "fans and processors run on when a server waits; no source found") * working_w,
    pue_ratio=place.pue_ratio,
    electricity_usd_per_j=place.electricity_usd_per_j,
    reserved_w=server.peak_w / server.cards_count,
    room_usd_per_w_per_month=place.rent_usd_per_w_per_month,
    staff_usd_per_month=assume(100, "a card's share of a person who looks after some hundred; no source found"),
    repair_share=assume(0.03, "a third of the faults that a large run met, for most cost no new card"),
)
fixed_usd_per_month, running_usd_per_hour = cloud.totals(own)
parts = []
for part in [*cloud.parts(own), cloud.Part("together", fixed_usd_per_month, running_usd_per_hour)]:
    parts.append({"part": part.name, "usd_per_month": part.usd_per_month, "usd_per_hour": part.usd_per_hour or None})
month_hours, half_hours = cloud.hours_per_month(), cloud.hours_per_month() / 2

# Renting one: the newest price of each seller, and the hours of use from which owning beats it.
days_count = assume(100, "long enough for several sellers of each kind, short enough to be one market")
offers = latest(prices("h100-sxm", commitment="on-demand", days=days_count))
low, middle, high = spread(offers)
low_hours, high_hours = cloud.break_even_interval([own], [low.usd_per_hour, high.usd_per_hour])
evens = [
    {"kind": x.tier, "rent_usd_per_hour": x.usd_per_hour, "even_hours": cloud.break_even_hours(own, x.usd_per_hour)}
    for x in offers
]
rents = []
for provider, terms in [("AWS", "on-demand"), ("Lambda", "on-demand"), ("Google Cloud", "spot")]:
    for old in prices("h100-sxm", commitment=terms, provider=provider, cards=server.cards_count):
        rents.append({"seller": f"{provider}, {terms}", "day": old.date, "rent_usd_per_hour": old.usd_per_hour})
print(f"One's own pays from {low_hours:.0f} to {high_hours:.0f} hours a month, by the rent it replaces.")

# What moves it: one input of owning at a worse value, at the middle rent; last, the cheapest rent in its place.
faults_count = fact("llama3-interruptions-gpu-count") + fact("llama3-interruptions-memory-count")
faults_share = cloud.yearly_share(faults_count, fact("llama3-cards-count"), fact("llama3-interruptions-days"))
few_months = cloud.months(fact("gpu-life.nebius_years"))
dear_usd_per_j = place.electricity_high_usd_per_j
rent = middle.usd_per_hour
worse = [
    {"of": "as above", "even_hours": cloud.break_even_hours(own, rent)},
    {"of": "electricity", "even_hours": cloud.break_even_hours(own, rent, electricity_usd_per_j=dear_usd_per_j)},
    {"of": "interest", "even_hours": cloud.break_even_hours(own, rent, interest_share=debt.high_share)},
    {"of": "lifetime", "even_hours": cloud.break_even_hours(own, rent, lifetime_months=few_months)},
    {"of": "repairs", "even_hours": cloud.break_even_hours(own, rent, repair_share=faults_share)},
    {"of": "staff", "even_hours": cloud.break_even_hours(own, rent, staff_usd_per_month=assume(300, "a small firm"))},
    {"of": "network", "even_hours": cloud.break_even_hours(own, rent, purchase_usd=server.cluster_usd_per_card)},
    {"of": "rent", "even_hours": high_hours},
]
office_hours = assume(173, "eight hours on each working day of a month")
office_usd_per_hour = cloud.own_usd_per_hour(own, office_hours)
kept_hours = cloud.keep_hours(own, low.usd_per_hour)

# What the book chapter says of prices and of investment.
said = [
    {"of": "an H100 for an hour", "said_usd": claim("chapter-five-dollars"), "found_usd": rent},
    {"of": "to train, least", "said_usd": claim("chapter-training-card-low"), "found_usd": fact("blackwell-price-low")},
    {"of": "to train, most", "said_usd": claim("chapter-training-card-high"), "found_usd": server.cluster_usd_per_card},
    {"of": "to use, most", "said_usd": claim("chapter-inference-card-high"), "found_usd": fact("l40s-price-high")},
]
invested = [
    {"of": "Microsoft", "said_usd": claim("chapter-microsoft-investment"), "found_usd": fact("microsoft-plan-fy2025")},
    {"of": "Google", "said_usd": claim("chapter-google-investment"), "found_usd": fact("alphabet-capex-2024")},
    {"of": "AWS", "said_usd": claim("chapter-aws-investment"), "found_usd": fact("aws-capex-2024")},
    {"of": "all together", "said_usd": claim("chapter-total-investment"), "found_usd": fact("big-four-capex-2024")},
]
