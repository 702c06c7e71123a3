"""Seven broken kernels, each run in three orders: which results are right, and what a rule finds in any of them."""

import random
from itertools import pairwise

from gpumoat import assume, fact, measured, simt

# What they work on: numbers to add up, a row of pixels, and a picture of two blocks each way that they do not fill.
warp = fact("cuda.warp_threads")
threads = 2 * warp
count = 2 * threads
values = tuple(range(count))
levels = range(assume(256, "the values that a byte can have"))
row = tuple(random.Random(1).choices(levels, k=count + 1))
warps = assume(8, "the blocks of the kernels in gpumoat.kernels.stencil have eight warps")
rows = 2 * warps
columns = warp + warp // 2
picture = tuple(random.Random(2).choices(levels, k=rows * columns))


def launch(kernel, order="forward", seed=0):
    """Run a kernel of gpumoat.kernels in an order; return the report and what it computed."""
    grid, block, more = 1, threads, ()
    if "stencil" in kernel:
        given, results = simt.array((rows, columns), "uint8", picture), simt.array((rows, columns), "int16")
        grid, block = (2, 2), (warp, warps)
    elif "count" in kernel:
        given, results, grid = simt.array((count + 1,), "uint8", row), simt.array((1,), "int32"), 2
    elif "strip" in kernel:
        given = results = simt.array((count + 1,), "int16", row)
        more = (2, 2)
    else:
        given, results = simt.array((count,), "float32", values), simt.array((1,), "float32")
    arguments = (given, *more) if more else (given, results)
    report = simt.trace("gpumoat.kernels." + kernel, grid, block, order=order, seed=seed)(*arguments)
    return report, tuple(results.flat)


bugs = (
    ("sum, a barrier missing", "reduction_bugs:missing_barrier"),
    ("sum, a barrier in a branch", "reduction_bugs:barrier_in_branch"),
    ("window, a barrier missing", "bugs:stencil_without_barrier"),
    ("window, a barrier in a branch", "bugs:stencil_barrier_in_branch"),
    ("window, tiles overlap", "bugs:stencil_overlapping"),
    ("count, not atomic", "bugs:count_falling"),
    ("differences, in place", "bugs:strip_in_place"),
)
# The right answers, by other means: plain Python, and for the sums of a window the kernel that shares nothing.
total = sum(values)
falling = sum(this < following for this, following in pairwise(row))
differences = tuple(this - following for this, following in pairwise(row)) + row[-1:]
window_sums = launch("stencil:stencil_global")[1]
rights = ((total,), (total,), window_sums, window_sums, window_sums, (falling,), differences)
trials = []
found = []
agreeing = 0
for (bug, kernel), right in zip(bugs, rights, strict=True):
    runs = [launch(kernel, order) for order in ("forward", "reverse", "random")]
    verdicts = ["right" if results == right else "wrong" for _, results in runs]
    trials.append({"bug": bug, "forward": verdicts[0], "reverse": verdicts[1], "random": verdicts[2]})
    report = runs[0][0]
    first = report.findings()[0]
    agreeing += all(each.findings()[0].lines == first.lines for each, _ in runs)
    memory = {array.name: array.space for array in report.record.arrays}.get(first.array, "")
    found.append({"bug": bug, "kind": first.kind, "memory": memory})
    print(f"{bug}: {', '.join(verdicts)}; {first}")
bugs_count = len(bugs)
always_count = sum("wrong" not in trial.values() for trial in trials)
runs_count = len(trials[0].keys() - {"bug"}) * bugs_count
right_count = sum(list(trial.values()).count("right") for trial in trials)
global_count = sum(each["memory"] == "global" for each in found)

# What NVIDIA's checkers say of the same kernels on a card. One hung there, so that racecheck could not say anything.
run = "h200-kernel-counters"
tools = []
for label, source in bugs:
    race = source.partition(":")[2] + "_racecheck_errors_count"
    sync = source.partition(":")[2] + "_synccheck_errors_count"
    hung = "stencil_barrier_in" in source
    errors = {"bug": label, "racecheck": None if hung else measured(run, race), "synccheck": measured(run, sync)}
    tools.append(errors)
seen_count = sum(bool(each["racecheck"] or each["synccheck"]) for each in tools)
hanging_count = measured(run, "hanging_bugs_count")

# The missing barrier: who touches what it should have guarded, and what comes out in many orders.
report = launch("reduction_bugs:missing_barrier")[0]
touched = report.touches("shared", first=warp, last=warp + 2 * warps - 1)
raced_count = report.data_races()[0].count
scatter = []
turns = [("forward", 0), ("reverse", 0)] + [("random", seed) for seed in range(2, 2 * warps)]
for turn, (order, seed) in enumerate(turns):
    scatter.append({"run": turn, "order": order, "sum": launch("reduction_bugs:missing_barrier", order, seed)[1][0]})
scatter_count = len(scatter)
lucky_count = sum(each["sum"] == total for each in scatter)

# One cause and many symptoms; and what a card can count if the lanes of a warp go together.
blurred = launch("bugs:stencil_without_barrier")[0]
symptoms = blurred.record.uninitialized_reads_count
causes = len([each for each in blurred.findings() if each.cause is None])
counted_most = launch("bugs:count_falling")[0].requests("counts", "store").requests
