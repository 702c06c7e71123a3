"""The Markdown extension: worked examples, inline numbers, tables, figures, citations, terms, and lists of data.

Written as a Python-Markdown extension and not as an MkDocs plugin, so that numbers work in headings, tables,
tabs and the search index, code and formulas stay untouched, and the same ``mkdocs.yml`` builds under
Zensical. Every failure raises ``SiteError`` with the file, the line and what would be right: a block that is
not understood is never left on the page as text, and braces that were not replaced never reach a reader.
"""

import html
import re
import xml.etree.ElementTree as etree  # noqa: N813 - as Python-Markdown calls it
from html.parser import HTMLParser
from typing import Any, ClassVar

from latex2mathml.converter import convert as to_mathml
from markdown import Markdown
from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pymdownx.blocks import BlocksExtension
from pymdownx.blocks.block import Block, type_any

from gpumoat.facts import registry
from gpumoat.site import (
    accelerators,
    bibliography,
    cards,
    errata,
    figures,
    foot,
    glossary,
    layers,
    ledger,
    reviews,
    tables,
)
from gpumoat.site.chapters import is_chapter
from gpumoat.site.numbers import CLOSE, OPEN, Number
from gpumoat.site.page import Column, Page, Table, current_page
from gpumoat.site.why import why_not


class MoatExtension(BlocksExtension):
    """Registers everything; one page's state lives from one ``reset`` to the next."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Add the processors to a Markdown instance."""
        super().extendMarkdown(md)
        md.registerExtension(self)
        self.md = md
        self._page: Page | None = None
        self.finished = False
        md.preprocessors.register(Source(md, self), "moat-source", 190)
        # Below code spans, above escapes and links: the braces are read as they were written.
        md.inlinePatterns.register(Inline(md, self), "moat-number", 182)
        md.inlinePatterns.register(Cite(md, self), "moat-cite", 172)
        md.treeprocessors.register(Terms(md, self), "moat-terms", 3)
        md.treeprocessors.register(Finished(md, self), "moat-finished", -100)
        md.postprocessors.register(Formulas(md, self), "moat-formulas", 6)
        md.postprocessors.register(Cards(md, self), "moat-cards", 5)
        md.postprocessors.register(Leftovers(md, self), "moat-leftovers", 4)

    def extendMarkdownBlocks(self, md: Markdown, block_mgr: Any) -> None:  # noqa: N802
        """Add the blocks."""
        for block in (Worked, TableBlock, Figure, Layers, BibliographyBlock, *PAGE_BLOCKS):
            block_mgr.register(block, {"extension": self})

    def reset(self) -> None:
        """Forget the last page."""
        self._page = None
        self.finished = False

    @property
    def page(self) -> Page:
        """The page that is being rendered."""
        if self._page is None:
            self._page = current_page(self.md)
        return self._page

    @property
    def started(self) -> bool:
        """Whether anything on the page so far needed to know which page it is."""
        return self._page is not None


# Inline


class Inline(InlineProcessor):
    """Replaces ``{{ name:format }}`` by a number."""

    def __init__(self, md: Markdown, extension: MoatExtension) -> None:
        super().__init__(re.escape(OPEN), md)
        self.extension = extension

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[etree.Element, int, int]:  # noqa: N802
        """Make the number's element; its text is atomic, so nothing later takes it for Markdown."""
        page = self.extension.page
        number, end = page.inline(data, m.start(0))
        element = etree.Element("data", cards.number_attributes(page, number))
        element.text = AtomicString(number.text)
        return element, m.start(0), end


class Cite(InlineProcessor):
    """Replaces ``[@source]`` and ``[@source, locator]`` by a link to the bibliography."""

    def __init__(self, md: Markdown, extension: MoatExtension) -> None:
        super().__init__(r"\[@([A-Za-z0-9_.-]+)(?:,\s*([^\]\n]+))?\]", md)
        self.extension = extension

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[etree.Element, int, int]:  # noqa: N802
        """Make the link; an unknown source stops the build."""
        page = self.extension.page
        source = registry().sources.get(m[1])
        if source is None:
            near = ", ".join(sorted(one for one in registry().sources if one.split("-")[0] == m[1].split("-")[0]))
            hint = f": did you mean {near}?" if near else ": sources stand in src/gpumoat/data/sources.toml"
            raise page.fail(m[0], f"no source {m[1]!r}{hint}")
        href = f"{page.source_root}bibliography.md#{source.id}"
        element = etree.Element("a", {"class": "gm-cite", "href": href, "title": source.text("title")})
        element.text = AtomicString(f"({source.text('short')}{f', {m[2]}' if m[2] else ''})")
        return element, m.start(0), m.end(0)


# Blocks


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
    """``/// figure | records``: a chart with an alternative text and its data; the content is the caption."""

    NAME = "figure"
    ARGUMENT = True
    OPTIONS: ClassVar[dict[str, Any]] = {
        key: ["", type_any] for key in ("chart", "x", "y", "color", "scale", "low", "high", "title", "alt")
    }

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Draw the chart."""
        page, name = self.page, self.argument.strip()
        options = {key: str(value) for key, value in self.options.items() if key in self.OPTIONS and value}
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
        if ("low" in options) != ("high" in options):
            raise page.fail(self.header, f"the figure {name!r} has one end of a band: give both 'low' and 'high'")
        for role in ("low", "high"):
            if role in options:
                key, _, title = options[role].partition("|")
                roles[role] = len(columns)
                columns.append(tables.parse_column(key.strip(), title.strip()))
        table = page.table(name, columns, self.header)
        _claim_name(page, table, self.header)
        alternative, title = page.plain(options["alt"]), page.plain(options["title"])
        try:
            drawing = figures.draw(options["chart"], table, roles, f"figure-{_slug(name)}", title, alternative, scale)
        except ValueError as error:
            raise page.fail(self.header, str(error)) from None
        allowed = {cell.text if isinstance(cell, Number) else cell or "" for row in table.rows for cell in row}
        allowed |= {column.title for column in columns}
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
        self.stash(element, ledger.filter_html(found))
        for attributes, entry in found:
            self.stash(etree.SubElement(element, "section", attributes), entry)
        self.stash(element, f'<p class="gm-download">Data: <a href="{page.beside}claims.json">JSON</a></p>')
        page.files["claims.json"] = ledger.to_json(pages)
        return element


PAGE_BLOCKS = (LedgerBlock, GlossaryBlock, ErrataBlock, ReviewBlock, AcceleratorsBlock)
"""Blocks that are each made for one page."""


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _claim_name(page: Page, table: Table, where: str) -> None:
    """Keep a page's tables and figures apart: their names are the names of their files."""
    if table.name in page.tables:
        raise page.fail(
            where, f"{table.name!r} is shown twice on this page; give the second its own name in the example"
        )
    page.tables[table.name] = table


# Before and after


class Source(Preprocessor):
    """Checks the page's text before Markdown sees it: what would silently become something else is an error."""

    def __init__(self, md: Markdown, extension: MoatExtension) -> None:
        super().__init__(md)
        self.extension = extension

    TOUCHED = re.compile(r"\$\{\{|\{\{[^{}]*\}\}\$")
    FORMULA = re.compile(r"(?<![\\\\$])\$(?![\s$]|\{\{)[^$]*?(?<![\s\\\\])\$(?!\$)")
    IN_TAG = re.compile(r"<[A-Za-z][^<>]*?(\{\{.*?\}\})[^<>]*>")

    def run(self, lines: list[str]) -> list[str]:
        """Look for formulas that swallow numbers and for headings whose id would move with a number."""
        fence = ""
        for line in lines:
            mark = re.match(r"\s*(`{3,}|~{3,})", line)
            if mark and (not fence or mark[1].startswith(fence)):
                fence = "" if fence else mark[1]
            if fence or mark:
                continue
            bare = re.sub(r"(`+)(?:(?!\1).)*\1", lambda code: " " * len(code[0]), line)
            # A formula's own braces are not ours; spaces inside them are how an inline number is written.
            if self.TOUCHED.search(self.FORMULA.sub(lambda math: "" if "{{ " not in math[0] else math[0], bare)):
                message = "a $ touches an inline number: write the unit into the format, or leave a space"
                raise self.extension.page.fail(line, message)
            if tag := self.IN_TAG.search(bare):
                message = f"{tag[1]!r} stands inside raw HTML: numbers work in Markdown only"
                raise self.extension.page.fail(line, message)
            if (
                re.match(r"#{1,6}\s", bare)
                and OPEN in bare
                and not re.search(r"\{[^{}]*#[A-Za-z][\w-]*[^{}]*\}\s*$", bare)
            ):
                raise self.extension.page.fail(
                    line, "a heading with a number needs an id that stays: end it with {#name}"
                )
        return lines


class Terms(Treeprocessor):
    """Marks the first mention of each term of the glossary in a chapter."""

    def __init__(self, md: Markdown, extension: MoatExtension) -> None:
        super().__init__(md)
        self.extension = extension

    def run(self, root: etree.Element) -> None:
        """Mark them; a page without numbers, such as a docstring's, is no chapter."""
        if self.extension.started and is_chapter(self.extension.page):
            terms = glossary.load_glossary().of(self.extension.page)
            glossary.mark_first_mentions(root, terms, self.md.htmlStash.rawHtmlBlocks)


class Finished(Treeprocessor):
    """Notes that the whole page stands. The table of contents runs all postprocessors over each heading before."""

    def __init__(self, md: Markdown, extension: MoatExtension) -> None:
        super().__init__(md)
        self.extension = extension

    def run(self, root: etree.Element) -> None:
        """Note it."""
        self.extension.finished = True


class Formulas(Postprocessor):
    """Turns the formulas that arithmatex has marked into MathML, so that no script and no font is needed."""

    PATTERN = re.compile(r'<(span|div) class="arithmatex">(?:\\\((.*?)\\\)|\\\[(.*?)\\\])</\1>', re.DOTALL)

    def __init__(self, md: Markdown, extension: MoatExtension) -> None:
        super().__init__(md)
        self.extension = extension

    def run(self, text: str) -> str:
        """Replace every formula."""
        return self.PATTERN.sub(self._formula, text)

    def _formula(self, found: re.Match[str]) -> str:
        inline = found[2] is not None
        tex = html.unescape(found[2] if inline else found[3]).strip()
        try:
            math = to_mathml(tex, display="inline" if inline else "block")
        except Exception as error:  # the library raises many kinds
            message = f"the formula {tex!r} is not understood: {type(error).__name__} {error}".rstrip()
            raise self.extension.page.fail(tex.splitlines()[0] if tex else "$", message) from None
        math = math.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
        return math if inline else f'<div class="gm-formula" tabindex="0">{math}</div>'


class Cards(Postprocessor):
    """Puts the foot of a chapter and the list of cards at the end of a page that shows numbers."""

    def __init__(self, md: Markdown, extension: MoatExtension) -> None:
        super().__init__(md)
        self.extension = extension

    def run(self, text: str) -> str:
        """Append the foot and the cards."""
        if not self.extension.started or not self.extension.finished:
            return text
        page = self.extension.page
        order = {card: place for place, card in reversed(list(enumerate(re.findall(r'data-card="([^"]+)"', text))))}
        numbers = sorted(page.numbers.values(), key=lambda number: order.get(page.card_id(number), len(order)))
        about = foot.foot_html(page) if is_chapter(page) else ""
        return text + "\n" + about + cards.cards_html(page, numbers)


class Leftovers(Postprocessor):
    """Stops the build where braces or a block were not understood and would be read as text."""

    def __init__(self, md: Markdown, extension: MoatExtension) -> None:
        super().__init__(md)
        self.extension = extension

    def run(self, text: str) -> str:
        """Look at everything outside code and formulas."""
        if not self.extension.finished or not any(mark in text for mark in (OPEN, "///", "[@")):
            return text
        finder = _Finder()
        finder.feed(text)
        for left in finder.left:
            page = self.extension.page
            if left.startswith("///"):
                raise page.fail(*why_not(page.file.read_text(encoding="utf-8"), left.split("\n")[0], _blocks()))
            if left.startswith("[@"):
                raise page.fail(
                    left, f"{left!r} is no citation of one source: write [@source] or [@source, locator], one for each"
                )
            raise page.fail(left, f"{left!r} stands inside raw HTML or an attribute: numbers work in Markdown only")
        return text


def _blocks() -> dict[str, list[str]]:
    """Return the names of the blocks with those of their options, Markdown's own among them."""
    ours = {block.NAME: list(block.OPTIONS) for block in (Worked, TableBlock, Figure, Layers, *PAGE_BLOCKS)}
    for name in ("details", "admonition", "note", "tip", "hint", "warning", "caution", "danger"):
        ours[name] = ["open", "type", "attrs"] if name == "details" else ["type", "attrs"]
    return {**ours, "bibliography": []}


class _Finder(HTMLParser):
    """Collects braces, block marks and citations that a reader would see."""

    SKIP = frozenset({"code", "pre", "math", "script", "style"})

    def __init__(self) -> None:
        super().__init__()
        self.left: list[str] = []
        self._skipping: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at the attributes, and note where code begins."""
        if tag in self.SKIP:
            self._skipping.append(tag)
        if not self._skipping:
            for name, value in attrs:
                if value and OPEN in value and name != "data-expr":
                    self.left.append(OPEN + value.split(OPEN, 1)[1].split(CLOSE)[0] + CLOSE)

    def handle_endtag(self, tag: str) -> None:
        """Note where code ends."""
        if self._skipping and self._skipping[-1] == tag:
            self._skipping.pop()

    def handle_data(self, data: str) -> None:
        """Look at the text."""
        if self._skipping:
            return
        if OPEN in data:
            self.left.append(OPEN + data.split(OPEN, 1)[1].split(CLOSE)[0] + CLOSE)
        self.left += re.findall(r"\[@[^\]\n]*\]?", data)
        for line in data.splitlines():
            if re.match(r"\s*///", line):
                self.left.append(line.strip())


def makeExtension(**settings: Any) -> MoatExtension:  # noqa: N802 - the name that Python-Markdown looks for
    """Return the extension; Python-Markdown calls this."""
    return MoatExtension(**settings)
