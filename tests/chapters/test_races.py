"""The claims in the prose of compute/races that a number supports, each with its sentence.

Numbers from elsewhere that are used here: what the broken kernels compute when it is worked out by hand for an order of
threads, and the words of two checkers about the same kernels on a real card, as the committed run keeps them.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from gpumoat.facts import registry


@pytest.fixture
def chapter(chapter_of):
    """The chapter."""
    return chapter_of("compute/races")


@pytest.fixture
def n(chapter):
    """The names of its worked example."""
    return chapter.n


@pytest.fixture
def sanitizer():
    """What the checkers said on the card, by kernel and tool."""
    return registry().measurements["h200-kernel-counters"].row["raw"]["sanitizer"]


def one(rows, bug):
    """The one record of a bug."""
    (found,) = [each for each in rows if each["bug"] == bug]
    return found


def test_the_lede(chapter, n) -> None:
    assert chapter.says("Of … runs of broken kernels in a simulator … gave the right answer.")
    verdicts = [each[order] for each in n.trials for order in ("forward", "reverse", "random")]
    assert (len(verdicts), verdicts.count("right")) == (n.runs_count, n.right_count) == (21, 14)
    assert set(verdicts) == {"right", "wrong"}
    assert chapter.says("NVIDIA's checkers, on a real card, saw … of the … bugs.")
    assert (n.seen_count, n.bugs_count) == (3, 7)


def test_the_kernels_that_pass_in_any_order(chapter, n) -> None:
    assert chapter.says("It would pass … of the kernels in any order that we tried.")
    always = [each["bug"] for each in n.trials if {each["forward"], each["reverse"], each["random"]} == {"right"}]
    assert len(always) == n.always_count == 4


def test_right_answers_are_worked_out_elsewhere(chapter, n) -> None:
    assert chapter.says("Results against the right ones, which were computed without these kernels.")
    assert n.total == n.count * (n.count - 1) / 2
    assert n.falling == len([1 for this, following in pairwise(n.row) if this < following])
    assert n.differences[:-1] == tuple(this - following for this, following in pairwise(n.row))


def test_forward_loses_half_of_the_numbers(chapter, n) -> None:
    assert chapter.says("With the threads in order, the readers come first, find nothing, and half of the numbers are")
    kept = [value for value in range(128) if value % 64 < 32]  # those that threads 0 to 31 add up
    assert n.scatter[0]["sum"] == sum(kept)
    assert len(kept) == n.count / 2
    assert chapter.says(
        "From the last to the first, the writers come first, and the sum is right. At random, it is neither."
    )
    assert n.scatter[1]["sum"] == n.total
    shuffled = [each["sum"] for each in n.scatter[2:]]
    assert all(n.scatter[0]["sum"] < each < n.total for each in shuffled)
    assert chapter.says("One kernel, the same numbers, … orders: … is right.")
    assert n.lucky_count == 1


def test_each_element_is_read_by_one_thread_and_written_by_another(chapter, n) -> None:
    assert chapter.says("a frame for the thread that reads it, and a filled one for the thread that writes it")
    readers = {each["first"]: each["thread"] for each in n.touched if each["kind"] == "load"}
    writers = {each["first"]: each["thread"] for each in n.touched if each["kind"] == "store"}
    assert n.raced_count == 32
    assert len(n.touched) == len(readers) + len(writers) == 2 * 16
    assert readers == {at: at - 32 for at in range(32, 48)}
    assert writers == {at: at for at in range(32, 48)}


def test_the_rule_finds_the_same_in_every_order(chapter, n) -> None:
    assert chapter.says("for … kernels of …, whether the result was right or wrong")
    assert n.agreeing == n.bugs_count
    for bug, kernel in n.bugs:
        seen = {
            tuple((each.array, each.lines, each.scope, each.count) for each in n.launch(kernel, order)[0].data_races())
            for order in ("forward", "reverse")
        }
        assert len(seen) == 1, bug


def test_a_kernel_without_a_bug_gives_no_finding(n) -> None:
    """A check that finds something in everything is no check."""
    for kernel in ("stencil:stencil_global", "stencil:stencil_shared"):
        for order in ("forward", "reverse", "random"):
            report, sums = n.launch(kernel, order)
            assert not report.findings()
            assert sums == n.window_sums


def test_what_is_left_of_a_count_if_lanes_go_together(chapter, n) -> None:
    assert chapter.says("There are … such stores in this run, so if lanes go together the counter ends at … or less.")
    warps = [n.row[first : first + 33] for first in range(0, n.count, 32)]
    storing = [warp for warp in warps if any(this < following for this, following in pairwise(warp))]
    assert n.counted_most == len(storing) < n.falling
    assert one(n.trials, "count, not atomic") == {
        "bug": "count, not atomic",
        **dict.fromkeys(("forward", "reverse", "random"), "right"),
    }


def test_results_over_the_picture_are_right_forward_only(chapter, n) -> None:
    assert chapter.says("Forward, each thread is done before its right neighbour begins, and all is well.")
    trial = one(n.trials, "differences, in place")
    assert (trial["forward"], trial["reverse"]) == ("right", "wrong")
    # Backwards, by hand: the right neighbour's first pixel is a difference already.
    pixels = list(n.row)
    for first in reversed(range(0, n.count, 2)):
        for at in (first, first + 1):
            pixels[at] -= pixels[at + 1]
    assert tuple(pixels) == n.launch("bugs:strip_in_place", "reverse")[1] != n.differences


def test_tiles_that_overlap_are_right_and_a_race(chapter, n) -> None:
    assert chapter.says("The result is right in every order. It is a race all the same")
    find = one(n.found, "window, tiles overlap")
    assert (find["kind"], find["memory"]) == ("data race", "global")


def test_both_barriers_in_a_branch_come_out_right_in_the_simulator(chapter, n) -> None:
    assert chapter.says("The simulator lets the threads that wait go on, and so both results are right.")
    for bug in ("sum, a barrier in a branch", "window, a barrier in a branch"):
        assert set(one(n.trials, bug).values()) == {bug, "right"}
        assert one(n.found, bug)["kind"] == "barrier divergence"


def test_what_the_checkers_said_on_the_card(chapter, n, sanitizer) -> None:
    assert chapter.says("Racecheck agrees with the rule wherever it looks.")
    for find, tool, (_, kernel) in zip(n.found, n.tools, n.bugs, strict=True):
        name = kernel.partition(":")[2]
        hazards = sanitizer[f"{name} racecheck"]
        if tool["racecheck"] is None:
            assert not hazards["ended"]
        else:
            assert f"({tool['racecheck']} error" in hazards["summary"][0]
        assert f"{tool['synccheck']} errors" in sanitizer[f"{name} synccheck"]["summary"][0]
        if find["memory"] == "shared":
            assert tool["racecheck"] > 0
    assert chapter.says("… of these bugs race in global memory. There both tools are silent")
    silent = [tool for find, tool in zip(n.found, n.tools, strict=True) if find["memory"] == "global"]
    assert len(silent) == n.global_count == 3
    assert not any(each["racecheck"] or each["synccheck"] for each in silent)


def test_initcheck_found_nothing(chapter, n, sanitizer) -> None:
    assert chapter.says("and found nothing in any kernel that ended")
    for _, kernel in n.bugs:
        said = sanitizer[f"{kernel.partition(':')[2]} initcheck"]
        assert said["summary"] == ["ERROR SUMMARY: 0 errors"] or not said["ended"]


def test_one_kernel_never_ended(chapter, n, sanitizer) -> None:
    assert chapter.says("… kernel of … never ended on the card: this one.")
    hung = [key for key, said in sanitizer.items() if key.endswith(" none") and not said["ended"]]
    assert hung == ["stencil_barrier_in_branch none"]
    assert n.hanging_count == 1
    assert chapter.says("In the sum, the threads that skip the barrier have nothing left to do and return")
    assert sanitizer["barrier_in_branch none"]["ended"]
    assert one(n.tools, "sum, a barrier in a branch")["synccheck"] == 0


def test_threads_wait_at_two_barriers(chapter, n) -> None:
    assert chapter.says("some threads wait at one barrier and the others at another one")
    divergent = n.launch("bugs:stencil_barrier_in_branch")[0].barrier_divergence
    assert len(divergent[0].lines) == 2
    assert len(n.launch("reduction_bugs:barrier_in_branch")[0].barrier_divergence[0].lines) == 1


def test_one_cause_and_many_symptoms(chapter, n) -> None:
    assert chapter.says("makes … reads of shared memory that nobody has written yet")
    assert n.symptoms > 5_000
    findings = n.blurred.findings()
    assert [each.kind for each in findings] == ["data race", "uninitialized read"]
    assert findings[1].cause == 0
    assert n.causes == 1
    assert chapter.says("Here … finding of the report stands without a cause, and it is the right one.")


def test_indices_are_right_and_the_order_is_not(chapter, n) -> None:
    assert chapter.says("these kernels have none but one: their indices are right and their order is not")
    for _, kernel in n.bugs:
        assert not n.launch(kernel)[0].out_of_bounds


def test_no_number_of_runs_would_show_two_of_them(chapter, n) -> None:
    assert chapter.says("are right in every order that changes threads between statements")
    for seed in range(8):
        assert n.launch("bugs:count_falling", "random", seed)[1] == (n.falling,)
        assert n.launch("bugs:stencil_overlapping", "random", seed)[1] == n.window_sums
