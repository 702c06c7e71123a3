"""Occupancy against NVIDIA's own calculator, its documents, the driver of a real card, and a count by trial.

``reference.csv`` holds the answers of ``cuda_occupancy.h`` (CUDA runtime 13.5.37), made by ``reference.c``, over five
compute capabilities; a hundred thousand more, drawn at random, agreed as well when the file was made.
"""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat.facts import DataError, fact
from gpumoat.occupancy import LIMITS, Limits, limits, residency

TARGETS = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100")
HOPPER = limits("sm_90")
VOLTA = replace(HOPPER, shared_bytes=96 * 1024, block_shared_bytes=96 * 1024, shared_unit_bytes=256, reserved_bytes=0)

targets = st.sampled_from(TARGETS)
threads = st.integers(1, 1024)
registers = st.integers(1, 255)
shared = st.integers(0, 99 * 1024)


def rows() -> list[tuple[str, int, int, int, int]]:
    """The answers of NVIDIA's header."""
    text = (Path(__file__).parent / "occupancy" / "reference.csv").read_text(encoding="utf-8")
    return [(row[0], *map(int, row[1:])) for row in list(csv.reader(text.splitlines()))[1:]]


def wrong(sm_of) -> int:
    """How many of the header's answers a set of limits gets wrong."""
    return sum(residency(sm_of(target), *kernel).blocks != blocks for target, *kernel, blocks in rows())


def test_as_nvidias_header_answers() -> None:
    assert len(rows()) == 475
    assert 0 < sum(blocks == 0 for *_, blocks in rows()) < 200
    assert wrong(limits) == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("warps", 32),
        ("blocks", 16),
        ("registers", 32768),
        ("shared_bytes", 100 * 1024 + 1024),
        ("register_unit", 32),
        ("shared_unit_bytes", 16384),
        ("reserved_bytes", 0),
        ("partitions", 1),
    ],
)
def test_the_header_notices_each_planted_fault(field: str, value: int) -> None:
    assert wrong(lambda target: replace(limits(target), **{field: value})) > 0


def test_the_two_examples_of_the_best_practices_guide() -> None:
    """CUDA C++ Best Practices Guide, Calculating Occupancy: 37 registers on compute capability 7.0."""
    small, large = residency(VOLTA, 128, 37), residency(VOLTA, 320, 37)
    assert (small.blocks, small.share) == (12, 0.75)
    assert (large.blocks, round(large.share, 2)) == (4, 0.62)  # the guide rounds 62.5 per cent up
    assert (small.limit, large.limit) == ("registers", "registers")
    assert fact("occupancy-example.registers") == 37


def test_the_examples_of_the_programming_guide() -> None:
    """CUDA Programming Guide 13, SM Resource Example: compute capability 10.0."""
    sm = limits("sm_100")
    assert residency(sm, 768, 16).share == 0.75
    thirty_two = residency(sm, 32, 16)
    assert (thirty_two.blocks, thirty_two.share, thirty_two.limit) == (32, 0.5, "blocks")
    assert residency(sm, 128, 16, 100 * 1024).blocks == 2


def test_as_the_driver_of_a_card_answers() -> None:
    """The run h200-utilisation asked the driver about three kernels, by size of the block and shared memory."""
    path = files("gpumoat") / "data" / "measurements" / "h200-utilisation.json"
    answers = json.loads(path.read_text(encoding="utf-8"))["raw"]["resident"]
    assert len(answers) == 120
    for _, taken, size, asked, blocks in answers:
        assert residency(HOPPER, size, taken, asked).blocks == blocks


@given(targets, threads, registers, shared)
def test_what_is_resident_fits_and_one_more_would_not(target: str, size: int, taken: int, asked: int) -> None:
    sm = limits(target)
    found = residency(sm, size, taken, asked)
    warps = -(-size // 32)
    assert 0 <= found.share <= 1
    assert found.warps == found.blocks * warps <= sm.warps
    assert found.blocks <= sm.blocks
    assert found.blocks * warps * taken * 32 <= sm.registers
    assert found.blocks * (asked + sm.reserved_bytes) <= sm.shared_bytes
    assert found.limit
    for name in found.limit.split(" and "):
        assert name in LIMITS


@given(targets, threads, registers, shared)
def test_more_of_anything_never_makes_room(target: str, size: int, taken: int, asked: int) -> None:
    sm = limits(target)
    found = residency(sm, size, taken, asked).blocks
    assert residency(sm, size, min(255, taken + 1), asked).blocks <= found
    assert residency(sm, size, taken, min(sm.block_shared_bytes, asked + 1)).blocks <= found
    assert residency(sm, min(1024, size + 32), taken, asked).blocks <= found


@given(targets, threads, registers)
def test_registers_by_trial(target: str, size: int, taken: int) -> None:
    """Deal out warps one by one to the partition with the most room, and see how many whole blocks there are."""
    sm = limits(target)
    found = residency(sm, size, taken)
    need = -(-taken * 32 // 256) * 256
    room = [sm.registers // 4] * 4
    dealt = 0
    while max(room) >= need:
        room[room.index(max(room))] -= need
        dealt += 1
    blocks = dealt // -(-size // 32)
    assert found.by_registers in (blocks, 0)
    if found.by_registers == 0 and blocks:
        assert -(-size // 128) * 4 * need > sm.registers  # the card's own check counts whole rows of partitions


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ((0, 16), "threads must be a whole number from 1 to 1024, not 0"),
        ((1025, 16), "threads must be a whole number from 1 to 1024, not 1025"),
        ((64, 0), "registers must be a whole number from 1 to 255, not 0"),
        ((64, 256), "registers must be a whole number from 1 to 255, not 256"),
        ((64, 16, -1), "shared_bytes must be a whole number from 0 to 232448, not -1"),
        ((64, 16, 232449), "shared_bytes must be a whole number from 0 to 232448, not 232449"),
        ((64.0, 16), "threads must be a whole number from 1 to 1024, not 64.0"),
        ((True, 16), "threads must be a whole number from 1 to 1024, not True"),
    ],
)
def test_bad_sizes(kernel: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        residency(HOPPER, *kernel)


def test_a_target_without_facts() -> None:
    with pytest.raises(DataError, match="sm-70"):
        limits("sm_70")


def test_without_shared_memory_at_all() -> None:
    assert residency(replace(VOLTA, reserved_bytes=0), 32, 16).by_shared == VOLTA.blocks
    assert isinstance(VOLTA, Limits)
