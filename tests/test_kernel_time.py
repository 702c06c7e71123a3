"""The model of time: its parts by hand, and every measured launch of one H200 within a fifth."""

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpumoat
from gpumoat.bench.image_variants import launch_of, variants
from gpumoat.bench.kernel_time import START, fit, minimise, misfit, rows
from gpumoat.kernel_time import Constants, Launch, bytes_in_flight, predict

MEASUREMENTS = Path(gpumoat.__file__).parent / "data" / "measurements"

CARD = Constants(
    multiprocessors=100,
    l2_bytes=1_000_000,
    copy_bytes_per_s=1e12,
    latency_s=1e-6,
    blocks_per_s=1e9,
    lines_per_s=1e9,
    request_s=1e-9,
    stored_line_s=1e-11,
    stored_sector_s=1e-12,
    evicted_sector_s=5e-11,
    joint_power=1.0,
    drain_ratio=1.0,
)


def read(name):
    return json.loads((MEASUREMENTS / f"h200-{name}.json").read_text())


@pytest.fixture(scope="module")
def fitted():
    return read("kernel-time")


@pytest.fixture(scope="module")
def card(fitted):
    value = {name: each["value"] for name, each in fitted["results"].items()}
    value["multiprocessors"] = value.pop("multiprocessors_count")
    return Constants(**{field.name: value[field.name] for field in dataclasses.fields(Constants)})


# By hand


def test_a_block_must_fit():
    with pytest.raises(ValueError, match="resident_blocks must be one or more, not 5 and 0"):
        predict(Launch(5, 1024, 0, 1, 1, 0, 0), CARD)


def test_littles_law():
    assert bytes_in_flight(4e12, 5e-7) == pytest.approx(2e6)


def test_waits_add_up_where_they_do_not_overlap():
    launch = Launch(100, 256, 8, 10**9, turns=500, requests=1_000_000, lines=0)
    found = predict(launch, CARD)
    assert found.terms_s["memory"] == pytest.approx(1e-3)
    assert found.terms_s["latency"] == pytest.approx(5e-4)
    assert found.terms_s["requests"] == pytest.approx(1e-5)
    assert found.time_s == pytest.approx(1.51e-3)
    assert found.limit == "memory"


def test_each_queue_can_be_the_limit():
    blocks = predict(Launch(10**8, 32, 32, 1, 0, 0, 0), CARD)
    assert (blocks.limit, blocks.time_s) == ("blocks", pytest.approx(0.1))
    lines = predict(Launch(50, 32, 32, 1, 0, 0, 10**9), CARD)  # on half of the multiprocessors
    assert (lines.limit, lines.time_s) == ("lines", pytest.approx(10**9 / 50 / 1e9))
    stores = Launch(50, 32, 32, 1, 0, 0, 0, 10**9, 4 * 10**9, 256)
    assert (predict(stores, CARD).limit, predict(stores, CARD).time_s) == ("scattered", pytest.approx(0.01 + 0.004))
    many = dataclasses.replace(stores, blocks=400)  # 12,800 threads with 256 bytes each: more than the L2 cache has
    assert predict(many, CARD).time_s == pytest.approx(4 * 10**9 * 5e-11)


def test_a_block_that_fills_a_multiprocessor_hands_its_place_on_late():
    small = predict(Launch(1600, 64, 32, 1, 1, 0, 0), dataclasses.replace(CARD, drain_ratio=0.0))
    assert small.terms_s["latency"] == pytest.approx(1e-6)  # all fit at a time: one round, nothing handed on
    large = Launch(2000, 1024, 2, 1, 1, 0, 0)
    assert predict(large, CARD).terms_s["latency"] == pytest.approx(10e-6 * 1.5)


@settings(deadline=None)
@given(st.integers(1, 10**6), st.sampled_from([32, 128, 1024]), st.floats(1, 1e4), st.floats(1, 4))
def test_a_launch_never_beats_any_of_its_parts(blocks, threads, turns, power):
    found = predict(
        Launch(blocks, threads, 2048 // max(64, threads), 10**9, turns, 1e6, 1e6),
        dataclasses.replace(CARD, joint_power=power),
    )
    assert found.time_s >= max(found.terms_s.values()) * (1 - 1e-9)
    assert found.terms_s[found.limit] == max(found.terms_s.values())


# Measured


def test_every_launch_is_predicted_within_a_fifth(card, fitted):
    """The claim of the module, from the runs themselves: nothing left out, and half of it never fitted."""
    measured = rows(read("image"), read("kernel-counters"))
    assert len(measured) == len(variants(600_000_000, 132)) == fitted["results"]["launches_count"]["value"]
    errors = {name: predict(launch, card).time_s / time - 1 for name, launch, time in measured}
    assert max(map(abs, errors.values())) < 0.2
    for row in fitted["raw"]["launches"]:
        assert row["error"] == pytest.approx(errors[row["variant"]], abs=1e-9)
    assert [row["part"] for row in fitted["raw"]["launches"]] == ["fitted", "scored"] * (len(measured) // 2)


def test_without_one_of_its_parts_the_model_is_far_off(card):
    """A part that could be left out without harm would be decoration."""
    measured = rows(read("image"), read("kernel-counters"))
    never = {
        "latency": {"latency_s": 1e-15},
        "blocks": {"blocks_per_s": 1e15},
        "lines": {"lines_per_s": 1e15},
        "scattered": {"stored_line_s": 1e-20, "stored_sector_s": 1e-20},
        "evicted": {"evicted_sector_s": 1e-20},
        "drain": {"drain_ratio": 1e-9},
    }
    for part, change in never.items():
        without = dataclasses.replace(card, **change)
        worst = max(abs(predict(launch, without).time_s / time - 1) for _, launch, time in measured)
        assert worst > 0.2, part


def test_requests_and_lines_are_those_of_the_profiler():
    """``launch_of`` counts by hand; Nsight Compute has counted on the card."""
    image, counters = read("image"), read("kernel-counters")
    for variant, launched in zip(variants(600_000_000, 132), counters["raw"]["large"], strict=True):
        read_metrics = launched["metrics"]
        seen = sum(read_metrics[f"l1tex__t_requests_pipe_lsu_mem_global_op_{kind}.sum"] for kind in ("ld", "st"))
        launch = launch_of(variant, image["results"]["pixels_count"]["value"], 32)
        assert launch.requests == pytest.approx(seen, rel=1e-3), variant.name


def test_the_constants_are_the_best_for_the_fitted_half(card):
    """Each constant a little higher or lower fits worse: the published ones are where the search ends."""
    fitted = rows(read("image"), read("kernel-counters"))[0::2]
    launches, times = [launch for _, launch, _ in fitted], [time for _, _, time in fitted]
    best = misfit(card, launches, times)
    for name in START:
        for factor in (0.97, 1.03):
            moved = dataclasses.replace(card, **{name: getattr(card, name) * factor})
            assert misfit(moved, launches, times) > best * (1 - 1e-6), (name, factor)


def test_fitting_recovers_constants_that_are_known(card):
    """Times made by the model itself, from constants a fifth above where the search begins."""
    measured = rows(read("image"), read("kernel-counters"))[0::3]
    known = {name: getattr(card, name) for name in ("multiprocessors", "l2_bytes", "copy_bytes_per_s")}
    true = Constants(**known, **{name: value * 1.2 for name, (value, _) in START.items()})
    launches = [launch for _, launch, _ in measured]
    times = [predict(launch, true).time_s for launch in launches]
    found = fit(launches, times, known, turns=250)
    assert misfit(found, launches, times) < misfit(card, launches, times) / 10
    worst = max(abs(predict(launch, found).time_s / time - 1) for launch, time in zip(launches, times, strict=True))
    assert worst < 0.05


def test_the_search_finds_a_known_minimum():
    """Rosenbrock's valley, whose least value is at (1, 1)."""
    found = minimise(lambda at: (1 - at[0]) ** 2 + 100 * (at[1] - at[0] ** 2) ** 2, [-1.2, 1.0], 400)
    assert found == pytest.approx([1, 1], abs=1e-4)
