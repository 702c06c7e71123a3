"""The numbers in the explanations of claims on prices and investment, each as its source prints it."""

SAID = {
    "chapter-training-card-low": {
        "30,000": 30_000,  # Blackwell, from and to
        "40,000": 40_000,
        "25,000": 25_000,  # what the chapter itself says
        "15,000": 15_000,  # used H100
    },
    "chapter-training-card-high": {"51,613": 51_613},
    "chapter-inference-card-high": {"7,000": 7_000, "10,000": 10_000, "2025": 2025},
    "chapter-five-dollars": {"2.69": 2.69, "3.49": 3.49, "1.88": 1.883, "6.15": 6.1489},
    "chapter-microsoft-investment": {"2025": 2025, "2024": 2024},
    "chapter-google-investment": {"52.5 billion": 52.5, "2024": 2024},
    "chapter-aws-investment": {"83.0 billion": 82.999, "2024": 2024, "53.3": 53.27},
    "chapter-total-investment": {"246 billion": 246, "2024": 2024},
}
