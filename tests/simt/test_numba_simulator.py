"""The same kernels in numba's own simulator: the same results and the same accesses, thread by thread."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gpumoat import simt

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(7)


def single(*shape):
    return RANDOM.random(shape).astype(np.float32)


def picture(*shape):
    return RANDOM.integers(0, 256, shape).astype(np.uint8)


LAUNCHES = {
    "gpumoat.bench.simt_speed_kernels:difference": ([2], [32], [picture(61), np.zeros(60, np.int16)]),
    "gpumoat.bench.simt_speed_kernels:stencil": ([1, 1], [16, 16], [single(16, 16), single(16, 16)]),
    "gpumoat.bench.simt_speed_kernels:product": ([1, 1], [16, 16], [single(16, 32), single(32, 16), single(16, 16)]),
    "gpumoat.bench.simt_speed_kernels:reduction": ([1], [256], [single(256), single(1)]),
    "gpumoat.kernels.image:strip": ([2], [8], [picture(101), np.zeros(100, np.int16), 7, 7]),
    "gpumoat.kernels.image:grid_stride": ([2], [8], [picture(101), np.zeros(100, np.int16)]),
    "gpumoat.kernels.transpose:transpose_padded": ([1, 1], [32, 8], [single(30, 27), single(27, 30)]),
    "gpumoat.kernels.stencil:stencil_global": ([1, 1], [16, 8], [picture(9, 13), np.zeros((9, 13), np.int16)]),
    "gpumoat.kernels.attention:scores": ([1, 1, 2], [8, 8], [single(2, 5, 4), single(2, 5, 4), single(2, 5, 5), 0.5]),
}


@pytest.fixture(scope="module")
def theirs():
    pytest.importorskip("numba.cuda")
    sent = [
        [name, grid, block, [[a.shape, a.dtype.name, a.ravel().tolist()] if hasattr(a, "dtype") else a for a in given]]
        for name, (grid, block, given) in LAUNCHES.items()
    ]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        [sys.executable, str(HERE / "numba_trace.py")],
        input=json.dumps(sent), env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(zip(LAUNCHES, json.loads(done.stdout), strict=True))


def ours(name, order="forward"):
    grid, block, given = LAUNCHES[name]
    given = [a.copy() if hasattr(a, "copy") else np.float32(a) if isinstance(a, float) else a for a in given]
    record = simt.trace(name, tuple(grid), tuple(block), order=order)(*given).record
    count = sum(isinstance(item, np.ndarray) for item in given)
    columns = (record.array, record.kind, record.index, record.in_block, record.thread)
    rows = sorted(list(row) for row in zip(*columns, strict=True) if row[0] < count)
    return rows, [item.ravel().tolist() for item in given if isinstance(item, np.ndarray)]


@pytest.mark.parametrize("name", LAUNCHES)
def test_results_and_accesses_are_the_same(theirs, name):
    rows, arrays = ours(name)
    assert len(rows) > 0
    assert rows == theirs[name]["rows"]
    for mine, other in zip(arrays, theirs[name]["arrays"], strict=True):
        assert np.allclose(mine, other, rtol=1e-6)


def test_a_difference_would_be_seen(theirs):
    name = "gpumoat.kernels.image:strip"
    other = "gpumoat.kernels.image:grid_stride"
    assert ours(name)[0] != theirs[other]["rows"]


@pytest.mark.parametrize("name", LAUNCHES)
def test_kernels_without_races_do_not_depend_on_the_order(name):
    assert ours(name) == ours(name, "reverse") == ours(name, "random")
