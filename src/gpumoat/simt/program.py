"""What one translation gathers beside the code: arrays, sites, barriers, and the functions that it is made of."""

import ast
from dataclasses import dataclass, field
from typing import Any

from gpumoat.simt.errors import SimtError, located
from gpumoat.simt.record import ATOMIC, LOAD, STORE, Site
from gpumoat.simt.statics import Function
from gpumoat.simt.values import Reference, Value

STATIC_SHARED_BYTES = 48 * 1024  # a block's static shared memory on every card; more must be dynamic
ACCESS = {LOAD: "load", STORE: "store", ATOMIC: "atomic"}


@dataclass(frozen=True)
class Made:
    """An array that the source makes: shared, local or constant."""

    name: str
    space: str
    type: str
    shape: tuple[int, ...] | None  # None: all of the dynamic shared memory
    line: int
    values: list[Any] | None = None


@dataclass
class Instance:
    """A device function for given types of arguments."""

    name: str
    text: str
    waits: bool
    result: Value


@dataclass
class Program:
    """A kernel translated for given types of arguments and a block's shape.

    Attributes:
        kernel: The kernel's source.
        block: Threads along x, y, z.
        recording: Whether accesses are recorded.
        sites: Sites by number, with the number of the array and the kind of access of each.
        made: Arrays beyond the parameters, by number.
        barriers: File, line and name of each waiting operation, by number.
        texts: The device functions' code, in order of definition.
        atomics: Atomic operations used, as (operation, type).
        waits: Whether the kernel waits anywhere: then it is a generator.
    """

    kernel: Function
    block: tuple[int, int, int]
    recording: bool
    sites: list[Site] = field(default_factory=list)
    site_arrays: list[int] = field(default_factory=list)
    site_kinds: list[int] = field(default_factory=list)
    made: dict[int, Made] = field(default_factory=dict)
    barriers: list[tuple[str, int, str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    atomics: set[tuple[str, str]] = field(default_factory=set)
    waits: bool = False
    text: str = ""
    arrays_count: int = 0
    shared_static_bytes: int = 0
    instances: dict[Any, Instance] = field(default_factory=dict)
    constants: dict[Any, Reference] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)  # the kernel's source line of each line of the code
    constants_read: dict[tuple[int, str], tuple[Function, Any]] = field(default_factory=dict)
    loops: list[tuple[int, int]] = field(default_factory=list)  # first and last line of the kernel's loops
    code: Any = None
    stores: set[int] = field(default_factory=set)  # arrays that are written
    _numbers: dict[Any, int] = field(default_factory=dict)
    _references: dict[Any, Reference] = field(default_factory=dict)
    _depth: list[Function] = field(default_factory=list)

    def site(self, function: Function, key: Any, node: ast.AST, array: int, kind: int) -> int:
        """Return the number of a site; the same node of the same function instance keeps its number."""
        place = (key, id(node), array, kind)
        if place not in self._numbers:
            self._numbers[place] = len(self.sites)
            line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
            self.sites.append(Site(function.file, line, column, function.name, segment(function.lines, node)))
            self.site_arrays.append(array)
            self.site_kinds.append(kind)
        if kind != LOAD:
            self.stores.add(array)
        return self._numbers[place]

    def barrier(self, function: Function, key: Any, node: ast.AST, name: str) -> int:
        """Return the number of a waiting operation."""
        place = (key, id(node), name)
        if place not in self._numbers:
            self._numbers[place] = len(self.barriers)
            self.barriers.append((function.file, getattr(node, "lineno", 0), name))
        return self._numbers[place]

    def make(
        self, function: Function, key: Any, node: ast.AST, made: Made, sizes: tuple[int | None, ...], itemsize: int
    ) -> Reference:
        """Return the array that a call makes; the same call of the same function instance keeps its array."""
        place = (key, id(node))
        if place not in self._references:
            number = self.arrays_count
            self.arrays_count += 1
            self.made[number] = made
            extents = tuple(f"n{number}_{axis}" if size is None else str(size) for axis, size in enumerate(sizes))
            self._references[place] = Reference(
                number, made.name, made.type, made.space, f"m{number}", extents, sizes, (), made.shape is None
            )
            if made.space == "shared" and made.shape is not None:
                bytes_of_it = itemsize
                for extent in made.shape:
                    bytes_of_it *= extent
                self.shared_static_bytes += bytes_of_it
                if self.shared_static_bytes > STATIC_SHARED_BYTES:
                    raise located(
                        function.file,
                        made.line,
                        f"static shared memory of {self.shared_static_bytes} bytes: a block has {STATIC_SHARED_BYTES}; "
                        "use dynamic shared memory, cuda.shared.array(0, ...), for more",
                    )
        return self._references[place]

    def current(self) -> bool:
        """Whether the constants that the translation has read are what they were."""
        return all(function.scope(name) == value for (_, name), (function, value) in self.constants_read.items())

    def enter(self, function: Function, node: ast.AST, caller: Function) -> None:
        """Note that a function is being translated; recursion is an error."""
        if any(function.node is other.node for other in self._depth):
            raise located(caller.file, getattr(node, "lineno", 0), f"recursion: {function.name} calls itself")
        self._depth.append(function)
        if len(self._depth) > 40:
            raise SimtError(f"{function.file}: device functions are nested too deep")

    def leave(self) -> None:
        """Note that a function has been translated."""
        self._depth.pop()


def segment(lines: list[str], node: ast.AST) -> str:
    """Return the source text of a node, on one line."""
    first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
    start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
    if first == last:
        return lines[first - 1].encode()[start:end].decode()
    parts = [lines[first - 1].encode()[start:].decode(), *lines[first : last - 1]]
    parts.append(lines[last - 1].encode()[:end].decode())
    return " ".join(part.strip() for part in parts)
