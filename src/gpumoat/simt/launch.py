"""Launches: the arguments, the memory of each block, and the loop over blocks and threads."""

import random
import struct
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from gpumoat.simt.errors import SimtError
from gpumoat.simt.memory import ArrayArgument, ScalarArgument, read_argument
from gpumoat.simt.program import ACCESS
from gpumoat.simt.record import Array, Fault, Record
from gpumoat.simt.runtime import atomic
from gpumoat.simt.scalars import SCALARS
from gpumoat.simt.schedule import BlockRun, ordered
from gpumoat.simt.source import find_kernel
from gpumoat.simt.statics import Function
from gpumoat.simt.translate import RUNTIME, translate

ORDERS = ("forward", "reverse", "random")
THREADS_MOST = 1024  # threads of a block, on every card since Fermi
SHARED_MOST_BYTES = 227 * 1024  # dynamic shared memory of a block on an H100 or H200
FAULTS_KEPT = 1000
ACCESSES_MOST = 20_000_000  # about 2 GB of lists
Dimensions = int | Sequence[int]


def three(name: str, given: Dimensions) -> tuple[int, int, int]:
    """Return the extents along x, y, z."""
    parts = tuple(given) if isinstance(given, Sequence) else (given,)
    try:
        whole = tuple(int(part) for part in parts)
    except (TypeError, ValueError):
        whole = ()
    if not 1 <= len(whole) <= 3 or any(part < 1 for part in whole) or whole != parts:
        raise SimtError(f"{name}: one to three whole numbers from 1 on are needed, not {given}")
    x, y, z = (*whole, 1, 1)[:3]
    return x, y, z


@dataclass
class State:
    """Which block is running, for the faults that are recorded."""

    block: int = 0


class Launch:
    """One launch of a kernel with its arguments."""

    def __init__(
        self,
        kernel: Function,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared_bytes: int,
        values: Sequence[Any],
        recording: bool,
        blocks: Collection[int] | None = None,
        order: str = "forward",
        seed: int = 0,
    ) -> None:
        self.kernel, self.grid, self.block, self.shared_bytes = kernel, grid, block, shared_bytes
        self.order, self.rng = order, random.Random(seed)
        self.arguments = self.read(values)
        self.program = translate(kernel, self.arguments, block, recording)
        self.blocks = None if blocks is None else tuple(sorted(set(blocks)))
        count = grid[0] * grid[1] * grid[2]
        if self.blocks and not 0 <= self.blocks[0] <= self.blocks[-1] < count:
            raise SimtError(f"blocks: from 0 to {count - 1}, not {self.blocks[0]} to {self.blocks[-1]}")
        self.record = Record(kernel.name, grid, block, self.blocks) if recording else None
        self.state = State()
        self.describe()

    def read(self, values: Sequence[Any]) -> list[ArrayArgument | ScalarArgument]:
        """Return the arguments by name."""
        signature = self.kernel.node.args
        names = [item.arg for item in [*signature.posonlyargs, *signature.args]]
        if signature.vararg or signature.kwarg or signature.kwonlyargs or signature.defaults:
            raise SimtError(f"{self.kernel.file}:{self.kernel.node.lineno}: a kernel has plain parameters only")
        if len(values) != len(names):
            raise SimtError(f"{self.kernel.name} takes {len(names)} arguments ({', '.join(names)}), not {len(values)}")
        return [read_argument(name, value) for name, value in zip(names, values, strict=True)]

    def describe(self) -> None:
        """List the arrays of the launch, with the memory that they share."""
        self.arrays: list[Array] = []
        given = [item for item in self.arguments if isinstance(item, ArrayArgument)]
        owners: list[int] = []
        for item in given:
            if item.owner not in owners:
                owners.append(item.owner)
        for number, item in enumerate(given):
            self.arrays.append(
                Array(
                    number, item.name, "global", item.shape, item.type, SCALARS[item.type].itemsize_bytes,
                    owners.index(item.owner), item.start - item.owner if item.owner <= item.start else 0,
                )
            )  # fmt: skip
            if item.readonly and number in self.program.stores:
                raise SimtError(f"{item.name}: the array is read-only, and the kernel writes it")
        allocation = len(owners)
        dynamic = None
        for number, made in self.program.made.items():
            size = SCALARS[made.type].itemsize_bytes
            shape = (self.shared_bytes // size,) if made.shape is None else made.shape
            if made.shape is None and dynamic is not None:
                place = dynamic
            else:
                place, allocation = allocation, allocation + 1
                dynamic = place if made.shape is None else dynamic
            self.arrays.append(Array(number, made.name, made.space, shape, made.type, size, place, 0, made.line))
        if self.record is not None:
            self.record.arrays = self.arrays
            self.record.sites = self.program.sites

    def namespace(self) -> dict[str, Any]:
        """Return what the translated code sees of the launch."""
        names: dict[str, Any] = {**RUNTIME, "X": self.outside, "U": self.unwritten}
        names["gx"], names["gy"], names["gz"] = self.grid
        if self.record is not None:
            names["RI"], names["RS"] = self.record.index.append, self.record.site.append
        number = 0
        for item in self.arguments:
            if isinstance(item, ScalarArgument):
                names[f"v_{item.name}"] = item.value
                continue
            names[f"m{number}"] = item.flat
            for axis, extent in enumerate(item.shape):
                names[f"n{number}_{axis}"] = extent
            number += 1
        for number, made in self.program.made.items():
            if made.space == "constant":
                names[f"m{number}"] = rounded(made.values or [], made.type)
            elif made.shape is None:
                names[f"n{number}_0"] = self.arrays[number].shape[0]
        for operation, kind in self.program.atomics:
            names[f"AT_{operation}_{kind}"] = atomic(operation, kind)
        return names

    def shared(self) -> list[Any]:
        """Return fresh shared memory for a block: the elements of each array, and which of them are written."""
        made = [(number, item) for number, item in self.program.made.items() if item.space == "shared"]
        dynamic, flags = bytearray(self.shared_bytes), bytearray(self.shared_bytes)
        given: list[Any] = []
        for number, item in made:
            scalar = SCALARS[item.type]
            letter = "H" if item.type == "float16" else scalar.letter
            count = self.arrays[number].size
            if item.shape is None:
                view = memoryview(dynamic)[: count * scalar.itemsize_bytes]
                given += [view.cast(letter), flags]  # type: ignore[call-overload]
            else:
                view = memoryview(bytearray(count * scalar.itemsize_bytes))
                given += [view.cast(letter), bytearray(count)]  # type: ignore[call-overload]
        return given

    def outside(self, site: int, thread: int, *index: int) -> None:
        """Note an access out of bounds; without recording it is an error."""
        found = self.fault(site, thread, index)
        if self.record is None:
            place = self.program.sites[site]
            shape = self.arrays[self.program.site_arrays[site]].shape
            at = ", ".join(str(item) for item in index)
            raise SimtError(
                f"{place.file}:{place.line}: {found.array}[{at}] is out of bounds ({found.kind}, shape {shape}, "
                f"block {found.block}, thread {thread})"
            )
        self.record.out_of_bounds_count += 1
        if len(self.record.out_of_bounds) < FAULTS_KEPT:
            self.record.out_of_bounds.append(found)

    def unwritten(self, site: int, thread: int, *index: int) -> bool:
        """Note a load of shared memory that nobody has written."""
        assert self.record is not None
        self.record.uninitialized_reads_count += 1
        if len(self.record.uninitialized_reads) < FAULTS_KEPT:
            self.record.uninitialized_reads.append(self.fault(site, thread, index))
        return True

    def fault(self, site: int, thread: int, index: tuple[int, ...]) -> Fault:
        """Return the description of a fault."""
        program = self.program
        name = self.arrays[program.site_arrays[site]].name
        at = index[0] if len(index) == 1 else index
        kind = ACCESS[program.site_kinds[site]]
        return Fault(name, kind, at, self.state.block, thread, program.sites[site].line)

    def run(self) -> None:
        """Run the blocks."""
        names = self.namespace()
        exec(self.program.code, names)
        width, height, depth = self.block
        threads = [
            (x, y, z, x + width * (y + height * z)) for z, y, x in product(range(depth), range(height), range(width))
        ]
        count = self.grid[0] * self.grid[1] * self.grid[2]
        numbers = range(count) if self.blocks is None else self.blocks
        runner = self.waiting_block if self.program.waits else self.plain_block
        todo = ordered(numbers, self.order, self.rng) if self.order != "forward" else numbers
        for done, number in enumerate(todo):
            self.state.block = number
            if done == 1:
                self.estimate(len(todo))
            x, rest = number % self.grid[0], number // self.grid[0]
            y, z = rest % self.grid[1], rest // self.grid[1]
            try:
                runner(names["block"](x, y, z, *self.shared()), threads, number)
            except UnboundLocalError as error:
                name = str(error).partition("'v_")[2].partition("'")[0]
                raise SimtError(
                    f"{self.kernel.file}:{self.kernel.node.lineno}: {self.kernel.name} reads the variable "
                    f"{name or 'of a loop'} before any value is assigned"
                ) from None
        self.complete()

    def plain_block(
        self, kernel: Callable[..., Any], threads: Sequence[tuple[int, int, int, int]], number: int
    ) -> None:
        """Run a block whose threads never wait."""
        record = self.record
        if self.order != "forward":
            threads = ordered(threads, self.order, self.rng)
        if record is None:
            for x, y, z, thread in threads:
                kernel(x, y, z, thread)
            return
        index, column = record.index, record.thread
        first = start = len(index)
        for x, y, z, thread in threads:
            kernel(x, y, z, thread)
            end = len(index)
            column += [thread] * (end - start)
            start = end
        record.in_block += [number] * (start - first)
        self.check_size()

    def waiting_block(
        self, kernel: Callable[..., Any], threads: Sequence[tuple[int, int, int, int]], number: int
    ) -> None:
        """Run a block whose threads wait for each other."""
        first = len(self.record.index) if self.record is not None else 0
        BlockRun(self.program, self.record, number, self.order, self.rng).run(kernel, threads)
        if self.record is not None:
            self.record.in_block += [number] * (len(self.record.index) - first)
            self.check_size()

    def estimate(self, blocks: int) -> None:
        """Stop a launch after its first block if all of them would clearly record more than memory holds."""
        expected = len(self.record.index) * blocks if self.record is not None else 0
        if expected > 2 * ACCESSES_MOST:
            raise SimtError(
                f"{self.kernel.name}: {blocks:,} blocks would record about {expected:,} accesses, more than "
                f"{ACCESSES_MOST:,}; trace fewer blocks (blocks=...) or a smaller problem"
            )

    def check_size(self) -> None:
        """Stop a launch that records more than memory holds."""
        if self.record is not None and len(self.record.index) > ACCESSES_MOST:
            raise SimtError(
                f"{self.kernel.name}: more than {ACCESSES_MOST:,} accesses recorded; trace fewer blocks (blocks=...)"
            )

    def complete(self) -> None:
        """Fill the columns that follow from the sites."""
        record, program = self.record, self.program
        if record is None:
            return
        arrays, kinds = program.site_arrays, program.site_kinds
        record.array = [arrays[site] for site in record.site]
        record.kind = [kinds[site] for site in record.site]
        if not program.waits:
            record.epoch = [0] * len(record.index)
            record.warp_epoch = [0] * len(record.index)


def rounded(values: Sequence[Any], kind: str) -> list[Any]:
    """Return constant elements as their type holds them."""
    scalar = SCALARS[kind]
    if scalar.kind == "f":
        return [struct.unpack(scalar.letter, struct.pack(scalar.letter, value))[0] for value in values]
    return [bool(value) if kind == "bool" else int(value) for value in values]


def check(kernel: Any, grid: Dimensions, block: Dimensions, shared_bytes: int, order: str) -> tuple[Any, ...]:
    """Return the kernel's source and the extents, or say what is wrong with them."""
    extents = three("grid", grid), three("block", block)
    threads = extents[1][0] * extents[1][1] * extents[1][2]
    if threads > THREADS_MOST:
        raise SimtError(f"block: {threads} threads; a block has at most {THREADS_MOST}")
    if not isinstance(shared_bytes, int) or not 0 <= shared_bytes <= SHARED_MOST_BYTES:
        raise SimtError(f"shared_bytes: from 0 to {SHARED_MOST_BYTES}, not {shared_bytes}")
    if order not in ORDERS:
        raise SimtError(f'order: one of {", ".join(ORDERS)}, not "{order}"')
    return find_kernel(kernel), *extents
