"""What every check needs of a record: arrays by their names, and the warp's request that each access belongs to.

Nothing here is a judgement. All of it is one pass over plain lists, because a trace easily has a million rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from gpumoat.simt.record import KINDS, WARP_LANES, Array, Record


class Rows:
    """A record with what follows from it directly.

    Attributes:
        record: The record.
    """

    def __init__(self, record: Record) -> None:
        self.record = record

    @property
    def warps_per_block(self) -> int:
        """Warps of a block; the last may not be full."""
        return -(-self.record.threads_per_block // WARP_LANES)

    @cached_property
    def request(self) -> list[int]:
        """The number of the warp's request that each row belongs to.

        The k-th execution of a site by a lane belongs with the k-th execution of that site by the other lanes of
        its warp; a load and a store at one site, as of ``x[i] += 1``, are two requests.
        """
        record = self.record
        threads, warps, kinds = record.threads_per_block, self.warps_per_block, len(KINDS)
        done: dict[int, int] = {}
        numbers: dict[tuple[int, int], int] = {}
        out = []
        for block, thread, site, kind in zip(record.in_block, record.thread, record.site, record.kind, strict=True):
            place = site * kinds + kind
            mine = (place * threads + thread) << 32 | block
            turn = done.get(mine, 0)
            done[mine] = turn + 1
            key = ((place * warps + thread // WARP_LANES) << 32 | block, turn)
            out.append(numbers.setdefault(key, len(numbers)))
        return out

    def arrays(self, name: str, spaces: Iterable[str] = ("global",)) -> list[Array]:
        """Return the arrays of that name.

        Raises:
            ValueError: There is none in these spaces; the message names those that there are.
        """
        spaces = tuple(spaces)
        held = [array for array in self.record.arrays if array.space in spaces]
        found = [array for array in held if array.name == name]
        if not found:
            names = ", ".join(dict.fromkeys(array.name for array in held)) or "none"
            raise ValueError(f"no {' or '.join(spaces)} array is called {name!r}: there are {names}")
        return found

    def select(self, arrays: Iterable[Array], kinds: Iterable[str], line: int | None = None) -> list[int]:
        """Return the rows that touch these arrays in these ways, at one source line or at all.

        Raises:
            ValueError: A kind is none of load, store and atomic.
        """
        wanted = {array.number for array in arrays}
        numbers = set()
        for kind in kinds:
            if kind not in KINDS:
                raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
            numbers.add(KINDS.index(kind))
        record = self.record
        if line is None:
            return [
                row
                for row, (array, kind) in enumerate(zip(record.array, record.kind, strict=True))
                if array in wanted and kind in numbers
            ]
        sites = {number for number, site in enumerate(record.sites) if site.line == line}
        return [
            row
            for row, (array, kind, site) in enumerate(zip(record.array, record.kind, record.site, strict=True))
            if array in wanted and kind in numbers and site in sites
        ]
