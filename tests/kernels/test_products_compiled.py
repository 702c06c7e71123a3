"""The product kernels in numba: its simulator sees the same results and accesses, its compiler makes PTX of each."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

from gpumoat.kernels import attention, matmul, qkv, reduction, reduction_bugs
from gpumoat.simt import trace

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


@pytest.fixture(scope="module")
def cases():
    """The launches."""
    spec = importlib.util.spec_from_file_location("product_cases_again", HERE / "product_cases.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["product_cases_again"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def numba_says():
    """Results and accesses from numba's simulator, which needs a process of its own."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(HERE / "product_cases.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def accesses(record) -> Counter:
    """Accesses to global memory: (kind, block x, y, z, thread x, y, z, element), each with how often."""
    kinds = ("load", "store", "atomic")
    shared = {array.number for array in record.arrays if array.space != "global"}

    def place(linear: int, extents) -> tuple[int, ...]:
        return linear % extents[0], linear // extents[0] % extents[1], linear // (extents[0] * extents[1])

    found: Counter = Counter()
    for array, kind, index, block, thread in zip(
        record.array, record.kind, record.index, record.in_block, record.thread, strict=True
    ):
        if array not in shared:
            found[(kinds[kind], *place(block, record.grid), *place(thread, record.block), index)] += 1
    return found


def test_numbas_simulator_sees_the_same(cases, numba_says) -> None:
    with cases.small_tiles():
        portable = {name: case for name, make in cases.CASES.items() if (case := make()).portable}
        reports = {
            name: trace(case.kernel, case.grid, case.block)(*case.arguments.values()) for name, case in portable.items()
        }
    assert set(numba_says) == set(portable)
    assert len(portable) >= 15
    for name, case in portable.items():
        for output, values in numba_says[name]["outputs"].items():
            mine = case.arguments[output].ravel()
            np.testing.assert_allclose(mine, values, rtol=1e-5, atol=1e-6, err_msg=name)
        theirs = Counter(tuple(row) for row in numba_says[name]["accesses"])
        assert theirs == accesses(reports[name].record), name


MODULES = (matmul, attention, qkv, reduction, reduction_bugs)
KERNELS = {
    name: (getattr(module, name), signature) for module in MODULES for name, signature in module.SIGNATURES.items()
}


@pytest.fixture(scope="module")
def ptx():
    """PTX for sm_90 of each kernel, at its full tile size."""
    return {
        name: cuda.compile_ptx(kernel.py_func, signature, cc=(9, 0))[0]
        for name, (kernel, signature) in KERNELS.items()
        if not os.environ.get("NUMBA_ENABLE_CUDASIM")
    }


def test_every_kernel_compiles_for_the_card(ptx) -> None:
    assert set(ptx) == set(KERNELS)
    for name, text in ptx.items():
        assert ".target sm_90" in text, name
        assert ".entry" in text, name


def test_the_blocked_sums_stay_in_registers(ptx) -> None:
    """Sixty-four multiply-adds written out, and nothing of the thread's own arrays in memory."""
    for name in ("register_blocked", "register_blocked_wide", "fused"):
        assert len(re.findall(r"\bfma\.rn\S*f32", ptx[name])) >= 64, name
        assert ".local" not in ptx[name], name


def test_the_wide_kernel_reads_four_numbers_at_once(ptx) -> None:
    """Sixteen numbers an inner step: four reads in the wide kernel, sixteen in the other."""
    assert len(re.findall(r"ld\.shared\.v4\.f32", ptx["register_blocked_wide"])) == 4
    assert "ld.shared.v4" not in ptx["register_blocked"]
    assert len(re.findall(r"ld\.shared\.f32", ptx["register_blocked"])) == 16


def test_the_shuffles_are_there(ptx) -> None:
    assert "shfl.sync.down" in ptx["shuffle_sum"]
    assert "shfl" not in ptx["shared_sum"]


def test_every_kernel_is_in_the_list() -> None:
    """A kernel that is added is compiled and tested as well."""
    there = {name for module in MODULES for name, value in vars(module).items() if hasattr(value, "py_func")}
    assert there == set(KERNELS)
