"""What every measurement on a card shares: the card's name, a time, an error, a length in lines, and the file.

Promises: a time is the median of launches between CUDA events, after launches that are not counted; an error is
|result - reference| / |reference| over all elements (Frobenius), and not a number never passes. Left out: clocks, which
are as found and never set; a run says what they were.
"""

import ast
import inspect
import platform
import statistics
import subprocess
import textwrap
from collections.abc import Callable
from typing import Any

from gpumoat.bench.run_form import run_form


def card() -> dict[str, str]:
    """Return what the driver says of the first card: name, driver, clocks, power, temperature."""
    fields = "name,driver_version,clocks.sm,clocks.max.sm,power.limit,temperature.gpu"
    command = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader", "--id=0"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip().split(", ")
    return dict(zip(fields.split(","), said, strict=True))


def seconds(work: Callable[[], object], repeats: int = 20, warm: int = 3) -> list[float]:
    """Return the times of some launches in seconds, each between two CUDA events, the shortest first."""
    import torch

    for _ in range(warm):
        work()
    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repeats)]
    for begin, end in pairs:
        begin.record()
        work()
        end.record()
    torch.cuda.synchronize()
    return sorted(begin.elapsed_time(end) / 1000 for begin, end in pairs)


def median_seconds(work: Callable[[], object], repeats: int = 20, warm: int = 3) -> float:
    """Return the median time of a launch, in seconds."""
    return statistics.median(seconds(work, repeats, warm))


def timed(work: Callable[[], object], repeats: int = 20, warm: int = 3) -> dict[str, float]:
    """Return the median time of a launch, and the shortest and the longest, in seconds."""
    found = seconds(work, repeats, warm)
    return {"seconds": statistics.median(found), "shortest_s": found[0], "longest_s": found[-1]}


def relative_error(result: Any, reference: Any) -> float:
    """Return |result - reference| / |reference| of two tensors, in float64.

    Raises:
        ArithmeticError: The result holds something that is not a number, or an infinity.
    """
    result, reference = result.double(), reference.double()
    found = float((result - reference).norm() / reference.norm())
    if not found < float("inf"):
        raise ArithmeticError(f"the result is no number: relative error {found}")
    return found


def copy_bytes_per_s(length_bytes: int = 4 * 2**30) -> float:
    """Return the rate of a copy within the card's memory, bytes read and bytes written counted."""
    import torch

    source = torch.randint(0, 255, (length_bytes,), dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * length_bytes / median_seconds(lambda: target.copy_(source), repeats=10)


def code_lines(*functions: Any) -> int:
    """Return the lines of code of some functions: no blank lines, no comments, no docstrings; decorators count.

    A compiled kernel counts as the function it was made from.
    """
    total = 0
    for function in functions:
        source = textwrap.dedent(inspect.getsource(getattr(function, "py_func", getattr(function, "fn", function))))
        tree = ast.parse(source)
        silent: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(node) is not None:
                text = node.body[0]
                silent.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
        for number, line in enumerate(source.splitlines(), 1):
            if number not in silent and line.strip() and not line.strip().startswith("#"):
                total += 1
    return total


def launched(work: Callable[[], object]) -> dict[str, int]:
    """Return the kernels that some work launches and how often each, the one that runs longest first."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as watched:
        work()
        torch.cuda.synchronize()
    events = sorted(watched.key_averages(), key=lambda event: -event.device_time_total)
    return {event.key: event.count for event in events if event.device_time_total > 0}


def kernel_names(work: Callable[[], object]) -> list[str]:
    """Return the names of the kernels that some work launches, the one that runs longest first."""
    return list(launched(work))


def document(
    id: str, title: str, script: str, results: dict[str, tuple[float, str, str]], raw: dict[str, Any]
) -> dict[str, Any]:
    """Return a run as it is kept: ``results`` are (value, unit, what) by name."""
    import torch

    found = card()
    versions = {"python": platform.python_version(), "torch": torch.__version__, "cuda": str(torch.version.cuda)}
    for name in ("numba", "numba_cuda", "numpy", "triton"):
        try:
            versions[name] = str(__import__(name).__version__)
        except (ImportError, AttributeError):
            continue
    made_on = (found["name"], found["driver_version"], versions)
    return run_form(id, title, made_on, script, results, {"card": found, **raw})
