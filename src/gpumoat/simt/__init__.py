"""A CUDA simulator that sees every access: an unchanged ``numba.cuda`` kernel, on any machine, without a GPU.

```python
from gpumoat.simt import run, trace

report = trace("gpumoat.kernels.image:strip", grid=8, block=128)(pixels, differences, stride, length)
report.coverage("differences").exactly_once
print(report)
run("gpumoat.kernels.image:strip", grid=8, block=128)(pixels, differences, stride, length)  # nothing recorded
```

**How it works.** The kernel's source is translated to Python code for one thread: a plain function, or a generator
that yields at each barrier and warp-wide operation. All threads of a block run in one thread of Python, in a chosen
order that can be repeated. Neither numba nor NumPy is imported; a kernel named as text is read, never imported.

**What it promises.**

- *Arithmetic as compiled.* Types follow numba's rules: integers narrower than 64 bits are added as int64 (uint64 when
  both are unsigned) and wrap there, and again when they are stored; `/` of integers is a float64; float32 with float32
  is rounded to float32 once an operation, and with a Python float it is float64. Division by zero gives what the card
  gives, not an exception.
- *Memory.* Arrays are read and written in place. Shared memory is fresh for each block. An access past the end of any
  axis is recorded: a load gives 0, a store is dropped, and the run goes on (`run` stops with an error). A negative
  index is past the end: compiled code would wrap a signed one around as Python does, and that is a bug nearly always.
  A load of shared memory that nobody wrote is recorded.
- *Waiting.* Threads that have returned take no part in later barriers. A barrier that some threads pass by while
  others wait at it is divergent, and recorded; so are warp-wide operations whose mask names lanes that live but wait
  elsewhere, and shuffles that read from a lane that takes no part. `activemask` gives the lanes of the warp that have
  come to the same place when none of them can go on otherwise.
- *One clear error.* What is not supported, or would not compile, is a `SimtError` with the file and the line, raised
  before anything runs.

**What kernels may use.** Indices and sizes of the launch; shared (static and dynamic), local and constant arrays;
atomics; `syncthreads` and its counting forms, `syncwarp`, shuffles, votes, ballots, matches, `activemask`; fences;
`popc`, `brev`, `clz`, `ffs`, `fma`, `cbrt`, `selp`, `fp16`; `math`; device functions, with barriers inside as well;
`for` over `range`, `while`, `if`, tuples, conditional expressions, rows of arrays. Constants and device functions may
come from other modules.

**What it leaves out.** Time, caches, and instructions; slices; arrays chosen at run time; recursion; complex numbers;
cooperative groups and `libdevice`. A product and a sum are not fused, as the card's compiler may do, and functions of
`math` may differ from the card's in the last bit. Memory that one thread writes is seen by all at once: a missing
fence is not found. Accesses of local arrays are checked and not recorded: they belong to one thread.
"""

from collections.abc import Callable, Collection
from typing import Any

from gpumoat.simt.errors import SimtError
from gpumoat.simt.launch import Dimensions, Launch, check
from gpumoat.simt.memory import Array, array
from gpumoat.simt.report import Report

__all__ = ["Array", "Report", "SimtError", "array", "run", "trace"]


def trace(
    kernel: Any,
    grid: Dimensions,
    block: Dimensions,
    shared_bytes: int = 0,
    blocks: Collection[int] | None = None,
    order: str = "forward",
    seed: int = 0,
) -> Callable[..., Report]:
    """Return a launcher that runs a kernel, records every access and reports: ``trace(k, grid, block)(a, b)``.

    Args:
        kernel: A kernel decorated by ``cuda.jit`` of numba, numba-cuda or numba-cuda-mlir, a plain function, or
            "package.module:name" or "path/file.py:name", which is read and never imported.
        grid: Blocks along x, y, z; an int for x alone.
        block: Threads along x, y, z, in the same way; at most 1,024.
        shared_bytes: Dynamic shared memory of a block, in bytes.
        blocks: Linear numbers of the blocks to run; all if left out.
        order: The order of blocks, and of the threads in a block: "forward", "reverse" or "random".
        seed: Where the random order begins.

    Returns:
        A function that takes the kernel's arguments, writes its arrays in place, and returns the ``Report``.

    Raises:
        SimtError: The launch, an argument or a construct of the kernel is not supported.
    """
    source, blocks_along, threads_along = check(kernel, grid, block, shared_bytes, order)

    def launch(*arguments: Any) -> Report:
        made = Launch(source, blocks_along, threads_along, shared_bytes, arguments, True, blocks, order, seed)
        made.run()
        assert made.record is not None
        return Report(made.record)

    return launch


def run(kernel: Any, grid: Dimensions, block: Dimensions, shared_bytes: int = 0) -> Callable[..., None]:
    """Return a launcher that runs a kernel without recording: ``run(k, grid, block)(a, b)``.

    Args:
        kernel: As for ``trace``.
        grid: Blocks along x, y, z.
        block: Threads along x, y, z.
        shared_bytes: Dynamic shared memory of a block, in bytes.

    Returns:
        A function that takes the kernel's arguments and writes its arrays in place.

    Raises:
        SimtError: As for ``trace``; and an access is out of bounds.
    """
    source, blocks_along, threads_along = check(kernel, grid, block, shared_bytes, "forward")

    def launch(*arguments: Any) -> None:
        Launch(source, blocks_along, threads_along, shared_bytes, arguments, False).run()

    return launch
