"""The claims in the prose of stack/worth that a number supports, each with its sentence.

Rates are computed again from the times in the runs' raw rows and from work counted here; peaks are typed a second time.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from gpumoat.bench.run import code_lines
from gpumoat.kernels import attention, matmul

ROOT = Path(__file__).resolve().parent.parent.parent
RUNS = ROOT / "src" / "gpumoat" / "data" / "measurements"
PEAKS = {"fp32": 67e12, "tf32": 495e12, "bf16": 989e12, "fp8": 1978e12}


def run(name: str):
    """A committed run, as it is."""
    return json.loads((RUNS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def chapter(chapter_of):
    """The chapter."""
    return chapter_of("stack/worth")


@pytest.fixture
def n(chapter):
    """The names of its worked example."""
    return chapter.n


@pytest.fixture
def rows():
    """The products' raw rows, the smaller size."""
    return run("h200-products")["raw"]["rows"]["4096"]


def test_the_lede(chapter, n, rows) -> None:
    assert chapter.says("A factor of … lies between the kernel that everybody writes first and NVIDIA's library")
    assert n.all_ratio == pytest.approx(rows["naive"]["seconds"] / rows["library_fp8"]["seconds"])
    assert chapter.says("as a better kernel for the same numbers on the same units, is a factor of … in it")
    assert n.library_ratio == pytest.approx(rows["register_blocked_wide"]["seconds"] / rows["library_fp32"]["seconds"])
    assert n.all_ratio > 500 > 2 > n.library_ratio > 1


def test_rates_are_work_over_time(n) -> None:
    for size in ("4096", "8192"):
        for row in run("h200-products")["raw"]["rows"][size].values():
            assert row["flop_per_s"] == pytest.approx(2 * int(size) ** 3 / row["seconds"])
            assert row["shortest_s"] <= row["seconds"] <= row["longest_s"]
    flop = 2 * 2 * 4 * 32 * 128 * sum(range(1, 4097))
    for row in run("h200-attention")["raw"]["rows"].values():
        assert row["flop_per_s"] == pytest.approx(flop / row["seconds"])


def test_shares_of_the_peak(chapter, n, rows) -> None:
    kinds = ["fp32"] * 5 + ["tf32", "bf16", "bf16", "fp8"]
    assert [row["peak_share"] for row in n.ladder] == pytest.approx(
        [row["rate_flop_per_s"] / PEAKS[kind] for row, kind in zip(n.ladder, kinds, strict=True)]
    )
    assert chapter.says("It has … lines and reaches … of what the cores can do.")
    assert n.naive_share == n.ladder[0]["peak_share"] < 0.03


def test_our_best_is_half_of_the_library_or_more(chapter, n) -> None:
    assert chapter.says("It has … lines, and … of the library's speed.")
    assert n.own_share == pytest.approx(1 / n.library_ratio)
    assert n.own_share > 0.5
    large = run("h200-products")["raw"]["rows"]["8192"]
    assert large["library_fp32"]["seconds"] / large["register_blocked_wide"]["seconds"] > 0.5


def test_the_same_sums_in_the_same_order(chapter, rows) -> None:
    """Not one bit of the error differs between our kernels."""
    assert chapter.says("The next three compute the same sums in the same order.")
    ours = ("naive", "tiled", "register_blocked", "register_blocked_wide")
    assert len({rows[name]["error"] for name in ours}) == 1


def test_each_rung_of_ours_is_faster(chapter, n) -> None:
    assert chapter.says("Nothing else changed, and the last is … as fast as the first.")
    rates = [row["rate_flop_per_s"] for row in n.ladder[:4]]
    assert rates == sorted(rates)
    assert n.own_ratio == rates[3] / rates[0]


def test_the_factors_multiply_to_the_whole(chapter, n) -> None:
    assert chapter.says("as factors that multiply to the whole")
    assert math.prod(row["factor_ratio"] for row in n.factors) == pytest.approx(n.all_ratio)


def test_the_library_is_the_smallest_factor_and_ours_the_largest(chapter, n) -> None:
    assert chapter.says("So the library as such is the smallest factor. The largest is anybody's who takes the time.")
    factors = [row["factor_ratio"] for row in n.factors]
    assert min(factors) == factors[1] == n.library_ratio
    assert max(factors) == factors[0] == n.own_ratio
    assert chapter.says("The next belongs to the chip")
    assert sorted(factors)[-2] == factors[2]


def test_the_last_factor_is_paid_for(chapter, n) -> None:
    assert chapter.says("The last is paid for in precision, … of error instead of …")
    assert n.fp8_error_share > 10 * n.bf16_error_share


def test_triton(chapter, n, rows) -> None:
    assert chapter.says("A kernel of … lines in it, written as one would write it down, reaches … of the library")
    assert n.triton_share == pytest.approx(rows["library_bf16"]["seconds"] / rows["triton_bf16"]["seconds"])
    assert n.triton_share > 0.85
    assert chapter.says("reaches … of the library, and … at twice the side.")
    assert 0.8 < n.triton_large_share < n.triton_share
    assert chapter.says("if FP8 is good enough; in FP32 it is …")
    assert n.same_format_ratio < n.all_ratio / 20
    assert chapter.says("That is … our best kernel in numba, in a fraction of its lines.")
    assert n.triton_ratio > 10
    assert n.triton_lines < n.best_lines / 4


def test_lines_are_those_of_the_kernels(n, rows) -> None:
    """Whoever changes a kernel measures it again."""
    for name in ("naive", "tiled", "register_blocked", "register_blocked_wide"):
        assert code_lines(getattr(matmul, name)) == rows[name]["lines"], name
    found = run("h200-attention")["raw"]["rows"]
    assert code_lines(attention.fused) == found["fused"]["lines"]
    assert code_lines(attention.scores, attention.softmax, attention.values) == found["naive"]["lines"]


def test_attention(chapter, n) -> None:
    found = run("h200-attention")["raw"]
    steps = found["rows"]["naive"]["steps_s"]
    assert chapter.says("Most of their time, …, goes into the first")
    assert n.scores_share == pytest.approx(steps["scores"] / sum(steps.values()), rel=0.01)
    assert n.scores_share > 0.5
    assert chapter.says("It is … as fast.")
    assert n.fused_ratio > 10
    assert chapter.says("PyTorch's own kernel reaches … of the speed of cuDNN's.")
    assert 0.4 < n.torch_share < 0.7
    assert chapter.says("The name under which cuDNN's kernel runs says `wgmma`")
    assert "wgmma" in found["rows"]["cudnn_bf16"]["kernel"]
    assert chapter.says("the name of PyTorch's does not")
    assert "wgmma" not in found["rows"]["flash_bf16"]["kernel"]
    assert found["chosen_by_default"] == found["rows"]["cudnn_bf16"]["kernel"]


def test_a_request_touches_as_many_rows_as_it_has_threads(chapter) -> None:
    """Seen in the simulator: 32 sectors a request for the keys of the first kernel."""
    from gpumoat.simt import array, trace

    assert chapter.says("so each request of a warp touches as many rows as it has threads")
    q = array((1, 32, 8), "float32", [1.0] * 256)
    k = array((1, 32, 8), "float32", [1.0] * 256)
    report = trace(attention.scores, (1, 4, 1), (32, 8, 1))(q, k, array((1, 32, 32), "float32"), 1.0)
    last_row = [row for row in report.request("k", block=3, warp=7)]
    assert len(last_row) == 32


def test_decode(chapter, n) -> None:
    found = run("h200-decode")
    assert found["results"]["parameters_count"]["value"] == 8_030_261_248
    weights = 8_030_261_248 - 128_256 * 4_096 + 4_096
    cache = 32 * 2 * 8 * 128 * 512
    assert n.step_bytes == 2 * (weights + cache)
    assert n.floor_s == pytest.approx(found["results"]["floor_s"]["value"])
    assert chapter.says("The card waits for Python most of the time.")
    assert n.eager_s > 2 * found["results"]["graph_s"]["value"], "the same kernels, without Python"
    assert found["raw"]["rows"]["eager"]["launches"] == found["raw"]["rows"]["graph"]["launches"]
    assert chapter.says("which merges small kernels into …")
    assert n.compiled_launches < n.eager_launches
    assert chapter.says("Together that is …, for code that does not know what a thread is.")
    assert n.decode_ratio > 2
    shares = [row["bound_share"] for row in n.decode]
    assert shares == sorted(shares)
    assert shares[-1] < 1


def test_expectations(chapter, n) -> None:
    assert chapter.says("It foretold a rate that none of our kernels reached")
    assert all(row["reached_share"] < 1 for row in n.expected)
    assert chapter.says("it put the kernels in the right order, from the slowest to the fastest")
    foretold = sorted(n.expected, key=lambda row: row["foretold_flop_per_s"])
    assert foretold == sorted(n.expected, key=lambda row: row["found_flop_per_s"])
    assert n.least_reached_share > 0.6
    assert chapter.says("So it is a bound, and not a loose one")


def test_the_questions(chapter, n) -> None:
    assert chapter.says("and be as far from the tensor cores as before")
    assert n.units_ratio > 10
    assert chapter.says("they read the same numbers and drop most of the digits")
    assert n.ladder[5]["error"] > 100 * n.ladder[4]["error"]


def test_the_larger_matrices(chapter, n) -> None:
    assert chapter.says("Matrices of … rows give … of the rate for our best kernel")
    rows = run("h200-products")["raw"]["rows"]
    for share, name in ((n.large_own_share, "register_blocked_wide"), (n.large_bf16_share, "library_bf16")):
        assert share == pytest.approx(8 * rows["4096"][name]["seconds"] / rows["8192"][name]["seconds"])
    assert chapter.says("Whatever waits for Python changes from run to run with the processor.")
    decode = run("h200-decode")["raw"]
    spread = {name: row["seconds"] / decode["earlier_run_s"][name] for name, row in decode["rows"].items()}
    assert spread["eager"] > 1.1
    assert spread["graph"] == pytest.approx(1, abs=0.01)
    assert chapter.says("each shape of its tile that was tried stands in the run")
    assert len(run("h200-products")["raw"]["shapes"]["register_blocked_wide_4096"]) >= 6


def test_every_result_was_compared(chapter) -> None:
    assert chapter.says("Each result was compared with one of higher precision")
    most = {"fp32": 1e-5, "tf32": 1e-3, "bf16": 1e-2, "fp8": 0.05}
    for size in ("4096", "8192"):
        for name, row in run("h200-products")["raw"]["rows"][size].items():
            kind = name.rsplit("_", 1)[-1]
            assert 0 < row["error"] < most.get(kind, 1e-5), name
    for name, row in run("h200-attention")["raw"]["rows"].items():
        assert 0 < row["error"] < most[("fp32" if "bf16" not in name else "bf16")], name
    assert chapter.says("each expectation was written down before")
    for name in ("h200-products", "h200-attention", "h200-decode"):
        assert set(run(name)["raw"]["predicted"]) >= set(run(name)["raw"].get("rows", {})) - {"4096", "8192"}
