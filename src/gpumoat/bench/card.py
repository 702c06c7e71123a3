"""What the measuring scripts share: the card's name, the form of a run's file, and timing by events.

Needs a CUDA card, numba-cuda, CuPy and NumPy; imports none of them before it is called.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import platform
import statistics
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

from gpumoat.bench.run_form import run_form


def numba_cuda() -> Any:
    """Import and return ``numba.cuda``, with what numba-cuda 0.30.4 still asks of a NumPy that has dropped it."""
    import numpy

    if not hasattr(numpy, "row_stack"):
        numpy.row_stack = numpy.vstack
    from numba import cuda

    return cuda


def driver() -> tuple[str, str]:
    """Return the first card's name and the driver's version, as the driver gives them."""
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"]
    name, version = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip().split(", ")
    return name, version


def event_times_s(launch: Callable[[], object], repeats: int, warm: int = 3) -> list[float]:
    """Return the device time of each of many launches, ascending, in seconds.

    The launches are queued without a pause, an event between any two, so that the time the host needs for a launch is
    hidden behind the kernel before it. True only of kernels that take longer than the host needs to launch one.
    """
    cuda = numba_cuda()
    for _ in range(warm):
        launch()
    events = [cuda.event() for _ in range(repeats + 1)]
    events[0].record()
    for event in events[1:]:
        launch()
        event.record()
    events[-1].synchronize()
    return sorted(cuda.event_elapsed_time(a, b) / 1000 for a, b in itertools.pairwise(events))


def median_s(launch: Callable[[], object], repeats: int) -> float:
    """Return the median device time of a launch in seconds."""
    return statistics.median(event_times_s(launch, repeats))


def run_file(
    run: str, title: str, script: str, results: Mapping[str, tuple[float | int, str, str]], raw: Mapping[str, Any]
) -> str:
    """Return the text of a measurement file.

    Args:
        run: The run's id.
        title: What was measured, in a line.
        script: The script that measured.
        results: Of each name the value in base units, the unit and what it is.
        raw: All that was read, as it was read.
    """
    packages = ("numba", "numba-cuda", "numpy", "cupy-cuda13x")
    versions = {"python": platform.python_version(), **{each: importlib.metadata.version(each) for each in packages}}
    document = run_form(run, title, (*driver(), versions), script, results, raw)
    return json.dumps(document, indent=1) + "\n"
