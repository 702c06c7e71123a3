"""How long a kernel that only moves memory takes: three things to wait for, and three to queue at.

A launch is described by counts that follow from its source and its grid (how many blocks, how many turns of load and
store a thread makes, how many requests and cache lines they touch), a card by twelve constants: three are read off the
card or measured alone, and nine are fitted.

Waits that overlap in part, since while some warps wait for memory others occupy it:

    memory     bytes / copy rate
    latency    turns x rounds of blocks x latency of a turn; a thread stores only after its loads have arrived.
               By Little's law this is bytes divided by (bytes in flight / latency)
    requests   requests of a multiprocessor's warps x time of one request

They are joined as (a^p + b^p + c^p)^(1/p): with p = 1 they would add up, with p infinite the longest would count alone.
A block's place is free for the next one only when its last warp has ended, so large blocks lengthen the latency term by
a share that is fitted.

Queues that admit no more than their rate, however many threads there are:

    blocks     blocks / rate at which a card starts them
    lines      cache lines that a multiprocessor's requests touch / rate at which it looks them up
    scattered  parts of sectors that are stored: so much for each line of a request and for each sector, or, where the
               lines that threads have begun do not fit in the L2 cache, so much for each sector that is fetched again

The time is the greatest of the joined waits and the queues.

Promises: of the launches of ``gpumoat.bench.image_variants`` on an H200 all are predicted within 20 %, with constants
fitted on every second of them; ``h200-kernel-time`` has the constants, the split and every single error. Left out:
arithmetic, shared memory, and every kernel that computes more than it moves. The constants of scattered stores come
from few launches; other patterns of scattering than strips may behave otherwise.

Standard library only; runs on MicroPython.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Constants:
    """A card as this model sees it.

    Attributes:
        multiprocessors: Multiprocessors.
        l2_bytes: The L2 cache.
        copy_bytes_per_s: Bytes read and written by a copy of this kind of traffic, measured.
        latency_s: From a turn's load to its store.
        blocks_per_s: Blocks that the whole card starts.
        lines_per_s: Cache lines that one multiprocessor looks up.
        request_s: Time of a multiprocessor for one request of a warp.
        stored_line_s: Time of the whole card for a line in which sectors are stored in part.
        stored_sector_s: The same for each such sector.
        evicted_sector_s: The same where the lines begun do not fit in the L2 cache.
        joint_power: p, how far waits overlap.
        drain_ratio: By how much the latency term grows for a block that fills a multiprocessor alone.
    """

    multiprocessors: int
    l2_bytes: int
    copy_bytes_per_s: float
    latency_s: float
    blocks_per_s: float
    lines_per_s: float
    request_s: float
    stored_line_s: float
    stored_sector_s: float
    evicted_sector_s: float
    joint_power: float
    drain_ratio: float


@dataclass(frozen=True)
class Launch:
    """A launch as this model sees it.

    Attributes:
        blocks: Blocks of the grid.
        block_threads: Threads of a block.
        resident_blocks: Blocks that a multiprocessor holds at once: see ``gpumoat.occupancy``.
        moved_bytes: Bytes that must be read and written.
        turns: How often a thread waits for memory: loads that are in flight together count once.
        requests: Loads and stores of warps.
        lines: Cache lines that these touch, each request counted alone.
        scattered_lines: Lines of the requests that store only parts of sectors.
        scattered_sectors: Sectors of these requests.
        line_bytes_per_thread: Bytes in the lines that a thread works on for many turns; 0 if none.
    """

    blocks: int
    block_threads: int
    resident_blocks: int
    moved_bytes: int
    turns: float
    requests: float
    lines: float
    scattered_lines: float = 0.0
    scattered_sectors: float = 0.0
    line_bytes_per_thread: int = 0


@dataclass(frozen=True)
class Prediction:
    """A predicted time and what it is made of.

    Attributes:
        time_s: The time.
        limit: What takes longest: memory, latency, requests, blocks, lines or scattered.
        terms_s: Each of these alone.
    """

    time_s: float
    limit: str
    terms_s: dict[str, float]


def bytes_in_flight(bandwidth_bytes_per_s: float, latency_s: float) -> float:
    """Return the bytes that must be under way at any moment to keep up a rate: Little's law, rate x latency."""
    return bandwidth_bytes_per_s * latency_s


def predict(launch: Launch, card: Constants) -> Prediction:
    """Return the time of a launch.

    Raises:
        ValueError: The launch has no blocks, or none that fits on a multiprocessor.
    """
    fit = launch.resident_blocks
    if launch.blocks < 1 or fit < 1:
        raise ValueError(f"blocks and resident_blocks must be one or more, not {launch.blocks:,} and {fit:,}")
    used = min(card.multiprocessors, launch.blocks)
    rounds = max(1.0, launch.blocks / (fit * card.multiprocessors))
    hands_on = launch.blocks > fit * card.multiprocessors and launch.turns <= 1
    drain = 1 + (card.drain_ratio / fit if hands_on else 0.0)
    resident_threads = min(launch.blocks, fit * card.multiprocessors) * launch.block_threads
    if resident_threads * launch.line_bytes_per_thread < card.l2_bytes:
        scattered_s = launch.scattered_lines * card.stored_line_s + launch.scattered_sectors * card.stored_sector_s
    else:
        scattered_s = launch.scattered_sectors * card.evicted_sector_s
    terms = {
        "memory": launch.moved_bytes / card.copy_bytes_per_s,
        "latency": launch.turns * rounds * card.latency_s * drain,
        "requests": launch.requests / used * card.request_s,
        "blocks": launch.blocks / card.blocks_per_s,
        "lines": launch.lines / used / card.lines_per_s,
        "scattered": scattered_s,
    }
    power = card.joint_power
    joint = sum(terms[each] ** power for each in ("memory", "latency", "requests")) ** (1 / power)
    time_s = max(joint, terms["blocks"], terms["lines"], terms["scattered"])
    return Prediction(time_s, max(terms, key=lambda each: terms[each]), terms)
