"""What the card's own tools say of each kernel: sectors, bank conflicts, and planted faults.

Run on a machine with a card, Nsight Compute and compute-sanitizer:

    PYTHONPATH=src python -m gpumoat.bench.kernel_counters h200-kernel-counters.json

It starts itself again under each tool. ``ncu`` reads the hardware's counters for the launches of
``gpumoat.bench.kernel_cases``, and for every launch of ``gpumoat.bench.image_variants`` at full size;
``compute-sanitizer`` looks at the planted bugs. The results of every launch of the small cases are compared with
NumPy's. What the simulator predicts is compared in the tests, from the file that this writes.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gpumoat.bench.card import numba_cuda, run_file
from gpumoat.bench.kernel_cases import bug_cases, cases

SMALL = (
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "smsp__inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_shared_st.sum",
)
LARGE = (
    *SMALL[:6],
    "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__inst_executed.sum",
    "gpu__time_duration.sum",
    "launch__registers_per_thread",
)


TOOLS = ("none", "racecheck", "synccheck", "initcheck")
PATIENCE_S = 25


def run_cases(check: bool) -> None:
    """Make every small launch once; compare the results with NumPy's if asked."""
    cuda = numba_cuda()
    for case in cases():
        arguments = case.make()
        on_card = device_arguments(cuda, arguments)
        case.load()[case.grid, case.block](*on_card.values())
        found = on_card[case.output].copy_to_host()
        if check and not (found == case.right(arguments)).all():
            raise SystemExit(f"{case.source}: the card's results differ from NumPy's")


def run_bug(name: str) -> None:
    """Make the launch of one planted bug."""
    cuda = numba_cuda()
    case = bug_cases()[name]
    on_card = device_arguments(cuda, case.make())
    case.load()[case.grid, case.block](*on_card.values())
    cuda.synchronize()


def device_arguments(cuda: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Copy arrays to the card; wide views stay views of what they are views of."""
    found: dict[str, Any] = {}
    for name, value in arguments.items():
        if name in ("words", "results"):
            base = found["pixels" if name == "words" else "differences"]
            found[name] = base[: value.nbytes // base.dtype.itemsize].view(value.dtype)
        else:
            found[name] = cuda.to_device(value) if hasattr(value, "dtype") else value
    return found


def counters(module: str, arguments: list[str], metrics: tuple[str, ...]) -> list[dict[str, Any]]:
    """Run a module under Nsight Compute and return the metrics of each launch of our kernels, in order."""
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
    command += ["--metrics", ",".join(metrics), sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = read_counters(done.stdout, metrics)
    if not found:
        raise SystemExit(f"ncu saw no kernel of numba's:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return found


def read_counters(text: str, metrics: tuple[str, ...]) -> list[dict[str, Any]]:
    """Read the launches of numba's kernels from what ``ncu --csv --page raw`` prints.

    numba gives its kernels a version and a hash, ``strip[v1,cw51c...](...)``: by that we tell them from the kernels
    that CuPy launches in between.
    """
    lines = text.splitlines()
    begin = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    found = []
    for row in csv.DictReader(io.StringIO("\n".join(lines[begin:]))):
        ours = re.search(r"(\w+)\[(?:abi:)?v\d+,", row["Kernel Name"])
        if ours:
            blocks, threads = (
                [int(each) for each in re.findall(r"\d+", row[key])] for key in ("Grid Size", "Block Size")
            )
            values = {key: float(row[key].replace(",", "")) for key in metrics if row.get(key)}
            found.append({"kernel": ours[1], "grid": blocks, "block": threads, "metrics": values})
    return found


def checked(tool: str, bug: str) -> dict[str, Any]:
    """Run one planted bug under a tool of compute-sanitizer, or with none; return what it said in short."""
    command = [sys.executable, "-m", "gpumoat.bench.kernel_counters", "--bug", bug]
    if tool != "none":
        command = ["compute-sanitizer", "--tool", tool, *command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        return {"ended": False, "summary": [f"not done after {PATIENCE_S} s"], "first": []}
    said = [line.removeprefix("=========").strip() for line in done.stdout.splitlines() if line.startswith("====")]
    return {"ended": True, "summary": [line for line in said if "SUMMARY" in line], "first": said[:8]}


def results_of(raw: dict[str, Any]) -> dict[str, tuple[float | int, str, str]]:
    """Return the results by name, from what was read."""
    found: dict[str, tuple[float | int, str, str]] = {
        "cases_count": (len(raw["cases"]), "", "small launches whose results equal NumPy's on the card")
    }
    for launch in raw["large"]:
        for kind, word in (("ld", "load"), ("st", "store")):
            ratio = launch["metrics"][f"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{kind}.ratio"]
            name = f"{launch['kernel']}_{word}_sectors"
            found.setdefault(name, (ratio, "", f"sectors a request, {word}s of {launch['kernel']} at full size"))
    for launch in raw["small"]:
        if launch["kernel"].startswith(("transpose", "stencil")):
            conflicts = launch["metrics"]["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"]
            grid = "x".join(str(each) for each in launch["grid"][:2])
            what = f"bank conflicts of shared loads, {launch['kernel']}, {grid} blocks"
            found[f"{launch['kernel']}_{grid}_bank_conflicts_count"] = (int(conflicts), "", what)
    for asked, said in raw["sanitizer"].items():
        bug, tool = asked.split()
        if tool in ("racecheck", "synccheck") and said["ended"]:
            errors = sum(
                int(each) for line in said["summary"][:1] for each in re.findall(r"(\d+) (?:hazards? d|errors?$)", line)
            )
            found[f"{bug}_{tool}_errors_count"] = (errors, "", f"what compute-sanitizer's {tool} reports of {bug}")
    hangs = [
        asked.split()[0] for asked, said in raw["sanitizer"].items() if asked.endswith(" none") and not said["ended"]
    ]
    found["hanging_bugs_count"] = (len(hangs), "", f"planted bugs that never end on the card: {', '.join(hangs)}")
    for launch in raw["large"]:
        kernel, metrics = launch["kernel"], launch["metrics"]
        registers = int(metrics["launch__registers_per_thread"])
        found[f"{kernel}_registers_count"] = (registers, "", f"registers of a thread of {kernel}")
    for launch in raw["large"]:
        kernel, metrics = launch["kernel"], launch["metrics"]
        moved = int(metrics["dram__bytes_read.sum"] + metrics["dram__bytes_write.sum"])
        grid = f"{launch['grid'][0]}x{launch['block'][0]}"
        what = f"read from the card's memory and written to it, {kernel}, {grid}, at full size"
        found[f"{kernel}_{grid}_memory_bytes"] = (moved, "bytes", what)
    return found


def main() -> None:
    """Read the counters, and write the run's file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--cases", action="store_true", help="make the small launches once, for a profiler")
    parser.add_argument("--bug", help="make the launch of one planted bug, for a checker")
    parser.add_argument("--counters-only", action="store_true", help="leave the checkers out")
    asked = parser.parse_args()
    if asked.cases:
        return run_cases(check=False)
    if asked.bug:
        return run_bug(asked.bug)
    run_cases(check=True)
    raw: dict[str, Any] = {}
    raw["cases"] = [{"source": case.source, "grid": case.grid, "block": case.block} for case in cases()]
    raw["small"] = counters("gpumoat.bench.kernel_counters", ["--cases"], SMALL)
    raw["large"] = counters("gpumoat.bench.image", ["--counters"], LARGE)
    asks = [(bug, tool) for bug in bug_cases() for tool in TOOLS if not asked.counters_only]
    with ThreadPoolExecutor(8) as pool:  # each is a process of its own, and mostly waits
        said = list(pool.map(lambda ask: checked(ask[1], ask[0]), asks))
    raw["sanitizer"] = {f"{bug} {tool}": what for (bug, tool), what in zip(asks, said, strict=True)}
    results = results_of(raw)
    title = "Kernels under the profiler and the checkers of one card"
    text = run_file("h200-kernel-counters", title, "src/gpumoat/bench/kernel_counters.py", results, raw)
    asked.file.write_text(text) if asked.file else sys.stdout.write(text)
    return None


if __name__ == "__main__":
    main()
