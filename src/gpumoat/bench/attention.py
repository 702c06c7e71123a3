"""Causal attention, from three plain kernels to the library's flash kernel, measured.

Runs ``gpumoat.kernels.attention`` in float32 and what PyTorch calls, in float32 and in BF16, on one shape: as many
sequences, heads and tokens as in BATCH, HEADS and TOKENS. Each result is compared with the same attention in float64,
on as many heads as are worth the time. What was expected is written down before the first launch.

    PYTHONPATH=src python -m gpumoat.bench.attention > src/gpumoat/data/measurements/h200-attention.json

Promises: the work counted is what causality leaves, two products over half of the table: 2 x tokens² x d FLOP a head;
which kernel the library ran is in the run. Left out: the backward pass, other shapes, heads that share keys.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy

if not hasattr(numpy, "row_stack"):
    numpy.row_stack = numpy.vstack  # numba-cuda 0.30.4 asks for a name that NumPy 2.5 has dropped

import torch
from numba import cuda
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from gpumoat.bench.run import code_lines, document, kernel_names, median_seconds, relative_error, timed
from gpumoat.facts import fact
from gpumoat.kernels import attention

BATCH, HEADS, TOKENS = 4, 32, 4096
CHECKED = 2  # heads that are computed again in float64

# Expected: for the fused kernel and the values, the share of multiply-adds among the instructions of the innermost
# loops; for the scores, whose neighbours read keys a row apart, 32 lines a request, and so 32 cycles for 32
# multiply-adds of a multiprocessor that could do 128 a cycle. The softmax is small beside both.
FUSED_SHARE, VALUES_SHARE, SCORES_SHARE, FLASH_SHARE, FP32_SHARE = 8192 / 20_000, 4 / 141, 1 / 128, 0.6, 0.4


def library(q: Any, k: Any, v: Any) -> Any:
    """The library's attention."""
    return scaled_dot_product_attention(q, k, v, is_causal=True)


def exact(q: Any, k: Any, v: Any) -> Any:
    """Attention of a few heads in float64, by the formula."""
    q, k, v = q.double(), k.double(), v.double()
    table = (q @ k.transpose(-1, -2)) / q.shape[-1] ** 0.5
    later = torch.ones(table.shape[-2:], dtype=torch.bool, device=table.device).triu(1)
    return table.masked_fill(later, float("-inf")).softmax(-1) @ v


def row(work: Any, result: Any, reference: Any, flop: int, repeats: int) -> dict[str, Any]:
    """Time one way and compare its result."""
    work()
    torch.cuda.synchronize()
    out = result()
    error = relative_error(out.reshape(-1, *out.shape[-2:])[:CHECKED], reference)
    found = timed(work, repeats=repeats, warm=2)
    return {**found, "flop_per_s": flop / found["seconds"], "error": error}


def ours(q: Any, k: Any, v: Any, reference: Any, flop: int) -> dict[str, dict[str, Any]]:
    """Measure our kernels: three in a row, and the fused one."""
    heads, tokens, dim = q.shape
    scale = numpy.float32(dim**-0.5)
    rows = {}
    out = torch.full_like(q, float("nan"))
    arrays = [cuda.as_cuda_array(each) for each in (q, k, v, out)]
    fused = cuda.jit(attention.fused.py_func)[((tokens + 63) // attention.QUERIES, heads), attention.THREADS]
    rows["fused"] = row(lambda: fused(*arrays, scale), lambda: out, reference, flop, 10)
    table = torch.full((heads, tokens, tokens), float("nan"), device="cuda")
    given = cuda.as_cuda_array(table)
    scores = attention.scores[(tokens // 32, tokens // 8, heads), (32, 8)]
    softmax = attention.softmax[(tokens, heads), attention.SOFTMAX_THREADS]
    values = attention.values[(dim // 32, tokens // 8, heads), (32, 8)]
    again = torch.full_like(q, float("nan"))
    steps: dict[str, Callable[[], object]] = {
        "scores": lambda: scores(arrays[0], arrays[1], given, scale),
        "softmax": lambda: softmax(given),
        "values": lambda: values(given, arrays[2], cuda.as_cuda_array(again)),
    }

    def naive() -> None:
        for step in steps.values():
            step()

    rows["naive"] = row(naive, lambda: again, reference, flop, 3)
    rows["naive"]["steps_s"] = {name: median_seconds(step, repeats=3, warm=1) for name, step in steps.items()}
    rows["naive"]["lines"] = code_lines(attention.scores, attention.softmax, attention.values)
    rows["fused"]["lines"] = code_lines(attention.fused)
    return rows


def main() -> None:
    """Measure, and print the run as JSON."""
    dim = attention.HEAD_DIM
    flop = 2 * 2 * BATCH * HEADS * dim * TOKENS * (TOKENS + 1) // 2
    fp32, bf16 = fact("h200-sxm.fp32_vector_flop_per_s"), fact("h200-sxm.bf16_dense_flop_per_s")
    predicted = {
        "naive": 1 / (0.5 / (SCORES_SHARE * fp32) + 0.5 / (VALUES_SHARE * fp32)),
        "fused": FUSED_SHARE * fp32,
        "library_fp32": FP32_SHARE * fp32,
        "flash_bf16": FLASH_SHARE * bf16,
        "cudnn_bf16": FLASH_SHARE * bf16,
    }
    q, k, v = (torch.randn(BATCH, HEADS, TOKENS, dim, device="cuda") for _ in range(3))
    flat = [each.view(BATCH * HEADS, TOKENS, dim) for each in (q, k, v)]
    reference = exact(*(each[:CHECKED] for each in flat))
    rows = ours(flat[0], flat[1], flat[2], reference, flop)
    torch.backends.cuda.matmul.allow_tf32 = False
    half = [each.bfloat16() for each in (q, k, v)]
    for name, backend, arguments in (
        ("library_fp32", SDPBackend.EFFICIENT_ATTENTION, (q, k, v)),
        ("flash_bf16", SDPBackend.FLASH_ATTENTION, half),
        ("cudnn_bf16", SDPBackend.CUDNN_ATTENTION, half),
    ):
        try:
            with sdpa_kernel(backend):

                def work(arguments: Any = arguments) -> Any:
                    return library(*arguments)

                rows[name] = row(work, work, reference, flop, 20)
                rows[name]["kernel"] = kernel_names(work)[0]
                rows[name]["lines"] = code_lines(library)
        except RuntimeError as failure:  # a back end that is not there is part of the record
            print(name, failure, file=sys.stderr)
            rows[name] = {"failed": str(failure)[:300]}
    chosen = kernel_names(lambda: library(*half))[0]
    results: dict[str, tuple[float, str, str]] = {
        "sequences_count": (BATCH, "", "sequences"),
        "heads_count": (HEADS, "", "heads of a sequence"),
        "tokens_count": (TOKENS, "", "tokens of a sequence"),
        "head_dim": (dim, "", "elements of a head's vectors"),
    }
    shape = f"causal attention forwards, {BATCH} x {HEADS} x {TOKENS} x {dim}"
    for name, found in rows.items():
        if "failed" in found:
            continue
        results[f"{name}_flop_per_s"] = (found["flop_per_s"], "FLOP/s", f"{shape}, {name}")
        results[f"{name}_s"] = (found["seconds"], "s", f"{shape}, {name}, median")
        results[f"{name}_error_share"] = (found["error"], "", f"{shape}, {name}: relative error, Frobenius")
        results[f"{name}_lines_count"] = (found["lines"], "", f"lines of code of {name}")
        results[f"{name}_predicted_flop_per_s"] = (predicted[name], "FLOP/s", f"expected of {name} before the run")
    for name, time in rows["naive"]["steps_s"].items():
        results[f"naive_{name}_s"] = (time, "s", f"{shape}, naive: the kernel {name}, median")
    raw = {"predicted": predicted, "floor_s": flop / bf16, "flop": flop, "rows": rows, "chosen_by_default": chosen}
    json.dump(
        document("h200-attention", "The ladder of attention", "src/gpumoat/bench/attention.py", results, raw),
        sys.stdout,
        indent=1,
    )
    print()


if __name__ == "__main__":
    main()
