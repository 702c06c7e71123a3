"""The claims in the prose of stack/libraries that a number or a record supports, each with its sentence.

Dates that are used here a second time are typed from the tags of the repositories: RCCL's first candidate of
2018-09-26 and its move to NCCL's code of 2019-05-16.
"""

from __future__ import annotations

from datetime import date

import pytest

from gpumoat.facts import registry
from gpumoat.stack import MAKERS, covered, layer, lead_years


@pytest.fixture
def chapter(chapter_of):
    """The chapter."""
    return chapter_of("stack/libraries")


@pytest.fixture
def n(chapter):
    """The names of its worked example."""
    return chapter.n


# The answer


def test_the_lede(chapter, n) -> None:
    assert chapter.says(
        "In your own PyTorch program, … of … lines if the new cards are AMD's, and … if they are Huawei's."
    )
    assert (n.amd_lines, n.huawei_lines, n.program_count) == (0, 2, 7)
    assert chapter.says("Underneath, for AMD's, … layers of libraries, platform and links, none of which you wrote.")
    assert n.changed_count == 6, "two links, three libraries and the platform; the module of PyTorch keeps its name"
    assert n.layers_count == len([row for row in n.stack if any(row[maker] for maker in MAKERS)]) == 10


def test_two_of_six_are_hardware(chapter, n) -> None:
    assert chapter.says("It counts …. Only … of them are software; the last two are a link and a chip.")
    assert n.named[4:] == n.hardware == ["NVLink", "NVSwitch"]
    assert n.software_count == registry().claims["lecture-six-libraries"].row["right"] == 4


def test_who_is_on_how_many(chapter, n) -> None:
    assert chapter.says("AMD has something on … of the … layers, Huawei on ….")
    assert (n.amd_count, n.huawei_count) == (9, 9)
    rows = {row["layer"]: row for row in n.stack}
    for maker in MAKERS:
        assert covered(n.layers, maker) == len([row for row in rows.values() if row[maker]])


# The layers


def test_where_gaps_are(chapter, n) -> None:
    assert chapter.says(
        "we found no switch of AMD's, Cambricon's, Enflame's or Intel's own, "
        "and no packaging of Huawei's, Cambricon's, Enflame's or Intel's."
    )
    assert [getattr(layer("switches"), maker) is None for maker in MAKERS] == [False, True, False, True, True, True]
    assert [getattr(layer("packaging"), maker) is None for maker in MAKERS] == [False, False, True, True, True, True]
    assert chapter.says("Two layers have gaps")
    whole = [id for id in n.layers if all(getattr(layer(id), maker) for maker in MAKERS)]
    assert len(whole) == len(n.layers) - 2


def test_one_library_for_both(chapter) -> None:
    assert chapter.says("Cambricon, Enflame and Huawei keep both in one library of operators.")
    for maker in ("cambricon", "enflame", "huawei"):
        assert getattr(layer("mathematics"), maker) == getattr(layer("primitives"), maker)
    for maker in ("nvidia", "amd", "intel"):
        assert getattr(layer("mathematics"), maker) != getattr(layer("primitives"), maker)


def test_the_word_stays(chapter, n) -> None:
    assert chapter.says("For an AMD card the word stays `cuda`.")
    assert n.for_amd == n.program
    assert layer("framework").amd == layer("framework").nvidia


def test_who_asks_for_an_import(chapter, n) -> None:
    assert chapter.says("a program names another card and, for some, imports one module")
    assert [row["lines"] for row in n.makers] == [0, 2, 2, 2, 1]


# The dates


def test_the_two_oldest_layers(chapter, n) -> None:
    assert chapter.says("On the two oldest layers it was, by far")
    dates = {id: layer(id).nvidia_date for id in n.layers}
    assert sorted(dates, key=lambda id: dates[id])[:2] in (["mathematics", "platform"], ["platform", "mathematics"])
    others = [lead_years(id, "amd") for id in n.layers if id not in ("mathematics", "platform")]
    assert chapter.says("its mathematics was out … to … before the library that AMD offers today")
    assert [round(one) for one in (n.oldest_low_years, n.oldest_high_years)] == [9, 10]
    assert [round(one) for one in (n.second_low_years, n.second_high_years)] == [8, 9]
    assert n.second_spread_years == n.oldest_spread_years
    assert min(n.oldest_years, n.second_years) > 2 * max(one for one in others if one is not None)


def test_no_layer_since(chapter, n) -> None:
    assert chapter.says("it was never later than …; on the latest layer it took ….")
    assert chapter.says("Only with a switch has it not followed at all")
    assert [id for id in n.layers if layer(id).amd is None] == ["switches"]
    later = [row["lead"] for row in n.leads if row["layer"] not in ("Mathematics", "Platform")]
    assert max(later) == n.longest_since_years
    assert max(n.layers, key=lambda id: layer(id).nvidia_date) == "packaging"
    assert min(later) == n.shortest_years == lead_years("packaging", "amd")


def test_the_figure_is_in_the_order_in_which_the_layers_came(chapter, n) -> None:
    assert chapter.says("in the order in which the layers came to be")
    dates = {layer(id).name: layer(id).nvidia_date for id in n.layers}
    order = [dates[row["layer"]] for row in n.leads]
    assert order == sorted(order)


def test_intel_can_be_early(chapter) -> None:
    assert chapter.says("Intel can be early without having had a card")
    assert lead_years("serving", "intel") < 0 < lead_years("primitives", "intel") < lead_years("primitives", "amd")


# RCCL


def test_rccl(chapter, n) -> None:
    assert chapter.says("… after its first release candidate, it replaced that by NCCL")
    assert n.rccl_own_years * 365.2425 == pytest.approx((date(2019, 5, 16) - date(2018, 9, 26)).days)
    assert chapter.says("… of the commits in RCCL's history are NVIDIA's own")
    assert n.rccl_shared_share == pytest.approx(258 / 1539)


# The verdicts


def test_where_the_lecture_is_wrong(chapter) -> None:
    assert chapter.says("The lecture calls Enflame's platform SWA. Its name is TopsRider")
    assert registry().claims["lecture-enflame-swa"].text("verdict") == "wrong"
    assert layer("platform").enflame == "TopsRider"
    assert chapter.says("Neuware and CANN are right.")
    for id in ("lecture-neuware", "lecture-cann"):
        assert registry().claims[id].text("verdict") == "confirmed"


def test_the_last_question(chapter) -> None:
    assert chapter.says("On the platform and on mathematics, the older of the two, NVIDIA's lead in time was also")
    leads = {
        id: lead_years(id, "amd") or 0 for id in ("platform", "mathematics", "primitives", "collectives", "engine")
    }
    assert sorted(leads, key=lambda id: -leads[id])[:2] == ["mathematics", "platform"]
