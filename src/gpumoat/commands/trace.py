"""``gpumoat trace``: run a CUDA kernel without a GPU, and say what it does to memory and what is wrong with it.

The kernel is read as source and never imported, so neither numba nor a GPU is needed. Exit status 0: nothing was
found; 1: there are findings; 2: the input could not be run, and nothing was written.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from gpumoat.commands.answer import Json, refuse
from gpumoat.commands.trace_arguments import read_arguments
from gpumoat.simt import trace as trace_kernel
from gpumoat.simt.errors import SimtError
from gpumoat.simt.findings import Finding
from gpumoat.simt.record import KINDS
from gpumoat.simt.report import Report
from gpumoat.simt.source import find_kernel
from gpumoat.simt.summary import launch_text, used_kinds


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(trace)


def trace(
    kernel: Annotated[str, typer.Argument(help="FILE.py:KERNEL, or package.module:KERNEL; read, never imported.")],
    grid: Annotated[str, typer.Option(help="Blocks along x, or x,y or x,y,z: 8 or 2,2.")],
    block: Annotated[str, typer.Option(help="Threads of a block, in the same way: 128 or 32,8.")],
    arg: Annotated[
        list[str] | None,
        typer.Option(
            help="An argument of the kernel, in order or with its name: 36, float32:0.5, int16[36000], "
            "a=uint8[64,64]:random (or zeros, ones, arange, a number), a=picture.npy."
        ),
    ] = None,
    shared_bytes: Annotated[int, typer.Option(help="Dynamic shared memory of a block.")] = 0,
    blocks: Annotated[str, typer.Option(help="Run only these blocks, by linear number: 0,1 or 0-3.")] = "",
    order: Annotated[str, typer.Option(help="Order of the threads: forward, reverse or random.")] = "forward",
    seed: Annotated[int, typer.Option(help="Where random arguments and the random order begin.")] = 0,
    partial: Annotated[
        list[str] | None, typer.Option(help="An array of which only a part is meant to be written: no gap counts.")
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Save pictures: out.svg, or out.html for a page.")] = None,
    as_json: Json = False,
) -> None:
    """Run a CUDA kernel without a GPU: races, gaps, coalescing, bank conflicts.

    For example, one of the package's kernels, on a small picture:

    gpumoat trace gpumoat.kernels.image:grid_stride --grid 4 --block 64 --arg uint8[998]:random --arg int16[997]

    The status is 0 where no problem was found, 1 where one was, and 2 where the kernel cannot be run.
    """
    if picture is not None and picture.suffix not in (".svg", ".html"):
        refuse(f"--picture must end in .svg or .html, not {picture.name!r}")
    if picture is not None and not picture.parent.is_dir():
        refuse(f"--picture {picture}: there is no folder {picture.parent}")
    drawing = None if picture is None else _drawing(picture)
    wait = Console(stderr=True)
    try:
        extents = _extents("--grid", grid), _extents("--block", block)
        chosen = _blocks(blocks, extents[0])
        found = find_kernel(kernel)
        signature = found.node.args
        parameters = [each.arg for each in [*signature.posonlyargs, *signature.args]]
        arguments = read_arguments(arg or [], parameters, seed)
        launcher = trace_kernel(found, *extents, shared_bytes, chosen, order, seed)
        with wait.status(f"Running {found.name}"):
            report = launcher(*arguments)
        with wait.status(f"Looking at {len(report.record):,} accesses"):
            findings = report.findings(partial or [])
            answer = _answer(report, findings)
        if picture is not None and drawing is not None:
            with wait.status("Drawing"):
                _write(picture, drawing(report))
    except (SimtError, ValueError, OSError) as error:
        refuse(_line(error))
    if as_json:
        print(json.dumps(answer, indent=2, ensure_ascii=False))
    else:
        _show(report, findings, answer, picture)
    if findings:
        raise typer.Exit(1)


def _line(error: Exception) -> str:
    """Return what an error says as one line, with the options for the names that the simulator uses."""
    text = " ".join(str(error).split())
    for name in ("grid", "block", "blocks", "shared_bytes", "order"):
        if text.startswith(f"{name}: "):
            return f"--{name.replace('_', '-')}{text[len(name) :]}"
    return text


def _drawing(picture: Path) -> Any:
    try:
        from gpumoat.site import trace_page
    except ImportError as error:
        refuse(f"--picture needs {error.name}, which comes with the site's requirements: run make install")
    return trace_page.svg_file if picture.suffix == ".svg" else trace_page.html_file


def _write(path: Path, text: str) -> None:
    """Write a file in one step: whole, or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _extents(option: str, text: str) -> tuple[int, ...]:
    parts = text.replace("x", ",").split(",")
    if not 1 <= len(parts) <= 3 or not all(part.strip().isdigit() and int(part) > 0 for part in parts):
        raise ValueError(f"{option} must be one to three whole numbers of at least 1, such as 8 or 32,8, not {text!r}")
    return tuple(int(part) for part in parts)


def _blocks(text: str, grid: tuple[int, ...]) -> list[int] | None:
    if not text:
        return None
    out: list[int] = []
    count = 1
    for extent in grid:
        count *= extent
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise ValueError(f"--blocks must be numbers and ranges, such as 0,1 or 0-3, not {text!r}")
        start, stop = int(first), int(last or first)
        if stop < start or stop >= count:
            raise ValueError(f"--blocks {text}: there are blocks from 0 to {count - 1}, and a range goes upwards")
        out += range(start, stop + 1)
    return out


def _answer(report: Report, findings: list[Finding]) -> dict[str, Any]:
    """Return the report as JSON has it; the tables hold the same values."""
    record = report.record
    work = report.accesses_per_thread()
    requests, conflicts, coverage = [], [], []
    used = {(record.arrays[number].space, record.arrays[number].name, kind) for number, kind in used_kinds(record)}
    for array in dict.fromkeys((each.space, each.name) for each in record.arrays):
        space, name = array
        for kind in KINDS:
            if (space, name, kind) in used and space == "global":
                cost = report.requests(name, kind)
                requests.append(
                    {
                        "array": name,
                        "kind": kind,
                        "requests_count": cost.requests,
                        "sectors_count": cost.sectors,
                        "ideal_count": cost.ideal,
                        "sectors_per_request": cost.sectors_per_request,
                        "used_share": cost.efficiency,
                        "active_lanes": cost.active_lanes,
                    }
                )
            if (space, name, kind) in used and space == "shared":
                turns = report.bank_conflicts(name, kind)
                conflicts.append(
                    {
                        "array": name,
                        "kind": kind,
                        "requests_count": turns.requests,
                        "turns_count": turns.wavefronts,
                        "ideal_count": turns.ideal,
                        "max_ways": turns.max_ways,
                    }
                )
        if space == "global" and any((space, name, kind) in used for kind in KINDS[1:]):
            cover = report.coverage(name)
            coverage.append(
                {
                    "array": name,
                    "elements_count": cover.size,
                    "gaps_count": len(cover.gaps),
                    "overlaps_count": len(cover.overlaps),
                    "exactly_once": cover.exactly_once,
                }
            )
    return {
        "kernel": record.kernel,
        "grid": list(record.grid),
        "block": list(record.block),
        "accesses_count": len(record),
        "findings": [
            {
                "kind": each.kind,
                "array": each.array,
                "lines": list(each.lines),
                "count": each.count,
                "text": each.text,
                "advice": each.advice,
                "cause": each.cause,
            }
            for each in findings
        ],
        "requests": requests,
        "bank_conflicts": conflicts,
        "coverage": coverage,
        "accesses_per_thread": {"min": work.min, "mean": work.mean, "max": work.max, "idle_count": work.idle},
    }


def _show(report: Report, findings: list[Finding], answer: dict[str, Any], picture: Path | None) -> None:
    out = Console()
    say = out.print
    say(launch_text(report.record), style="bold", markup=False, highlight=False)
    if findings:
        table = _table("What is wrong, root cause first", ("", "what", "where, and how often", "where to look"))
        for number, each in enumerate(findings, 1):
            follows = "" if each.cause is None else f" (probably follows from {each.cause + 1})"
            table.add_row(str(number), each.kind, each.text + follows, each.advice)
        say(table, markup=False, highlight=False)
    else:
        say("No problem found in this launch. Try a size that the grid does not divide.", markup=False)
    if answer["requests"]:
        table = _table(
            "Global memory, in sectors of 32 bytes",
            ("array", "", "requests", "sectors each", "at best", "bytes asked for", "lanes"),
        )
        for row in answer["requests"]:
            table.add_row(
                row["array"],
                row["kind"],
                f"{row['requests_count']:,}",
                f"{row['sectors_per_request']:.2f}",
                f"{row['ideal_count'] / row['requests_count']:.2f}",
                f"{row['used_share']:.1%}",
                f"{row['active_lanes']:.1f} of 32",
            )
        say(table, markup=False, highlight=False)
    if answer["bank_conflicts"]:
        table = _table(
            "Shared memory, in turns of its 32 banks", ("array", "", "requests", "turns", "at best", "worst")
        )
        for row in answer["bank_conflicts"]:
            worst = "no conflict" if row["max_ways"] == 1 else f"{row['max_ways']}-way"
            counts = (f"{row[name]:,}" for name in ("requests_count", "turns_count", "ideal_count"))
            table.add_row(row["array"], row["kind"], *counts, worst)
        say(table, markup=False, highlight=False)
    for row in answer["coverage"]:
        say(f"{row['array']}: {report.coverage(row['array'])}", markup=False, highlight=False)
    work = answer["accesses_per_thread"]
    spread = f"{work['min']:,} to {work['max']:,}, {work['mean']:,.1f} on average"
    say(f"Accesses a thread: {spread}; {work['idle_count']:,} threads touch nothing", markup=False, highlight=False)
    if picture is not None:
        say(f"Picture: {picture}", markup=False, highlight=False, soft_wrap=True)


def _table(title: str, headings: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for heading in headings:
        numeric = heading in ("requests", "sectors each", "at best", "bytes asked for", "lanes", "turns", "worst")
        table.add_column(
            heading, justify="right" if numeric else "left", style="dim" if heading == "where to look" else ""
        )
    return table
