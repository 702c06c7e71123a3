"""How fast the simulator is beside numba's own: CPU time a thread, with and without recording.

Runs four kernels (``simt_speed_kernels``) in both engines, each in a fresh process, prints the ratios and writes what
was measured as JSON. No card is needed; numba is.

    PYTHONPATH=src python -m gpumoat.bench.simt_speed [result.json]

Promises: both engines run the same source on the same arrays, their results are compared, and the time is CPU time
(numba's simulator makes an operating-system thread for each CUDA thread and waits busily, so wall time depends on
what else the machine does). Compiling and translating are left out by one small launch before; each time is the best
of a few launches. Left out: the time of the report.
"""

import datetime
import json
import os
import platform
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

KERNELS = "gpumoat.bench.simt_speed_kernels"
LAUNCHES: dict[str, tuple[Any, Any]] = {
    "difference": (64, 256),
    "stencil": ((4, 4), (16, 16)),
    "product": ((4, 4), (16, 16)),
    "reduction": (4, 256),
}
TITLES = {
    "difference": "1-D subtraction, 16,384 threads",
    "stencil": "3 x 3 stencil, 18 x 18 shared tile, 4,096 threads",
    "product": "tiled matrix product 64 x 64 x 64, tile 16, 4,096 threads",
    "reduction": "block reduction, 4 blocks of 256 threads",
}
GOALS = {"run": 30, "trace": 5}  # times faster than numba's simulator


def arrays(name: str) -> list[Any]:
    """Return a kernel's arguments; the last is its result."""
    import numpy as np

    random = np.random.default_rng(1)
    if name == "difference":
        return [random.integers(0, 256, 16_385).astype(np.uint8), np.zeros(16_384, np.int16)]
    square = random.random((64, 64)).astype(np.float32)
    if name == "stencil":
        return [square, np.zeros_like(square)]
    if name == "product":
        return [square, random.random((64, 64)).astype(np.float32), np.zeros_like(square)]
    return [random.random(1024).astype(np.float32), np.zeros(4, np.float32)]


def threads_of(name: str) -> int:
    """Return the threads of a launch."""
    total = 1
    for extent in LAUNCHES[name]:
        for part in extent if isinstance(extent, tuple) else (extent,):
            total *= part
    return total


def measure(engine: str) -> dict[str, Any]:
    """Return CPU seconds a thread and the result of each kernel, in this process."""
    import numpy as np

    found: dict[str, Any] = {}
    for name, (grid, block) in LAUNCHES.items():
        given = arrays(name)
        if engine == "numba":
            from gpumoat.bench import simt_speed_kernels

            launch: Any = getattr(simt_speed_kernels, name)[grid, block]
        else:
            from gpumoat import simt

            launch = getattr(simt, engine)(f"{KERNELS}:{name}", grid, block)
        best = float("inf")
        for _ in range(1 if engine == "numba" else 5):
            given[-1][...] = 0
            begun = time.process_time()
            launch(*given)
            best = min(best, time.process_time() - begun)
        found[name] = {
            "s_per_thread": best / threads_of(name),
            "checksum": float(np.asarray(given[-1], np.float64).sum()),
        }
    return found


def main(arguments: list[str]) -> int:
    """Measure each engine in a process of its own, compare, print, write."""
    if arguments[:1] == ["--engine"]:
        print(json.dumps(measure(arguments[1])))
        return 0
    measured = {}
    for engine in ("numba", "run", "trace"):
        environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1" if engine == "numba" else "0"}
        command = [sys.executable, "-m", "gpumoat.bench.simt_speed", "--engine", engine]
        output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        measured[engine] = json.loads(output.splitlines()[-1])
    ratios: dict[str, dict[str, float]] = {}
    print(f"{'CPU time a thread':60s} numba's simulator   run            trace")
    for name, title in TITLES.items():
        seconds = {engine: measured[engine][name]["s_per_thread"] for engine in measured}
        for engine in ("run", "trace"):
            known, other = measured["numba"][name]["checksum"], measured[engine][name]["checksum"]
            if abs(known - other) > 1e-4 * abs(known):
                raise SystemExit(f"{name}: {engine} computes {other}, numba's simulator {known}")
        ratios[name] = {engine: seconds["numba"] / seconds[engine] for engine in GOALS}
        print(
            f"{title:60s} {seconds['numba'] * 1e6:8.1f} us      "
            + "  ".join(f"{seconds[engine] * 1e6:6.1f} us {ratios[name][engine]:4.0f}x" for engine in GOALS)
        )
    if arguments:
        report = {
            "schema": 1,
            "id": "simt-speed",
            "title": "The simulator beside numba's, CPU time a simulated thread",
            "device": f"{platform.machine()}, {os.cpu_count()} cores, no card",
            "driver": "none",
            "versions": {
                "python": platform.python_version(),
                **{name: metadata.version(name) for name in ("numba", "numba-cuda", "numpy")},
            },
            "date": datetime.date.today().isoformat(),
            "script": "src/gpumoat/bench/simt_speed.py",
            "results": {
                f"{name}_{engine}_ratio": {
                    "value": round(ratios[name][engine], 1),
                    "unit": "",
                    "what": f"{TITLES[name]}: how many times faster than numba's simulator "
                    + ("without recording" if engine == "run" else "with every access recorded"),
                }
                for name in TITLES
                for engine in GOALS
            },
            "raw": measured,
        }
        Path(arguments[0]).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    missed = [f"{name} {engine}" for name in ratios for engine, goal in GOALS.items() if ratios[name][engine] < goal]
    if missed:
        print(f"below the goal: {', '.join(missed)}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
