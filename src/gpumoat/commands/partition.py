"""``gpumoat partition``: a row or a matrix shared out among workers, and what the checker says of it.

Ranges are given in both conventions, because mixing them up is the commonest fault: counted from 0, as in Python and
CUDA, and counted from 1, as on a blackboard. A strip length of your own is checked like any other and may be wrong.
Exit status 1 says that the partition is.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from gpumoat.coalescing import ORDERS, warp_traffic
from gpumoat.commands.answer import Answer, Json, bad_input, refuse
from gpumoat.facts import fact
from gpumoat.partition import PartitionReport, Range, Strips, Tiles, Waves, check_partition

CHECKED = 2**20
"""The most workers whose ranges are checked one by one; beyond that it would take a minute."""

_STRIP_OPTIONS = {
    "elements": "--elements",
    "workers": "--workers",
    "before": "--before",
    "after": "--after",
    "element_bytes": "--element-bytes",
    "strip": "--strip",
}
_TILE_OPTIONS = {
    "rows": "--rows",
    "columns": "--columns",
    "tile_rows": "--tile-rows",
    "tile_columns": "--tile-columns",
    "halo": "--halo",
    "workers": "--workers",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(partition)


def partition(
    elements: Annotated[int | None, typer.Option(help="Elements in a row, such as pixels.")] = None,
    workers: Annotated[int | None, typer.Option(help="Workers: threads, cores or cards.")] = None,
    before: Annotated[int, typer.Option(help="Elements that a result needs on its left.")] = 0,
    after: Annotated[int, typer.Option(help="Elements that a result needs on its right.")] = 0,
    balanced: Annotated[bool, typer.Option("--balanced", help="Make shares as equal as they can be.")] = False,
    strip: Annotated[int | None, typer.Option(help="A strip length of your own, to be checked.")] = None,
    element_bytes: Annotated[
        int | None, typer.Option(help="Size of an element; with it, the sectors that a warp touches.")
    ] = None,
    rows: Annotated[int | None, typer.Option(help="Rows of a matrix, to be cut into tiles.")] = None,
    columns: Annotated[int | None, typer.Option(help="Columns of the matrix.")] = None,
    tile_rows: Annotated[int | None, typer.Option(help="Rows of a tile.")] = None,
    tile_columns: Annotated[int | None, typer.Option(help="Columns of a tile.")] = None,
    halo: Annotated[int, typer.Option(help="Elements that a result needs on each side of it.")] = 0,
    as_json: Json = False,
) -> None:
    """Share a row (--elements, --workers) or a matrix (--rows, --columns, --tile-rows, --tile-columns) out."""
    sizes = {"--rows": rows, "--columns": columns, "--tile-rows": tile_rows, "--tile-columns": tile_columns}
    if any(value is not None for value in sizes.values()):
        for option, value in sizes.items():
            if value is None:
                refuse(f"{option} is missing: tiles need --rows, --columns, --tile-rows and --tile-columns")
        if elements is not None:
            refuse("--elements does not go with tiles: a matrix has --rows and --columns")
        with bad_input(_TILE_OPTIONS):
            tiles = Tiles(rows or 0, columns or 0, tile_rows or 0, tile_columns or 0, halo)
            waves = None if workers is None else Waves(tiles.tasks, workers)
        _show_tiles(tiles, waves, as_json)
        return
    if elements is None or workers is None:
        missing = "--elements" if elements is None else "--workers"
        refuse(f"{missing} is missing: a row needs --elements and --workers, a matrix --rows and --tile-rows")
    with bad_input(_STRIP_OPTIONS):
        cut = Strips(elements, workers, before, after, balanced)
        if strip is not None and strip < 1:
            raise ValueError(f"strip must be a whole number of at least 1, not {strip}")
        if strip is not None and balanced:
            refuse("--balanced does not go with --strip: the shares are either yours or balanced")
        _show_strips(cut, strip, element_bytes, as_json)


def _show_tiles(tiles: Tiles, waves: Waves | None, as_json: bool) -> None:
    size = f"{tiles.tile_rows:,} x {tiles.tile_columns:,}"
    answer = Answer(f"{tiles.rows:,} x {tiles.columns:,} in tiles of {size}")
    grid = f"{tiles.grid_rows:,} x {tiles.grid_columns:,}, each side rounded up"
    answer.add("tasks_count", "tiles", tiles.tasks, ",d", grid)
    answer.add("slots_count", "room in all tiles", tiles.slots, ",d", "tiles x elements of a whole tile")
    answer.add("used_share", "used", tiles.used_share, ".4%", "elements / room: the edge cuts the last tiles off")
    answer.add("read_count", "elements read", tiles.read_elements, ",d", f"with {tiles.halo:,} more on each side")
    answer.add("read_ratio", "read, over needed", tiles.read_ratio, ".4f x", "elements read / elements")
    if waves is not None:
        answer.add("waves_count", "rounds", waves.waves, ",d", f"tiles / {waves.workers:,} workers, rounded up")
        answer.add("last_count", "tiles in the last round", waves.last_tasks, ",d", "the other workers wait")
        answer.add("busy_share", "workers busy", waves.used_share, ".2%", "tiles / (rounds x workers)")
    answer.show(as_json)


def _show_strips(cut: Strips, strip: int | None, element_bytes: int | None, as_json: bool) -> None:
    answer = Answer(f"{cut.elements:,} elements for {cut.workers:,} workers")
    length = cut.chunk if strip is None else strip
    last = cut.busy_workers - 1 if strip is None else cut.workers - 1
    slots = length * cut.workers
    rule = "elements / workers, rounded up" if strip is None else "yours"
    answer.add("chunk_count", "longest share", length, ",d", rule)
    ends = _writes(cut, strip, last)
    answer.add("last_count", "last share", ends.elements, ",d", f"of worker {last:,}, counted from 0")
    if strip is None:
        answer.add("idle_count", "workers without a share", cut.idle_workers, ",d", "when there are too many")
    answer.add("slots_count", "room for", slots, ",d", "longest share x workers")
    used = min(cut.elements, slots) / slots
    answer.add("used_share", "used", used, ".4%", "useful work / room: says nothing of speed")
    ranges = {}
    for name, worker in (("first", 0), ("last", last)):
        for verb, part in (("writes", _writes(cut, strip, worker)), ("reads", _reads(cut, strip, worker))):
            ranges[f"{name}_{verb}"] = {"start": part.start, "stop": part.stop}
            answer.add(f"{name}_{verb}", f"{name} worker {verb}", _from_zero(part), "", _from_one(part))
    if element_bytes is not None:
        for order in ORDERS:
            traffic = warp_traffic(
                cut, order, element_bytes, int(fact("cuda.warp_threads")), int(fact("cuda.sector_bytes"))
            )
            label = "sectors a request, " + order
            name = f"{order.replace('-', '_')}_sectors"
            answer.add(
                name, label, traffic.sectors_per_request, ".2f", f"of a warp; {traffic.used_share:.0%} of them wanted"
            )
    report = _check(cut, strip)
    if report is None:
        answer.add("correct", "check", None, "", f"not run: more than {CHECKED:,} workers")
    else:
        answer.add("correct", "correct", report.correct, "", "each element written once, each needed one read")
        answer.notes.append(str(report))
    if as_json:  # ranges as numbers, where the table has text
        values = {row.name: row.value for row in answer.rows} | ranges
        print(json.dumps(values | {"report": "" if report is None else str(report)}, indent=2))
    else:
        answer.show(False)
    if report is not None and not report.correct:
        raise typer.Exit(1)


def _writes(cut: Strips, strip: int | None, worker: int) -> Range:
    """Return what a worker writes; with a length of one's own, stopped at the last element."""
    if strip is None:
        return cut.writes(worker)
    start = min(worker * strip, cut.elements)
    return Range(start, min(start + strip, cut.elements))


def _reads(cut: Strips, strip: int | None, worker: int) -> Range:
    if strip is None:
        return cut.reads(worker)
    part = _writes(cut, strip, worker)
    if part.start == part.stop:
        return part
    return Range(max(0, part.start - cut.before), min(cut.elements, part.stop + cut.after))


def _check(cut: Strips, strip: int | None) -> PartitionReport | None:
    if cut.workers > CHECKED:
        return None
    writes = [_writes(cut, strip, worker) for worker in range(cut.workers)]
    reads = [_reads(cut, strip, worker) for worker in range(cut.workers)]
    return check_partition(cut.elements, writes, reads, cut.before, cut.after)


def _from_zero(part: Range) -> str:
    return f"{part.start:,} to {part.stop - 1:,}" if part.elements else "nothing"


def _from_one(part: Range) -> str:
    first, last = part.one_based
    return f"counted from 0; from 1: {first:,} to {last:,}" if part.elements else ""
