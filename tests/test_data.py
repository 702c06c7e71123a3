"""The data that the site rests on: whole, checked against independent arithmetic, and said in our own words."""

import math
import re
import runpy
from fractions import Fraction
from pathlib import Path

import pytest

from gpumoat.facts import VERDICTS, claim, fact, fact_text, held_value, recording, registry
from gpumoat.registry_check import check_registry
from gpumoat.units import GB, GIB, MIB

# GPT-3 from the paper's figures, typed here a second time: these tests do not lean on the models.
HIDDEN, LAYERS, VOCABULARY, POSITIONS = 12_288, 96, 50_257, 2_048
LAYER = 12 * HIDDEN**2 + 13 * HIDDEN
TIED = (VOCABULARY + POSITIONS) * HIDDEN + LAYERS * LAYER + 2 * HIDDEN
CACHE = 2 * LAYERS * HIDDEN * POSITIONS
ACTIVATIONS = LAYERS * POSITIONS * HIDDEN * (34 + 5 * 96 * POSITIONS // HIDDEN)


def test_the_data_have_no_problems() -> None:
    assert [str(one) for one in check_registry()] == []


def test_every_fact_and_claim_comes_through_its_door() -> None:
    with recording() as reads:
        for id, row in registry().facts.items():
            if isinstance(row.row["value"], str):
                assert fact_text(id) == row.row["value"]
            else:
                assert fact(id) == held_value(row)[0]
        for id, row in registry().claims.items():
            if "value" in row.row:
                assert math.isfinite(claim(id))
    assert {read.kind for read in reads} == {"cited", "claimed"}


@pytest.mark.parametrize(
    ("id", "value"),
    [
        ("gpt3.hidden", HIDDEN),
        ("gpt3.layers", LAYERS),
        ("gpt3.vocabulary", VOCABULARY),
        ("gpt3.positions", POSITIONS),
        ("gpt3.parameters", 174_600 * 10**6),
        ("rtx-4090.driver_memory_bytes", 24_564 * MIB),
        ("h100-sxm.driver_memory_bytes", 81_559 * MIB),
        ("h200-sxm.driver_memory_bytes", 143_771 * MIB),
        ("h100-sxm.memory_bytes", 80 * GIB),
        ("adam-mixed.momentum_bytes_per_parameter", 4),
    ],
)
def test_facts_are_held_in_base_units(id: str, value: int) -> None:
    assert fact(id) == value
    assert isinstance(fact(id), int)


def test_gpt3s_shape_agrees_with_itself_and_with_the_papers_count() -> None:
    assert fact("gpt3.heads") * fact("gpt3.head_dim") == fact("gpt3.hidden")
    assert round(TIED, -8) == fact("gpt3.parameters")
    assert round(fact("gpt3.parameters"), -9) == fact("gpt3.nominal_parameters")


def test_mixed_precision_and_full_precision_both_take_sixteen_bytes() -> None:
    parts = ("weights", "gradients", "master", "momentum", "variance")
    assert sum(fact(f"adam-mixed.{part}_bytes_per_parameter") for part in parts) == 16
    assert 4 * (1 + 1 + fact("adam-mixed.moments_count")) == 16


@pytest.mark.parametrize("card", ["rtx-4090", "h100-sxm", "h200-sxm"])
def test_a_cards_label_counts_in_gib(card: str) -> None:
    """What facts/gpu-nvidia.toml says at its top: the driver finds a little less than the label read in GiB."""
    label, driver = fact(f"{card}.memory_bytes"), fact(f"{card}.driver_memory_bytes")
    assert 0.0004 < 1 - driver / label < 0.005
    assert driver > label / GIB * GB * 1.05


@pytest.mark.parametrize("card", ["rtx-4090", "h100-sxm"])
def test_a_program_gets_less_than_the_driver_counts(card: str) -> None:
    share = fact(f"{card}.usable_memory_bytes") / fact(f"{card}.driver_memory_bytes")
    assert 0.98 < share < 1


def test_every_verdict_word_has_a_meaning_here() -> None:
    verdicts = {row.text("verdict") for row in registry().claims.values()}
    assert verdicts <= set(VERDICTS)
    assert {"confirmed", "wrong", "outdated", "inconsistent", "approximately"} <= verdicts


# A number in an explanation is typed. It may stand in the statement of a fact that the claim names, or in the claim's
# own words; each other one is computed here a second time: claim -> what its text says.
SAID: dict[str, dict[str, float | Fraction]] = {
    "lecture-matrix-rows": {"12,288": HIDDEN},
    "lecture-attention-parameters": {
        "603,979,776": 4 * HIDDEN**2,
        "49,152": 4 * HIDDEN,
        "0.008 per cent": 100 * Fraction(1, HIDDEN + 1),
    },
    "lecture-attention-size": {"2.42": 4 * 4 * HIDDEN * (HIDDEN + 1) / GB},
    "lecture-layer-size": {"0.2 MiB": 4 * 4 * HIDDEN / MIB},
    "lecture-weights-size": {
        "2.3 GiB": 4 * VOCABULARY * HIDDEN / GIB,
        "652.8 GiB": 4 * (TIED + VOCABULARY * HIDDEN) / GIB,
        "651": 651,
    },
    "lecture-parameter-count": {"174,600 million": round(TIED, -8) / 10**6},
    "lecture-gigabyte": {"7 per cent": 100 * (1 - GB / GIB)},
    "lecture-inference-extra": {"18 GiB": 4 * CACHE / GIB, "9 GiB": 2 * CACHE / GIB},
    "lecture-inference-total": {"651": 651, "10": 10, "661": 651 + 10, "670": 670},
    "lecture-training-multiple": {"16 bytes": 4 * (1 + 3)},
    "lecture-training-cause": {
        "256.5 GiB": ACTIVATIONS / GIB,
        "4.5 GiB": 2 * LAYERS * POSITIONS * HIDDEN / GIB,
    },
    "lecture-total-training": {"16 bytes": 2 + 2 + 4 + 4 + 4},
    "lecture-total-training-low": {"651": 651, "2,604": 651 * 4, "2,400": 2400},
    "lecture-cards-ratio": {"16": 4 * 4, "4": 4, "32": 16 / 0.5},
    "lecture-7b-card": {"26.1 GiB": 4 * 7e9 / GIB, "24 GB": 24, "13.0 GiB": 2 * 7e9 / GIB, "14": 14},
    "lecture-rule-16-bit": {"13.0": 2 * 7e9 / GIB},
    "lecture-rule-8-bit": {"8 bits": 8},
}
# Claims of other subjects have theirs in a file each, such as tests/said/lithography.py, with a SAID of its own.
for each in sorted((Path(__file__).parent / "said").glob("*.py")):
    more = runpy.run_path(str(each))["SAID"]
    assert not SAID.keys() & more.keys(), f"{each.name} repeats {sorted(SAID.keys() & more.keys())}"
    SAID |= more
NUMBER = re.compile(r"(?<![\w.-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w-])")


def quantities(text: str) -> list[str]:
    """Return the numbers of a text; sections of a document and names such as GPT-2 and 16-bit are none."""
    plain = re.sub(r"(section |in )\d+\.\d+", "", text)
    return NUMBER.findall(plain)


@pytest.mark.parametrize("id", registry().claims)
def test_a_number_in_an_explanation_is_right(id: str) -> None:
    text = registry().claims[id].text("explanation")
    said = SAID.get(id, {})
    computed = {NUMBER.findall(one)[0] for one in said}
    assert set(quantities(text)) - cited(id) == computed - cited(id), "a number that no test computes"
    for shown, value in said.items():
        assert shown in text
        number = NUMBER.findall(shown)[0]
        digits = len(number.partition(".")[2])
        assert f"{float(value):,.{digits}f}" == number if "," in number else f"{float(value):.{digits}f}" == number


def cited(id: str) -> set[str]:
    """Return the numbers that stand in a claim's own words and in the statements of the facts that it names."""
    row = registry().claims[id]
    named = [registry().facts[one].text("statement") for one in row.row.get("facts") or []]
    return set(quantities(" ".join([row.text("says"), *named])))


def test_a_number_of_a_named_fact_needs_no_second_computation() -> None:
    assert {"40", "600"} <= cited("lecture-nvlink-bandwidth")
    assert "601" not in cited("lecture-nvlink-bandwidth")


def test_the_numbers_of_a_text_are_found() -> None:
    text = "It takes 651, 661 GiB, or 2.25 G; GPT-3 and 16-bit, section 3.5, 12,288 rows."
    assert quantities(text) == ["651", "661", "2.25", "12,288"]


def test_statements_are_sentences_and_hold_their_value() -> None:
    for id, row in registry().facts.items():
        statement = row.text("statement")
        assert statement[0].isupper(), id
        assert statement.endswith("."), id
        assert "{{" not in statement, id


def test_no_text_names_a_machine_or_a_tool_of_the_workplace() -> None:
    for shelf in ("sources", "facts", "claims", "subjects"):
        for id, row in getattr(registry(), shelf).items():
            text = " ".join(str(value) for value in row.row.values())
            assert not re.search(r"/(work|tmp|root|home)/", text), id


def test_the_year_of_pytorch_is_that_of_its_date() -> None:
    """An expression computes with numbers, so this year is told twice: as a number, and in the date of a layer."""
    assert str(registry().facts["layer-framework.nvidia_date"].row["value"])[:4] == str(int(fact("pytorch-year")))
