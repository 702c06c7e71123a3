"""Tables of an example's records: as HTML in which each cell carries its provenance, as CSV and as JSON."""

import csv
import io
import json
import re
from html import escape

from gpumoat.site.cards import number_html
from gpumoat.site.numbers import Number
from gpumoat.site.page import Column, Page, Table
from gpumoat.units import name_unit


def parse_columns(options: object, page: Page, where: str, option: str = "columns") -> list[Column]:
    """Read the columns of a block: ``field:format`` as the key, the heading as the value.

    Raises:
        SiteError: The option is no such mapping.
    """
    if not isinstance(options, dict) or not options:
        raise page.fail(
            where, f"{where} needs {option}: a line 'field:format: Heading' for each, quoted where YAML asks"
        )
    return [parse_column(str(key), str(title)) for key, title in options.items()]


def parse_column(key: str, title: str) -> Column:
    """Split ``memory_bytes:.1f GiB`` into the field and its format."""
    name, _, spec = key.partition(":")
    return Column(name.strip(), spec.strip(), title)


def table_html(page: Page, table: Table, caption_id: str = "") -> str:
    """Return a table as HTML in a box of its own that scrolls where the page is too narrow."""
    label = f' aria-labelledby="{caption_id}"' if caption_id else f' aria-label="{escape(table.name)} as a table"'
    out = [f'<div class="gm-scroll" tabindex="0" role="region"{label}><table class="gm-data">', "<thead><tr>"]
    numeric = [any(is_numeric(row[index]) for row in table.rows) for index in range(len(table.columns))]
    for index, column in enumerate(table.columns):
        out.append(
            f'<th scope="col"{" class=gm-num" if numeric[index] else ""}>{escape(page.plain(column.title))}</th>'
        )
    out.append("</tr></thead><tbody>")
    for row in table.rows:
        out.append("<tr>")
        for index, cell in enumerate(row):
            html = number_html(page, cell) if isinstance(cell, Number) else text_html(cell or "–")
            kind = ' class="gm-num"' if numeric[index] else ""
            head = index == 0 and not is_numeric(cell)
            out.append(f'<th scope="row">{html}</th>' if head else f"<td{kind}>{html}</td>")
        out.append("</tr>")
    out.append("</tbody></table></div>")
    return "".join(out)


def is_numeric(cell: Number | str | None) -> bool:
    """Return whether a cell is a number; a text that a source states has a card as well, and stands left."""
    return isinstance(cell, Number) and not isinstance(cell.origin.value, str)


def text_html(text: str) -> str:
    """Return a cell's text as HTML; a date is one word, which a narrow column may not break."""
    dated = re.fullmatch(r"\d{4}-\d{2}(-\d{2})?", text)
    return f'<time datetime="{text}">{text}</time>' if dated else escape(text)


def download_html(page: Page, name: str) -> str:
    """Return the links to a table's files, which ``gpumoat build`` writes beside the page."""
    way = page.beside + name
    return f'<p class="gm-download">Data: <a href="{way}.csv">CSV</a> <a href="{way}.json">JSON</a></p>'


def records(table: Table) -> list[dict[str, object]]:
    """Return a table as records in base units, under the names that state the units."""
    return [
        {
            column.field: cell.origin.value if isinstance(cell, Number) else cell
            for column, cell in zip(table.columns, row, strict=True)
        }
        for row in table.rows
    ]


def to_csv(table: Table) -> str:
    """Return a table as CSV, in base units under the names that state them."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [column.field for column in table.columns], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records(table))
    return out.getvalue()


def to_json(page: Page, table: Table) -> str:
    """Return a table as JSON: its page, the unit of each field, and the records in base units."""
    units = {column.field: name_unit(column.field).text for column in table.columns}
    document = {"page": page.path, "table": table.name, "units": units, "records": records(table)}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
