"""The blocks of a page: the worked example, tables, figures, layers, and the lists that one page each has.

Each begins with ``/// name`` and fails with the file and the line where it cannot be understood; a block is never left
on the page as text. What a block shows is made elsewhere (``tables``, ``figures``, ``ledger`` ...); here it finds its
place on the page.
"""

import html
import re
import xml.etree.ElementTree as etree  # noqa: N813 - as Python-Markdown calls it
from typing import TYPE_CHECKING, Any, ClassVar

from markdown.util import AtomicString
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pymdownx.blocks.block import Block, type_any

from gpumoat.facts import registry
from gpumoat.site import (
    accelerators,
    bibliography,
    errata,
    figures,
    glossary,
    layers,
    ledger,
    reviews,
    tables,
    trace_picture,
)
from gpumoat.site.numbers import Number
from gpumoat.site.page import Column, Page, Table

if TYPE_CHECKING:
    from gpumoat.site.markdown import MoatExtension


class _MoatBlock(Block):
    """What our blocks share: the page, and errors instead of blocks left as text."""

    ARGUMENT: Any = None

    def on_init(self) -> None:
        """Remember the extension."""
        self.extension: MoatExtension = self.config["extension"]

    @property
    def page(self) -> Page:
        """The page that is being rendered."""
        return self.extension.page

    @property
    def header(self) -> str:
        """The block's first line as the page has it, for finding its line."""
        return f"/// {self.NAME}" + (f" | {self.argument}" if self.argument else "")

    def stash(self, parent: etree.Element, text: str, tag: str = "div") -> None:
        """Put finished HTML where no later step takes it for Markdown."""
        etree.SubElement(parent, tag).text = AtomicString(self.md.htmlStash.store(text))

    def on_markdown(self) -> str:
        """Say that the block holds other blocks."""
        return "block"


class Worked(_MoatBlock):
    """``/// worked``: the page's example, highlighted, with what it prints and a link to the file."""

    NAME = "worked"

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Run the example and show it."""
        page = self.page
        if not page.script.is_file():
            raise page.fail(self.header, f"there is no example {page.script.relative_to(page.project.root).as_posix()}")
        example = page.example
        page.listed = True
        element = etree.SubElement(parent, "div", {"class": "gm-worked"})
        self.stash(element, worked_html(page, example.source, example.output))
        return element


def worked_html(page: Page, source: str, output: str) -> str:
    """Return the listing of an example, the command that runs it, and its output."""
    path = page.script.relative_to(page.project.root).as_posix()
    listing = highlight(source, PythonLexer(), HtmlFormatter(cssclass="highlight", wrapcode=True, lineanchors="line"))
    listing = listing.replace("<pre>", '<pre id="listing">', 1)
    # A place to link to for each line, and not one more stop for the keyboard.
    listing = re.sub(r'<a id="(line-\d+)"[^>]*></a>', r'<span id="\1"></span>', listing)
    return (
        f'<p class="gm-worked-head">Run it: <code>python {path}</code> '
        f'<a href="{page.beside}{page.script.name}">the file</a></p>'
        f'{listing}<p class="gm-output-head">It prints</p>'
        f'<pre class="gm-output no-copy" tabindex="0"><code>{html.escape(output)}</code></pre>'
    )


class TableBlock(_MoatBlock):
    """``/// table | records``: records of the example, each cell with its provenance; the content is the caption."""

    NAME = "table"
    ARGUMENT = True
    OPTIONS: ClassVar[dict[str, Any]] = {"columns": [None, type_any]}

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Make the table; the caption's text is added to what is returned."""
        page, name = self.page, self.argument.strip()
        table = page.table(name, tables.parse_columns(self.options["columns"], page, self.header), self.header)
        _claim_name(page, table, self.header)
        figure = etree.SubElement(parent, "figure", {"class": "gm-table", "id": f"table-{_slug(name)}"})
        caption = etree.Element("figcaption", {"id": f"caption-{_slug(name)}"})
        self.stash(figure, tables.table_html(page, table, f"caption-{_slug(name)}"))
        figure.append(caption)
        self.stash(figure, tables.download_html(page, name))
        self._caption = caption
        return figure

    def on_add(self, block: etree.Element) -> etree.Element:
        """Put the content into the caption."""
        return self._caption


class Figure(_MoatBlock):
    """``/// figure | records``: a chart with an alternative text and its data; the content is the caption.

    ``also`` names further columns, which the data has and the drawing does not show.
    """

    NAME = "figure"
    ARGUMENT = True
    OPTIONS: ClassVar[dict[str, Any]] = {
        **{key: ["", type_any] for key in ("chart", "x", "y", "color", "scale", "low", "high", "kind", "title", "alt")},
        "also": [None, type_any],
    }

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Draw the chart."""
        page, name = self.page, self.argument.strip()
        options = {key: str(value) for key, value in self.options.items() if key != "also" and value}
        for need in ("chart", "x", "y", "title", "alt"):
            if need not in options:
                raise page.fail(self.header, f"the figure {name!r} has no {need!r}")
        if options["chart"] not in figures.CHARTS:
            raise page.fail(self.header, f"chart {options['chart']!r} is none of {', '.join(figures.CHARTS)}")
        scale = options.get("scale", "")
        if scale not in figures.SCALES:
            raise page.fail(self.header, f"scale {scale!r} is not 'log': leave it out to draw numbers by their size")
        roles: dict[str, int] = {}
        columns: list[Column] = []
        for role in ("y", "x", "color"):
            if role in options:
                key, _, title = options[role].partition("|")
                roles[role] = len(columns)
                columns.append(tables.parse_column(key.strip(), title.strip()))
        if roles.get("color") is not None:  # names first, then the number, in the table of the data
            columns.insert(1, columns.pop(roles["color"]))
            roles.update(color=1, x=2)
        if ("low" in options) != ("high" in options) and options["chart"] not in trace_picture.CHARTS:
            raise page.fail(self.header, f"the figure {name!r} has one end of a band: give both 'low' and 'high'")
        for role in ("low", "high", "kind"):
            if role in options:
                key, _, title = options[role].partition("|")
                roles[role] = len(columns)
                columns.append(tables.parse_column(key.strip(), title.strip()))
        drawn = len(columns)
        if self.options["also"] is not None:
            columns += tables.parse_columns(self.options["also"], page, self.header, "also")
        table = page.table(name, columns, self.header)
        _claim_name(page, table, self.header)
        alternative, title = page.plain(options["alt"]), page.plain(options["title"])
        try:
            drawing = figures.draw(options["chart"], table, roles, f"figure-{_slug(name)}", title, alternative, scale)
        except ValueError as error:
            raise page.fail(self.header, str(error)) from None
        allowed = {cell.text if isinstance(cell, Number) else cell or "" for row in table.rows for cell in row[:drawn]}
        allowed |= {column.title for column in columns[:drawn]}
        for svg in (drawing.wide, drawing.narrow):
            for stray in figures.stray_texts(svg, allowed):
                raise page.fail(self.header, f"the drawing holds {stray!r}, which is no formatted field of the data")
        figure = etree.SubElement(parent, "figure", {"class": "gm-figure", "id": f"figure-{_slug(name)}"})
        self.stash(figure, drawing.keys + drawing.wide + drawing.narrow)
        self._caption = etree.SubElement(figure, "figcaption")
        self.stash(figure, data_html(page, table))
        return figure

    def on_add(self, block: etree.Element) -> etree.Element:
        """Put the content into the caption."""
        return self._caption


class Layers(_MoatBlock):
    """``/// layers | records``: a band for each record with a tile for each maker; the content is the caption."""

    NAME = "layers"
    ARGUMENT = True
    OPTIONS: ClassVar[dict[str, Any]] = {
        "columns": [None, type_any],
        "title": ["", type_any],
        "empty": ["none", type_any],
    }

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Make the picture and the table under it; the caption's text is added between."""
        page, name = self.page, self.argument.strip()
        title, empty = (page.plain(str(self.options[key])) for key in ("title", "empty"))
        if not title:
            raise page.fail(self.header, f"the layers {name!r} have no 'title'")
        table = page.table(name, tables.parse_columns(self.options["columns"], page, self.header), self.header)
        _claim_name(page, table, self.header)
        figure = etree.SubElement(parent, "figure", {"class": "gm-figure", "id": f"figure-{_slug(name)}"})
        try:
            self.stash(figure, layers.layers_html(page, table, title, empty))
        except ValueError as error:
            raise page.fail(self.header, str(error)) from None
        self._caption = etree.SubElement(figure, "figcaption")
        self.stash(figure, data_html(page, table))
        return figure

    def on_add(self, block: etree.Element) -> etree.Element:
        """Put the content into the caption."""
        return self._caption


def data_html(page: Page, table: Table) -> str:
    """Return the records of a figure as a table that opens, with its files."""
    inside = f"{tables.table_html(page, table)}{tables.download_html(page, table.name)}"
    return f'<details class="gm-figure-data"><summary>The data as a table</summary>{inside}</details>'


class BibliographyBlock(_MoatBlock):
    """``/// bibliography``: every source of the registry with the facts that rest on it."""

    NAME = "bibliography"

    def on_create(self, parent: etree.Element) -> etree.Element:
        """List the sources."""
        element = etree.SubElement(parent, "div", {"class": "gm-bibliography"})
        for id, entry in bibliography.entries():
            # The id belongs to an element of the page, where the builder finds it when it checks links.
            self.stash(etree.SubElement(element, "section", {"class": "gm-source", "id": id}), entry)
        return element


class AcceleratorsBlock(_MoatBlock):
    """``/// accelerators``: the catalogue of cards as tables, and its files."""

    NAME = "accelerators"

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Make the tables."""
        page = self.page
        element = etree.SubElement(parent, "div", {"class": "gm-accelerators"})
        self.stash(element, accelerators.downloads_html(page) + accelerators.accelerators_html(page))
        page.files.update(accelerators.files())
        return element


class ReviewBlock(_MoatBlock):
    """``/// review``: the facts that are due for review, what comes next, and the rules."""

    NAME = "review"

    def on_create(self, parent: etree.Element) -> etree.Element:
        """List them."""
        element = etree.SubElement(parent, "div", {"class": "gm-review"})
        self.stash(element, reviews.review_html(registry(), self.page.root))
        return element


class GlossaryBlock(_MoatBlock):
    """``/// glossary``: every term that a chapter uses, with its definition and those chapters."""

    NAME = "glossary"

    def on_create(self, parent: etree.Element) -> etree.Element:
        """List the terms."""
        element = etree.SubElement(parent, "div")
        glossary.build_list(element, self.page, glossary.load_glossary())
        return element


class ErrataBlock(_MoatBlock):
    """``/// errata``: what was wrong and has been mended, the newest first."""

    NAME = "errata"

    def on_create(self, parent: etree.Element) -> etree.Element:
        """List the errata."""
        element = etree.SubElement(parent, "div", {"class": "gm-errata"})
        errata.build_errata(element, self.page)
        return element


class LedgerBlock(_MoatBlock):
    """``/// ledger``: every claim that was checked, with an address of its own, and the ledger as JSON."""

    NAME = "ledger"

    def on_create(self, parent: etree.Element) -> etree.Element:
        """List the claims."""
        page = self.page
        element = etree.SubElement(parent, "div", {"class": "gm-ledger"})
        pages = ledger.used_by(page.project)
        found = ledger.entries(page, pages)
        self.stash(element, ledger.scale_html())
        self.stash(element, ledger.filter_html(found))
        for attributes, entry in found:
            self.stash(etree.SubElement(element, "section", attributes), entry)
        self.stash(element, f'<p class="gm-download">Data: <a href="{page.beside}claims.json">JSON</a></p>')
        page.files["claims.json"] = ledger.to_json(pages)
        return element


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _claim_name(page: Page, table: Table, where: str) -> None:
    """Keep a page's tables and figures apart: their names are the names of their files."""
    if table.name in page.tables:
        raise page.fail(
            where, f"{table.name!r} is shown twice on this page; give the second its own name in the example"
        )
    page.tables[table.name] = table


BLOCKS = (
    *(Worked, TableBlock, Figure, Layers, BibliographyBlock),
    *(LedgerBlock, GlossaryBlock, ErrataBlock, ReviewBlock, AcceleratorsBlock),
)
"""All blocks, in the order in which this file has them."""
