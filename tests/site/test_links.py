"""Links between pages are followed before anything is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpumoat.site.check import check_project
from gpumoat.site.project import Project


def with_line(copy: Path, text: str) -> tuple[list[str], int]:
    """Put a paragraph at the end of the style guide and return what the check says, and the paragraph's line."""
    page = copy / "docs/en/style.md"
    before = page.read_text("utf-8")
    page.write_text(f"{before}\n{text}\n", "utf-8")
    return check_project(Project(copy), "style").problems, len(before.splitlines()) + 2


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ("memory/gpt4.md", "the link 'memory/gpt4.md' leads to no page: did you mean memory/gpt3.md?"),
        ("glosary.md#warp", "the link 'glosary.md#warp' leads to no page: did you mean glossary.md?"),
        ("#no-such-place", "the link '#no-such-place' leads to no place on style.md"),
        ("memory/gpt3.md#no-such-place", "leads to no place on memory/gpt3.md"),
        ("../memory/gpt3.md", "leads to no page"),
    ],
)
def test_a_link_that_leads_nowhere_is_named_at_its_line(copy: Path, link: str, says: str) -> None:
    problems, line = with_line(copy, f"See [there]({link}).")
    assert any(one.startswith(f"docs/en/style.md:{line}: ") and says in one for one in problems), problems


@pytest.mark.parametrize(
    "link",
    [
        "memory/gpt3.md",
        "memory/gpt3.md#table-cards",
        "bibliography.md#brown-2020",
        "#a-place",
        "https://example.org/x.md",
    ],
)
def test_a_link_that_leads_somewhere_is_none(copy: Path, link: str) -> None:
    problems, _ = with_line(copy, f"## A place {{#a-place}}\n\nSee [there]({link}).")
    assert problems == []
