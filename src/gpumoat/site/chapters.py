"""Which pages are chapters, and what they are called.

A chapter is a page with a worked example of its own; the home page has one too and is none. Read from the files, so
that a page which asks about the others does not depend on the order in which pages are rendered.
"""

import re

from mkdocs.utils import meta

from gpumoat.site.page import Page
from gpumoat.site.project import Project

HOME = "index.md"


def is_chapter(page: Page) -> bool:
    """Whether a page is a chapter of the book."""
    return page.path != HOME and page.script.is_file()


def chapters(project: Project) -> list[Page]:
    """Return every chapter, in the order of their paths."""
    pages = (Page(project, path) for path in project.all_pages())
    return [page for page in pages if is_chapter(page)]


def title_of(page: Page) -> str:
    """Return a page's title: that of its front matter, else its first heading, else its path."""
    text, data = meta.get_data(page.file.read_text(encoding="utf-8"))
    if data.get("title"):
        return str(data["title"])
    found = re.search(r"(?m)^# (.+?)(?:\s*\{[^{}]*\})?\s*$", text)
    return page.plain(found[1]) if found else page.path
