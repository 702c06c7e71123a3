"""Pictures of layers: records of an example as a stack of bands, each with a tile for every maker.

A stack is read from top to bottom, as its records follow. The first column names the band, the second says what it
does, and each further column is a maker: its tile holds the name of what it has there, or stands empty. A band in
which no maker has a tile goes across, for what belongs to none of them. The picture is a list in HTML and not a
drawing, so names wrap on a phone, a screen reader reads them, and each keeps its card. Columns stand in one place in
every band, so a maker's gaps can be seen at a glance; colour says nothing that a border or a word does not.

Left out: arrows. What rests on what is the order of the bands.
"""

from html import escape

from gpumoat.site.cards import number_html
from gpumoat.site.numbers import Number
from gpumoat.site.page import Page, Table

MAKERS = 6
"""Tiles side by side that can still be read on a wide page."""


def layers_html(page: Page, table: Table, title: str, empty: str) -> str:
    """Return a stack of layers as HTML.

    Args:
        page: The page, which keeps the cards.
        table: The records; columns are the band, its job, and one or more makers.
        title: What the picture shows, for a screen reader.
        empty: The word in a tile where a maker has nothing.

    Raises:
        ValueError: There is no maker, or there are too many; or a band has no name.
    """
    makers = table.columns[2:]
    if not 1 <= len(makers) <= MAKERS:
        raise ValueError(f"layers need two columns and 1 to {MAKERS} makers after them, not {len(makers)}")
    out = [f'<ol class="gm-layers" aria-label="{escape(title)}" style="--gm-makers:{len(makers)}">']
    for name, job, *cells in table.rows:
        if not name:
            raise ValueError(f"a record has no {table.columns[0].field!r}: each layer needs a name")
        across = all(cell is None for cell in cells)
        out.append(f'<li class="{"gm-layer gm-across" if across else "gm-layer"}">')
        words = f" <span>{_text(page, job)}</span>" if job else ""
        out.append(f'<p class="gm-layer-name"><b>{_text(page, name)}</b>{words}</p>')
        if not across:
            out.append('<ul class="gm-tiles">')
            for maker, cell in zip(makers, cells, strict=True):
                kind = ' class="gm-none"' if cell is None else ""
                held = f"<span>{escape(empty)}</span>" if cell is None else _text(page, cell)
                out.append(f'<li{kind}><span class="gm-maker">{escape(page.plain(maker.title))}</span> {held}</li>')
            out.append("</ul>")
        out.append("</li>")
    return "".join([*out, "</ol>"])


def _text(page: Page, cell: Number | str | None) -> str:
    return number_html(page, cell) if isinstance(cell, Number) else escape(cell or "")
