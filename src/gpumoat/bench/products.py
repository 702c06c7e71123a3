"""One matrix product, from the kernel that everybody writes first to the library: the ladder, measured.

Multiplies square matrices of random numbers by the kernels of ``gpumoat.kernels.matmul`` in float32, by one kernel in
Triton in BF16, and by the library that PyTorch calls, in float32 without and with TF32, in BF16 and in FP8. Each result
is compared with the product in float64. What was expected is written down before the first launch.

Run it on a machine with PyTorch, numba-cuda and a card, and keep what it writes:

    PYTHONPATH=src python -m gpumoat.bench.products > src/gpumoat/data/measurements/h200-products.json

Promises: the kernels' own files, unchanged; the tile shapes tried are all in the run, and the best is the one reported.
Left out: cold clocks, other shapes, and matrices that are not random, on which a card can be faster.
"""

import json
import sys
from typing import Any

import numpy

if not hasattr(numpy, "row_stack"):
    numpy.row_stack = numpy.vstack  # numba-cuda 0.30.4 asks for a name that NumPy 2.5 has dropped

import torch
from numba import cuda

from gpumoat.bench import triton_product
from gpumoat.bench.run import code_lines, copy_bytes_per_s, document, kernel_names, relative_error, timed
from gpumoat.facts import fact
from gpumoat.kernels import matmul, tiles

SIZES = (4096, 8192)
NAMES = ("small", "large")

# Before the first launch: the peak, times the share of multiply-adds among the instructions of the innermost loops, as
# counted in the compiler's output for sm_90. The library: a share of the peak that such libraries are known to reach.
LOOP_SHARES = {"naive": 4 / 144, "tiled": 16 / 96, "register_blocked": 512 / 887, "register_blocked_wide": 512 / 781}
LIBRARY_SHARE, TRITON_SHARE = 0.75, 0.55

# block rows, block columns, block depth, thread rows, thread columns, registers at most
SHAPES = (
    (128, 128, 8, 8, 8, 128),
    (128, 128, 16, 8, 8, 128),
    (128, 64, 8, 8, 8, 128),
    (128, 128, 8, 8, 8, None),
    (64, 64, 16, 8, 8, 168),
    (128, 256, 8, 16, 8, None),
    (256, 128, 8, 16, 8, None),
    (128, 128, 16, 16, 8, None),
)


def library_fp32(a: Any, b: Any) -> Any:
    """The library's product in float32."""
    torch.backends.cuda.matmul.allow_tf32 = False
    return a @ b


def library_tf32(a: Any, b: Any) -> Any:
    """The library's product of float32 matrices, read by the matrix units as TF32."""
    torch.backends.cuda.matmul.allow_tf32 = True
    return a @ b


def library_bf16(a: Any, b: Any) -> Any:
    """The library's product of BF16 matrices."""
    return a @ b


def library_fp8(a: Any, b: Any, a_scale: Any, b_scale: Any) -> Any:
    """The library's product of FP8 matrices with a factor each, BF16 out."""
    return torch._scaled_mm(a, b, scale_a=a_scale, scale_b=b_scale, out_dtype=torch.bfloat16)


def kernel_launch(name: str, a: Any, b: Any, c: Any, registers: int | None = None) -> Any:
    """Return a launch of one of our kernels with the shape that is set."""
    options = {"max_registers": registers} if registers else {}
    kernel = cuda.jit(**options)(getattr(matmul, name).py_func)
    n = c.shape[0]
    if name == "naive":
        grid, block = (n // 32, n // 8), (32, 8)
    elif name == "tiled":
        grid, block = (n // matmul.TILE, n // matmul.TILE), (matmul.TILE, matmul.TILE)
    else:
        grid, block = (n // matmul.BLOCK_COLUMNS, n // matmul.BLOCK_ROWS), (matmul.THREADS, 1)
    arguments = tuple(cuda.as_cuda_array(each) for each in (a, b, c))
    launch = kernel[grid, block]
    return lambda: launch(*arguments)


def tried(
    shape: tuple[int | None, ...], make: Any, c: Any, reference: Any, most: float, repeats: int
) -> dict[str, Any]:
    """Time one tile shape; what does not compile, or is wrong by more than ``most``, is noted as failed."""
    try:
        work = make()
        c.fill_(float("nan"))
        work()
        torch.cuda.synchronize()
        error = relative_error(c, reference)
        if error > most:
            raise ArithmeticError(f"relative error {error}")
        found = timed(work, repeats=repeats)
    except Exception as failure:
        print(shape, failure, file=sys.stderr)
        return {"shape": shape, "failed": str(failure)[:300]}
    return {"shape": shape, **found, "error": error, "flop_per_s": 2 * c.shape[0] ** 3 / found["seconds"]}


def best(name: str, n: int, rows: list[dict[str, Any]], raw: dict[str, Any]) -> dict[str, Any]:
    """Keep what was tried, and return the fastest.

    Raises:
        RuntimeError: No shape worked.
    """
    raw.setdefault("shapes", {})[f"{name}_{n}"] = rows
    good = [row for row in rows if "failed" not in row]
    if not good:
        raise RuntimeError(f"no tile shape of {name} worked")
    return min(good, key=lambda row: float(row["seconds"]))


def ours(n: int, raw: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Measure our kernels at one size; all tile shapes at the first size, the best one at the others."""
    a, b = (torch.randn(n, n, device="cuda") for _ in range(2))
    reference = a.double() @ b.double()
    c = torch.empty(n, n, device="cuda")
    rows = {}
    for name in LOOP_SHARES:
        blocked = name.startswith("register")
        shapes: tuple[tuple[int | None, ...], ...] = SHAPES if blocked else SHAPES[:1]
        if n != SIZES[0] and blocked:
            shapes = (raw["rows"][str(SIZES[0])][name]["shape"],)
        found = []
        for shape in shapes:
            with tiles.matmul(*(int(size or 0) for size in shape[:5])):
                registers = shape[5] if blocked else None
                found.append(
                    tried(
                        shape,
                        lambda name=name, registers=registers: kernel_launch(name, a, b, c, registers),
                        c,
                        reference,
                        1e-5,
                        5 if name == "naive" else 20,
                    )
                )
        rows[name] = {**best(name, n, found, raw), "lines": code_lines(getattr(matmul, name)), "kernel": name}
    a_half, b_half = a.bfloat16(), b.bfloat16()
    out = torch.empty(n, n, device="cuda", dtype=torch.bfloat16)
    found = [
        tried(
            shape,
            lambda shape=shape: lambda: triton_product.launch(a_half, b_half, out, shape),
            out,
            reference,
            1e-2,
            20,
        )
        for shape in triton_product.SHAPES
    ]
    lines = code_lines(triton_product.product)
    rows["triton_bf16"] = {**best("triton_bf16", n, found, raw), "lines": lines, "kernel": "product"}
    return rows


def library(n: int) -> dict[str, dict[str, Any]]:
    """Measure the library at one size."""
    a, b = (torch.randn(n, n, device="cuda") for _ in range(2))
    reference = a.double() @ b.double()
    half = [each.bfloat16() for each in (a, b)]
    scales = [each.abs().max() / 448 for each in (a, b)]  # 448 is the largest number of this FP8
    eighth = [(each / scale).to(torch.float8_e4m3fn) for each, scale in zip((a, b), scales, strict=True)]
    eighth[1] = eighth[1].t().contiguous().t()  # the library wants the second by columns
    rows = {}
    for function, arguments in (
        (library_fp32, (a, b)),
        (library_tf32, (a, b)),
        (library_bf16, tuple(half)),
        (library_fp8, (*eighth, *scales)),
    ):

        def work(function: Any = function, arguments: Any = arguments) -> Any:
            return function(*arguments)

        found = timed(work)
        rows[function.__name__] = {
            **found,
            "flop_per_s": 2 * n**3 / found["seconds"],
            "error": relative_error(work(), reference),
            "lines": code_lines(function),
            "kernel": kernel_names(work)[0],
        }
    return rows


def main() -> None:
    """Measure, and print the run as JSON."""
    peaks = {
        "fp32": fact("h200-sxm.fp32_vector_flop_per_s"),
        "tf32": fact("h200-sxm.tf32_dense_flop_per_s"),
        "bf16": fact("h200-sxm.bf16_dense_flop_per_s"),
        "fp8": fact("h200-sxm.fp8_dense_flop_per_s"),
    }
    predicted = {name: share * peaks["fp32"] for name, share in LOOP_SHARES.items()}
    predicted["triton_bf16"] = TRITON_SHARE * peaks["bf16"]
    predicted |= {f"library_{kind}": LIBRARY_SHARE * peak for kind, peak in peaks.items()}
    raw: dict[str, Any] = {"predicted": predicted, "floor_s": {}, "rows": {}}
    copy = copy_bytes_per_s()
    for n in SIZES:
        raw["floor_s"][str(n)] = {"arithmetic": 2 * n**3 / peaks["fp32"], "memory": 3 * n * n * 4 / copy}
        raw["rows"][str(n)] = {**ours(n, raw), **library(n)}
    results: dict[str, tuple[float, str, str]] = {
        "copy_bytes_per_s": (copy, "bytes/s", "copy of 4 GiB within the card's memory, read and written bytes"),
    }
    for size, n in zip(NAMES, SIZES, strict=True):
        results[f"{size}_rows_count"] = (n, "", f"rows and columns of the {size} matrices")
        for name, row in raw["rows"][str(n)].items():
            says = f"product of {n} x {n} matrices by {name}"
            results[f"{name}_{size}_flop_per_s"] = (row["flop_per_s"], "FLOP/s", says)
            results[f"{name}_{size}_s"] = (row["seconds"], "s", says + ", median")
            results[f"{name}_{size}_error_share"] = (row["error"], "", says + ": relative error, Frobenius")
    for name, row in raw["rows"][str(SIZES[0])].items():
        results[f"{name}_lines_count"] = (row["lines"], "", f"lines of code of {name}")
        results[f"{name}_predicted_flop_per_s"] = (predicted[name], "FLOP/s", f"expected of {name} before the run")
    json.dump(
        document("h200-products", "The ladder of matrix products", "src/gpumoat/bench/products.py", results, raw),
        sys.stdout,
        indent=1,
    )
    print()


if __name__ == "__main__":
    main()
