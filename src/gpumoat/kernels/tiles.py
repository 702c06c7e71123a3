"""Other tile shapes for the kernels that have one: the measurement compares them, and tests use tiny ones.

The shape of a tile is a set of names in the kernel's module, which numba takes as constants when it compiles. These
functions set the names together, so that they fit each other, and put them back.

Promises: within the ``with`` block, what is compiled or simulated has the shape; after it, the module is as before.
Left out: kernels compiled before keep the shape that they were compiled with.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from gpumoat.kernels import attention as attention_kernels
from gpumoat.kernels import matmul as matmul_kernels
from gpumoat.kernels import qkv as qkv_kernels


@contextmanager
def _named(module: ModuleType, **sizes: int) -> Iterator[None]:
    before = {name: getattr(module, name) for name in sizes}
    try:
        for name, size in sizes.items():
            setattr(module, name, size)
        yield
    finally:
        for name, size in before.items():
            setattr(module, name, size)


def _check(good: bool, what: str) -> None:
    if not good:
        raise ValueError(f"these sizes do not fit each other: {what}")


@contextmanager
def matmul(
    rows: int, columns: int, depth: int, thread_rows: int, thread_columns: int, tile: int = 16
) -> Iterator[None]:
    """Set the tiles of ``gpumoat.kernels.matmul``: of a block, of a thread, and of ``tiled``.

    Raises:
        ValueError: The sizes do not divide each other as the kernels need it.
    """
    _check(rows % thread_rows == 0 and columns % thread_columns == 0, "a thread's tile divides the block's")
    across, down = columns // thread_columns, rows // thread_rows
    threads = across * down
    _check(threads % depth == 0 and threads % columns == 0, "depth and columns divide the threads")
    _check(rows * depth % threads == 0 and depth * columns % threads == 0, "all threads fetch as much")
    with _named(
        matmul_kernels,
        TILE=tile,
        BLOCK_ROWS=rows,
        BLOCK_COLUMNS=columns,
        BLOCK_DEPTH=depth,
        THREAD_ROWS=thread_rows,
        THREAD_COLUMNS=thread_columns,
        ACROSS=across,
        DOWN=down,
        THREADS=threads,
        PADDED_ROWS=rows + 4,
        TWO_DEPTHS=2 * depth,
        A_STEP=threads // depth,
        B_STEP=threads // columns,
        A_LOADS=rows * depth // threads,
        B_LOADS=depth * columns // threads,
    ):
        yield


@contextmanager
def attention(
    head_dim: int,
    queries: int,
    keys: int,
    chunk: int,
    thread_queries: int,
    thread_keys: int,
    softmax_threads: int = 128,
) -> Iterator[None]:
    """Set the tiles of ``gpumoat.kernels.attention``: of the fused kernel, and the threads of ``softmax``.

    Raises:
        ValueError: The sizes do not divide each other as the kernels need it.
    """
    _check(queries % thread_queries == 0 and keys % thread_keys == 0, "a thread's tile divides the block's")
    across, down = keys // thread_keys, queries // thread_queries
    threads = across * down
    _check(threads % chunk == 0 and head_dim % chunk == 0 and keys % chunk == 0, "chunk divides threads, head, keys")
    _check(head_dim % across == 0 and chunk * head_dim % threads == 0, "all threads have as much")
    _check(queries % (threads // chunk) == 0 and keys % (threads // chunk) == 0, "all threads fetch as much")
    with _named(
        attention_kernels,
        HEAD_DIM=head_dim,
        QUERIES=queries,
        KEYS=keys,
        CHUNK=chunk,
        THREAD_QUERIES=thread_queries,
        THREAD_KEYS=thread_keys,
        ACROSS=across,
        DOWN=down,
        THREADS=threads,
        THREAD_DIMS=head_dim // across,
        PADDED_QUERIES=queries + 1,
        PADDED_KEYS=keys + 1,
        PADDED_ACROSS=across + 1,
        SOFTMAX_THREADS=softmax_threads,
    ):
        yield


@contextmanager
def qkv(tile: int) -> Iterator[None]:
    """Set the tile of ``gpumoat.kernels.qkv``."""
    with _named(qkv_kernels, TILE=tile):
        yield
