"""The problems of a launch, root cause first.

A fault seldom comes alone: a barrier left out makes a race, the race a read of memory that nobody has written yet,
and a wrong number at the end. Who starts at the number looks longest. So findings stand in the order in which one
explains the next:

1. *out of bounds*: the card may then do anything, and an index that is wrong here is wrong elsewhere too;
2. *barrier divergence*: after it, nothing is in order, so races that follow may be its doing;
3. *data race*: which thread comes first is open, so whatever is read may be old, new, or not yet there;
4. *uninitialized read*: of shared memory before anybody has written it, often what a race looks like from one side;
5. *overlap* and 6. *gap*: elements that two threads write or nobody does, the plain consequence of wrong bounds.

Within a kind the earlier barrier comes first, then the lower line. A finding that another one explains says which;
that is a judgement by a simple rule (the same array, the same line), and only the kernel's author knows.

What counts: an overlap counts only where two threads store without order, since a thread may store twice, and another
one after a barrier. A gap counts only in an array that the launch stores to and never loads, because one that is
updated in place need not change everywhere; in a launch of which only some blocks ran no gap counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from gpumoat.simt.coverage import coverage
from gpumoat.simt.elements import Elements, elements_text
from gpumoat.simt.races import SCOPES, Race
from gpumoat.simt.record import ATOMIC, LOAD, Fault, Record
from gpumoat.simt.rows import Rows

ORDER = ("out of bounds", "barrier divergence", "data race", "uninitialized read", "overlap", "gap")
"""Kinds of findings, root cause first."""


@dataclass(frozen=True)
class Finding:
    """One problem.

    Attributes:
        kind: One of ``ORDER``.
        array: The array's name; empty for a barrier.
        lines: The source lines where it shows, ascending; none for a gap.
        count: How often, or how many elements.
        text: What is wrong, with a first example.
        advice: Where to look.
        cause: The place in the list, from 0, of the finding that probably explains this one; None for a root cause.
    """

    kind: str
    array: str
    lines: tuple[int, ...]
    count: int
    text: str
    advice: str
    cause: int | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def findings(rows: Rows, races: Iterable[Race], partial: Collection[str] = ()) -> list[Finding]:
    """Return the problems of a launch, root cause first.

    Args:
        rows: The record.
        races: Its races.
        partial: Arrays of which the launch is meant to write only a part: their gaps do not count.

    Raises:
        ValueError: There is no array of a name in ``partial``.
    """
    for name in partial:
        rows.arrays(name)
    races = list(races)
    record = rows.record
    found = [*_out_of_bounds(record), *_divergence(record), *_races(races), *_uninitialized(record)]
    found += [*_overlaps(rows, races), *_gaps(rows, partial)]
    return [replace(each, cause=_cause(each, number, found)) for number, each in enumerate(found)]


def _cause(finding: Finding, place: int, found: list[Finding]) -> int | None:
    """Return the first finding above that explains this one, by the same array or the same line."""
    for number, earlier in enumerate(found[:place]):
        same_array, same_line = earlier.array == finding.array, bool(set(earlier.lines) & set(finding.lines))
        explains = {
            "out of bounds": False,
            "barrier divergence": earlier.kind == "barrier divergence" and same_line,
            "data race": earlier.kind == "barrier divergence",
            "uninitialized read": earlier.kind == "barrier divergence"
            or (earlier.kind == "data race" and same_array and same_line),
            "overlap": earlier.kind == "data race" and same_array and same_line,
            "gap": earlier.kind in ("out of bounds", "overlap") and same_array,
        }
        if explains[finding.kind]:
            return number
    return None


def _shown(index: int | tuple[int, ...]) -> str:
    return ", ".join(str(each) for each in index) if isinstance(index, tuple) else str(index)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _together(faults: Iterable[Fault]) -> dict[tuple[int, str, str], list[Fault]]:
    out: dict[tuple[int, str, str], list[Fault]] = {}
    for fault in faults:
        out.setdefault((fault.line, fault.array, fault.kind), []).append(fault)
    return dict(sorted(out.items()))


def _capped(record_count: int, kept: int) -> str:
    return f", among the first {kept:,} of {record_count:,}" if record_count > kept else " in all"


def _out_of_bounds(record: Record) -> Iterable[Finding]:
    shapes = {array.name: array.shape for array in record.arrays}
    capped = _capped(record.out_of_bounds_count, len(record.out_of_bounds))
    for (line, array, kind), faults in _together(record.out_of_bounds).items():
        one = faults[0]
        shape = shapes.get(array)
        size = "" if shape is None else f" of an array of {' x '.join(f'{extent:,}' for extent in shape)}"
        text = (
            f"line {line}: {kind} of {array}[{_shown(one.index)}]{size} by thread {one.thread} of block {one.block}, "
            f"{_count(len(faults), 'time')}{capped}"
        )
        advice = "the last thread, the last element, and the border are where to look"
        yield Finding("out of bounds", array, (line,), len(faults), text, advice)


def _divergence(record: Record) -> Iterable[Finding]:
    together: dict[tuple[tuple[int, ...], str], list[int]] = {}
    for number, each in enumerate(record.barrier_divergence):
        together.setdefault((each.lines, each.scope), []).append(number)
    for (lines, scope), numbers in sorted(together.items()):
        one = record.barrier_divergence[numbers[0]]
        others = "the others do not"
        if len(lines) > 1:
            others = f"others wait at {' and '.join(f'line {line}' for line in lines[1:])}, or do not wait"
        who = "block" if scope == "block" else "a warp of block"
        text = (
            f"line {lines[0]}: {one.arrived:,} of {one.live:,} threads of {who} {one.block} wait there while {others}, "
            f"{_count(len(numbers), 'time')} in all"
        )
        advice = (
            "move the barrier out of the branch or the loop that only some threads take"
            if scope == "block"
            else "a mask names lanes that do not come: compute it before the branch, or let all lanes call"
        )
        yield Finding("barrier divergence", "", lines, len(numbers), text, advice)


def _races(races: list[Race]) -> Iterable[Finding]:
    """Put the scopes of one pair of lines together: the same code races within a warp, a block and the grid."""
    together: dict[tuple[str, tuple[int, int]], list[Race]] = {}
    for race in races:
        together.setdefault((race.array, race.lines), []).append(race)
    for (array, lines), alike in together.items():
        scopes = [scope for scope in SCOPES if any(race.scope == scope for race in alike)]
        elements = Elements.of(element for race in alike for element in race.elements)
        first = min(alike, key=lambda race: race.index)
        which = elements_text(elements, first.shape)
        text = f"{_count(len(elements), 'element')} of {array} ({which}), {first.example()}; "
        within = {"warp": "lanes of a warp", "block": "warps of a block", "grid": "blocks"}
        text += f"between {' and '.join(within[scope] for scope in scopes)}"
        if any(race.both_write for race in alike):
            advice = "let one thread write each element, or use an atomic operation"
        elif "grid" in scopes:
            advice = "blocks cannot wait for each other: end the kernel between the two, or keep them in one block"
        else:
            name = "syncwarp" if scopes == ["warp"] else "syncthreads"
            advice = f"a {name} is missing between the two, or in a loop at the end of a turn, before the next begins"
        unique = tuple(dict.fromkeys(lines))
        yield Finding("data race", array, unique, len(elements), text, advice)


def _uninitialized(record: Record) -> Iterable[Finding]:
    capped = _capped(record.uninitialized_reads_count, len(record.uninitialized_reads))
    for (line, array, _), faults in _together(record.uninitialized_reads).items():
        one = faults[0]
        text = (
            f"line {line}: {array}[{_shown(one.index)}] is read by thread {one.thread} of block {one.block} before "
            f"any thread has written it; such reads on this line: {len(faults):,}{capped}"
        )
        advice = "shared memory begins with whatever the last block left; look for the barrier or the halo left out"
        yield Finding("uninitialized read", array, (line,), len(faults), text, advice)


def _overlaps(rows: Rows, races: list[Race]) -> Iterable[Finding]:
    together: dict[str, list[Race]] = {}
    spaces = {array.name: array.space for array in rows.record.arrays}
    for race in races:
        if race.both_write and spaces[race.array] == "global":
            together.setdefault(race.array, []).append(race)
    for array, alike in together.items():
        raced = {element for race in alike for element in race.elements}
        twice = Elements.of(raced.intersection(coverage(rows, array).overlaps))
        if twice:
            which = elements_text(twice, alike[0].shape)
            text = f"{_count(len(twice), 'element')} of {array} stored by more than one thread: {which}"
            lines = tuple(sorted({line for race in alike for line in race.lines}))
            advice = "two threads work on one element: compare where one share ends and the next begins"
            yield Finding("overlap", array, lines, len(twice), text, advice)


def _gaps(rows: Rows, partial: Collection[str]) -> Iterable[Finding]:
    record = rows.record
    if record.blocks is not None:
        return
    loaded: set[int] = set()
    stored: set[int] = set()
    for array, kind in set(zip(record.array, record.kind, strict=True)):
        (loaded if kind in (LOAD, ATOMIC) else stored).add(array)
    for each in record.arrays:
        if each.space == "global" and each.number in stored - loaded and each.name not in partial:
            gaps = coverage(rows, each.name).gaps
            if gaps:
                which = elements_text(gaps, each.shape)
                text = f"{_count(len(gaps), 'element')} of {each.name}, of {each.size:,}, never written: {which}"
                advice = "if all of it is meant to be written, shares are too short, too far apart, or too few"
                yield Finding("gap", each.name, (), len(gaps), text, advice)
