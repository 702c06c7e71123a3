"""From ordinary to most valuable: NVIDIA's revenue, profit and market value, beside five others."""

from gpumoat import as_of, claim, fact

# NVIDIA by fiscal year. A fiscal year ends in January and has that year's name.
names = ["fy2006", "fy2007", "fy2008", "fy2009", "fy2010", "fy2011", "fy2012", "fy2013", "fy2014", "fy2015", "fy2016"]
later_names = ["fy2017", "fy2018", "fy2019", "fy2020", "fy2021", "fy2022", "fy2023", "fy2024", "fy2025", "fy2026"]
years = []
for name in names + later_names:
    years.append(
        {
            "year": name,
            "ended": as_of(f"nvidia-revenue-{name}"),
            "revenue_usd": fact(f"nvidia-revenue-{name}"),
            "income_usd": fact(f"nvidia-net-income-{name}"),
            "margin_share": fact(f"nvidia-net-income-{name}") / fact(f"nvidia-revenue-{name}"),
        }
    )

# The lean years, and how fast their profit is earned now.
lean_usd = sum(fact(f"nvidia-net-income-{name}") for name in names)
lean_count = len(names)
latest_usd = fact("nvidia-net-income-fy2026")
lean_now_years = lean_usd / latest_usd
band_low_usd = claim("lecture-ten-years")
band_high_usd = claim("lecture-ten-years-high")
band_count = sum(band_low_usd <= fact(f"nvidia-net-income-{name}") <= band_high_usd for name in names)
losses_count = sum(fact(f"nvidia-net-income-{name}") < 0 for name in names)
best_lean_usd = fact("nvidia-net-income-fy2008")
worst_lean_usd = fact("nvidia-net-income-fy2010")

range_low_share = claim("lecture-margin-before")
range_high_share = claim("lecture-margin-before-high")
early = [row["margin_share"] for row in years if row["ended"] < as_of("nvidia-revenue-fy2024")]
early_count = len(early)
range_count = sum(range_low_share <= margin_share <= range_high_share for margin_share in early)
lowest_early_share = min(early)
highest_early_share = max(early)
middle = [row["margin_share"] for row in years if row["year"] in later_names[:6]]
middle_low_share = min(middle)
middle_high_share = max(middle)

# The fall before the rise.
fall_share = 1 - fact("nvidia-net-income-fy2023") / fact("nvidia-net-income-fy2022")
low_margin_share = fact("nvidia-net-income-fy2023") / fact("nvidia-revenue-fy2023")
high_margin_share = fact("nvidia-net-income-fy2025") / fact("nvidia-revenue-fy2025")
latest_margin_share = latest_usd / fact("nvidia-revenue-fy2026")
growth_ratio = fact("nvidia-revenue-fy2026") / fact("nvidia-revenue-fy2023")

# Five others, in the year whose end lies nearest to the end of NVIDIA's.
peers = []
for company, id, first, second in [
    ("NVIDIA", "nvidia", "fy2025", "fy2026"),
    ("Apple", "apple", "fy2024", "fy2025"),
    ("Microsoft", "microsoft", "fy2025", "fy2026"),
    ("Alphabet", "alphabet", "fy2024", "fy2025"),
    ("AMD", "amd", "fy2024", "fy2025"),
    ("Intel", "intel", "fy2024", "fy2025"),
]:
    peers.append(
        {
            "company": company,
            "ended": as_of(f"{id}-revenue-{second}"),
            "first_income_usd": fact(f"{id}-net-income-{first}"),
            "first_margin_share": fact(f"{id}-net-income-{first}") / fact(f"{id}-revenue-{first}"),
            "second_income_usd": fact(f"{id}-net-income-{second}"),
            "second_margin_share": fact(f"{id}-net-income-{second}") / fact(f"{id}-revenue-{second}"),
        }
    )

# Market value, and how many years of the last full year's profit it was.
values = []
for what, id, year in [
    ("first close above one", "nvidia-value-2023-06-13", "fy2023"),
    ("first close above two", "nvidia-value-2024-03-01", "fy2024"),
    ("first close above three", "nvidia-value-2024-06-05", "fy2024"),
    ("first place in the world", "nvidia-value-2024-06-18", "fy2024"),
    ("first close above four", "nvidia-value-2025-07-10", "fy2025"),
    ("first above five, at the open", "nvidia-value-2025-10-29-open", "fy2025"),
]:
    values.append(
        {
            "what": what,
            "day": as_of(id),
            "value_usd": fact(id),
            "profit_year": year,
            "profits_ratio": fact(id) / fact(f"nvidia-net-income-{year}"),
        }
    )
first_profits_ratio = fact("nvidia-value-2023-06-13") / fact("nvidia-net-income-fy2023")
before_fall_ratio = fact("nvidia-value-2023-06-13") / fact("nvidia-net-income-fy2022")
last_profits_ratio = fact("nvidia-value-2025-10-29-open") / fact("nvidia-net-income-fy2025")

# For the questions at the end.
loss_usd = -fact("nvidia-net-income-fy2010")
amd_growth_share = fact("amd-revenue-fy2025") / fact("amd-revenue-fy2024") - 1
at_apple_usd = fact("nvidia-revenue-fy2026") * fact("apple-net-income-fy2025") / fact("apple-revenue-fy2025")
above_apple_usd = latest_usd - at_apple_usd

for row in values:
    print(f"{row['day']}: {row['what']}, {row['profits_ratio']:.0f} times the profit of {row['profit_year']}")

# What the lecture says, and what the filings say.
verdicts = [
    {
        "of": "value, above three",
        "said_usd": claim("lecture-three-trillion"),
        "found_usd": fact("nvidia-value-2024-06-05"),
    },
    {
        "of": "value, at first place",
        "said_usd": claim("lecture-value-3-34"),
        "found_usd": fact("nvidia-value-2024-06-18"),
    },
    {"of": "revenue", "said_usd": claim("lecture-revenue-fy2025"), "found_usd": fact("nvidia-revenue-fy2025")},
    {"of": "net income", "said_usd": claim("lecture-income-fy2025"), "found_usd": fact("nvidia-net-income-fy2025")},
    {"of": "least in a lean year", "said_usd": band_low_usd, "found_usd": worst_lean_usd},
    {"of": "most in a lean year", "said_usd": band_high_usd, "found_usd": best_lean_usd},
]
revenue_growth_share = fact("nvidia-revenue-fy2025") / fact("nvidia-revenue-fy2024") - 1
income_growth_share = fact("nvidia-net-income-fy2025") / fact("nvidia-net-income-fy2024") - 1
shares = [
    {"of": "growth of revenue", "said_share": claim("lecture-revenue-growth"), "found_share": revenue_growth_share},
    {"of": "growth of net income", "said_share": claim("lecture-income-growth"), "found_share": income_growth_share},
    {"of": "net margin", "said_share": claim("lecture-margin-now"), "found_share": high_margin_share},
    {"of": "lowest margin before fy2024", "said_share": range_low_share, "found_share": lowest_early_share},
    {"of": "highest margin before fy2024", "said_share": range_high_share, "found_share": highest_early_share},
]
