"""Layers: who has what, who came when, and how a program changes; absences are None and unknown names are refused.

Independent figures: days counted by Python's `datetime`, on dates typed here from the tags of the repositories.
"""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat import stack
from gpumoat.facts import DataError, recording, registry
from gpumoat.stack import MAKERS, changed_lines, covered, layer, lead_spread_years, lead_years, ported

LAYERS = tuple(id.removeprefix("layer-") for id, row in registry().subjects.items() if row.text("kind") == "layer")


def test_a_field_is_a_cited_fact() -> None:
    with recording() as reads:
        assert layer("collectives").amd == "RCCL"
    assert [read.key for read in reads] == [("cited", "layer-collectives.amd")]


def test_what_was_not_found_is_none() -> None:
    assert layer("switches").amd is None
    assert layer("switches").amd_date is None
    assert lead_years("switches", "amd") is None
    assert lead_spread_years("switches", "amd") is None


def test_other_fields_are_errors_as_in_the_catalogue() -> None:
    with pytest.raises(AttributeError, match="layer-switches has no 'google' in the catalogue"):
        layer("switches").google
    with pytest.raises(DataError, match="no layer 'layer-compilers'"):
        layer("compilers")


@pytest.mark.parametrize("ask", [lead_years, lead_spread_years, lambda id, maker: covered((id,), maker)])
def test_an_unknown_maker_is_refused(ask) -> None:
    with pytest.raises(DataError, match="no maker 'google': use one of nvidia, amd"):
        ask("links", "google")


@pytest.mark.parametrize("maker", MAKERS)
def test_covered_counts_the_entries_of_the_data_file(maker: str) -> None:
    assert covered(LAYERS, maker) == len([id for id in registry().facts if id.endswith("." + maker)])


def test_nvidia_is_on_every_layer_and_ahead_of_itself_by_nothing() -> None:
    assert covered(LAYERS, "nvidia") == len(LAYERS) == 10
    assert {lead_years(id, "nvidia") for id in LAYERS} == {0}


@pytest.mark.parametrize(
    ("id", "first", "second"),
    [
        ("collectives", date(2015, 11, 17), date(2018, 9, 26)),
        ("primitives", date(2014, 9, 7), date(2017, 7, 1)),
        ("serving", date(2018, 11, 5), date(2022, 2, 8)),
        ("packaging", date(2024, 5, 28), date(2025, 11, 17)),
    ],
)
def test_leads_in_time(id: str, first: date, second: date) -> None:
    assert lead_years(id, "amd") == pytest.approx((second - first).days / 365.2425)
    assert lead_spread_years(id, "amd") == pytest.approx(1 / 365.2425)


def test_a_year_without_a_day_is_off_by_half_a_year() -> None:
    assert lead_spread_years("mathematics", "amd") == pytest.approx(0.5, abs=0.002)


PROGRAM = ("import torch", 'card = torch.device("cuda")', "model.to(card)", "# cuda stays a word")


def test_a_port_changes_the_name_and_adds_the_imports() -> None:
    found = ported(PROGRAM, "cuda", "npu", "import torch_npu")
    assert found == ("import torch", "import torch_npu", 'card = torch.device("npu")', *PROGRAM[2:])
    assert changed_lines(PROGRAM, found) == 2


def test_a_port_to_the_same_name_changes_nothing() -> None:
    assert ported(PROGRAM, "cuda", "cuda") == PROGRAM
    assert changed_lines(PROGRAM, PROGRAM) == 0


LINES = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=8).map(tuple)


@given(LINES, LINES)
def test_changed_lines_are_bounded_and_see_repeats(before, after) -> None:
    count = changed_lines(before, after)
    assert max(0, len(after) - len(before)) <= count <= len(after)
    assert (count == 0) == all(after.count(line) <= before.count(line) for line in after)


def test_the_makers_are_the_fields_of_the_data_file() -> None:
    fields = {id.split(".")[1] for id in registry().facts if id.startswith("layer-")}
    stems = {field.split("_")[0] for field in fields}
    assert stems == set(stack.MAKERS)
