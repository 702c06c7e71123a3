"""When does a GPU of one's own pay?"""

from gpumoat import assume, claim, cloud, fact
from gpumoat.hardware import subject
from gpumoat.prices import by_price, latest, median_usd_per_hour, prices, spread

# Owning an H100 SXM: its share of a server, in rented space.
server = subject("server", "h100-server")
place = subject("place", "data-centre")
debt = subject("loan", "gpu-debt")
purchase_usd = server.price_usd / server.cards_count
resale_share = server.resale_low_share
resale_usd = purchase_usd * resale_share
life_months = cloud.months(fact("gpu-life.amazon_years"))
interest_share = debt.notes_share
working_w = server.typical_w / server.cards_count
idle_w = assume(0.25, "fans and processors run on when a server waits; no source found") * working_w
pue_ratio = place.pue_ratio
electricity_usd_per_j = place.electricity_usd_per_j
reserved_w = server.peak_w / server.cards_count
room_usd_per_w_per_month = place.rent_usd_per_w_per_month
staff_usd_per_month = assume(100, "a card's share of a person who looks after some hundred; no source found")
repair_share = assume(0.03, "a third of the faults that a large run met, for most cost no new card")
own = cloud.Ownership(
    *(purchase_usd, resale_share, life_months, interest_share, working_w, idle_w, pue_ratio, electricity_usd_per_j),
    *(reserved_w, room_usd_per_w_per_month, staff_usd_per_month, repair_share),
)
fixed_usd_per_month, running_usd_per_hour = cloud.totals(own)

# The same by parts, each from its own inputs.
work_w = working_w - idle_w
idle_cooling_w = cloud.cooling_w(idle_w, pue_ratio)
work_cooling_w = cloud.cooling_w(work_w, pue_ratio)
loan_usd_per_month = cloud.monthly_payment_usd(purchase_usd, resale_usd, life_months, interest_share)
interest_usd_per_month = cloud.interest_usd_per_month(purchase_usd, resale_usd, life_months, interest_share)
room_usd_per_month = cloud.room_usd_per_month(reserved_w, room_usd_per_w_per_month)
repairs_usd_per_month = cloud.repairs_usd_per_month(purchase_usd, repair_share)
idle_usd_per_month = cloud.power_usd_per_month(idle_w, electricity_usd_per_j)
work_usd_per_hour = cloud.power_usd_per_hour(work_w, electricity_usd_per_j)
cool_usd_per_month = cloud.power_usd_per_month(idle_cooling_w, electricity_usd_per_j)
cool_usd_per_hour = cloud.power_usd_per_hour(work_cooling_w, electricity_usd_per_j)
parts = [
    {"part": "purchase, with interest", "usd_per_month": loan_usd_per_month, "usd_per_hour": None},
    {"part": "room", "usd_per_month": room_usd_per_month, "usd_per_hour": None},
    {"part": "staff", "usd_per_month": staff_usd_per_month, "usd_per_hour": None},
    {"part": "repairs", "usd_per_month": repairs_usd_per_month, "usd_per_hour": None},
    {"part": "power", "usd_per_month": idle_usd_per_month, "usd_per_hour": work_usd_per_hour},
    {"part": "cooling", "usd_per_month": cool_usd_per_month, "usd_per_hour": cool_usd_per_hour},
    {"part": "together", "usd_per_month": fixed_usd_per_month, "usd_per_hour": running_usd_per_hour},
]

# Renting one: the newest price of each offer, and the hours of use from which owning beats it.
month_hours = cloud.hours_per_month()
days_count = assume(100, "long enough for several sellers of each kind, short enough to be one market")
offers = latest(prices("h100-sxm", commitment="on-demand", days=days_count))
low, high = spread(offers)
middle_usd_per_hour = median_usd_per_hour(offers)
low_hours, high_hours = cloud.break_even_interval([own], [low.usd_per_hour, high.usd_per_hour])
evens = [
    {
        "kind": x.tier,
        "rent_usd_per_hour": x.usd_per_hour,
        "even_hours": cloud.break_even_hours(own, x.usd_per_hour),
        "seller": x.seller,
        "day": x.date,
        "source": x.source,
    }
    for x in by_price(offers)
]
rents = []
for provider, terms in [("AWS", "on-demand"), ("Lambda", "on-demand"), ("Google Cloud", "spot")]:
    for old in prices("h100-sxm", commitment=terms, provider=provider, cards=server.cards_count):
        rents.append({"seller": f"{provider}, {terms}", "day": old.date, "rent_usd_per_hour": old.usd_per_hour})
print(f"One's own pays from {low_hours:.0f} to {high_hours:.0f} hours a month, by the rent it replaces.")

# What moves it: one input of owning at a worse value, at the median rent; last, the cheapest rent in its place.
half_hours = month_hours / 2
faults_count = fact("llama3-interruptions-gpu-count") + fact("llama3-interruptions-memory-count")
faults_share = cloud.yearly_share(faults_count, fact("llama3-cards-count"), fact("llama3-interruptions-days"))
few_months = cloud.months(fact("gpu-life.nebius_years"))
dear_usd_per_j = place.electricity_high_usd_per_j
firm_usd_per_month = assume(300, "a small firm, where a person looks after fewer cards; no source found")
rent = middle_usd_per_hour
worse = [
    {"of": "as above", "even_hours": cloud.break_even_hours(own, rent)},
    {"of": "electricity", "even_hours": cloud.break_even_hours(own, rent, electricity_usd_per_j=dear_usd_per_j)},
    {"of": "interest", "even_hours": cloud.break_even_hours(own, rent, interest_share=debt.high_share)},
    {"of": "lifetime", "even_hours": cloud.break_even_hours(own, rent, lifetime_months=few_months)},
    {"of": "repairs", "even_hours": cloud.break_even_hours(own, rent, repair_share=faults_share)},
    {"of": "staff", "even_hours": cloud.break_even_hours(own, rent, staff_usd_per_month=firm_usd_per_month)},
    {"of": "network", "even_hours": cloud.break_even_hours(own, rent, purchase_usd=server.cluster_usd_per_card)},
    {"of": "rent", "even_hours": high_hours},
]
flip_usd_per_month = cloud.flip_value(own, "staff_usd_per_month", rent, half_hours, 0, fixed_usd_per_month)
less_server_usd = assume(250_000, "a fifth less than in 2024; no newer price with a source was found")
less_own = own.changed(purchase_usd=less_server_usd / server.cards_count)
less_low_hours, less_high_hours = cloud.break_even_interval([less_own], [low.usd_per_hour, high.usd_per_hour])
office_hours = assume(173, "eight hours on each working day of a month")
office_usd_per_hour = cloud.own_usd_per_hour(own, office_hours)
kept_hours = cloud.keep_hours(own, low.usd_per_hour)

# What the book chapter says of prices.
hour_usd = 1 * fact("price-h100-sxm-runpod-secure-on-demand-1x-2026-09-25.usd_per_hour")  # the price of an hour
said = [
    {"of": "an H100 for an hour", "said_usd": claim("chapter-five-dollars"), "found_usd": hour_usd},
    {"of": "to train, least", "said_usd": claim("chapter-training-card-low"), "found_usd": fact("blackwell-price-low")},
    {"of": "to train, most", "said_usd": claim("chapter-training-card-high"), "found_usd": server.cluster_usd_per_card},
    {"of": "to use, most", "said_usd": claim("chapter-inference-card-high"), "found_usd": fact("l40s-price-high")},
]
