"""The errata: what was wrong on a published page, as data, and the page that shows it.

Promises: every entry has a day, a page that exists, what was wrong and what is right; the newest stand first. An empty
list says so. Left out: what counts as an erratum; the page and the head of the data say that.
"""

import tomllib
import xml.etree.ElementTree as etree  # noqa: N813 - as Python-Markdown calls it
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from markdown.util import AtomicString

from gpumoat.site.chapters import title_of
from gpumoat.site.errors import SiteError
from gpumoat.site.page import Page
from gpumoat.site.project import Project

ERRATA = Path(__file__).parent.parent / "data" / "errata.toml"
NEEDED = ("date", "page", "wrong", "right")


@dataclass(frozen=True)
class Erratum:
    """One entry.

    Attributes:
        date: The day on which the page was mended, ``2027-01-31``.
        page: The page without its ending.
        wrong: What stood there.
        right: What stands there now, and why.
        report: Who noticed.
    """

    date: str
    page: str
    wrong: str
    right: str
    report: str = ""


def load_errata(project: Project, path: Path = ERRATA) -> list[Erratum]:
    """Read the errata, the newest first.

    Raises:
        SiteError: An entry lacks something, its day is none, or its page does not exist.
    """
    text = path.read_text(encoding="utf-8")
    try:
        rows = tomllib.loads(text).get("erratum", [])
    except tomllib.TOMLDecodeError as error:
        raise SiteError(path, 0, f"no valid TOML: {error}") from None
    starts = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == "[[erratum]]"]
    found = []
    for row, line in zip(rows, starts, strict=True):
        for name in NEEDED:
            if not isinstance(row.get(name), str) or not row[name].strip():
                raise SiteError(path, line, f"an erratum needs {name}, as text: {', '.join(NEEDED)}")
        if unknown := sorted(set(row) - {*NEEDED, "report"}):
            raise SiteError(path, line, f"unknown field {', '.join(unknown)}: it has {', '.join(NEEDED)}, report")
        try:
            whole = date.fromisoformat(row["date"]).isoformat() == row["date"]
        except ValueError:
            whole = False
        if not whole:
            raise SiteError(path, line, f"date {row['date']!r} is no day: write it as 2027-01-31")
        if not (project.pages / f"{row['page']}.md").is_file():
            raise SiteError(
                path, line, f"there is no page {row['page']!r}: write it without its ending, as memory/gpt3"
            )
        found.append(Erratum(**row))
    return sorted(found, key=lambda erratum: erratum.date, reverse=True)


def check_errata(project: Project, path: Path = ERRATA) -> list[str]:
    """Return what is wrong with the errata, one line each."""
    try:
        load_errata(project, path)
    except SiteError as error:
        return [str(error)]
    return []


def build_errata(parent: etree.Element, page: Page) -> None:
    """Add the list of errata to a page, or the sentence that there are none."""
    found = load_errata(page.project, ERRATA)
    if not found:
        etree.SubElement(parent, "p", {"class": "gm-no-errata"}).text = "None so far."
    for erratum in found:
        entry = etree.SubElement(parent, "section", {"class": "gm-erratum"})
        head = etree.SubElement(entry, "p", {"class": "gm-erratum-head"})
        etree.SubElement(head, "time", {"datetime": erratum.date}).text = AtomicString(erratum.date)
        link = etree.SubElement(head, "a", {"href": f"{page.source_root}{erratum.page}.md"})
        link.text = AtomicString(title_of(Page(page.project, f"{erratum.page}.md")))
        for name, text in (("Was", erratum.wrong), ("Is", erratum.right), ("Noticed by", erratum.report)):
            if text:
                line = etree.SubElement(entry, "p")
                etree.SubElement(line, "b").text = f"{name}: "
                line[0].tail = AtomicString(text)
