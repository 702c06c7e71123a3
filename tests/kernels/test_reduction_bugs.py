"""The planted bugs of sums and counts: each is found, its root cause first, with what follows from it."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from gpumoat.kernels import reduction_bugs as bugs
from gpumoat.simt import trace

SIZE, BLOCKS = 300, 3


def line_of(kernel, text: str) -> int:
    """The line of the file where a kernel says something."""
    lines, first = inspect.getsourcelines(kernel.py_func)
    return next(first + number for number, line in enumerate(lines) if text in line)


@pytest.fixture
def x():
    """Whole numbers: their sum is exact in any order."""
    return np.arange(SIZE, dtype=np.float32)


def kinds(report) -> list[tuple[str, int | None]]:
    """Each finding's kind, and the place of the one that explains it."""
    return [(finding.kind, finding.cause) for finding in report.findings()]


def test_missing_barrier(x) -> None:
    """Root: the race between filling and adding. Consequences: a read of what nobody has written; a wrong sum."""
    out = np.zeros(BLOCKS, np.float32)
    report = trace(bugs.missing_barrier, BLOCKS, bugs.THREADS)(x, out)
    root = report.findings()[0]
    filled = line_of(bugs.missing_barrier, "shared[t] = total")
    added = line_of(bugs.missing_barrier, "shared[t] += shared[t + half]")
    assert (root.kind, root.array, root.lines) == ("data race", "shared", (filled, added))
    assert "warps of a block" in root.text
    assert kinds(report) == [("data race", None), ("uninitialized read", 0)]
    assert out.sum() != x.sum()


def test_missing_barrier_can_be_right_by_luck(x) -> None:
    """Run the last thread first, and the sum is right; the race is reported all the same."""
    out = np.zeros(BLOCKS, np.float32)
    report = trace(bugs.missing_barrier, BLOCKS, bugs.THREADS, order="reverse")(x, out)
    assert out.sum() == x.sum()
    assert report.findings()[0].kind == "data race"


def test_barrier_in_branch(x) -> None:
    """Root: the barrier that half of the threads never reach. No other finding, and the right sum: it hides well."""
    out = np.zeros(BLOCKS, np.float32)
    report = trace(bugs.barrier_in_branch, BLOCKS, bugs.THREADS)(x, out)
    root = report.findings()[0]
    barrier = line_of(bugs.barrier_in_branch, "            cuda.syncthreads()")
    assert (root.kind, root.lines) == ("barrier divergence", (barrier,))
    assert "32 of 64 threads" in root.text
    assert kinds(report) == [("barrier divergence", None)]
    assert report.data_races() == []
    assert out.sum() == x.sum()


def test_sum_without_atomic(x) -> None:
    """Root: the race of the blocks on one number. Consequence: it is stored more than once."""
    out = np.zeros(1, np.float32)
    report = trace(bugs.sum_without_atomic, BLOCKS, bugs.THREADS)(x, out)
    root = report.findings()[0]
    assert (root.kind, root.array) == ("data race", "out")
    assert root.lines == (line_of(bugs.sum_without_atomic, "out[0] += shared[0]"),)
    assert "between blocks" in root.text
    assert kinds(report) == [("data race", None), ("overlap", 0)]


def test_histogram_without_atomic() -> None:
    """Root: the race of all threads on a bin, at every scope. Consequence: the bins are stored more than once."""
    bins = np.zeros(5, np.int32)
    x = np.random.default_rng(1).integers(0, 5, SIZE).astype(np.int32)
    report = trace(bugs.histogram_without_atomic, BLOCKS, bugs.THREADS)(x, bins)
    root = report.findings()[0]
    assert (root.kind, root.array) == ("data race", "bins")
    assert root.lines == (line_of(bugs.histogram_without_atomic, "bins[x[i]] += int32(1)"),)
    assert all(within in root.text for within in ("lanes of a warp", "warps of a block", "blocks"))
    assert kinds(report) == [("data race", None), ("overlap", 0)]
