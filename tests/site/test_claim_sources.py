"""The card of a claimed number names the sources of the verdict, each a link into the bibliography."""

from pathlib import Path

from gpumoat.facts import Record
from gpumoat.site.cards import _claim
from gpumoat.site.page import Page
from gpumoat.site.project import Project

PAGE = Page(Project(Path(__file__).parents[2]), "moat/company.md")
ROW = {
    "id": "lecture-fans",
    "document": "lecture",
    "where": "1.2",
    "says": "It has two fans.",
    "verdict": "wrong",
    "explanation": "It has one.",
}


def card(**more: object) -> str:
    return _claim(PAGE, Record("claim", ROW | more, "claims.toml"), "2")


def test_a_source_is_linked_with_its_place() -> None:
    html = card(sources=["brown-2020, table 2.1", "gpt2-code"])
    assert '<a href="../../bibliography/#brown-2020">Brown et al. 2020</a>, table 2.1; <a' in html
    assert '#gpt2-code">OpenAI, gpt-2 code</a>.</span>' in html


def test_a_claim_without_sources_ends_with_its_explanation() -> None:
    assert "It has one.</span>" in card()
    assert card().count("bibliography/#") == 1, "the document that claims it, and nothing against it"
