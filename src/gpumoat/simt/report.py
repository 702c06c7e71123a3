"""Report: everything that one traced launch tells.

Promises: each answer is computed from the record alone, from the standard library alone, and is plain data. Answers
do not depend on the order in which the simulator ran the threads, as long as each thread did the same.

Left out: time. What a card makes of the same requests is measured elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from gpumoat.simt import balance, banks, requests, summary, touches
from gpumoat.simt.balance import Balance, ForeignReads
from gpumoat.simt.banks import BankConflicts
from gpumoat.simt.coverage import Coverage, coverage
from gpumoat.simt.findings import Finding, findings
from gpumoat.simt.races import Race, find_races
from gpumoat.simt.record import DivergentBarrier, Fault, Record
from gpumoat.simt.requests import Requests
from gpumoat.simt.rows import Rows


class Report:
    """What a launch did, and what is wrong with it.

    Attributes:
        record: Every access, as the simulator wrote it down.
    """

    sealed = True  # its answers never change, and the execution record of a page need not search its million numbers

    def __init__(self, record: Record) -> None:
        """Take a record; what is not asked for is not computed."""
        self.record = record
        self._rows = Rows(record)

    def __str__(self) -> str:
        return self.summary()

    # What is wrong

    @property
    def out_of_bounds(self) -> list[Fault]:
        """Accesses past the end of an array, in the order met; capped, as ``record.out_of_bounds_count`` tells."""
        return self.record.out_of_bounds

    @property
    def uninitialized_reads(self) -> list[Fault]:
        """Loads of shared memory that no thread of the block had written; capped in the same way."""
        return self.record.uninitialized_reads

    @property
    def barrier_divergence(self) -> list[DivergentBarrier]:
        """Barriers that some threads of a block reached and others, still running, did not."""
        return self.record.barrier_divergence

    @cached_property
    def _races(self) -> list[Race]:
        return find_races(self.record)

    def data_races(self, limit: int | None = None) -> list[Race]:
        """Return the data races, one for each pair of source lines, array and scope (warp, block, grid).

        Args:
            limit: The most to return; all where it is None.
        """
        return self._races[:limit]

    def findings(self, partial: Collection[str] = ()) -> list[Finding]:
        """Return the problems, root cause first; see ``gpumoat.simt.findings`` for the order.

        Args:
            partial: Arrays of which the launch is meant to write only a part.

        Raises:
            ValueError: There is no array of such a name.
        """
        return findings(self._rows, self._races, partial)

    def coverage(self, name: str) -> Coverage:
        """Return which elements of an array were never written, and which were stored more than once.

        Raises:
            ValueError: There is no such array.
        """
        return coverage(self._rows, name)

    # What it costs

    def requests(self, name: str, kind: str = "load", line: int | None = None) -> Requests:
        """Return how many sectors the warps' requests to a global array touch (coalescing).

        Args:
            name: The array.
            kind: load, store or atomic.
            line: The source line whose requests count; all where it is None.

        Raises:
            ValueError: There is no such array or kind.
        """
        return requests.requests(self._rows, name, kind, line)

    def bank_conflicts(self, name: str, kind: str | None = None, line: int | None = None) -> BankConflicts:
        """Return how many turns a shared array needs for what the warps ask of it.

        Args:
            name: The array.
            kind: load, store or atomic; loads and stores where it is None.
            line: The source line whose requests count; all where it is None.

        Raises:
            ValueError: There is no such array or kind.
        """
        return banks.bank_conflicts(self._rows, name, kind, line)

    def accesses_per_thread(self) -> Balance:
        """Return how many accesses to memory each thread makes (load balance), as a list with min, mean and max."""
        return balance.accesses_per_thread(self.record)

    def foreign_reads(self, name: str, owner: str) -> ForeignReads:
        """Count the loads of ``name[i]`` by a thread other than the one that stores ``owner[i]``.

        Raises:
            ValueError: There is no such array.
        """
        return balance.foreign_reads(self._rows, name, owner)

    # To draw and to read

    def touches(
        self, name: str, kind: str | None = None, first: int = 0, last: int | None = None
    ) -> list[dict[str, int | str]]:
        """Return which thread touches which elements, as records to draw; see ``gpumoat.simt.touches.touches``."""
        return touches.touches(self._rows, name, kind, first, last)

    def request(
        self, name: str, kind: str = "load", line: int | None = None, block: int = 0, warp: int = 0, turn: int = 0
    ) -> list[dict[str, int | str]]:
        """Return what one request asks of a global array, as records; see ``gpumoat.simt.touches.request``."""
        return touches.request(self._rows, name, kind, line, block, warp, turn)

    def bank_words(
        self, name: str, kind: str = "load", line: int | None = None, block: int = 0, warp: int = 0, turn: int = 0
    ) -> list[dict[str, int | str]]:
        """Return the words and banks of one request, as records; see ``gpumoat.simt.touches.bank_words``."""
        return touches.bank_words(self._rows, name, kind, line, block, warp, turn)

    def summary(self, partial: Collection[str] = ()) -> str:
        """Return the whole report as text that explains itself."""
        return summary.summary(self, partial)
