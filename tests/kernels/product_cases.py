"""Small launches of the product kernels, each with what NumPy makes of the same numbers in float64.

Sizes are odd, so that every tile has an edge, and tiles are tiny, so that numba's simulator ends within a second.
Run as a script with NUMBA_ENABLE_CUDASIM=1, it launches what numba's simulator can run and prints results and the
accesses to global memory as JSON: that simulator is chosen when numba is imported, so it needs a process of its own.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpumoat.kernels import attention, matmul, qkv, reduction, tiles

MATMUL = {"rows": 16, "columns": 16, "depth": 2, "thread_rows": 4, "thread_columns": 4, "tile": 4}
ATTENTION = {
    "head_dim": 8,
    "queries": 8,
    "keys": 8,
    "chunk": 4,
    "thread_queries": 2,
    "thread_keys": 2,
    "softmax_threads": 8,
}


@dataclass
class Case:
    """A launch.

    Attributes:
        kernel: The kernel.
        grid: Blocks along each axis.
        block: Threads along each axis.
        arguments: What it is given, by name; outputs are full of NaN.
        expected: What the outputs must hold, by name, in float64.
        portable: Whether numba's simulator can run it.
    """

    kernel: Any
    grid: Any
    block: Any
    arguments: dict[str, Any]
    expected: dict[str, Any]
    portable: bool = True
    written: tuple[str, ...] = field(default=())

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the arrays it writes."""
        return tuple(self.expected)


def numbers(*shape: int, seed: int = 1) -> Any:
    """Random numbers, the same for the same shape."""
    return np.random.default_rng((seed, *shape)).standard_normal(shape, dtype=np.float32)


def empty(*shape: int) -> Any:
    """An output that nobody has written."""
    return np.full(shape, np.nan, np.float32)


def product(name: str, rows: int, depth: int, columns: int) -> Case:
    """A matrix product."""
    a, b = numbers(rows, depth), numbers(depth, columns, seed=2)
    if name in ("naive", "tiled"):
        grid: Any = (-(-columns // 4), -(-rows // 4))
        block: Any = (4, 4)
    else:
        grid, block = (-(-columns // 16), -(-rows // 16)), matmul.THREADS
    expected = {"c": a.astype(float) @ b.astype(float)}
    given = {"a": a, "b": b, "c": empty(rows, columns)}
    return Case(getattr(matmul, name), grid, block, given, expected, portable=name != "register_blocked_wide")


def attention_parts(heads: int, tokens: int) -> dict[str, Any]:
    """Queries, keys, values, and each step of causal attention in float64."""
    dim = ATTENTION["head_dim"]
    q, k, v = (2 * numbers(heads, tokens, dim, seed=seed) for seed in (1, 2, 3))
    table = q.astype(float) @ k.astype(float).transpose(0, 2, 1) / math.sqrt(dim)
    later = np.triu(np.ones((tokens, tokens), bool), 1)
    table[:, later] = attention.LOWEST
    share = np.exp(table - table.max(-1, keepdims=True))
    share /= share.sum(-1, keepdims=True)
    return {"q": q, "k": k, "v": v, "table": table, "share": share, "out": share @ v.astype(float)}


def attend(name: str, heads: int, tokens: int) -> Case:
    """One kernel of attention."""
    parts = attention_parts(heads, tokens)
    q, k, v, dim = parts["q"], parts["k"], parts["v"], ATTENTION["head_dim"]
    scale = np.float32(1 / math.sqrt(dim))
    cover = -(-tokens // 8)
    table, out = empty(heads, tokens, tokens), empty(heads, tokens, dim)
    if name == "scores":
        given = {"q": q, "k": k, "table": table, "scale": scale}
        return Case(attention.scores, (cover, cover, heads), (8, 8, 1), given, {"table": parts["table"]})
    if name == "softmax":
        given = {"table": parts["table"].astype(np.float32)}
        return Case(attention.softmax, (tokens, heads), attention.SOFTMAX_THREADS, given, {"table": parts["share"]})
    if name == "values":
        given = {"table": parts["share"].astype(np.float32), "v": v, "out": out}
        return Case(attention.values, (1, cover, heads), (8, 8, 1), given, {"out": parts["out"]})
    given = {"q": q, "k": k, "v": v, "out": out, "scale": scale}
    return Case(attention.fused, (cover, heads), attention.THREADS, given, {"out": parts["out"]})


def project(tokens: int, hidden: int, heads: int, key_heads: int, dim: int) -> Case:
    """A QKV projection."""
    x, w = numbers(tokens, hidden), numbers(hidden, (heads + 2 * key_heads) * dim, seed=2)
    whole = (x.astype(float) @ w.astype(float)).reshape(tokens, heads + 2 * key_heads, dim).transpose(1, 0, 2)
    expected = {"q": whole[:heads], "k": whole[heads : heads + key_heads], "v": whole[heads + key_heads :]}
    given = {"x": x, "w": w, **{name: empty(*array.shape) for name, array in expected.items()}}
    return Case(qkv.project, (-(-w.shape[1] // 4), -(-tokens // 4)), (4, 4), given, expected)


def reduce(name: str, size: int, blocks: int) -> Case:
    """A sum, of which each block has the elements that its threads add."""
    x = numbers(size)
    owner = np.arange(size) // reduction.THREADS % blocks
    expected = {"out": np.array([x[owner == block].astype(float).sum() for block in range(blocks)])}
    return Case(
        getattr(reduction, name),
        blocks,
        reduction.THREADS,
        {"x": x, "out": empty(blocks)},
        expected,
        portable=name == "shared_sum",
    )


CASES: dict[str, Callable[[], Case]] = {
    "naive 7 x 3 x 5": lambda: product("naive", 7, 3, 5),
    "naive 1 x 1 x 1": lambda: product("naive", 1, 1, 1),
    "tiled 7 x 3 x 5": lambda: product("tiled", 7, 3, 5),
    "tiled 9 x 9 x 4": lambda: product("tiled", 9, 9, 4),
    "register_blocked 19 x 7 x 21": lambda: product("register_blocked", 19, 7, 21),
    "register_blocked 5 x 1 x 3": lambda: product("register_blocked", 5, 1, 3),
    "register_blocked_wide 19 x 7 x 21": lambda: product("register_blocked_wide", 19, 7, 21),
    "register_blocked_wide 5 x 2 x 33": lambda: product("register_blocked_wide", 5, 2, 33),
    "scores 2 x 9": lambda: attend("scores", 2, 9),
    "softmax 2 x 11": lambda: attend("softmax", 2, 11),
    "softmax 1 x 1": lambda: attend("softmax", 1, 1),
    "values 2 x 9": lambda: attend("values", 2, 9),
    "fused 2 x 19": lambda: attend("fused", 2, 19),
    "fused 1 x 8": lambda: attend("fused", 1, 8),
    "fused 1 x 1": lambda: attend("fused", 1, 1),
    "project, as many keys": lambda: project(5, 7, 2, 2, 3),
    "project, shared keys": lambda: project(3, 5, 3, 1, 3),
    "shared_sum 1000": lambda: reduce("shared_sum", 1000, 2),
    "shared_sum 3": lambda: reduce("shared_sum", 3, 1),
    "shuffle_sum 1000": lambda: reduce("shuffle_sum", 1000, 3),
    "shuffle_sum 31": lambda: reduce("shuffle_sum", 31, 1),
}


@contextlib.contextmanager
def small_tiles() -> Iterator[None]:
    """All kernels with tiny tiles."""
    before, warps = reduction.THREADS, reduction.WARPS
    with tiles.matmul(**MATMUL), tiles.attention(**ATTENTION), tiles.qkv(4):
        reduction.THREADS, reduction.WARPS = 64, 2
        try:
            yield
        finally:
            reduction.THREADS, reduction.WARPS = before, warps


def by_numba() -> dict[str, Any]:
    """Launch in numba's simulator, with every access to global memory noted."""
    from numba.cuda.simulator.cudadrv import devicearray

    seen: list[list[Any]] = []

    def noted(kind: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def access(self: Any, index: Any, *value: Any) -> Any:
            thread = threading.current_thread()
            if hasattr(thread, "blockIdx") and not isinstance(index, str):
                place = np.ravel_multi_index(index, self._item.shape) if isinstance(index, tuple) else index
                block, inside = tuple(thread.blockIdx), tuple(thread.threadIdx)
                seen.append([id(self._item._ary), kind, *map(int, block), *map(int, inside), int(place)])
            return plain(self, index, *value)

        return access

    array = devicearray.FakeWithinKernelCUDAArray
    array.__getitem__ = noted("load", array.__getitem__)  # type: ignore[method-assign]
    array.__setitem__ = noted("store", array.__setitem__)  # type: ignore[method-assign]
    results = {}
    for name, make in CASES.items():
        case = make()
        if not case.portable:
            continue
        seen.clear()
        case.kernel[case.grid, case.block](*case.arguments.values())
        results[name] = {
            "outputs": {output: case.arguments[output].ravel().tolist() for output in case.outputs},
            "accesses": sorted(row[1:] for row in seen),
        }
    return results


if __name__ == "__main__":
    with small_tiles():
        json.dump(by_numba(), sys.stdout)
