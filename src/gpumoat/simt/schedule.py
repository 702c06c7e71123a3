"""The order in which threads run, and what happens where they wait for each other.

All threads of a block run in one thread of Python, each until it waits or returns. A warp-wide operation is done when
all lanes that its mask names have arrived or returned; ``syncthreads`` when all threads of the block that still live
wait at one. Threads that have returned take no part in later barriers, as on cards since Volta.

A divergent barrier is recorded, and the run goes on:

- scope "block": threads wait at different barriers, or some passed the barrier by and came to the kernel's end, while
  others wait at it. A thread that left by a ``return`` above the barrier, or in the same loop, has not passed it by.
- scope "warp": a mask names lanes that live but wait elsewhere, or does not name the caller, or a shuffle reads from a
  lane that takes no part (returned, not there, or not in the mask). A mask that names lanes that have returned is no
  divergence by itself: the programming guide asks only non-exited threads to arrive.

``activemask`` gives the lanes of the warp that have come to the same place when no lane of the warp can go on
otherwise. The guide promises less: lanes may be apart there.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

from gpumoat.simt.program import Program
from gpumoat.simt.record import WARP_LANES, DivergentBarrier, Record
from gpumoat.simt.warps import BLOCK_NAMES, answer

DIVERGENCE_KEPT = 1000


def ordered(items: Sequence[Any], order: str, rng: random.Random) -> list[Any]:
    """Return the items in the chosen order."""
    made = list(items)
    if order == "reverse":
        made.reverse()
    elif order == "random":
        rng.shuffle(made)
    return made


class BlockRun:
    """One block of a kernel that waits."""

    def __init__(self, program: Program, record: Record | None, block: int, order: str, rng: random.Random) -> None:
        self.program, self.record, self.block = program, record, block
        self.order, self.rng = order, rng
        self.pending: dict[int, Any] = {}
        self.replies: dict[int, Any] = {}
        self.passed: list[tuple[int, int | None]] = []
        self.epoch = 0
        self.warp_epoch: dict[int, int] = {}

    def run(self, kernel: Callable[..., Any], threads: Sequence[tuple[int, int, int, int]]) -> None:
        """Run all threads to their end."""
        self.generators = {thread[3]: kernel(*thread) for thread in threads}
        self.warp_epoch = dict.fromkeys(self.generators, 0)
        self.replies = dict.fromkeys(self.generators)
        ready = list(self.generators)
        while ready:
            self.advance(ordered(ready, self.order, self.rng))
            ready = self.released()

    def advance(self, ready: Sequence[int]) -> None:
        """Run each thread until it waits or returns."""
        record, generators, replies, pending = self.record, self.generators, self.replies, self.pending
        start = len(record.index) if record is not None else 0
        for thread in ready:
            try:
                pending[thread] = generators[thread].send(replies[thread])
            except StopIteration as stop:
                del generators[thread]
                self.passed.append((thread, stop.value))
            replies[thread] = None
            if record is not None:
                end = len(record.index)
                if count := end - start:
                    record.thread += [thread] * count
                    record.epoch += [self.epoch] * count
                    record.warp_epoch += [self.warp_epoch[thread]] * count
                    start = end

    def released(self) -> list[int]:
        """Return the threads that may go on."""
        pending = self.pending
        if not pending:
            return []
        requests = set(pending.values()) if all(isinstance(item, int) for item in pending.values()) else None
        if requests is not None and len(requests) == 1 and not self.passed:
            self.epoch += 1
            together = sorted(pending)
            pending.clear()
            return together
        barriers = self.program.barriers
        at_warp = {t: item for t, item in pending.items() if barriers[number_of(item)][2] not in BLOCK_NAMES}
        if not at_warp:
            return self.release_block()
        groups: dict[tuple[int, Any], list[int]] = {}
        for thread, item in at_warp.items():
            name = barriers[item[0]][2]
            place = name if name == "syncwarp" else item[0]
            groups.setdefault((thread // WARP_LANES, (place, item[1])), []).append(thread)
        ready: list[int] = []
        moving = set()
        for (warp, _), group in sorted(groups.items(), key=lambda entry: min(entry[1])):
            item = pending[group[0]]
            if barriers[item[0]][2] != "activemask" and not self.elsewhere(warp, item[1], group):
                ready += self.finish(group)
                moving.add(warp)
        for (warp, _), group in sorted(groups.items(), key=lambda entry: min(entry[1])):
            if warp not in moving and group[0] in pending and barriers[pending[group[0]][0]][2] == "activemask":
                ready += self.finish(group)
                moving.add(warp)
        if not ready:
            # Nobody can go on: on the card this hangs or is undefined. The first group goes on without the others.
            group = min(groups.values(), key=min)
            warp = group[0] // WARP_LANES
            self.diverged(group, [*group, *self.elsewhere(warp, pending[group[0]][1], group)], "warp")
            ready = self.finish(group)
        return ready

    def elsewhere(self, warp: int, mask: int, group: Sequence[int]) -> list[int]:
        """Return the live threads that a mask names and that are not in the group."""
        here = set(group)
        first = warp * WARP_LANES
        return [
            first + lane
            for lane in range(WARP_LANES)
            if mask >> lane & 1 and first + lane in self.generators and first + lane not in here
        ]

    def finish(self, group: list[int]) -> list[int]:
        """Do a warp-wide operation for the threads that take part."""
        group = sorted(group)
        requests = {thread % WARP_LANES: self.pending.pop(thread) for thread in group}
        name = self.program.barriers[requests[group[0] % WARP_LANES][0]][2]
        replies, absent = answer(name, requests)
        line_of = {thread: requests[thread % WARP_LANES] for thread in group}
        if absent:
            self.note([line_of[thread] for thread in group], len(group) - len(absent), len(group), "warp")
        for thread in group:
            self.replies[thread] = replies[thread % WARP_LANES]
            if name != "activemask":
                self.warp_epoch[thread] += 1
        return group

    def release_block(self) -> list[int]:
        """Let all threads go on that wait at ``syncthreads`` or one of its counting forms."""
        pending = self.pending
        ready = sorted(pending)
        by_passed = [thread for thread, line in self.passed if self.passes(line)]
        if len({number_of(item) for item in pending.values()}) > 1 or by_passed:
            self.diverged(ready, [*ready, *by_passed], "block")
        values = [item[1] for item in pending.values() if not isinstance(item, int)]
        for thread, item in pending.items():
            if isinstance(item, int):
                self.replies[thread] = None
                continue
            name = self.program.barriers[item[0]][2]
            answers = {"syncthreads_count": sum(values), "syncthreads_and": all(values), "syncthreads_or": any(values)}
            self.replies[thread] = int(answers[name])
        pending.clear()
        self.passed.clear()
        self.epoch += 1
        return ready

    def passes(self, line: int | None) -> bool:
        """Whether a thread that returned at a line (None: at the kernel's end) passed the waiting barrier by."""
        if line is None:
            return True
        loops = self.program.loops
        for thread in self.pending:
            frame = self.generators[thread].gi_frame
            barrier = self.program.lines[frame.f_lineno] if frame is not None else 0
            shared = any(first <= barrier <= last and first <= line <= last for first, last in loops)
            if line < barrier or shared:
                return False
        return True

    def diverged(self, waiting: Sequence[int], live: Sequence[int], scope: str) -> None:
        """Record a divergent barrier at which some wait."""
        items = [self.pending[thread] for thread in sorted({*waiting, *live}) if thread in self.pending]
        first = min(self.program.barriers[number_of(self.pending[thread])][1] for thread in waiting)
        arrived = sum(self.program.barriers[number_of(self.pending[thread])][1] == first for thread in waiting)
        self.note(items, arrived, len(live), scope)

    def note(self, items: Sequence[Any], arrived: int, live: int, scope: str) -> None:
        """Record a divergent barrier."""
        if self.record is None:
            return
        lines = tuple(sorted({self.program.barriers[number_of(item)][1] for item in items}))
        found = DivergentBarrier(self.block, lines, arrived, live, scope)
        kept = self.record.barrier_divergence
        if found not in kept[-64:] and len(kept) < DIVERGENCE_KEPT:
            kept.append(found)


def number_of(request: Any) -> int:
    """Return the number of the waiting operation of a request."""
    return int(request if isinstance(request, int) else request[0])
