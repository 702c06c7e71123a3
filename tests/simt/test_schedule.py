"""Where threads wait for each other, in which order they run, and what is recorded of it."""

from pathlib import Path

import numpy as np
import pytest

from gpumoat import simt
from gpumoat.simt.record import DivergentBarrier

FILE = Path(__file__).with_name("simt_kernels.py")
LINES = FILE.read_text().splitlines()


def trace(name, grid, block, *arguments, **more):
    return simt.trace(f"{FILE}:{name}", grid, block, **more)(*arguments)


def line_of(name, text, after=0):
    """The line of a text inside a function."""
    start = next(place for place, line in enumerate(LINES) if line.startswith(f"def {name}("))
    found = [place + 1 for place, line in enumerate(LINES[start:], start) if text in line]
    return found[after]


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_warp_operations(order):
    out = np.zeros((10, 64), np.int64)
    report = trace("warps", 1, 64, out, order=order, seed=3)
    t = np.arange(64)
    lane, first = t % 32, t // 32 * 32
    signed = lambda bits: np.int64(np.int32(np.uint32(bits)))  # noqa: E731
    assert out[0].tolist() == (first + 5).tolist()
    assert out[1].tolist() == np.where(lane >= 2, t - 2, t).tolist()
    assert out[2].tolist() == np.where(lane < 29, t + 3, t).tolist()
    assert out[3].tolist() == (t ^ 1).tolist()
    assert set(out[4]) == {signed(0xAAAAAAAA)}
    assert out[5].tolist() == [5] * 32 + [2] * 32
    assert out[6].tolist() == [0xFFFF if one < 16 else signed(0xFFFF0000) for one in lane]
    assert set(out[7]) == {-1 + 10}
    assert out[8].tolist() == [(1 << int(one)) - 1 for one in lane]
    assert out[9].tolist() == [0x22222222 if one % 4 == 1 else 0xDDDDDDDE for one in t]
    assert not report.barrier_divergence
    last = max(report.record.warp_epoch)
    assert last == 11  # each _sync operation and syncwarp; activemask is no barrier


def test_counting_barriers():
    out = np.zeros((3, 8), np.int32)
    report = trace("counting", 1, 8, out)
    assert out.tolist() == [[5] * 8, [0] * 8, [1] * 8]
    assert sorted(set(report.record.epoch)) == [1, 2, 3]


def test_threads_that_returned_take_no_part():
    a, out = np.arange(40, dtype=np.int32), np.zeros(40, np.int32)
    report = trace("early_return", 1, 64, a, out, 40)
    assert out.tolist() == a[::-1].tolist()
    assert not report.barrier_divergence


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_a_barrier_in_a_branch(order):
    report = trace("barrier_in_branch", 1, 64, np.zeros(64, np.int32), order=order)
    line = line_of("barrier_in_branch", "syncthreads")
    assert report.barrier_divergence == [DivergentBarrier(0, (line,), 16, 64, "block")]


def test_a_barrier_in_a_branch_inside_a_device_function():
    report = trace("barrier_in_device_branch", 1, 64, np.zeros(64, np.int32))
    assert [(item.arrived, item.live) for item in report.barrier_divergence] == [(16, 64)]


def test_two_barriers_in_two_branches():
    out = np.zeros(64, np.int32)
    report = trace("two_barriers", 2, 64, out, blocks=[1])
    lines = (line_of("two_barriers", "syncthreads"), line_of("two_barriers", "syncthreads", 1))
    assert report.barrier_divergence == [DivergentBarrier(1, lines, 16, 64, "block")]
    assert out.tolist() == [1] * 64


def test_loops_of_different_length():
    report = trace("uneven_loop", 1, 64, np.zeros(64, np.int32))
    assert [(item.arrived, item.live) for item in report.barrier_divergence] == [(32, 64)]
    assert not trace("uneven_loop", 1, 32, np.zeros(32, np.int32)).barrier_divergence


def test_a_return_inside_the_loop_of_the_barrier_is_a_return():
    report = trace("return_in_loop", 1, 96, np.zeros(96, np.int32))
    assert not report.barrier_divergence


def test_lanes_that_are_elsewhere():
    out = np.zeros(32, np.int32)
    report = trace("absent_lanes", 1, 32, out)
    warp = [item for item in report.barrier_divergence if item.scope == "warp"]
    lines = (line_of("absent_lanes", "shfl"), line_of("absent_lanes", "syncthreads"))
    assert warp[0] == DivergentBarrier(0, lines, 8, 32, "warp")
    assert out[:7].tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_lanes_that_have_returned():
    out = np.zeros(32, np.int32)
    report = trace("exited_lanes", 1, 32, out)
    # The ballot is well defined; the shuffle of lane 7 reads from a lane that is gone.
    line = line_of("exited_lanes", "shfl")
    assert report.barrier_divergence == [DivergentBarrier(0, (line,), 7, 8, "warp")]
    assert out[:7].tolist() == [255 + t + 1 for t in range(7)]


def test_masks_of_half_a_warp():
    out = np.zeros(32, np.int32)
    report = trace("half_warps", 1, 32, out)
    assert out.tolist() == [t ^ 1 for t in range(32)]
    assert not report.barrier_divergence


def test_orders_are_what_they_say_and_repeatable():
    def last(order, seed=0):
        out = np.zeros(1, np.int32)
        trace("race", 4, 8, out, order=order, seed=seed)
        return int(out[0])

    assert last("forward") == 31
    assert last("reverse") == 0
    assert last("random", 1) == last("random", 1)
    assert len({last("random", seed) for seed in range(6)}) > 1


def test_out_of_bounds_is_recorded_and_the_run_goes_on():
    a, b = np.arange(8, dtype=np.int32), np.full(8, -1, np.int64)
    report = trace("outside", 1, 9, a, b)
    faults = [(item.array, item.kind, item.index, item.thread) for item in report.out_of_bounds]
    assert faults == [
        ("a", "load", -1, 0),
        ("a", "load", 8, 7),
        ("a", "load", 9, 8),
        ("b", "store", 8, 8),
    ]
    assert report.record.out_of_bounds_count == 4
    assert {item.line for item in report.out_of_bounds} == {line_of("outside", "b[t]")}
    assert b.tolist() == [1, 2, 4, 6, 8, 10, 12, 6]


def test_each_axis_has_its_own_bounds():
    a, b = np.zeros((2, 4)), np.zeros(8)
    report = trace("outside_rows", 1, 8, a, b)
    assert [item.index for item in report.out_of_bounds] == [(0, 4), (0, 5), (0, 6), (0, 7)]


def test_out_of_bounds_without_recording_is_an_error():
    line = line_of("outside", "b[t]")
    text = rf"simt_kernels.py:{line}: a\[-1\] is out of bounds \(load, shape \(8,\), block 0, thread 0\)"
    with pytest.raises(simt.SimtError, match=text):
        simt.run(f"{FILE}:outside", 1, 9)(np.zeros(8), np.zeros(8))


def test_the_record_is_whole():
    report = trace("sums", 2, 64, np.zeros(128, np.float32), np.zeros(2, np.float32))
    record = report.record
    columns = (record.array, record.kind, record.index, record.in_block, record.thread, record.site, record.epoch)
    assert {len(column) for column in (*columns, record.warp_epoch)} == {len(record)}
    assert record.in_block == sorted(record.in_block)
    for place in range(len(record)):
        site = record.sites[record.site[place]]
        name = record.arrays[record.array[place]].name
        assert LINES[site.line - 1][site.column :].startswith(site.text)
        assert name in site.text
