"""The report as text: what ran, what is wrong with it, and what each array costs."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from gpumoat.simt.record import KINDS, Record

if TYPE_CHECKING:
    from gpumoat.simt.report import Report


_HEADINGS = {
    "global": "Global memory, in sectors of 32 bytes:",
    "shared": "Shared memory, in turns of its 32 banks:",
}


def launch_text(record: Record) -> str:
    """Return what ran, in a line: the kernel, the grid, the threads and their accesses."""

    def extent(axes: tuple[int, int, int]) -> str:
        used = max((place for place, each in enumerate(axes, 1) if each > 1), default=1)
        return " x ".join(f"{each:,}" for each in axes[:used])

    ran = "all of them" if record.blocks is None else f"{len(set(record.blocks)):,} of them"
    return (
        f"{record.kernel}: grid of {extent(record.grid)} blocks ({ran} ran), {extent(record.block)} threads each, "
        f"{len(record):,} accesses"
    )


def used_kinds(record: Record) -> list[tuple[int, str]]:
    """Return which arrays are touched, by number, and how: pairs in the order of the arrays."""
    return [(array, KINDS[kind]) for array, kind in sorted(set(zip(record.array, record.kind, strict=True)))]


def summary(report: Report, partial: Collection[str] = ()) -> str:
    """Return the whole report as text."""
    record = report.record
    found = report.findings(partial)
    lines = [launch_text(record)]
    if not found:
        lines.append("No problem found in this launch.")
    else:
        lines.append(f"{len(found)} {'problem' if len(found) == 1 else 'problems'}, root cause first:")
        for number, finding in enumerate(found, 1):
            because = "" if finding.cause is None else f" (probably follows from {finding.cause + 1})"
            lines += [f"  {number}. {finding}{because}", f"     {finding.advice}"]
    used = used_kinds(record)
    shown = [
        ("global", "Global memory, in sectors of 32 bytes:"),
        ("shared", "Shared memory, in turns of its 32 banks:"),
    ]
    for space, heading in shown:
        rows = []
        for name in dict.fromkeys(array.name for array in record.arrays if array.space == space):
            numbers = {array.number for array in record.arrays if array.space == space and array.name == name}
            for kind in KINDS:
                if any((number, kind) in used for number in numbers):
                    cost = report.requests(name, kind) if space == "global" else report.bank_conflicts(name, kind)
                    rows.append(f"  {name} {kind}: {cost}")
            if space == "global" and any((number, kind) in used for number in numbers for kind in KINDS[1:]):
                rows.append(f"  {name}: {report.coverage(name)}")
        if rows:
            lines += [heading, *rows]
    work = report.accesses_per_thread()
    spread = f"{work.min:,} to {work.max:,}, {work.mean:,.1f} on average"
    lines.append(f"Accesses a thread: {spread}; {work.idle:,} threads touch nothing")
    return "\n".join(lines)
