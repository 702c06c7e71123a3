"""PyTorch's caching allocator: cases by hand, properties, and weights measured on a card to the byte."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpumoat
from gpumoat.llm.allocator import Allocator, allocated_in_order, segment_bytes
from gpumoat.llm.weights import allocated_bytes
from gpumoat.units import MIB

KIB = 1024
RUNS = Path(gpumoat.__file__).parent / "data" / "measurements"
WEIGHTS = json.loads((RUNS / "h200-llm-memory.json").read_text(encoding="utf-8"))["raw"]["weights"]
LOADING = json.loads((RUNS / "h200-llm-loading.json").read_text(encoding="utf-8"))["raw"]


def sizes(runs: list[list[int]]) -> list[int]:
    """Return sizes from pairs of a size and how often it comes in a row."""
    return [size for size, times in runs for _ in range(times)]


@pytest.mark.parametrize(
    ("taken", "allocated", "reserved"),
    [
        ([1], 512, 2 * MIB),
        ([MIB], MIB, 2 * MIB),  # the largest of the small
        ([MIB + 1], MIB + 512, 20 * MIB),
        ([7 * MIB] * 3, 21 * MIB, 40 * MIB),  # 6 MiB are left of a segment: too few, and more than the mebibyte
        ([13 * MIB // 2] * 3, 20 * MIB, 20 * MIB),  # half a mebibyte is left: it goes with the third
        ([10 * MIB], 10 * MIB, 10 * MIB),
        ([11 * MIB], 12 * MIB, 12 * MIB),  # a whole mebibyte is left: kept
        ([11 * MIB - 512], 11 * MIB - 512, 12 * MIB),  # 512 bytes more: split off
        ([9 * MIB // 4, 9 * MIB // 4, 243 * MIB // 16], 20 * MIB, 20 * MIB),  # large ones find room in a shared segment
        ([11 * MIB - 512, MIB + 512], 12 * MIB, 12 * MIB),
    ],
)
def test_cases_by_hand(taken, allocated, reserved):
    allocator = Allocator()
    for size in taken:
        allocator.take(size)
    assert (allocator.allocated_bytes, allocator.reserved_bytes) == (allocated, reserved)


@given(st.lists(st.integers(1, 40 * MIB), max_size=60))
def test_never_less_than_asked_for_nor_more_than_reserved(taken):
    allocator = Allocator()
    for size in taken:
        found = allocator.take(size)
        assert size <= found <= max(segment_bytes(size), size + MIB + 512)
    assert sum(taken) <= allocator.allocated_bytes <= allocator.reserved_bytes


@given(st.lists(st.one_of(st.integers(1, MIB), st.integers(5, 40).map(lambda many: many * 2 * MIB)), max_size=60))
def test_the_closed_rule_is_right_for_small_tensors_and_whole_segments(taken):
    assert allocated_in_order(taken) == sum(allocated_bytes(size) for size in taken)


@pytest.mark.parametrize("id", sorted(WEIGHTS))
def test_weights_measured_on_a_card_to_the_byte(id):
    assert allocated_in_order(sizes(WEIGHTS[id]["sizes_bytes"])) == WEIGHTS[id]["allocated_bytes"]


def test_the_closed_rule_misses_where_order_matters():
    missed = {id for id, row in WEIGHTS.items() if row["rule_bytes"] != row["allocated_bytes"]}
    assert missed == {"gemma-3-1b", "gemma-3-4b", "gpt2", "gpt-oss-20b"}


def test_another_order_is_found_out():
    """A planted fault: the sizes of Gemma 3 1B sorted, so that no large tensor finds what a small one left."""
    row = WEIGHTS["gemma-3-1b"]
    assert allocated_in_order(sorted(sizes(row["sizes_bytes"]), reverse=True)) != row["allocated_bytes"]


def test_weights_read_from_files_are_rounded_alone_but_for_one_tail():
    """The loader's one large block leaves at most one tail of a mebibyte, at its end."""
    shapes = [row for row in LOADING.values() if "read" in row]
    assert len(shapes) == 5
    for row in shapes:
        assert 0 <= row["read"]["allocated_bytes"] - row["rounded_bytes"] <= MIB
        assert row["read"]["allocated_bytes"] <= row["made"]["allocated_bytes"]
