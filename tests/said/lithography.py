"""The numbers in the explanations of claims on lithography, each computed a second time."""

SAID = {
    # One thirty-millionth of a metre in nanometres, and the droplets as ASML and a review of 2019 have them.
    "lecture-tin-diameter": {"33 nanometres": 1e9 / 30e6, "25 to 30 micrometres": 25, "30 micrometres": 30},
    "lecture-tin-rate": {"2026": 2026},
    "lecture-tin-pulses": {"2026": 2026},
    "lecture-zeiss-layers": {"50 pairs": 100 / 2, "100 layers": 100},
    "lecture-zeiss-reflectivity": {"70 per cent": 100 - 30},
    "lecture-euv-parts": {"457,329": 457_329, "100,000": 100_000, "500,000": 500_000},
    "lecture-euv-bought": {"80 per cent": 80},
    "lecture-euv-suppliers": {"5,150": 5150, "1,200": 1200},
    "lecture-euv-price": {"400 million": 400},
    "lecture-euv-years": {"33": 2019 - 1986},
    "lecture-litho-lag": {"2025": 2025},
    "lecture-euv-intel": {"1997": 1997, "2012": 2012, "15 per cent": 15},
}
