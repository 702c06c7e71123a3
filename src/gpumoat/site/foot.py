"""What stands at the foot of a chapter, before its cards: when it was last checked, and how to cite it.

Promises: the dates are those of the registry, for exactly the facts and measurements that the page's numbers rest on;
the address of the page appears only where the site has one. The year of a citation is that of the newest check, for a
build knows no clock. Left out: whether a check was thorough; the status on each card says that.
"""

import re
from dataclasses import dataclass
from html import escape

from gpumoat.facts import Read
from gpumoat.site.chapters import title_of
from gpumoat.site.page import Page

AUTHOR, BOOK = "The GPU Moat contributors", "The GPU Moat"

_BIBTEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}


@dataclass(frozen=True)
class Checked:
    """The facts that a page rests on, by their days.

    Attributes:
        oldest: The day of the check that lies furthest back, empty where the page rests on no fact.
        newest: The day of the latest check.
        facts: How many facts there are.
        quoted: How many of them were read in a secondary source only.
        unverified: How many of them nobody has read at a source.
        runs: The days of the measurements behind the page.
    """

    oldest: str
    newest: str
    facts: int
    quoted: int
    unverified: int
    runs: tuple[str, ...]


def checked(page: Page) -> Checked:
    """Return when the facts were checked that the numbers of a rendered page rest on."""
    reads: dict[str, Read] = {}
    for number in page.numbers.values():
        for read in number.origin.reads:
            if read.record is not None:
                reads[f"{read.kind} {read.id}"] = read
    facts = [read.record for read in reads.values() if read.kind == "cited" and read.record is not None]
    days = sorted(fact.text("checked") for fact in facts if fact.text("checked"))
    runs = {read.record.text("date") for read in reads.values() if read.kind == "measured" and read.record is not None}
    status = [fact.text("status") for fact in facts]
    quoted, unverified = status.count("quoted"), status.count("unverified")
    ends = (days[0], days[-1]) if days else ("", "")
    return Checked(*ends, len(facts), quoted, unverified, tuple(sorted(runs)))


def foot_html(page: Page) -> str:
    """Return the foot of a rendered chapter."""
    known = checked(page)
    return (
        '<section class="gm-foot no-copy" aria-label="About this page" data-search-exclude>\n'
        f"{_checked_html(page, known)}{_cite_html(page, known)}</section>\n"
    )


def _checked_html(page: Page, known: Checked) -> str:
    sentences = []
    if known.oldest:
        what = f"The {known.facts} facts behind this page were" if known.facts > 1 else "The fact behind this page was"
        if known.oldest == known.newest:
            sentences.append(f"{what} last checked on {_day(known.newest)}.")
        else:
            sentences.append(f"{what} last checked between {_day(known.oldest)} and {_day(known.newest)}.")
    if known.facts:
        sentences.append(_trust(known))
    if known.runs:
        sentences.append(f"Measured on {' and '.join(_day(run) for run in known.runs)}.")
    errata = page.project.pages / "errata.md"
    if errata.is_file():
        sentences.append(f'What was wrong and has been mended is in the <a href="{page.root}errata/">errata</a>.')
    return f'<p class="gm-checked">{" ".join(sentences)}</p>\n' if sentences else ""


def _trust(known: Checked) -> str:
    """Say how many of the facts were read where: at the source, somewhere else, or nowhere."""
    verified = known.facts - known.quoted - known.unverified
    if verified == known.facts:
        return "We read each of them at its source." if known.facts > 1 else "We read it at its source."
    parts = [
        f"{verified} read at the source" if verified else "",
        f"{known.quoted} quoted from somebody who had read it" if known.quoted else "",
        f"{known.unverified} not read at any source" if known.unverified else "",
    ]
    return f"Of these: {', '.join(part for part in parts if part)}. Each card says which."


def _day(day: str) -> str:
    return f'<time datetime="{escape(day)}">{escape(day)}</time>'


def _cite_html(page: Page, known: Checked) -> str:
    return (
        '<details class="gm-cite-page"><summary>Cite this page</summary>\n'
        f"<p>{escape(citation(page, known))}</p>\n"
        f'<pre tabindex="0" aria-label="As BibTeX"><code>{escape(bibtex(page, known))}</code></pre>\n</details>\n'
    )


def address(page: Page) -> str:
    """Return the page's address, empty while the site has none."""
    site = str(page.project.settings.get("site_url") or "")
    return f"{site.rstrip('/')}/{page.path.removesuffix('.md').removesuffix('index')}/" if site else ""


def citation(page: Page, known: Checked) -> str:
    """Return the citation of a page as a line of text."""
    last = known.newest or max(known.runs, default="")
    parts = [
        f"{AUTHOR}" + (f" ({last[:4]})." if last else "."),
        f"“{title_of(page)}”" if title_of(page)[-1:] in "?!." else f"“{title_of(page)}.”",
        f"In: {BOOK}" + (f", facts checked {last}." if known.newest else "."),
        address(page),
    ]
    return " ".join(part for part in parts if part)


def bibtex(page: Page, known: Checked) -> str:
    """Return the citation of a page as an entry of BibTeX; braces keep the title's capitals."""
    last = known.newest or max(known.runs, default="")
    key = "gpumoat-" + re.sub(r"[^a-z0-9]+", "-", page.path.removesuffix(".md").lower()).strip("-")
    fields = {
        "author": f"{{{AUTHOR}}}",
        "title": f"{{{_tex(title_of(page))}}}",
        "booktitle": BOOK,
        "year": last[:4],
        "note": f"Facts checked {known.newest}" if known.newest else "",
        "url": address(page),
    }
    # In quotation marks: the inner braces keep names and capitals, and two together would look like a number.
    lines = [f'  {name} = "{value}"' for name, value in fields.items() if value]
    return f"@incollection{{{key},\n" + ",\n".join(lines) + "\n}"


def _tex(text: str) -> str:
    return "".join(_BIBTEX.get(sign, sign) for sign in text)
