"""The claims in the prose of compute/utilisation that a number supports, each with its sentence."""

from __future__ import annotations

import pytest

from gpumoat.facts import registry
from gpumoat.occupancy import limits, residency


@pytest.fixture
def chapter(chapter_of):
    """The chapter."""
    return chapter_of("compute/utilisation")


@pytest.fixture
def n(chapter):
    """The names of its worked example."""
    return chapter.n


def test_one_thread_is_busy_and_draws_what_an_idle_card_draws(chapter, n) -> None:
    assert chapter.says("draws no more power than the card at rest")
    one = n.loads[0]
    assert one["busy_share"] == 1
    assert one["peak_share"] < 1e-5
    assert one["power_w"] < n.idle_w + 1


def test_one_thread_occupies_one_multiprocessor(n) -> None:
    """By hand: one of 132, and one of 132 x 64 places for warps."""
    assert n.loads[0]["sm_share"] == pytest.approx(1 / 132, rel=0.01)
    assert n.loads[0]["occupancy_share"] == pytest.approx(1 / (132 * 64), rel=0.01)


def test_five_measures_and_six_loads(chapter, n) -> None:
    assert chapter.says("There are at least five things that people call the utilisation of a GPU.")
    assert chapter.says(
        "So we put six loads on one card, each for a few seconds, and wrote down what four of them say."
    )
    assert len(n.loads) == 6
    assert {point["measure"] for point in n.points} == {"GPU-Util", "multiprocessors", "occupancy", "rated peak"}


def test_five_of_six_pass_for_outstanding(chapter, n) -> None:
    assert chapter.says("Five of these six would pass for outstanding by GPU-Util.")
    assert sum(row["busy_share"] >= n.said_best_share for row in n.loads) == 5
    assert [row["load"] for row in n.loads if row["busy_share"] < 0.9] == ["product, half the time"]


def test_the_kernel_that_does_the_same_work_faster(chapter, n) -> None:
    assert chapter.says("a kernel that does the work of the strips … as fast")
    assert n.strips_ratio == pytest.approx(n.loads[3]["peak_share"] / n.loads[2]["peak_share"])
    assert n.strips_ratio > 20


def test_a_warp_each_passes_nvidias_mark_and_does_nothing(chapter, n) -> None:
    assert chapter.says("The second load shows why it is not sufficient")
    assert n.loads[1]["sm_share"] > 0.8
    assert n.loads[1]["peak_share"] < 0.02


def test_a_block_comes_in_whole(chapter, n) -> None:
    assert chapter.says("Four things can run out")
    assert chapter.says("By division, a multiprocessor has registers for … blocks of … threads with … registers each")
    assert (n.divided_blocks, n.fits[2]["blocks"]) == (5, 4)
    assert chapter.says("Of the last one not even one block fits: the card refuses to start it.")
    assert n.fits[-1]["blocks"] == 0


def test_same_case_same_answer(chapter, n) -> None:
    assert chapter.says(
        "The same case stands in NVIDIA's guide, for an older card with as many registers, with the same"
    )
    # The guide's own figures: twelve blocks of 128 threads, four of 320.
    assert [row["blocks"] for row in n.fits[1:3]] == [12, 4]


def test_a_register_more_can_cost_nothing_or_a_block(chapter, n) -> None:
    assert chapter.says("Up to there a register more costs nothing; the next one costs a whole block or more.")
    # By hand, for 8 warps a block: 65,536 registers over 64, 48, 40, 32, 24, 16 and 8 warps, in units of 8 a thread.
    assert [level["registers"] for level in n.levels] == [255, 128, 80, 64, 48, 40, 32]
    sm = limits("sm_90")
    for level in n.levels[1:]:
        more = residency(sm, 256, level["registers"] + 1)
        assert more.share * sm.warps <= level["occupancy_share"] * sm.warps - 8


def test_the_rules_foretell_the_counters(chapter, n) -> None:
    assert chapter.says("Does the card agree? For four of the loads the rules say what to expect")
    for row in n.predicted[:3]:
        assert row["measured_share"] == pytest.approx(row["predicted_share"], rel=0.03)
    assert chapter.says("In the last line blocks end and new ones come all the time")
    assert n.predicted[3]["predicted_share"] == 1 > n.predicted[3]["measured_share"]


def test_the_best_has_little_occupancy(chapter, n) -> None:
    assert chapter.says("The matrix product at … of its own has ….")
    assert n.loads[5]["occupancy_share"] < 0.2 < 0.6 < n.loads[5]["peak_share"]
    assert n.loads[3]["occupancy_share"] > 0.75


def test_eighty_per_cent_of_the_peak_is_unheard_of(chapter, n) -> None:
    assert chapter.says("By this measure … is not excellent but unheard of in a training.")
    shares = [row["mfu_share"] for row in n.trainings]
    assert chapter.says("Published figures, smallest first.")
    assert shares == sorted(shares)
    assert max(shares) < n.alone_share < n.said_good_share


def test_at_its_limit_of_power_the_clock_falls(chapter, n) -> None:
    assert n.alone_share < n.short_share < 0.8
    assert chapter.says("Part of what is missing is the clock")
    assert n.tensor_share - n.alone_share > 0.25
    assert 0.95 * n.card.tdp_w < n.loads[5]["power_w"] < n.card.tdp_w
    assert n.slow_clock_hz < n.fast_clock_hz


def test_the_whole_of_llama_3(chapter, n) -> None:
    assert chapter.says("If it were exactly that, its fastest configuration would have had … of the peak over all.")
    assert n.whole_share == pytest.approx(0.9 * 0.43)


def test_half_the_time_is_not_half_the_work(chapter, n) -> None:
    assert chapter.says("It is not half the work either.")
    assert n.loads[4]["busy_share"] == pytest.approx(0.5, abs=0.03)
    assert n.half_work_share > 0.55


def test_a_success_by_two_measures(chapter, n) -> None:
    assert chapter.says("What measure one takes even decides how large a success is.")
    assert n.busy_growth_ratio == pytest.approx(76 / 26)
    assert n.sm_growth_ratio == pytest.approx(33 / 16)


def test_neither_level_can_be_judged(chapter) -> None:
    assert chapter.says("Without saying of what, neither can be judged.")
    claims = registry().claims
    for id in ("lecture-utilisation-levels", "lecture-utilisation-best"):
        assert claims[id].text("verdict") == "unverifiable"
    assert chapter.says("It is wrong that half utilisation means half of the cards idle.")
    assert claims["lecture-utilisation-idle"].text("verdict") == "wrong"


def test_one_register_less(chapter, n) -> None:
    assert chapter.says("all warps of the block together take exactly what the multiprocessor has")
    sm = limits("sm_90")
    assert sm.registers == 64 * 32 * 32
    assert residency(sm, 1024, 64).blocks == n.started_blocks == 1
