"""Fit the constants of ``gpumoat.kernel_time`` on one half of the measured launches, and score them on the other.

Needs no card: it reads what ``gpumoat.bench.image`` and ``gpumoat.bench.kernel_counters`` have measured.

    PYTHONPATH=src python -m gpumoat.bench.kernel_time src/gpumoat/data/measurements

writes ``h200-kernel-time.json`` beside the two runs that it reads there. The split is fixed: in the order of
``gpumoat.bench.image_variants`` the first, third, fifth and so on are fitted, the others only scored. What is minimised
is the mean fourth power of the logarithm of predicted over measured time, so that no single launch is far off; by the
simplex method of Nelder and Mead (1965) on the logarithms of the constants.

Promises: the same file from the same runs. Left out: any launch; nothing is dropped for fitting badly.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gpumoat.bench.image_variants import launch_of, variants
from gpumoat.kernel_time import Constants, Launch, predict

START = {
    "latency_s": (400e-9, "from a turn's load to its store"),
    "blocks_per_s": (1.7e9, "blocks that the card starts"),
    "lines_per_s": (2e9, "cache lines that a multiprocessor looks up"),
    "request_s": (1e-9, "time of a multiprocessor for one request"),
    "stored_line_s": (12e-12, "time of the card for a line in which sectors are stored in part"),
    "stored_sector_s": (4e-12, "time of the card for a sector that is stored in part"),
    "evicted_sector_s": (35e-12, "the same, where the lines begun do not fit in the L2 cache"),
    "joint_power": (1.7, "how far the waits overlap: 1 if they add up"),
    "drain_ratio": (1.0, "how much longer a block waits that fills a multiprocessor alone"),
}
"""What is fitted: where the search begins, far from nowhere but not at the answer, and what it is."""

TURNS, RESTARTS = 1_500, 4
YARDSTICK = "widen16-128"
L2_BYTES = 62_914_560
"""The L2 cache of an H200 as the driver reports it (60 MiB)."""


def minimise(cost: Callable[[list[float]], float], start: Sequence[float], turns: int = TURNS) -> list[float]:
    """Return where a cost is least, near a start, by the simplex method of Nelder and Mead."""
    points = [list(start)] + [
        [value + (0.15 if i == j else 0.0) for j, value in enumerate(start)] for i in range(len(start))
    ]
    simplex = [(cost(point), point) for point in points]
    for _ in range(turns):
        simplex.sort(key=lambda each: each[0])
        worst = simplex[-1]
        centre = [math.fsum(point[j] for _, point in simplex[:-1]) / len(start) for j in range(len(start))]

        def toward(
            factor: float, centre: list[float] = centre, from_: list[float] = worst[1]
        ) -> tuple[float, list[float]]:
            point = [a + factor * (a - b) for a, b in zip(centre, from_, strict=True)]
            return cost(point), point

        reflected = toward(1)
        if reflected[0] < simplex[0][0]:
            simplex[-1] = min(reflected, toward(2), key=lambda each: each[0])
        elif reflected[0] < simplex[-2][0]:
            simplex[-1] = reflected
        else:
            inside = toward(-0.5)
            if inside[0] < worst[0]:
                simplex[-1] = inside
            else:
                best = simplex[0][1]
                shrunk = [[(a + b) / 2 for a, b in zip(best, point, strict=True)] for _, point in simplex[1:]]
                simplex = [simplex[0]] + [(cost(point), point) for point in shrunk]
    return min(simplex, key=lambda each: each[0])[1]


def fit(launches: Sequence[Launch], times_s: Sequence[float], known: dict[str, Any], turns: int = TURNS) -> Constants:
    """Return the constants that fit the times of launches best.

    Args:
        launches: The launches.
        times_s: Their measured times.
        known: The constants that are not fitted: multiprocessors, L2 cache, copy rate.
        turns: Turns of the search, for each of its restarts.
    """

    def constants(logarithms: Sequence[float]) -> Constants:
        fitted: dict[str, Any] = {name: math.exp(value) for name, value in zip(START, logarithms, strict=True)}
        return Constants(**known, **fitted)

    found = [math.log(value) for value, _ in START.values()]
    for _ in range(RESTARTS):
        found = minimise(lambda logarithms: misfit(constants(logarithms), launches, times_s), found, turns)
    return constants(found)


def misfit(card: Constants, launches: Sequence[Launch], times_s: Sequence[float]) -> float:
    """Return what is minimised: the mean fourth power of the logarithm of predicted over measured time."""
    errors = (math.log(predict(each, card).time_s / time) for each, time in zip(launches, times_s, strict=True))
    return math.fsum(error**4 for error in errors) / len(times_s)


def rows(image: dict[str, Any], counters: dict[str, Any]) -> list[tuple[str, Launch, float]]:
    """Return each measured launch's name, description and time, in the order of the list of variants."""
    pixels = image["results"]["pixels_count"]["value"]
    multiprocessors = image["results"]["multiprocessors_count"]["value"]
    read = {(each["kernel"], each["grid"][0], each["block"][0]): each["metrics"] for each in counters["raw"]["large"]}
    found = []
    for variant in variants(pixels, multiprocessors):
        metrics = read[variant.kernel, variant.blocks, variant.block_threads]
        launch = launch_of(variant, pixels, int(metrics["launch__registers_per_thread"]))
        found.append((variant.name, launch, image["raw"]["variants"][variant.name]["median_s"]))
    return found


def run(image: dict[str, Any], counters: dict[str, Any]) -> dict[str, Any]:
    """Fit and score, and return the run's document."""
    measured = rows(image, counters)
    moved = image["results"]["moved_bytes"]["value"]
    known = {
        "multiprocessors": image["results"]["multiprocessors_count"]["value"],
        "l2_bytes": L2_BYTES,
        "copy_bytes_per_s": moved / image["raw"]["yardsticks_median_s"][YARDSTICK],
    }
    fitted = measured[0::2]
    card = fit([launch for _, launch, _ in fitted], [time for _, _, time in fitted], known)
    table: list[dict[str, Any]] = []
    for number, (name, launch, time) in enumerate(measured):
        found = predict(launch, card)
        table.append(
            {
                "variant": name,
                "part": "scored" if number % 2 else "fitted",
                "measured_s": time,
                "predicted_s": found.time_s,
                "error": found.time_s / time - 1,
                "limit": found.limit,
                "terms_s": found.terms_s,
            }
        )
    worst = {part: max(abs(row["error"]) for row in table if row["part"] == part) for part in ("fitted", "scored")}
    results = {
        "multiprocessors_count": (known["multiprocessors"], "", "multiprocessors"),
        "l2_bytes": (L2_BYTES, "bytes", "L2 cache that the driver reports"),
        "copy_bytes_per_s": (
            known["copy_bytes_per_s"],
            "bytes/s",
            "a kernel in CUDA C++ that reads a byte and writes two, 8-byte loads and 16-byte stores, nothing else",
        ),
    }
    for name, (_, what) in START.items():
        unit = name.removesuffix("_per_s") + "/s" if name.endswith("_per_s") else "s" if name.endswith("_s") else ""
        results[name] = (getattr(card, name), unit, what + ", fitted")
    results["launches_count"] = (len(table), "", "launches, every second one fitted and the others scored")
    results["greatest_error_fitted_share"] = (worst["fitted"], "", "greatest error among the launches fitted")
    results["greatest_error_scored_share"] = (worst["scored"], "", "greatest error among the launches only scored")
    return {
        "schema": 1,
        "id": "h200-kernel-time",
        "title": "Model of the time of the image difference: fitted on one half of the launches, scored on the other",
        "device": image["device"],
        "driver": image["driver"],
        "versions": image["versions"],
        "date": image["date"],
        "script": "src/gpumoat/bench/kernel_time.py",
        "results": {key: {"value": value, "unit": unit, "what": what} for key, (value, unit, what) in results.items()},
        "raw": {"launches": table},
    }


def main() -> None:
    """Read two runs, write the third."""
    folder = Path(sys.argv[1])
    read = [json.loads((folder / f"h200-{name}.json").read_text()) for name in ("image", "kernel-counters")]
    document = run(*read)
    (folder / "h200-kernel-time.json").write_text(json.dumps(document, indent=1) + "\n")
    for row in document["raw"]["launches"]:
        times = f"{row['measured_s'] * 1000:8.3f} ms {row['predicted_s'] * 1000:8.3f} ms {row['error']:+7.1%}"
        print(f"{row['part']:7s} {row['variant']:36s} {times}  {row['limit']}")


if __name__ == "__main__":
    main()
