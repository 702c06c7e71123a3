"""What one simulated launch did: every access, in one table.

The engine fills a Record, the report reads it; neither knows the other. A row is one access by one thread to one
element, and its columns are kept as eight lists of the same length, because a list of small integers is the cheapest
thing to append to in plain Python.

Addresses: arrays of the caller that share memory (a NumPy array and a view of it as wider words) share an
``allocation``, and ``offset_bytes`` says where in it an array begins; an allocation begins at an address that is a
multiple of 256, as cudaMalloc promises. So the byte address of a row is
``offset_bytes + index * itemsize`` within its allocation.

A warp's request is what its lanes do at the same site for the same time: the k-th execution of a site by one lane
belongs with the k-th execution of that site by the other lanes of its warp. That assumes that lanes meet again after a
branch, which compilers arrange where they can.
"""

from dataclasses import dataclass, field

WARP_LANES = 32
"""Threads of a warp, on every NVIDIA GPU to date (`warpSize` in the CUDA programming guide)."""

LOAD, STORE, ATOMIC = 0, 1, 2
KINDS = ("load", "store", "atomic")
"""Names of the kinds of access, in the order of their numbers."""


@dataclass(frozen=True)
class Array:
    """An array that a kernel can reach.

    Attributes:
        number: Its place in ``Record.arrays``.
        name: The parameter's name, or the name that a shared or local array is first bound to.
        space: "global", "shared", "local" or "constant".
        shape: Elements along each axis.
        dtype: NumPy's name of the element type: "uint8", "float32" and so on.
        itemsize_bytes: Bytes an element.
        allocation: Number of the memory that it lies in. One array of shared memory has one number for all blocks;
            rows tell blocks apart by their ``block``.
        offset_bytes: Where in that memory its first element lies.
        line: The source line that makes a shared or local array; 0 for a parameter.
    """

    number: int
    name: str
    space: str
    shape: tuple[int, ...]
    dtype: str
    itemsize_bytes: int
    allocation: int
    offset_bytes: int = 0
    line: int = 0

    @property
    def size(self) -> int:
        """Elements in all."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size


@dataclass(frozen=True)
class Site:
    """One expression of the source that touches memory.

    Attributes:
        file: The file it stands in.
        line: Its line there, from 1.
        column: Its column, from 0.
        function: The function it stands in.
        text: The expression as written.
    """

    file: str
    line: int
    column: int
    function: str
    text: str


@dataclass(frozen=True)
class Fault:
    """An access that the card does not allow or that reads nothing meaningful: out of bounds, or never written.

    Attributes:
        array: The array's name.
        kind: "load", "store" or "atomic".
        index: The index as the kernel gave it: an int, or a tuple of ints.
        block: The block, linear: x + gridDim.x * (y + gridDim.y * z).
        thread: The thread in its block, linear in the same way.
        line: The source line.
    """

    array: str
    kind: str
    index: int | tuple[int, ...]
    block: int
    thread: int
    line: int


@dataclass(frozen=True)
class DivergentBarrier:
    """A barrier that some threads of a block reached and others, still running, did not.

    Attributes:
        block: The block, linear.
        lines: The lines at which its threads waited, ascending.
        arrived: Threads that waited at the first of these lines.
        live: Threads of the block that had not returned.
        scope: "block" for ``syncthreads``, "warp" for warp-wide operations whose mask named absent lanes.
    """

    block: int
    lines: tuple[int, ...]
    arrived: int
    live: int
    scope: str = "block"


@dataclass
class Record:
    """Every access of one launch.

    Attributes:
        kernel: The kernel's name.
        grid: Blocks along x, y, z.
        block: Threads along x, y, z.
        blocks: The blocks that ran, linear, or None for all.
        arrays: All arrays, by number.
        sites: All sites, by number.
        array: Column: number of the array.
        kind: Column: LOAD, STORE or ATOMIC.
        index: Column: linear element in the array, row-major.
        in_block: Column: the block, linear.
        thread: Column: the thread in its block, linear.
        site: Column: number of the site.
        epoch: Column: barriers of the block that the thread had passed.
        warp_epoch: Column: warp-wide barriers (``syncwarp`` and the ``_sync`` operations) it had passed.
        out_of_bounds: Accesses past the end, in the order met (capped: ``out_of_bounds_count`` has all).
        uninitialized_reads: Loads of shared memory that no thread had written (capped in the same way).
        barrier_divergence: Divergent barriers.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    blocks: tuple[int, ...] | None = None
    arrays: list[Array] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    array: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    index: list[int] = field(default_factory=list)
    in_block: list[int] = field(default_factory=list)
    thread: list[int] = field(default_factory=list)
    site: list[int] = field(default_factory=list)
    epoch: list[int] = field(default_factory=list)
    warp_epoch: list[int] = field(default_factory=list)
    out_of_bounds: list[Fault] = field(default_factory=list)
    out_of_bounds_count: int = 0
    uninitialized_reads: list[Fault] = field(default_factory=list)
    uninitialized_reads_count: int = 0
    barrier_divergence: list[DivergentBarrier] = field(default_factory=list)

    def __len__(self) -> int:
        """Accesses recorded."""
        return len(self.array)

    @property
    def threads_per_block(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def threads(self) -> int:
        """Threads of the whole grid, whether their blocks ran or not."""
        return self.threads_per_block * self.grid[0] * self.grid[1] * self.grid[2]
