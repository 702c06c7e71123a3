"""The card of a number and the number itself, as HTML.

A number is one ``<data>`` element: text first, a quiet mark second. Its card is an ``<article>`` in a list at
the end of the page, readable without JavaScript; the script ``moat.js`` shows the same article at the number.
"""

from html import escape
from pathlib import PurePosixPath
from urllib.parse import quote, urlencode

from gpumoat.facts import Read, Record, registry
from gpumoat.registry_check import claim_sources
from gpumoat.review import due_since
from gpumoat.site.numbers import Number, as_stated
from gpumoat.site.page import Page
from gpumoat.units import Unit

WITHOUT_SCRIPT = (
    '<noscript><p class="gm-noscript no-copy">Where each number comes from is in '
    '<a href="#numbers">a list at the end of this page</a>.</p></noscript>'
)
"""Said where numbers cannot open their cards."""


def number_attributes(page: Page, number: Number) -> dict[str, str]:
    """Return the attributes of a number's ``<data>`` element."""
    anchor = page.anchor(number)
    return {
        **({"id": anchor} if anchor else {}),
        "class": "n",
        "value": str(number.origin.value),
        "data-kind": number.origin.kind,
        "data-expr": number.inline.key,
        "data-card": page.card_id(number),
        "title": f"{number.origin.kind}: {number.full}",
    }


def number_html(page: Page, number: Number) -> str:
    """Return a number as HTML, for places that Markdown does not reach."""
    attributes = " ".join(f'{name}="{escape(value)}"' for name, value in number_attributes(page, number).items())
    return f"<data {attributes}>{escape(number.text)}</data>"


def cards_html(page: Page, numbers: list[Number]) -> str:
    """Return the cards of a page's numbers as a list, or an empty text where there is none."""
    if not numbers:
        return ""
    cards = "\n".join(card_html(page, number) for number in numbers)
    count = len(numbers)
    summary = f"Where the {count} numbers on this page come from" if count > 1 else "Where the number comes from"
    head = f'<details class="gm-cards no-copy" id="numbers" data-search-exclude><summary>{summary}</summary>'
    return f"{head}\n{cards}\n</details>\n"


def card_html(page: Page, number: Number) -> str:
    """Return one number's card."""
    origin = number.origin
    marks = "".join(f'<span class="gm-card-mark">{escape(mark)}</span>' for mark in origin.marks)
    shown = f"Shown as <b>{escape(number.text)}</b>: <code>{escape(number.inline.expression)}</code>"
    parts = [
        f'<article class="gm-card" id="{page.card_id(number)}" data-kind="{origin.kind}">',
        f'<header><span class="gm-card-value">{escape(number.full)}</span>'
        f'<span class="gm-card-kind">{origin.kind}</span>{marks}</header>',
        f'<p class="gm-card-shown">{shown}</p>',
        _lines(page, number),
        _reads(page, origin.reads),
        _footer(page, number),
        "</article>",
    ]
    return "\n".join(part for part in parts if part)


def _lines(page: Page, number: Number) -> str:
    """Return the lines of the script that made a number, with a gap shown where lines are left out.

    Text that a source states was not made by the script, and the lines that carry it around say nothing.
    """
    lines = page.example.lines()
    if not number.origin.lines or isinstance(number.origin.value, str):
        return ""
    out, last = [], 0
    for line in number.origin.lines:
        text = lines[line - 1]
        if not text.strip():
            continue
        gap = " gm-gap" if last and line > last + 1 else ""
        out.append(f'<span class="gm-line{gap}" data-line="{line}">{escape(text)}</span>')
        last = line
    return '<pre class="gm-card-lines"><code>' + "\n".join(out) + "</code></pre>"


def _reads(page: Page, reads: list[Read]) -> str:
    if not reads:
        return ""
    return '<ul class="gm-card-reads">\n' + "\n".join(_read(page, read) for read in reads) + "\n</ul>"


def _read(page: Page, read: Read) -> str:
    """Return one input of a number: its value, what it is, where it comes from, and how far to trust it."""
    record = read.record
    stated = read.kind in ("cited", "claimed") and record is not None
    value = escape(as_stated(record) if stated and record else show(read.value, read.unit))
    if record is None:
        return f'<li data-kind="assumed"><b>{value}</b><span>{escape(read.id)}</span><small>assumed</small></li>'
    if read.kind == "measured":
        return _measurement(page, read, record, value)
    if read.kind == "claimed":
        return _claim(page, record, value)
    what = escape(record.text("statement"))
    status = record.text("status")
    checked = f", checked {record.text('checked')}" if record.text("checked") else ""
    note = f' <span class="gm-note">{escape(record.text("note"))}</span>' if record.text("note") else ""
    since = due_since(record)
    checked += f", <b>due for review since {since.isoformat()}</b>" if since else ""
    return (
        f'<li data-kind="cited" data-status="{status}"><b>{value}</b><span>{what} {_source(page, record)}{note}</span>'
        f"<small>{status}{checked}</small></li>"
    )


def _source(page: Page, record: Record) -> str:
    linked = linked_source(page, record.text("source"), record.text("locator"))
    as_of = f" (as of {escape(record.text('as_of'))})" if record.text("as_of") else ""
    return linked + as_of if linked else ""


def linked_source(page: Page, id: str, locator: str) -> str:
    """Return a source's short name, linked to the bibliography, with the place in it."""
    source = registry().sources.get(id)
    if source is None:
        return ""
    place = f", {escape(locator)}" if locator else ""
    return f'<a href="{page.root}bibliography/#{source.id}">{escape(source.text("short"))}</a>{place}'


def _measurement(page: Page, read: Read, record: Record, value: str) -> str:
    results = record.row.get("results")
    key = read.id.split(".", 1)[1]
    what = results[key].get("what", key) if isinstance(results, dict) else key
    run = f"{page.root}measurements/{record.id}.json"
    script = record.text("script")
    by = f'<a href="{page.root}measurements/{PurePosixPath(script).name}">{escape(script)}</a>'
    where = f"{escape(record.text('device'))}, driver {escape(record.text('driver'))}"
    return (
        f'<li data-kind="measured"><b>{value}</b><span>{escape(str(what))}. {where}: '
        f'<a href="{run}">the whole run</a>, made by {by}</span>'
        f"<small>measured {escape(record.text('date'))}</small></li>"
    )


DOCUMENTS = {"lecture": "lecture-notes", "chapter": "book-chapter"}
"""The two documents from which the site started, and their ids among the sources."""


def _claim(page: Page, record: Record, value: str) -> str:
    document = DOCUMENTS.get(record.text("document"), record.text("document"))
    name = registry().sources[document].text("short") if document in registry().sources else document
    where = f'<a href="{page.root}bibliography/#{document}">{escape(name)}</a>, section {escape(record.text("where"))}'
    against = "; ".join(linked_source(page, id, place) for id, place in claim_sources(record.row))
    against = f" {against}." if against else ""
    return (
        f'<li data-kind="claimed" data-verdict="{record.text("verdict")}"><b>{value}</b>'
        f"<span>{escape(record.text('says'))} <i>({where})</i> "
        f"{escape(record.text('explanation'))}{against}</span>"
        f"<small>verdict: {record.text('verdict')}</small></li>"
    )


def show(value: int | float | str, unit: Unit | None) -> str:
    """Return an input's value with the unit that it is held in."""
    text = f"{value:,d}" if isinstance(value, int) and abs(value) >= 1000 else f"{value}"
    return f"{text} {unit.text if unit else ''}".rstrip()


def _footer(page: Page, number: Number) -> str:
    links = []
    if number.origin.lines:
        # Where the page shows the script, the lines are there; elsewhere the file is.
        place = f"#line-{number.origin.lines[0]}" if page.listed else page.beside + page.script.name
        links.append(f'<a href="{place}">{page.script.name}, {spans(number.origin.lines)}</a>')
    for name in number.origin.functions:
        links.append(f'<a href="{page.root}{reference_page(name)}#{name}">{escape(name.rsplit(".", 1)[1])}</a>')
    links.append(f'<a class="gm-report" href="{escape(report_link(page, number))}">Report this number</a>')
    return "<footer>" + "".join(links) + "</footer>"


def spans(lines: list[int]) -> str:
    """Write line numbers in words: ``lines 7, 24 and 36 to 39``."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    parts = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    text = " and ".join(part for part in [", ".join(parts[:-1]), parts[-1]] if part)
    return f"line {text}" if len(lines) == 1 else f"lines {text}"


def reference_page(name: str) -> str:
    """Return the address of the API reference page that documents a function of the package."""
    return f"reference/{name.split('.')[1]}/"


def report_link(page: Page, number: Number) -> str:
    """Return where a wrong number is reported: a form filled in by its address where the repository has one.

    The names are the ids of fields in ``.github/ISSUE_TEMPLATE/wrong-number.yml``; a test compares them.
    """
    shown = f"{number.inline.key} = {number.text}"
    if page.project.repository:
        fields = {
            "template": "wrong-number.yml",
            "title": f"Wrong number: {number.text} in {page.path}",
            "page": page.path,
            "number": f"{number.text} ({number.inline.key})",
        }
        return f"{page.project.repository}/issues/new?{urlencode(fields, quote_via=quote)}"
    return f"{page.root}contribute/?number={quote(f'{page.path}: {shown}')}#report-a-number"
