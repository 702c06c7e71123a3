"""The numbers in the explanations of claims on the company and on what makes it hard to replace, computed again."""

from datetime import date

# NVIDIA's net income in millions and its net margin by fiscal year, typed here a second time.
INCOMES = dict(
    zip(
        range(2006, 2024),
        [
            *(301.2, 448.8, 797.6, -30, -68, 253.1, 581.1, 562.5, 440),
            *(631, 614, 1666, 3047, 4141, 2796, 4332, 9752, 4368),
        ],
        strict=True,
    )
)
REVENUES = dict(
    zip(
        range(2006, 2024),
        [
            *(2376, 3069, 4098, 3425, 3326, 3543, 3998, 4280, 4130),
            *(4682, 5010, 6910, 9714, 11716, 10918, 16675, 26914, 26974),
        ],
        strict=True,
    )
)
MARGINS = {year: income / REVENUES[year] for year, income in INCOMES.items()}

SAID = {
    "lecture-tripled": {"358 days": (date(2024, 6, 5) - date(2023, 6, 13)).days},
    "lecture-ordinary-company": {"30 per cent": 30},
    "lecture-revenue-growth": {"60.9 billion": 60.922},
    "lecture-income-growth": {"29.8 billion": 29.760},
    "lecture-margin-now": {"55.8 per cent": 100 * 72_880 / 130_497, "48.8 per cent": 100 * 29_760 / 60_922},
    "lecture-margin-before": {
        "18 fiscal years": 2023 - 2006 + 1,
        "2023": 2023,
        "3 lie": sum(1 for margin in MARGINS.values() if 0.2 <= margin <= 0.3),
    },
    "lecture-margin-before-high": {
        "18 fiscal years": 2023 - 2006 + 1,
        "2023": 2023,
        "3 lie": sum(1 for margin in MARGINS.values() if 0.2 <= margin <= 0.3),
        "36.2 per cent": 100 * max(MARGINS.values()),
        "16.2 per cent": 100 * MARGINS[2023],
    },
    "lecture-drawn-level": {"22 to": 100 * (1 - 72_880 / 93_736), "28 per cent": 100 * (1 - 72_880 / 101_832)},
    "lecture-ten-years": {
        "11 fiscal years": 2016 - 2006 + 1,
        "2016": 2016,
        "2 times": sum(1 for year, income in INCOMES.items() if year <= 2016 and 400 <= income <= 500),
    },
    "lecture-ten-years-high": {
        "11 fiscal years": 2016 - 2006 + 1,
        "2016": 2016,
        "800 million": round(INCOMES[2008], -2),
    },
    "lecture-passed-microsoft": {"2025": 2025},
    "lecture-cuda-same-year": {"2004": 2004, "2007": 2007, "fiscal 2008": 2008},
    "lecture-cuda-years": {"2024": 2006 + 18, "2025": 2025, "was 19": 2025 - 2006},
    "chapter-cuda-years": {"2025": 2025, "was 19": 2025 - 2006, "2026": 2006 + 20},
    "chapter-cuda-2006": {"2007": 2007, "fiscal 2008": 2008},
    "lecture-eight-a100": {"50 times": 125.4e15 / (8 * 312e12)},
    "lecture-five-orders": {"19 times": 600 / 2 / 16},
    "lecture-developers": {"4.7 million": 4.7},
    "chapter-rocm-rewrite": {"2.0": 2.0, "2023": 2023},
    "chapter-rocm-gap-low": {"14 per cent": 100 * (1 - 620 / 720), "23 per cent": 100 * (1 - 990 / 1280)},
    "chapter-similar-hardware": {"32 per cent": 100 * (1307.4 / 989 - 1)},
}
