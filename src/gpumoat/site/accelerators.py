"""The catalogue page: the cards of the registry in five tables, each cell a cited number with a card of its own.

Promises: a cell is made like any inline number, so it is locked, opened and checked like one; what nobody has read
at its source is marked in the cell. Left out: fields that only a few cards have; the published files hold them all.
"""

from collections.abc import Iterator
from html import escape

from gpumoat import catalogue
from gpumoat.catalogue import DENSE, FORM, PLAIN, POWER, SILICON, SPARSE, Entry, Field
from gpumoat.facts import Record
from gpumoat.site.cards import number_html
from gpumoat.site.numbers import Inline
from gpumoat.site.page import Page

GB = Field("memory_bytes", "If that is GiB", "GB")
TABLES = {
    "memory": (
        "Memory and its bandwidth. A label says GB and on most cards counts GiB, so the first column has its number in "
        "GiB and the second the same size in GB; what it counts is said on its card.",
        (*catalogue.MEMORY[:2], GB, *catalogue.MEMORY[2:]),
    ),
    "dense": (
        "Peak rates on dense matrices in TFLOP/s, and in TOP/s for INT8. FP64 and FP32 are without matrix units. Not "
        "all are rated alike, above all in what sums are kept in: † stands where the note on the card must be read "
        "first.",
        (*PLAIN[::2], *DENSE),
    ),
    "sparse": (
        "Peak rates with sparsity, in the same units and with the same mark, of the cards that have such a mode.",
        SPARSE,
    ),
    "board": (
        "Form, power and links. Links are those to other cards, both directions together.",
        (*FORM, *POWER, SILICON[0]),
    ),
    "silicon": (
        "Silicon. A multiprocessor is NVIDIA's word, a compute unit AMD's.",
        SILICON[1:7],
    ),
}
"""For each table its caption and its columns."""

RATES = ("dense", "sparse")
"""Tables in which a cell whose fact has a note is marked: rates are compared, and a note says when one must not."""

UNITS = ("GiB", "GB", "MiB", "GB/s", "W", "mm²", "billion", "bit")
"""Units that stand in the heading; the rates say theirs in the caption."""


def accelerators_html(page: Page) -> str:
    """Return the tables."""
    rows = catalogue.cards()
    found = {row.id: {entry.field.name: entry for entry in catalogue.entries(row)} for row in rows}
    return "\n".join(_table(page, name, rows, found) for name in TABLES)


def _table(page: Page, name: str, rows: list[Record], found: dict[str, dict[str, Entry]]) -> str:
    caption, fields = TABLES[name]
    have = [row for row in rows if any(field.name in found[row.id] for field in fields)]
    text = {field.name for field in fields for row in have if isinstance(_value(found, row, field), str)}
    heads = "".join(
        f'<th scope="col"{"" if field.name in text else " class=gm-num"}>{escape(_head(field))}</th>'
        for field in fields
    )
    lines: list[str] = []
    vendor = ""
    for row in have:
        if row.text("vendor") != vendor:
            vendor = row.text("vendor")
            head = f'<th scope="rowgroup">{escape(vendor)}</th>'
            lines.append(f'<tr class="gm-vendor">{head}<td colspan="{len(fields)}"></td></tr>')
        anchor = f' id="{row.id}"' if name == next(iter(TABLES)) else ""
        cells = "".join(
            _cell(page, row, field, found[row.id].get(field.name), field.name in text, name in RATES)
            for field in fields
        )
        lines.append(f'<tr><th scope="row"{anchor}>{escape(_short(row))}</th>{cells}</tr>')
    return (
        f'<figure class="gm-table" id="table-{name}"><div class="gm-scroll" tabindex="0" role="region" '
        f'aria-labelledby="caption-{name}"><table class="gm-data">'
        f'<thead><tr><th scope="col">Card</th>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
        f'<figcaption id="caption-{name}"><p>{escape(caption)}</p></figcaption></figure>'
    )


def _short(row: Record) -> str:
    """Return a card's name without its vendor, who stands above, and without the name of the series."""
    name = row.text("name").removeprefix(row.text("vendor")).strip()
    return name.removeprefix("GeForce ").removeprefix("Instinct ").replace("RTX PRO 6000 Blackwell", "RTX PRO 6000")


def _value(found: dict[str, dict[str, Entry]], row: Record, field: Field) -> object:
    entry = found[row.id].get(field.name)
    return entry.value if entry else None


def _head(field: Field) -> str:
    return f"{field.title}, {field.unit}" if field.unit in UNITS else field.title


def _cell(page: Page, row: Record, field: Field, entry: Entry | None, text: bool, rate: bool) -> str:
    kind = "" if text else ' class="gm-num"'
    if entry is None:
        return f"<td{kind}>–</td>"
    expression = f'gpu("{row.id}").{field.name}'
    spec = catalogue.spec(entry.value, field.unit)
    number = page.number(Inline(expression, spec, f"{{{{ {expression}:{spec} }}}}"))
    html = number_html(page, number)
    if field.unit:  # the heading says it
        html = html.replace(f" {escape(field.unit)}</data>", "</data>")
    doubt = '&nbsp;<abbr title="unverified: not read at its source">?</abbr>' if entry.status == "unverified" else ""
    note = entry.record.text("note") if rate else ""
    terms = f'&nbsp;<abbr title="{escape(note)}">†</abbr>' if note else ""
    return f"<td{kind}>{html}{terms}{doubt}</td>"


def files() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file that the page offers."""
    rows = catalogue.cards()
    yield "accelerators.csv", catalogue.to_csv(rows)
    yield "accelerators.json", catalogue.to_json(rows)
    yield "facts.csv", catalogue.facts_to_csv()
    yield "facts.json", catalogue.facts_to_json()


def downloads_html(page: Page) -> str:
    """Return the links to the files."""
    way = page.beside
    return (
        f'<p class="gm-download">The cards: <a href="{way}accelerators.csv">CSV</a> '
        f'<a href="{way}accelerators.json">JSON</a></p>'
        f'<p class="gm-download">Every fact of the registry: <a href="{way}facts.csv">CSV</a> '
        f'<a href="{way}facts.json">JSON</a></p>'
    )
