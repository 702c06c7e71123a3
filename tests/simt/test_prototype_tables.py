"""The tables that two engines gave before this one was written: numba's simulator and a prototype agreed on them.

Whoever changes the simulator or the report sees here at once what moves. On an H200, Nsight Compute counts the same
sectors for a strip (32) and a whole warp.
"""

import textwrap

import pytest

from gpumoat.simt import array, trace

KERNELS = """
from numba import cuda, float32


@cuda.jit
def strip(a, b, stride, length):
    start = cuda.grid(1) * stride
    for i in range(start, min(start + length, b.size)):
        b[i] = a[i] - a[i + 1]


@cuda.jit
def grid_stride(a, b):
    for i in range(cuda.grid(1), b.size, cuda.gridsize(1)):
        b[i] = a[i] - a[i + 1]


@cuda.jit
def transpose_naive(a, out):
    x = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    y = cuda.blockIdx.y * 32 + cuda.threadIdx.y
    for j in range(0, 32, 8):
        out[x, y + j] = a[y + j, x]


@cuda.jit
def transpose_tiled(a, out):
    tile = cuda.shared.array((32, WIDTH), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    x = cuda.blockIdx.x * 32 + tx
    y = cuda.blockIdx.y * 32 + ty
    for j in range(0, 32, 8):
        tile[ty + j, tx] = a[y + j, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 32 + tx
    y = cuda.blockIdx.x * 32 + ty
    for j in range(0, 32, 8):
        out[y + j, x] = tile[tx, ty + j]


@cuda.jit
def reduction(x, o):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    BARRIER
    h = 128
    while h > 0:
        if t < h:
            s[t] += s[t + h]
        cuda.syncthreads()
        h //= 2
    if t == 0:
        o[0] = s[0]


@cuda.jit
def barrier_in_if(o):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncthreads()
    o[t] = 1
"""
N, BLOCKS, THREADS, SHARE = 36_000, 8, 128, 36


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Give the name of a kernel, with words of its source replaced."""
    folder = tmp_path_factory.mktemp("kernels")

    def named(name, **words):
        source = textwrap.dedent(KERNELS)
        for word, text in {"WIDTH": "32", "BARRIER": "cuda.syncthreads()", **words}.items():
            source = source.replace(word, text)
        file = folder / f"{name}_{'_'.join(words)}.py"
        file.write_text(source)
        return f"{file}:{name}"

    return named


def line_of(text):
    return KERNELS.splitlines().index(text) + 1


@pytest.fixture(scope="module")
def difference(kernel):
    """Run the image difference, once for each way."""
    known = {}

    def run(name, *numbers, a_size=N + 1):
        key = (name, *numbers, a_size)
        if key not in known:
            a, b = array(a_size, "int32", [(7 * i) % 256 for i in range(a_size)]), array(N, "int32")
            known[key] = trace(kernel(name), BLOCKS, THREADS)(a, b, *numbers)
        return known[key]

    return run


class TestImageDifference:
    def test_strip(self, difference):
        report = difference("strip", SHARE, SHARE)
        assert report.findings() == []
        assert report.coverage("b").exactly_once
        for name, kind in (("a", "load"), ("b", "store")):
            found = report.requests(name, kind)
            assert (found.sectors_per_request, found.efficiency) == (31.25, 0.125)
        work = report.accesses_per_thread()
        assert (work.min, work.max, work.idle) == (0, 108, 24)
        assert report.foreign_reads("a", owner="b").foreign == 1_000
        assert report.foreign_reads("a", owner="b").total == 72_000

    def test_grid_stride(self, difference):
        report = difference("grid_stride")
        assert report.findings() == []
        assert report.coverage("b").exactly_once
        loads, stores = report.requests("a"), report.requests("b", "store")
        assert f"{loads.sectors_per_request:.2f} {loads.efficiency:.1%}" == "4.50 88.9%"
        assert (stores.sectors_per_request, stores.efficiency) == (4, 1)
        work = report.accesses_per_thread()
        assert (work.min, work.max) == (105, 108)
        assert report.foreign_reads("a", owner="b").foreign == 36_000

    def test_planted_gaps(self, difference):
        report = difference("strip", SHARE + 1, SHARE)
        found = report.coverage("b")
        assert len(found.gaps) == 972
        assert found.gaps[:3] == [36, 73, 110]
        assert report.data_races() == []
        assert [(finding.kind, finding.cause) for finding in report.findings()] == [("gap", None)]

    def test_planted_overlaps(self, difference):
        report = difference("strip", SHARE, SHARE + 1)
        found = report.coverage("b")
        assert len(found.overlaps) == 999
        assert found.overlaps[:3] == [36, 72, 108]
        store = line_of("        b[i] = a[i] - a[i + 1]")
        assert {(race.array, race.lines, race.kinds) for race in report.data_races()} == {
            ("b", (store, store), ("store", "store"))
        }
        assert sum(race.count for race in report.data_races()) == 999
        assert [(finding.kind, finding.cause, finding.count) for finding in report.findings()] == [
            ("data race", None, 999),
            ("overlap", 0, 999),
        ]

    def test_planted_short_input(self, difference):
        report = difference("strip", SHARE, SHARE, a_size=N)
        (fault,) = report.out_of_bounds
        assert (fault.array, fault.index, fault.block, fault.thread) == ("a", 36_000, 7, 103)
        assert fault.line == line_of("        b[i] = a[i] - a[i + 1]")
        assert report.coverage("b").exactly_once
        assert [finding.kind for finding in report.findings()] == ["out of bounds"]


class TestTranspose:
    def traced(self, kernel, name, **words):
        a, out = array((64, 64), "float32", range(64 * 64)), array((64, 64), "float32")
        report = trace(kernel(name, **words), (2, 2), (32, 8))(a, out)
        assert report.findings() == []
        assert report.coverage("out").exactly_once
        loads, stores = report.requests("a"), report.requests("out", "store")
        assert (loads.sectors_per_request, loads.efficiency) == (4, 1)
        return report, (stores.sectors_per_request, stores.efficiency)

    def test_naive(self, kernel):
        assert self.traced(kernel, "transpose_naive")[1] == (32, 0.125)

    @pytest.mark.parametrize(("width", "wavefronts", "ways"), [("32", 4_224, 32), ("33", 256, 1)])
    def test_tiled(self, kernel, width, wavefronts, ways):
        report, stores = self.traced(kernel, "transpose_tiled", WIDTH=width)
        assert stores == (4, 1)
        found = report.bank_conflicts("tile")
        assert (found.requests, found.wavefronts, found.ideal, found.max_ways) == (256, wavefronts, 256, ways)


class TestBarriers:
    def reduction(self, kernel, order="forward", **words):
        x, o = array(256, "float32", range(256)), array(1, "float32")
        return trace(kernel("reduction", **words), 1, 256, order=order)(x, o), o

    def test_right(self, kernel):
        report, o = self.reduction(kernel)
        assert o[0] == 32_640
        assert report.findings() == []

    @pytest.mark.parametrize(("order", "result"), [("forward", 8_128), ("reverse", 32_640)])
    def test_a_missing_barrier_is_the_root_cause(self, kernel, order, result):
        """Run backwards the sum is right by luck, and the race is reported all the same."""
        report, o = self.reduction(kernel, order, BARRIER="pass")
        assert o[0] == result
        (race,) = report.data_races()
        assert (race.array, race.index, race.scope) == ("s", 128, "block")
        assert race.threads == ((0, 128), (0, 0))
        assert race.lines == (line_of("    s[t] = x[t]"), line_of("            s[t] += s[t + h]"))
        found = report.findings()
        assert (found[0].kind, found[0].cause) == ("data race", None)
        if order == "forward":
            assert report.uninitialized_reads[0].index == 128
            assert (found[1].kind, found[1].cause) == ("uninitialized read", 0)

    def test_a_barrier_in_a_branch(self, kernel):
        report = trace(kernel("barrier_in_if"), 1, 64)(array(64, "int32"))
        (found,) = report.barrier_divergence
        assert (found.lines, found.arrived) == ((len(KERNELS.splitlines()) - 1,), 16)
        assert report.findings()[0].kind == "barrier divergence"
