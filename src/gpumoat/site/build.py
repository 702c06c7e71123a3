"""Building the site: check, render with MkDocs into a new folder, add the files beside the pages, swap.

A failed build leaves the last good site as it was. An extension cannot publish files, so examples and tables
are written here, beside the pages that show them.
"""

import logging
import re
import shutil
from pathlib import Path

from gpumoat.facts import DATA, registry
from gpumoat.site import pages as built
from gpumoat.site.check import Progress, Report, check_project
from gpumoat.site.errors import SiteError
from gpumoat.site.page import Page
from gpumoat.site.project import Project
from gpumoat.site.tables import to_csv, to_json


class BuildFailed(SiteError):
    """The site was not built; the problems say why.

    Attributes:
        problems: One line each.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("mkdocs.yml", 0, f"{len(problems)} problems")
        self.problems = problems


def build(project: Project, progress: Progress = lambda items, _: items) -> Report:
    """Build the site into ``site/``.

    Raises:
        BuildFailed: Something is wrong; ``site/`` is as it was.
    """
    new, site, old = (project.root / name for name in ("site.new", "site", "site.old"))
    report = build_into(project, new, progress)
    shutil.rmtree(old, ignore_errors=True)
    if site.exists():
        site.rename(old)
    new.rename(site)
    shutil.rmtree(old, ignore_errors=True)
    return report


def build_into(project: Project, folder: Path, progress: Progress = lambda items, _: items) -> Report:
    """Build the site into a folder of its own, which is gone again if something is wrong.

    Raises:
        BuildFailed: Something is wrong.
    """
    report = check_project(project, progress=progress)
    if report.problems:
        raise BuildFailed(report.problems)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        run_mkdocs(project, folder)
        publish(report.pages, folder)
        found = built.check(folder, site_url=str(project.settings.get("site_url") or ""))
        if found:
            raise BuildFailed([in_source(project, problem) for problem in found])
    except built.PagesError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise BuildFailed([f"mkdocs.yml: {error}"]) from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return report


def run_mkdocs(project: Project, folder: Path) -> None:
    """Render all pages with MkDocs, where a warning is a failure.

    Raises:
        BuildFailed: MkDocs warned or failed; what it said is in the problems.
    """
    from mkdocs.commands.build import build as mkdocs_build
    from mkdocs.config import load_config
    from mkdocs.exceptions import MkDocsException

    heard = _Listener()
    logger = logging.getLogger("mkdocs")
    logger.addHandler(heard)
    logger.propagate = False
    try:
        config = load_config(str(project.root / "mkdocs.yml"), site_dir=str(folder), strict=True)
        config.plugins.on_startup(command="build", dirty=False)
        mkdocs_build(config)
        config.plugins.on_shutdown()
    except SiteError as error:
        raise BuildFailed([str(error)]) from error
    except (MkDocsException, SystemExit) as error:
        raise BuildFailed([placed(project, line) for line in heard.lines] or [str(error)]) from error
    finally:
        logger.removeHandler(heard)
    if heard.lines:
        raise BuildFailed([placed(project, line) for line in heard.lines])


def placed(project: Project, line: str) -> str:
    """Return what MkDocs says of a link in a page, with the file and the line where the link stands."""
    found = re.match(r"mkdocs: Doc file '(.+?)' contains an? (?:\w+ )?link '(.+?)'", line)
    if not found:
        return line
    page = Page(project, found[1])
    return str(page.fail(found[2], line.removeprefix("mkdocs: ")))


def in_source(project: Project, problem: built.Problem) -> str:
    """Return a problem of a built page at the line of its Markdown file, which the author can open.

    The built file is named as well where the text cannot be found in the source: it may come from the theme.
    """
    stem = problem.page.removesuffix("index.html").rstrip("/")
    sources = [f"{stem}.md", f"{stem}/index.md"] if stem else ["index.md"]
    for page in (Page(project, name) for name in sources if (project.pages / name).is_file()):
        quoted = re.findall(r"'([^']{3,})'|asks ([\w.-]+)", problem.message)
        texts = [f"#{text}" if problem.rule == "id" else text for text in map("".join, quoted)]
        for text in texts:
            if line := page.line_of(text):
                return str(SiteError(page.file, line, f"{problem.rule}: {problem.message}"))
        return str(SiteError(page.file, 0, f"{problem.rule}: {problem.message} (built: {problem.page}:{problem.line})"))
    return str(problem)


class _Listener(logging.Handler):
    """Keeps what MkDocs warns of; its strict mode counts warnings but does not repeat them."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"mkdocs: {record.getMessage()}")


def publish(pages: list[Page], folder: Path) -> None:
    """Write each page's example, tables and files beside it, and the measurements with the scripts that made them."""
    for page in pages:
        beside = folder / Path(page.path).with_suffix("")
        if beside.name == "index":
            beside = beside.parent
        if page.script.is_file():
            shutil.copyfile(page.script, beside / page.script.name)
        for table in page.tables.values():
            (beside / f"{table.name}.csv").write_text(to_csv(table), encoding="utf-8")
            (beside / f"{table.name}.json").write_text(to_json(page, table), encoding="utf-8")
        for name, text in page.files.items():
            (beside / name).write_text(text, encoding="utf-8")
    runs = folder / "measurements"
    runs.mkdir(exist_ok=True)
    for run in registry().measurements.values():
        shutil.copyfile(Path(DATA) / run.file, runs / f"{run.id}.json")
        script = Path(DATA).parents[2] / run.text("script")
        shutil.copyfile(script, runs / script.name)
