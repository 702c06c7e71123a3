"""The numbers in the explanations of claims that a second reading added or decided anew, computed again."""

# China's customs in 2023, as SCMP and a post report them: billions of dollars, billions of pieces.
IMPORTED_USD, IMPORTED, EXPORTED_USD, EXPORTED = 349.4, 479.5, 136.0, 267.8

SAID = {
    "lecture-euv-only-asml": {"2026": 2026, "2019": 2019},
    "lecture-people": {"May 2024": 2024},
    "lecture-cuda-languages": {"June 2009": 2009},
    "lecture-before-cuda": {"2004": 2004},
    "lecture-export-ban": {"26 August": 26, "2022": 2022},
    "lecture-h100-price-low": {"38,750": 310_000 / 8, "August 2024": 2024},
    "lecture-china-14nm": {"2023": 2023},
    "lecture-china-5nm": {"2025": 2025, "7 nm": 7},
    "lecture-chip-imports": {"0.1 billion": IMPORTED_USD - 349.3},
    "lecture-chip-imports-yuan": {"2.45 trillion": 0.136 * 17.98424},
    "lecture-oil-imports": {"0.1 billion": 337.5 - 337.4},
    "lecture-low-end-exports": {"0.51": EXPORTED_USD / EXPORTED, "0.73": IMPORTED_USD / IMPORTED},
    "lecture-frameworks-decade": {"2025": 2025, "8 years": 2025 - 2017},
    "lecture-paddle": {"2016": 2016},
    "lecture-tensor-cores": {"2017": 2017},
    "lecture-glm-4-only-9b": {"2025": 2025, "355 billion": 355},
    "chapter-inference-less-memory": {"16 bits": 16},
    "chapter-gpu-growth": {"42 per cent": 100 * (3.76 / 2.64 - 1)},
    "chapter-training-precision": {"16 bits": 8 * 2, "32 bits": 8 * 4},
}
