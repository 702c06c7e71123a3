"""The accelerator catalogue against arithmetic, against itself, and against errors that others have published.

Where a rule has an exception, the exception is data here with its reason, and it fails when it is no longer one.
"""

import re

import pytest

from gpumoat.facts import fact, fact_text, registry
from gpumoat.hardware import gpu
from gpumoat.units import GB, GIB

T, G = 10**12, 10**9
CARDS = [id for id, row in registry().subjects.items() if row.text("kind") == "gpu"]
RATES = ("tf32", "bf16", "fp16", "fp8", "fp4", "int8")


def fields(card: str) -> dict[str, object]:
    """The fields of a card that are facts, in base units."""
    found: dict[str, object] = {}
    for id, row in registry().facts.items():
        if id.startswith(card + "."):
            found[id.partition(".")[2]] = fact_text(id) if isinstance(row.row["value"], str) else fact(id)
    return found


FIELDS = {card: fields(card) for card in CARDS}


def rate(dtype: str, kind: str) -> str:
    return f"{dtype}_{kind}_op_per_s" if dtype == "int8" else f"{dtype}_{kind}_flop_per_s"


def pairs() -> list[tuple[str, str]]:
    return [
        (card, dtype)
        for card, have in FIELDS.items()
        for dtype in RATES
        if rate(dtype, "dense") in have and rate(dtype, "sparse") in have
    ]


# The catalogue as a whole


def test_there_are_at_least_thirty_cards_of_eight_vendors():
    assert len(CARDS) >= 30
    assert len({registry().subjects[card].text("vendor") for card in CARDS}) >= 8


def test_every_field_has_a_source_a_place_in_it_and_a_status():
    for card in CARDS:
        for field in FIELDS[card]:
            row = registry().facts[f"{card}.{field}"]
            assert row.text("source") in registry().sources, (card, field)
            assert row.text("locator"), (card, field)
            assert row.text("status") in ("verified", "quoted", "unverified"), (card, field)


@pytest.mark.parametrize("card", CARDS)
def test_a_card_says_its_vendor_and_its_form(card):
    assert registry().subjects[card].text("vendor")
    assert isinstance(gpu(card).form_factor, str)
    assert registry().subjects[card].text("name").startswith(registry().subjects[card].text("vendor")[:3])


def test_variants_are_cards_of_their_own_and_differ_in_form():
    for one, other in [
        ("h100-sxm", "h100-pcie"),
        ("h100-pcie", "h100-nvl"),
        ("h200-sxm", "h200-nvl"),
        ("a100-sxm-80", "a100-pcie-80"),
        ("v100-sxm2-32", "v100-pcie-32"),
        ("rtx-pro-6000-ws", "rtx-pro-6000-server"),
        ("b200", "gb200"),
    ]:
        assert gpu(one).form_factor != gpu(other).form_factor


def test_a_peak_rate_says_dense_or_sparse_in_its_name():
    allowed = re.compile(r"(tf32|bf16|fp16|fp8|fp4|int8)_(dense|sparse)|fp(32|64)_(vector|matrix)")
    for card in CARDS:
        for field in FIELDS[card]:
            if field.endswith(("_flop_per_s", "_op_per_s")):
                assert allowed.fullmatch(re.sub(r"_(fl)?op_per_s$", "", field)), (card, field)


def test_integers_are_no_flop():
    for card in CARDS:
        assert not [field for field in FIELDS[card] if field.startswith("int") and "flop" in field]
        assert not [field for field in FIELDS[card] if not field.startswith("int") and field.endswith("_op_per_s")]


def test_at_least_two_hundred_fields_were_read_at_the_vendor():
    rows = [row for id, row in registry().facts.items() if id.partition(".")[0] in CARDS]
    assert sum(row.text("status") == "verified" for row in rows) >= 200
    assert sum(row.text("status") == "unverified" for row in rows) <= 20


# Sparse against dense

NOT_TWICE = {
    ("b300", "fp4"): "the dense rate alone was raised in this generation",
    ("trainium2", "bf16"): "AWS skips up to three of four values",
    ("trainium2", "fp16"): "AWS skips up to three of four values",
    ("trainium2", "tf32"): "AWS skips up to three of four values",
    ("trainium2", "fp8"): "AWS skips up to three of four values",
    ("trainium3", "bf16"): "AWS skips up to three of four values",
    ("trainium3", "fp16"): "AWS skips up to three of four values",
    ("trainium3", "tf32"): "AWS skips up to three of four values",
}


@pytest.mark.parametrize(("card", "dtype"), pairs())
def test_sparse_is_twice_dense(card, dtype):
    ratio = FIELDS[card][rate(dtype, "sparse")] / FIELDS[card][rate(dtype, "dense")]
    assert ratio > 1
    # Vendors round the two on their own: 10.1 PFLOP/s stands beside 5.0.
    assert (abs(ratio - 2) <= 0.025) == ((card, dtype) not in NOT_TWICE), ratio


def test_a_planted_sparse_rate_under_a_dense_name_is_found():
    """What a reader proposed for the B200: its sparse rate as the dense one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FIELDS["b200"], rate("bf16", "dense"), 4500 * T)
        with pytest.raises(AssertionError):
            test_sparse_is_twice_dense("b200", "bf16")


def test_there_are_pairs_to_compare():
    assert len(pairs()) >= 50
    assert set(NOT_TWICE) <= set(pairs())


# One data type against another

UNEQUAL = {
    "gaudi3": "FP16 runs on another path",
    "ascend-910b": "Huawei states two rates",
    "ascend-910c": "two sources, and Huawei states two rates",
    "rtx-3090": "the FP16 rate is with accumulation in FP16, the BF16 rate in FP32",
}


@pytest.mark.parametrize("card", [c for c in CARDS if {rate("bf16", "dense"), rate("fp16", "dense")} <= set(FIELDS[c])])
def test_fp16_is_as_fast_as_bf16(card):
    ratio = FIELDS[card][rate("fp16", "dense")] / FIELDS[card][rate("bf16", "dense")]
    assert (abs(ratio - 1) <= 0.01) == (card not in UNEQUAL), ratio


@pytest.mark.parametrize("card", [c for c in CARDS if {rate("bf16", "dense"), rate("fp8", "dense")} <= set(FIELDS[c])])
def test_fp8_is_at_most_about_four_times_bf16_and_never_slower(card):
    ratio = FIELDS[card][rate("fp8", "dense")] / FIELDS[card][rate("bf16", "dense")]
    assert 1 <= ratio <= 4.05


@pytest.mark.parametrize("card", [c for c in CARDS if {rate("bf16", "dense"), rate("fp8", "dense")} <= set(FIELDS[c])])
def test_nvidias_fp8_is_twice_its_bf16(card):
    if registry().subjects[card].text("vendor") == "NVIDIA":
        assert abs(FIELDS[card][rate("fp8", "dense")] / FIELDS[card][rate("bf16", "dense")] - 2) < 0.03


# Memory


@pytest.mark.parametrize("card", [c for c in CARDS if {"memory_bytes", "driver_memory_bytes"} <= set(FIELDS[c])])
def test_nvidias_label_counts_in_gib(card):
    """What facts/gpu-nvidia.toml says at its top; error correction of GDDR6 takes a sixteenth of a card."""
    label, driver = FIELDS[card]["memory_bytes"], FIELDS[card]["driver_memory_bytes"]
    gddr6 = FIELDS[card].get("memory_type") == "GDDR6"
    seen = label * 15 / 16 if gddr6 else label
    assert 0.993 < driver / seen <= 1
    assert driver > label / GIB * GB * (1 if gddr6 else 1.05), "no decimal label fits what the driver counts"


@pytest.mark.parametrize("card", [c for c in CARDS if {"memory_bytes", "usable_memory_bytes"} <= set(FIELDS[c])])
def test_a_program_gets_less_than_the_label(card):
    assert 0.97 < FIELDS[card]["usable_memory_bytes"] / FIELDS[card]["memory_bytes"] < 1


# The data rate of one pin, in bits a second: what the kinds of memory reach (JEDEC, and makers above its steps).
PIN = {
    "HBM2": (1.4, 2.5),
    "HBM2e": (2.4, 3.7),
    "HBM3": (4.8, 6.5),
    "HBM3e": (6.0, 9.7),
    "GDDR6": (12, 20.5),
    "GDDR6X": (19, 24),
    "GDDR7": (26, 34),
}


@pytest.mark.parametrize(
    "card", [c for c in CARDS if {"memory_bus_bits", "memory_bandwidth_bytes_per_s", "memory_type"} <= set(FIELDS[c])]
)
def test_a_bandwidth_fits_its_bus(card):
    have = FIELDS[card]
    pin = have["memory_bandwidth_bytes_per_s"] * 8 / have["memory_bus_bits"] / G
    low, high = PIN[have["memory_type"]]
    assert low <= pin <= high, f"{pin:.2f} Gbit/s a pin"


def test_a_planted_bandwidth_does_not_fit():
    """The same arithmetic with the slip of a thousand that a public page prints for the A100: 2.039 GB/s."""
    low, high = PIN["HBM2e"]
    assert not low <= 2.039 * G * 8 / FIELDS["a100-sxm-80"]["memory_bus_bits"] / G <= high


# Silicon


@pytest.mark.parametrize("card", [c for c in CARDS if {"sm_count", "core_count"} <= set(FIELDS[c])])
def test_cores_divide_into_multiprocessors(card):
    assert FIELDS[card]["core_count"] / FIELDS[card]["sm_count"] in (64, 128)


@pytest.mark.parametrize("card", [c for c in CARDS if {"sm_count", "tensor_core_count"} <= set(FIELDS[c])])
def test_tensor_cores_divide_into_multiprocessors(card):
    assert FIELDS[card]["tensor_core_count"] / FIELDS[card]["sm_count"] in (4, 8)


@pytest.mark.parametrize("card", [c for c in CARDS if {"die_area_m2", "transistors_count"} <= set(FIELDS[c])])
def test_a_die_fits_the_reticle_and_its_generation(card):
    area_mm2 = FIELDS[card]["die_area_m2"] * 10**6
    assert 100 < area_mm2 <= 858, "a scanner exposes 26 by 33 mm at once"
    assert 20e6 < FIELDS[card]["transistors_count"] / area_mm2 < 200e6


@pytest.mark.parametrize("card", CARDS)
def test_power_and_links_are_of_one_card_and_not_of_a_board(card):
    have = FIELDS[card]
    assert 50 <= have.get("tdp_w", 100) <= 1400
    assert 100 * G <= have.get("link_bandwidth_bytes_per_s", 100 * G) <= 3 * T
    assert have.get("memory_bytes", 96 * GIB) <= 300 * GIB


@pytest.mark.parametrize(
    "card", [c for c in CARDS if {"core_count", "fp32_vector_flop_per_s"} <= set(FIELDS[c]) and c != "enflame-t10"]
)
def test_single_precision_follows_from_cores_and_a_clock_that_ships(card):
    clock_hz = FIELDS[card]["fp32_vector_flop_per_s"] / FIELDS[card]["core_count"] / 2
    assert 1.3e9 < clock_hz < 2.7e9


# Errors that others have published, each of which this catalogue must not repeat


class TestErrata:
    """Public corrections of other books and tables, from the lists of issues that their readers filed."""

    def test_312_teraflop_belong_to_the_a100_and_are_dense(self):
        """A textbook gave the rate to another chip; others print 624 without a word on sparsity."""
        for card in ("a100-sxm-40", "a100-sxm-80", "a100-pcie-40", "a100-pcie-80"):
            assert gpu(card).bf16_dense_flop_per_s == 312 * T
            assert gpu(card).bf16_sparse_flop_per_s == 624 * T
        assert [c for c in CARDS if FIELDS[c].get("bf16_dense_flop_per_s") == 312 * T] == [
            "a100-sxm-40",
            "a100-sxm-80",
            "a100-pcie-40",
            "a100-pcie-80",
        ]

    def test_the_b200s_figures_are_not_doubled(self):
        """A reader of a book took the datasheet's sparse rates for dense ones and asked to double them all."""
        assert gpu("b200").bf16_dense_flop_per_s == 2250 * T
        assert gpu("b200").bf16_sparse_flop_per_s == 4500 * T
        assert gpu("b200").fp4_dense_flop_per_s == 9000 * T

    def test_the_h100s_headline_is_sparse(self):
        """Reseller pages list 1,979 TFLOP/s of BF16 and 3,958 of FP8 as dense."""
        assert gpu("h100-sxm").bf16_dense_flop_per_s == 989 * T
        assert gpu("h100-sxm").bf16_sparse_flop_per_s == 1979 * T
        assert gpu("h100-sxm").fp8_sparse_flop_per_s == 3958 * T

    def test_h100_pcie_and_sxm_are_not_mixed(self):
        """Chapters of one book mixed the bandwidth, the memory and the rate of the two."""
        assert gpu("h100-sxm").memory_bandwidth_bytes_per_s == 3350 * G
        assert gpu("h100-pcie").memory_bandwidth_bytes_per_s == 2000 * G
        assert (gpu("h100-sxm").memory_type, gpu("h100-pcie").memory_type) == ("HBM3", "HBM2e")
        assert gpu("h100-pcie").bf16_dense_flop_per_s < 0.8 * gpu("h100-sxm").bf16_dense_flop_per_s
        assert gpu("h100-pcie").sm_count == 114

    def test_terabytes_are_no_gigabytes(self):
        """A repository printed TB/s as GB/s, a spec page 2.039 GB/s for the A100."""
        for card in CARDS:
            assert 10**11 < FIELDS[card].get("memory_bandwidth_bytes_per_s", T) < 10**13, card
        assert gpu("a100-sxm-80").memory_bandwidth_bytes_per_s == 2039 * G

    def test_two_dies_are_two(self):
        """A table measured one die of the MI250X and gave the specification of both."""
        assert gpu("mi250x").cu_count == 220
        assert gpu("ascend-910c").fp16_dense_flop_per_s == 2 * gpu("ascend-910b").fp16_dense_flop_per_s

    def test_a_superchip_is_two_gpus(self):
        """GB200 is sold by the module: 20 PFLOP/s of dense FP4 and 384 GB are two GPUs."""
        assert gpu("gb200").fp4_dense_flop_per_s == 10_000 * T
        assert gpu("gb200").memory_bytes == 186 * GIB
        assert gpu("gb300").fp4_dense_flop_per_s == 15_000 * T

    def test_amds_ten_petaflop_are_sparse_in_fp8_and_dense_in_fp4(self):
        assert gpu("mi355x").fp8_dense_flop_per_s == 5000 * T
        assert gpu("mi355x").fp8_sparse_flop_per_s == gpu("mi355x").fp4_dense_flop_per_s == 10_100 * T

    def test_blackwell_ultra_gave_up_whole_numbers(self):
        """Tables carry the INT8 rate of the B200 over to the B300."""
        assert gpu("b300").int8_dense_op_per_s < gpu("b200").int8_dense_op_per_s / 20

    def test_a_geforce_card_halves_with_fp32_accumulation(self):
        """The 330 TFLOP/s of the RTX 4090 need accumulation in FP16; training has half."""
        assert gpu("rtx-4090").bf16_dense_flop_per_s == 165 * T
