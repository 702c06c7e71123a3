"""Building the site: check, render with MkDocs into a new folder, add the files beside the pages, swap.

A failed build leaves the last good site as it was. An extension cannot publish files, so examples and tables
are written here, beside the pages that show them.
"""

import logging
import shutil
from pathlib import Path

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
        found = [str(problem) for problem in built.check(folder)]
        if found:
            raise BuildFailed(found)
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
        raise BuildFailed(heard.lines or [str(error)]) from error
    finally:
        logger.removeHandler(heard)
    if heard.lines:
        raise BuildFailed(heard.lines)


class _Listener(logging.Handler):
    """Keeps what MkDocs warns of; its strict mode counts warnings but does not repeat them."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"mkdocs: {record.getMessage()}")


def publish(pages: list[Page], folder: Path) -> None:
    """Write each page's example and tables beside it."""
    for page in pages:
        beside = folder / Path(page.path).with_suffix("")
        if beside.name == "index":
            beside = beside.parent
        if page.script.is_file():
            shutil.copyfile(page.script, beside / page.script.name)
        for table in page.tables.values():
            (beside / f"{table.name}.csv").write_text(to_csv(table), encoding="utf-8")
            (beside / f"{table.name}.json").write_text(to_json(page, table), encoding="utf-8")
