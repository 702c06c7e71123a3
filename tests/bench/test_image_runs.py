"""What the committed runs of the image difference say, and that they say it of all launches and from their raw part."""

import json
from pathlib import Path

import pytest

import gpumoat
from gpumoat.bench import image
from gpumoat.bench.image_variants import WORD_PIXELS, Variant, fitting, variants

MEASUREMENTS = Path(gpumoat.__file__).parent / "data" / "measurements"


def read(name):
    return json.loads((MEASUREMENTS / f"{name}.json").read_text())


def values(name):
    return {key: each["value"] for key, each in read(name)["results"].items()}


def test_every_partition_was_timed():
    run = read("h200-image")
    assert list(run["raw"]["variants"]) == [each.name for each in variants(600_000_000, 132)]
    assert {each.kernel for each in variants(600_000_000, 132)} == set(WORD_PIXELS)
    found = image.results_of(600_000_000, 132, run["raw"])
    assert {key: each["value"] for key, each in run["results"].items()} == {key: each[0] for key, each in found.items()}


def test_the_best_kernel_is_as_fast_as_a_copy():
    """At least 95 % of three yardsticks: a copy of as many bytes, one of 4 GiB, and the same traffic in CUDA C++."""
    value = values("h200-image")
    rate = value["moved_bytes"] / value["best_s"]
    assert rate > 0.95 * value["copy_bytes_per_s"]
    assert rate > 0.95 * value["large_copy_bytes_per_s"]
    assert value["best_s"] < value["widen_s"] / 0.95
    assert value["best_s"] < value["cuda_best_s"] * 1.02


def test_the_lectures_partition_is_many_times_slower():
    value = values("h200-image")
    assert 20 < value["strip_64x256_s"] / value["best_s"] < 40
    assert value["strip_16384x256_s"] > value["strip_64x256_s"]  # more threads make strips slower still


def test_two_runs_agree():
    """The same launches timed twice, twenty minutes apart: within seven per cent."""
    raw = read("h200-image")["raw"]
    for name, earlier in raw["earlier_run_median_s"].items():
        assert raw["variants"][name]["median_s"] == pytest.approx(earlier, rel=0.07), name


def test_the_whole_trip():
    value = values("h200-transfers")
    assert value["kernel_s"] < value["pinned_trip_s"] / 50
    assert value["overlapped_trip_s"] < value["pinned_trip_s"] < value["pageable_trip_s"]
    # Out and in overlap; what is left is the longer way, out.
    out_s = 2 * 600_000_000 / value["out_pinned_bytes_per_s"]
    assert out_s < value["overlapped_trip_s"] < 1.15 * out_s
    assert value["cpu_s"] < value["overlapped_trip_s"] < value["numpy_s"]


@pytest.mark.parametrize("name", ["cpu-image", "h200-host-image"])
def test_full_size_on_a_cpu_is_as_fast_as_a_copy(name):
    value = values(name)
    copies = ("numpy_copy_s", "numpy_copy_on_all_cores_s", "numba_copy_s")
    assert all(value["strips_s"] < 1.5 * value[copy] for copy in copies)
    assert (value["right_missed_count"], value["right_repeated_count"]) == (0, 0)
    assert (value["rounded_down_missed_count"], value["rounded_down_repeated_count"]) == (1_536, 0)
    assert (value["one_too_long_missed_count"], value["one_too_long_repeated_count"]) == (0, 16_383)
    assert (value["one_too_far_apart_missed_count"], value["one_too_far_apart_repeated_count"]) == (16_383, 0)
    assert value["interleaved_ratio"] > 20


def test_a_fitting_grid_covers_the_picture():
    assert fitting("four_words", 600_000_000, 128) == Variant("four_words", 292_969, 128)
    assert fitting("one_pixel", 1, 1024).threads == 1024
    assert Variant("strip", 64, 256).name == "strip-64x256"
    with pytest.raises(KeyError):
        fitting("strip", 10, 128)
