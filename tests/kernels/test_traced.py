"""The kernels in our simulator: results equal NumPy's at odd sizes, every result written once, no race, no fault."""

import pytest

pytest.importorskip("numpy")

from gpumoat.bench.image_variants import WORD_PIXELS
from gpumoat.bench.kernel_cases import image_case, stencil_case, transpose_case
from gpumoat.simt import trace

SIZES = (1, 3, 8, 129, 2_003)
"""Nothing whole, no tail, less than a warp, one more than a block, and a prime number."""


def checked(case, order="forward"):
    arguments = case.make()
    right = case.right(arguments)
    report = trace(case.source, case.grid, case.block, order=order, seed=5)(*arguments.values())
    assert (arguments[case.output] == right).all()
    return report


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("kernel", WORD_PIXELS)
def test_image_difference(kernel, count):
    report = checked(image_case(kernel, count, 64))
    assert report.findings() == []
    assert report.coverage("differences").exactly_once
    assert not report.out_of_bounds


@pytest.mark.parametrize("shape", [(1, 1), (9, 35), (17, 64), (24, 33)])
@pytest.mark.parametrize("kernel", ["stencil_global", "stencil_shared"])
def test_stencil(kernel, shape):
    report = checked(stencil_case(kernel, *shape))
    assert report.findings() == []
    assert report.coverage("sums").exactly_once


@pytest.mark.parametrize("shape", [(1, 1), (32, 64), (37, 5), (33, 70)])
@pytest.mark.parametrize("kernel", ["transpose_naive", "transpose_tiled", "transpose_padded"])
def test_transpose(kernel, shape):
    report = checked(transpose_case(kernel, *shape))
    assert report.findings() == []
    assert report.coverage("transposed").exactly_once


@pytest.mark.parametrize("order", ["reverse", "random"])
@pytest.mark.parametrize(
    "case",
    [
        image_case("four_words", 1_003, 64),
        stencil_case("stencil_shared", 9, 35),
        transpose_case("transpose_padded", 33, 40),
    ],
)
def test_in_any_order_of_threads(case, order):
    assert checked(case, order).findings() == []


def test_a_tile_is_read_once_and_its_halo_with_it():
    """Nine loads a pixel from global memory, or one and the halo's share: 340 pixels for a tile of 256."""
    loads = [
        checked(stencil_case(name, 16, 64)).requests("pixels", "load") for name in ("stencil_global", "stencil_shared")
    ]
    assert loads[0].requests == 9 * 16 * 64 // 32
    assert loads[1].requests == 4 * (8 + 3)  # four tiles, each 340 pixels by 256 threads: 8 warps, and 3 once more


def test_shared_memory_in_turns():
    """A column of the plain tile lies in one bank, so 32 lanes wait for each other; padding spreads it over all."""
    plain, padded = (
        checked(transpose_case(f"transpose_{name}", 32, 32)).bank_conflicts("tile", "load")
        for name in ("tiled", "padded")
    )
    assert (plain.max_ways, plain.wavefronts) == (32, 32 * 32)
    assert (padded.max_ways, padded.wavefronts) == (1, 32)


def test_lanes_that_ask_their_neighbour_load_less():
    shuffled, loaded = (
        checked(image_case(name, 2_048, 64)).requests("pixels", "load")
        for name in ("four_words_shuffled", "four_words")
    )
    assert shuffled.sectors == 2_048 // 128  # one lane of a warp
    assert loaded.sectors > 4 * shuffled.sectors
