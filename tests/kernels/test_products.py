"""The product kernels in our simulator: results, races, coverage, and what they ask of memory.

Results are NumPy's, in float64; the launches stand in product_cases.py, with sizes that no tile divides.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumoat.kernels import attention, matmul, tiles
from gpumoat.simt import trace

HERE = Path(__file__).resolve().parent


def load(name: str):
    """A file beside this one, as a module."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


cases = load("product_cases")


@pytest.fixture(autouse=True)
def small():
    """All kernels with tiny tiles."""
    with cases.small_tiles():
        yield


def traced(case, **options):
    """A launch in our simulator."""
    return trace(case.kernel, case.grid, case.block, **options)(*case.arguments.values())


@pytest.mark.parametrize("name", cases.CASES)
def test_result_coverage_and_no_problem(name) -> None:
    case = cases.CASES[name]()
    report = traced(case)
    for output, expected in case.expected.items():
        np.testing.assert_allclose(case.arguments[output], expected, rtol=2e-4, atol=2e-5, err_msg=output)
        assert report.coverage(output).exactly_once
    assert report.findings() == []


@pytest.mark.parametrize("order", ["reverse", "random"])
@pytest.mark.parametrize("name", ["register_blocked_wide 19 x 7 x 21", "fused 2 x 19", "shuffle_sum 1000"])
def test_the_order_of_threads_changes_no_bit(name, order) -> None:
    case, again = cases.CASES[name](), cases.CASES[name]()
    traced(case)
    traced(again, order=order, seed=3)
    for output in case.outputs:
        np.testing.assert_array_equal(case.arguments[output], again.arguments[output])


@settings(max_examples=8, deadline=None)
@given(rows=st.integers(1, 20), depth=st.integers(1, 9), columns=st.integers(1, 20))
def test_blocked_products_agree_at_any_size(rows, depth, columns) -> None:
    """Both block the same sums in the same order: not one bit differs."""
    plain, wide = (cases.product(name, rows, depth, columns) for name in ("register_blocked", "register_blocked_wide"))
    for case in (plain, wide):
        assert traced(case).findings() == []
    np.testing.assert_array_equal(plain.arguments["c"], wide.arguments["c"])
    np.testing.assert_allclose(plain.arguments["c"], plain.expected["c"], rtol=1e-4, atol=1e-5)


@settings(max_examples=6, deadline=None)
@given(tokens=st.integers(1, 20), shift=st.floats(-50, 50))
def test_fused_attention_does_not_change_when_all_keys_shift(tokens, shift) -> None:
    """Softmax does not see a number added to a whole row: a query times a constant vector added to every key."""
    case = cases.attend("fused", 1, tokens)
    case.arguments["k"] += np.float32(shift)
    traced(case)
    np.testing.assert_allclose(case.arguments["out"], case.expected["out"], rtol=2e-2, atol=2e-3)


def test_fused_attention_bears_large_similarities() -> None:
    """The largest is taken away before the exponential: e to the power of hundreds is no float32."""
    case = cases.attend("fused", 1, 11)
    case.arguments["q"] *= 100
    case.arguments["out"][:] = np.nan
    traced(case)
    assert np.isfinite(case.arguments["out"]).all()


def test_a_number_from_global_memory_serves_more_sums_on_each_rung() -> None:
    """Loads of ``a`` at 32 x 16 x 32: each sum its own, then each tile of 4, then each block of 16."""
    loads = {}
    for name in ("naive", "tiled", "register_blocked", "register_blocked_wide"):
        case = cases.product(name, 32, 16, 32)
        loads[name] = traced(case).requests("a", "load").active_lanes
        assert loads[name] > 0
    by_hand = {"naive": 32 * 16 * 32, "tiled": 32 * 16 * 8, "register_blocked": 32 * 16 * 2}
    assert {name: count_loads(name) for name in by_hand} == by_hand


def count_loads(name: str) -> int:
    """Elements of ``a`` that a launch loads from global memory."""
    record = traced(cases.product(name, 32, 16, 32)).record
    place = next(array.number for array in record.arrays if array.name == "a")
    return sum(array == place and kind == 0 for array, kind in zip(record.array, record.kind, strict=True))


def test_full_size_tiles_meet_no_bank_twice_but_where_it_is_meant() -> None:
    """At 128 x 128 x 8, one block and one tile: neighbours read neighbours, and the transposed tile is padded."""
    with tiles.matmul(128, 128, 8, 8, 8):
        a, b, c = cases.numbers(128, 8), cases.numbers(8, 128), cases.empty(128, 128)
        report = trace(matmul.register_blocked, (1, 1), matmul.THREADS)(a, b, c)
    np.testing.assert_allclose(c, a.astype(float) @ b, rtol=1e-4, atol=1e-4)
    assert report.bank_conflicts("a_tile", "store").max_ways == 1
    assert report.bank_conflicts("b_tile").max_ways == 1
    assert report.requests("b", "load").efficiency == 1


def test_sizes_that_do_not_fit_are_refused_and_the_old_ones_come_back() -> None:
    before = matmul.THREADS, attention.THREADS
    with pytest.raises(ValueError, match="depth and columns divide the threads"), tiles.matmul(16, 32, 2, 4, 8):
        pass
    with pytest.raises(ValueError, match="a thread's tile divides the block's"), tiles.matmul(16, 16, 2, 3, 4):
        pass
    with pytest.raises(ValueError, match="all threads have as much"), tiles.attention(12, 8, 16, 4, 2, 2):
        pass
    with pytest.raises(ZeroDivisionError), tiles.matmul(32, 32, 2, 4, 4):
        _ = 1 / 0
    assert before == (matmul.THREADS, attention.THREADS)


def test_the_defaults_fit_each_other() -> None:
    """The sizes in the modules are those that the settings would compute."""
    with (
        tiles.matmul(128, 128, 8, 8, 8),
        tiles.attention(128, 64, 64, 16, 8, 4),
    ):
        set_here = [
            {name: size for name, size in vars(module).items() if name.isupper() and name != "SIGNATURES"}
            for module in (matmul, attention)
        ]
    fresh = [
        {name: size for name, size in vars(load_kernel(name)).items() if name.isupper() and name != "SIGNATURES"}
        for name in ("matmul", "attention")
    ]
    assert set_here == fresh


def load_kernel(name: str):
    """A kernel's module, read anew."""
    spec = importlib.util.spec_from_file_location(f"fresh_{name}", Path(matmul.__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
