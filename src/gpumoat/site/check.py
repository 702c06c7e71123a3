"""All that is said of pages before they are built: data, typed numbers, examples, numbers, the lock.

One call for the command line, the build and the tests, so that a contributor hears in seconds what continuous
integration would say. Left out: the built HTML (``gpumoat.site.pages``) and the browser.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gpumoat.registry_check import check_registry
from gpumoat.site.errors import SiteError
from gpumoat.site.lint import lint_project
from gpumoat.site.lock import Change, changes, lock_text, render
from gpumoat.site.page import Page
from gpumoat.site.project import Project

Progress = Callable[[Iterable[str], str], Iterable[str]]


@dataclass
class Report:
    """What was found.

    Attributes:
        problems: One line each, with file, line and what would be right.
        pages: The pages that render.
        lock: What differs from ``docs/numbers.lock``.
    """

    problems: list[str] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    lock: list[Change] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether nothing was found."""
        return not self.problems and not self.lock


def check_project(project: Project, only: str = "", progress: Progress = lambda items, _: items) -> Report:
    """Check a checkout, or one page of it.

    Args:
        project: The checkout.
        only: A page below the folder of pages, such as ``memory/gpt3.md``; empty for all.
        progress: Wraps the list of pages to show how far the check is.

    Raises:
        SiteError: There is no such page.
    """
    report = Report()
    pages = project.all_pages()
    if only:
        wanted = only if only.endswith(".md") else f"{only}.md"
        if wanted not in pages:
            near = ", ".join(page for page in pages if wanted.split("/")[-1][:4] in page) or ", ".join(pages[:8])
            raise SiteError(project.pages, 0, f"no page {wanted!r}: there are {near}")
        pages = [wanted]
    report.problems += [str(problem) for problem in check_registry(repository=project.root)]
    if not report.problems:  # with broken data every page would fail for the same reason
        _check_pages(project, pages, report, progress)
    stem = only.removesuffix(".md")
    findings = [finding for finding in lint_project(project.root) if not only or stem in str(finding.path)]
    report.problems += [str(finding).removeprefix(f"{project.root}{os.sep}") for finding in findings]
    return report


def _check_pages(project: Project, pages: list[str], report: Report, progress: Progress) -> None:
    for path in progress(pages, "Rendering"):
        try:
            report.pages.append(render(project, path)[0])
        except SiteError as error:
            report.problems.append(str(error))
    if report.problems:
        return
    before = project.lock.read_text(encoding="utf-8") if project.lock.is_file() else ""
    ours = {page.path for page in report.pages}
    if len(ours) < len(project.all_pages()):  # one page only: compare its lines
        before = "\n".join(line for line in before.splitlines() if line.split(" | ")[0] in ours)
    report.lock = changes(before, lock_text(report.pages))
