"""Records for pictures: who touches which element, what one request of a warp asks for, and where its words lie.

Each function returns a list of plain records, small enough for a page: neighbouring elements that one thread touches
in the same way are one record. ``gpumoat.site`` draws them; nothing here knows how.
"""

from __future__ import annotations

from gpumoat.simt.banks import BANK_BYTES, BANKS, lanes_together
from gpumoat.simt.record import KINDS, WARP_LANES, Array
from gpumoat.simt.requests import SECTOR_BYTES
from gpumoat.simt.rows import Rows

Record_ = dict[str, int | str]


def touches(rows: Rows, name: str, kind: str | None = None, first: int = 0, last: int | None = None) -> list[Record_]:
    """Return which thread touches which elements of an array.

    Args:
        rows: The record.
        name: A global or shared array.
        kind: load, store or atomic; every kind where it is None.
        first: The first element to look at, row-major.
        last: The last element to look at; the end of the array where it is None.

    Returns:
        A record for each run of neighbouring elements, within a row of an array of two or more axes, that one thread
        touches in one way: ``array``, ``row`` (0 for an array of one axis), ``first`` and ``last`` (within the row),
        ``elements``, ``kind``, ``block``, ``thread``, ``warp`` and ``lane`` (within the block and the warp),
        ``worker`` (the thread numbered over the grid) and ``times``, how often it touches them in all.

    Raises:
        ValueError: There is no such array or kind.
    """
    arrays = rows.arrays(name, ("global", "shared"))
    record = rows.record
    end = arrays[0].size - 1 if last is None else last
    width = arrays[0].shape[-1] if len(arrays[0].shape) > 1 else max(1, arrays[0].size)
    times: dict[tuple[int, int, int], dict[int, int]] = {}
    for row in rows.select(arrays, KINDS if kind is None else (kind,)):
        index = record.index[row]
        if first <= index <= end:
            one = times.setdefault((record.kind[row], record.in_block[row], record.thread[row]), {})
            one[index] = one.get(index, 0) + 1
    out: list[Record_] = []
    for (how, block, thread), counts in sorted(times.items()):
        runs: list[list[int]] = []
        for index in sorted(counts):
            if runs and index == runs[-1][-1] + 1 and index % width:
                runs[-1].append(index)
            else:
                runs.append([index])
        for run in runs:
            out.append(
                {
                    "array": name,
                    "row": run[0] // width,
                    "first": run[0] % width,
                    "last": run[-1] % width,
                    "elements": len(run),
                    "kind": KINDS[how],
                    "block": block,
                    "thread": thread,
                    "warp": thread // WARP_LANES,
                    "lane": thread % WARP_LANES,
                    "worker": block * record.threads_per_block + thread,
                    "times": sum(counts[index] for index in run),
                }
            )
    return out


def request(
    rows: Rows, name: str, kind: str = "load", line: int | None = None, block: int = 0, warp: int = 0, turn: int = 0
) -> list[Record_]:
    """Return what the lanes of one request ask of a global array.

    Args:
        rows: The record.
        name: The array.
        kind: load, store or atomic.
        line: The source line; any where it is None.
        block: The block, linear.
        warp: The warp in the block.
        turn: Which of the requests of that warp, from 0.

    Returns:
        A record a lane: ``lane``, ``thread``, ``element``, ``first_byte`` and ``last_byte`` from the beginning of
        the allocation, ``sector`` (its number there), ``place`` (which of the sectors that the request touches, from
        0), and ``begin`` and ``end`` (first and last byte, where these sectors are laid side by side).

    Raises:
        ValueError: There is no such array, kind or request.
    """
    arrays = rows.arrays(name)
    chosen = _one_request(rows, arrays, kind, line, block, warp, turn)
    record = rows.record
    by_number = {array.number: array for array in arrays}
    out: list[Record_] = []
    for row in chosen:
        array = by_number[record.array[row]]
        address = array.offset_bytes + record.index[row] * array.itemsize_bytes
        out.append(
            {
                "lane": record.thread[row] % WARP_LANES,
                "thread": record.thread[row],
                "element": record.index[row],
                "first_byte": address,
                "last_byte": address + array.itemsize_bytes - 1,
                "sector": address // SECTOR_BYTES,
            }
        )
    touched = sorted({int(each["sector"]) for each in out})
    for each in out:
        place = touched.index(int(each["sector"]))
        begin = place * SECTOR_BYTES + int(each["first_byte"]) % SECTOR_BYTES
        each |= {"place": place, "begin": begin, "end": begin + int(each["last_byte"]) - int(each["first_byte"])}
    return sorted(out, key=lambda each: each["lane"])


def bank_words(
    rows: Rows, name: str, kind: str = "load", line: int | None = None, block: int = 0, warp: int = 0, turn: int = 0
) -> list[Record_]:
    """Return which words of which banks one request to a shared array wants.

    Args and errors are those of ``request``.

    Returns:
        A record for each lane and word: ``lane``, ``thread``, ``element``, ``word`` (its number in the allocation),
        ``bank`` and ``turn`` (in which turn, from 1, the bank gives it: the same for all lanes that want that word).
    """
    arrays = rows.arrays(name, ("shared",))
    chosen = _one_request(rows, arrays, kind, line, block, warp, turn)
    record = rows.record
    by_number = {array.number: array for array in arrays}
    queue: dict[tuple[int, int], list[int]] = {}
    out: list[Record_] = []
    before = longest = part = 0  # parts of a warp that are served one after the other, for elements wider than a word
    for row in sorted(chosen, key=lambda row: record.thread[row]):
        array = by_number[record.array[row]]
        lane = record.thread[row] % WARP_LANES
        if lane // lanes_together(array.itemsize_bytes) != part:
            part, before = lane // lanes_together(array.itemsize_bytes), longest
        address = array.offset_bytes + record.index[row] * array.itemsize_bytes
        for word in range(address // BANK_BYTES, (address + array.itemsize_bytes - 1) // BANK_BYTES + 1):
            waiting = queue.setdefault((part, word % BANKS), [])
            if word not in waiting:
                waiting.append(word)
            turn_of_word = before + waiting.index(word) + 1
            longest = max(longest, turn_of_word)
            out.append(
                {
                    "lane": lane,
                    "thread": record.thread[row],
                    "element": record.index[row],
                    "word": word,
                    "bank": word % BANKS,
                    "turn": turn_of_word,
                }
            )
    return out


def _one_request(
    rows: Rows, arrays: list[Array], kind: str, line: int | None, block: int, warp: int, turn: int
) -> list[int]:
    """Return the rows of one request of a warp, counted from 0 in the order in which its lanes came to them."""
    record, request_of = rows.record, rows.request
    together: dict[int, list[int]] = {}
    for row in rows.select(arrays, (kind,), line):
        if record.in_block[row] == block and record.thread[row] // WARP_LANES == warp:
            together.setdefault(request_of[row], []).append(row)
    if not 0 <= turn < len(together):
        where = "" if line is None else f" at line {line}"
        raise ValueError(
            f"warp {warp} of block {block} makes {len(together)} {kind} requests to {arrays[0].name!r}{where}: "
            f"there is none with the number {turn}, counted from 0"
        )
    return list(together.values())[turn]
