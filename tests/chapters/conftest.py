"""What the tests of a chapter's claims stand on: its prose, and the names of its worked example.

Policy: a test of a claim quotes the sentence and asks whether the page still has it, so that whoever edits the prose
is led to the test; then it checks the claim against the example's own numbers, or against numbers from elsewhere.
Quotes leave inline numbers out: `…` stands for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpumoat.site.page import example_for

ROOT = Path(__file__).resolve().parent.parent.parent


class Chapter:
    """One chapter.

    Attributes:
        n: The names of its worked example, after it has run.
        prose: Its text with single spaces, each inline number as `…`.
        expressions: The first word of each inline number: a name of the example, or a door.
    """

    def __init__(self, stem: str) -> None:
        text = (ROOT / "docs" / "en" / f"{stem}.md").read_text(encoding="utf-8")
        self.expressions = re.findall(r"\{\{\s*(\w+)", text)
        text = re.sub(r"\{\{.*?\}\}", "…", text)
        self.prose = " ".join(text.split())
        self.n = SimpleNamespace(**example_for(ROOT / "docs" / "examples" / f"{stem}.py").namespace)

    def says(self, sentence: str) -> bool:
        """Whether the page has a sentence; the test that asks is about this sentence and no other."""
        assert sentence in self.prose, f"the chapter no longer says: {sentence}"
        return True


@pytest.fixture(scope="session")
def chapter_of() -> Callable[[str], Chapter]:
    """A chapter by its stem, read and run once."""
    known: dict[str, Chapter] = {}

    def get(stem: str) -> Chapter:
        if stem not in known:
            known[stem] = Chapter(stem)
        return known[stem]

    return get
