"""The catalogue as rows and exports: every field, its unit, its source, and the formats that show it."""

import csv
import io
import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat import catalogue
from gpumoat.catalogue import Field, all_fields, card, cards, digits, entries, scaled, show, spec
from gpumoat.facts import DataError, fact, registry
from gpumoat.hardware import gpu
from gpumoat.units import format_value, name_unit


def test_every_field_of_every_card_is_known_here():
    """A field that no group names would be in the data and in no table, command or file."""
    names = {field.name for field in all_fields()}
    gpus = {row.id for row in cards()}
    strays = {id for id in registry().facts if id.partition(".")[0] in gpus and id.partition(".")[2] not in names}
    assert strays == set()


def test_every_field_is_used_and_stands_once():
    names = [field.name for field in all_fields()]
    assert len(names) == len(set(names))
    used = {entry.field.name for row in cards() for entry in entries(row)}
    assert set(names) - used == set()


def test_a_unit_of_a_heading_fits_its_field():
    for field in all_fields():
        if field.unit:
            assert format_value(1, f".3f {field.unit}", field.name)
        else:
            assert name_unit(field.name).dimension == ""


def test_an_entry_holds_what_the_catalogue_object_gives():
    for row in cards():
        for entry in entries(row):
            assert entry.value == getattr(gpu(row.id), entry.field.name)


def test_a_measured_field_says_so():
    (entry,) = [one for one in entries(card("h200-sxm")) if one.field.name == "usable_memory_bytes"]
    assert (entry.kind, entry.status, entry.locator) == ("measured", "measured", "src/gpumoat/bench/memory.py")


def test_vendors_stand_together_and_the_largest_first():
    vendors = [row.text("vendor") for row in cards()]
    runs = [vendors[0]] + [after for before, after in pairwise(vendors) if after != before]
    assert len(runs) == len(set(runs))
    assert vendors[0] == "NVIDIA"
    assert [row.text("vendor") for row in cards("amd")] == ["AMD"] * 5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: card("h100"), "no card 'h100': did you mean h100-nvl, h100-pcie, h100-sxm?"),
        (lambda: card("H200-SXM"), "did you mean"),
        (lambda: card("zzz"), "no card 'zzz': `gpumoat gpus` lists the cards"),
        (lambda: card("gpt3"), "no card 'gpt3'"),
        (lambda: cards("ATI"), "no vendor 'ATI': the catalogue has AMD, AWS"),
    ],
)
def test_an_unknown_card_or_vendor_is_one_line(call, words):
    with pytest.raises(DataError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


class TestShowing:
    @pytest.mark.parametrize(
        ("value", "unit", "places"),
        [
            (80 * 2**30, "GiB", 0),
            (128 * 10**9, "GiB", 1),
            (362_050 * 10**9, "TFLOP/s", 2),
            (494_700 * 10**9, "TFLOP/s", 1),
            (0.000814, "mm²", 0),
            (0.0006284, "mm²", 1),
            (99_961_274_368, "GiB", 1),
        ],
    )
    def test_as_many_places_as_the_source_has(self, value, unit, places):
        assert digits(value, unit) == places

    def test_a_text_is_itself_and_a_count_has_no_unit(self):
        assert show("SXM5 module", Field("form_factor", "Form")) == "SXM5 module"
        assert show(6912, Field("core_count", "Cores")) == "6,912"
        assert show(80 * 2**30, Field("memory_bytes", "Label", "GiB")) == "80 GiB"

    @given(st.integers(min_value=1, max_value=10**16))
    def test_every_value_can_be_shown(self, value):
        for field in all_fields():
            if field.unit:
                assert format_value(value, spec(value, field.unit), field.name)

    def test_the_table_and_the_page_write_a_value_alike(self):
        for row in cards():
            for entry in entries(row):
                format = spec(entry.value, entry.field.unit)
                assert format_value(entry.value, format, entry.field.name) == entry.shown

    def test_scaling_is_by_the_unit(self):
        assert scaled(3350 * 10**9, "GB/s") == 3350
        assert scaled(3350 * 10**9, "TB/s") == 3.35


class TestExports:
    def test_json_has_every_card_and_field_with_its_source(self):
        document = json.loads(catalogue.to_json(cards()))
        assert document["schema"] == 1
        assert len(document["cards"]) == len(cards())
        for one in document["cards"]:
            for name, field in one["fields"].items():
                assert field["status"] in ("verified", "quoted", "unverified", "measured"), (one["id"], name)
                if field["status"] != "measured":
                    assert field["source"] in registry().sources
                    assert field["locator"]
                    assert field["checked"]
                if field["status"] == "unverified":
                    assert field["to_check"]
        sxm = next(one for one in document["cards"] if one["id"] == "h100-sxm")["fields"]
        assert sxm["memory_bytes"]["value"] == 80 * 2**30
        assert sxm["memory_bytes"]["stated"] == "80 GiB"
        assert sxm["memory_bytes"]["unit"] == "bytes"

    def test_csv_is_in_base_units_under_names_that_say_so(self):
        rows = list(csv.DictReader(io.StringIO(catalogue.to_csv(cards()))))
        assert [row["id"] for row in rows] == [row.id for row in cards()]
        a100 = next(row for row in rows if row["id"] == "a100-sxm-80")
        assert float(a100["bf16_dense_flop_per_s"]) == 312e12
        assert a100["form_factor"] == "SXM4 module"
        assert a100["fp8_dense_flop_per_s"] == ""

    def test_every_fact_is_exported_in_base_units(self):
        document = json.loads(catalogue.facts_to_json())
        assert [one["id"] for one in document["facts"]] == list(registry().facts)
        for one in document["facts"]:
            if not isinstance(one["value"], str):
                assert one["value"] == fact(one["id"])
        rows = list(csv.DictReader(io.StringIO(catalogue.facts_to_csv())))
        assert len(rows) == len(registry().facts)
        assert all(row["source_title"] and row["review_rule"] for row in rows)
