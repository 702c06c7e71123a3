"""What the chapter on the five reasons says in words, held against the numbers of its sources, typed here again."""

import runpy
from pathlib import Path

import pytest

from gpumoat.facts import registry

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/en/moat/why-irreplaceable.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def chapter() -> dict:
    return runpy.run_path(str(ROOT / "docs/examples/moat/why-irreplaceable.py"))


def says(sentence: str) -> None:
    assert sentence in PAGE, "the page no longer says so"


def test_ahead_on_paper_behind_in_the_test(chapter: dict) -> None:
    says("On paper a rival's card had {{ rated_ratio:.2f x }} the speed of NVIDIA's. In the test it lost all the same.")
    assert chapter["rated_ratio"] == pytest.approx(1307.4 / 989)
    assert chapter["rated_ratio"] > 1
    ahead = [row["ahead_ratio"] for row in chapter["scales"]]
    assert ahead[0] < 1 < ahead[1] < ahead[2]


def test_faster_as_a_system_and_slower_for_each_watt(chapter: dict) -> None:
    """300 against 180 PFLOP/s and 559 against 145 kW, as WinBuzzer quotes SemiAnalysis."""
    says("It is the faster system all the same, by {{ rack_ratio:.2f x }}, as rated")
    assert chapter["rack_ratio"] == pytest.approx(300 / 180)
    assert chapter["per_watt_ratio"] == pytest.approx((180 / 145) / (300 / 559))


def test_the_gap_of_the_libraries(chapter: dict) -> None:
    assert chapter["gap_bf16_share"] == pytest.approx(1 - 620 / 720)
    assert chapter["gap_fp8_share"] == pytest.approx(1 - 990 / 1280)
    assert chapter["h100_used_share"] > chapter["mi300x_used_share"]


def test_the_story_of_the_supercomputer(chapter: dict) -> None:
    says("So the story may be true, and its numbers are not")
    assert chapter["centre_ratio"] == pytest.approx(125.4 / (8 * 0.312))
    assert chapter["link_ratio"] == pytest.approx(300 / 16), "one direction of each: 600 GB/s counts both"
    assert 10 ** chapter["link_orders"] == pytest.approx(18.75)
    assert chapter["said_link_ratio"] / chapter["link_ratio"] > 1000


def test_both_documents_counted_too_few(chapter: dict) -> None:
    says("Both documents were too low in the year of their newest figures")
    at = {(row["who"], row["day"]): row["developers_count"] for row in chapter["counts"]}
    (day,) = {row["day"] for row in chapter["counts"] if row["who"] != "NVIDIA counts"}
    assert at["the book chapter says", day] < at["the lecture says", day] < at["NVIDIA counts", f"{day}-01-26"]
    says("the chapter's number had been passed by that May")
    assert at["the book chapter says", day] < at["NVIDIA counts", "2017-05"]
    says("lies so far below the count that it is no guide")
    assert 10 * at["the book chapter says", day] < at["NVIDIA counts", f"{day}-01-26"]
    for id in ("lecture-developers", "chapter-developers"):
        assert registry().claims[id].text("verdict") == "wrong"


def test_all_counts_of_a_table_are_of_one_year(chapter: dict) -> None:
    says("all held against those of the year of the documents' newest figures")
    assert [row["found"] for row in chapter["verdicts"]] == [5.9e6, 5.9e6, 2025 - 2006, 2025 - 2006]


def test_what_is_rated_is_said_to_be() -> None:
    says("as rated, for each watt, one system has")
    says("In the test, one card has")


def test_nvidias_count_only_rises(chapter: dict) -> None:
    own = [row for row in chapter["counts"] if row["who"] == "NVIDIA counts"]
    assert [row["day"] for row in own] == sorted(row["day"] for row in own)
    assert [row["developers_count"] for row in own] == sorted(row["developers_count"] for row in own)


def test_opinions_are_signed() -> None:
    says("/// note | Our opinion")
    says("*The authors of this book.*")
    for reason in ("The chip", "The libraries", "The developers", "The frameworks", "The company"):
        section = PAGE.split(f"## {reason} {{#")[1].split("\n## ")[0]
        assert "*The lecture:*" in section
        for lead in ("**For it.**", "**Against it.**", "**It falls when**"):
            assert section.count(lead) == 1, (reason, lead)


@pytest.mark.parametrize("part", ["1.1", "1.2", "1.3", "1.4", "4.2", "4.3", "4.4", "4.5"])
def test_each_section_of_the_lecture_has_its_claims(part: str) -> None:
    assert any(row.text("document") == "lecture" and row.text("where") == part for row in registry().claims.values())
