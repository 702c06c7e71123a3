"""All that is said of pages before they are built: data, typed numbers, examples, numbers, the lock.

One call for the command line, the build and the tests, so that a contributor hears in seconds what continuous
integration would say. Left out: the built HTML (``gpumoat.site.pages``) and the browser.
"""

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from gpumoat.registry_check import check_registry
from gpumoat.site.errata import check_errata
from gpumoat.site.errors import SiteError
from gpumoat.site.glossary import check_glossary
from gpumoat.site.links import Linked, check_links, linked
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
        pages = [_find_page(project, only, pages)]
    report.problems += _unreadable(project)
    if report.problems:  # nothing below can say more of a file that cannot be read
        return report
    data = check_registry(repository=project.root)
    report.problems += [str(problem) for problem in data]
    report.problems += check_glossary(project, pages[0] if only else "") + check_errata(project)
    if all(problem.unused for problem in data):  # with broken data every page would fail for the same reason
        _check_pages(project, pages, report, progress)
    ours = {project.pages / pages[0], project.example_of(pages[0])}
    findings = [finding for finding in lint_project(project.root) if not only or Path(finding.path) in ours]
    report.problems += [str(finding).removeprefix(f"{project.root}{os.sep}") for finding in findings]
    return report


def _find_page(project: Project, wanted: str, pages: list[str]) -> str:
    """Return the page that somebody means: with or without its ending, below docs/en or from the root."""
    name = wanted.replace(os.sep, "/").removeprefix(project.pages.relative_to(project.root).as_posix() + "/")
    name = name if name.endswith(".md") else f"{name}.md"
    if name in pages:
        return name
    last = name.split("/")[-1]
    close = set(get_close_matches(name, pages, cutoff=0.8)) | {page for page in pages if page.split("/")[-1] == last}
    hint = f"did you mean {', '.join(sorted(close))}?" if close else f"there are {', '.join(pages[:8])}"
    raise SiteError(project.pages, 0, f"no page {name!r}: {hint}")


def _left_open(project: Project, path: str) -> list[str]:
    """Return the blocks and fences of a page that nothing closes: they would swallow the rest of the page."""
    page = Page(project, path)
    opened: list[tuple[int, str]] = []
    fence = ""
    problems = []
    for number, line in enumerate(page.file.read_text(encoding="utf-8").splitlines(), 1):
        mark = re.match(r"\s*(`{3,}|~{3,})(?!.*`)", line)
        if mark and (not fence or (mark[1].startswith(fence) and line.strip() == mark[1])):
            fence, last = ("" if fence else mark[1]), number
        if fence or mark:
            continue
        block = re.match(r"\s*(/{3,})\s*(\S*)", line)
        if not block:
            continue
        if block[2]:
            opened.append((number, block[1]))
        elif opened and opened[-1][1] == block[1]:
            opened.pop()
        else:
            problems.append(str(SiteError(page.file, number, f"{block[1]} closes no block: begin one above it")))
    if fence:
        problems.append(str(SiteError(page.file, last, f"this {fence} is never closed: end it with a line {fence}")))
    for number, opener in opened:
        problems.append(str(SiteError(page.file, number, f"this block is never closed: end it with a line {opener}")))
    return problems


def _unreadable(project: Project) -> list[str]:
    """Return what is wrong with files that are no text, or no Python."""
    problems = []
    for file in sorted([*project.pages.rglob("*.md"), *project.examples.rglob("*.py")]):
        try:
            text = file.read_text(encoding="utf-8")
            if file.suffix == ".py":
                compile(text, str(file), "exec", dont_inherit=True)
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            problems.append(str(SiteError(file, line, "no valid UTF-8: save the file as UTF-8")))
        except SyntaxError as error:
            problems.append(str(SiteError(file, error.lineno or 0, f"no valid Python: {error.msg}")))
        except ValueError as error:  # a null byte
            problems.append(str(SiteError(file, 0, f"no valid Python: {error}")))
    return problems


def _check_pages(project: Project, pages: list[str], report: Report, progress: Progress) -> None:
    links: list[Linked] = []
    for path in progress(pages, "Rendering"):
        report.problems += _left_open(project, path)
        try:
            page, text = render(project, path)
            report.pages.append(page)
            links.append(linked(page, text))
        except SiteError as error:
            report.problems.append(str(error))
        except Exception as error:  # an extension that we did not write: the author gets a line, not a traceback
            what = " ".join(f"{type(error).__name__} {error}".split())
            report.problems.append(str(SiteError(project.pages / path, 0, f"cannot be rendered: {what}")))
    if len(links) == len(pages):
        report.problems += check_links(project, links)
    report.problems = list(dict.fromkeys(report.problems))
    if report.problems:
        return
    before = project.lock.read_text(encoding="utf-8") if project.lock.is_file() else ""
    ours = {page.path for page in report.pages}
    if len(ours) < len(project.all_pages()):  # one page only: compare its lines
        before = "\n".join(line for line in before.splitlines() if line.split(" | ")[0] in ours)
    report.lock = changes(before, lock_text(report.pages))
