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
from typing import Any

from latex2mathml.converter import convert as to_mathml
from markdown import Markdown
from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString
from pymdownx.blocks import BlocksExtension

from gpumoat.facts import registry
from gpumoat.site import blocks, cards, foot, glossary
from gpumoat.site.chapters import is_chapter
from gpumoat.site.numbers import CLOSE, OPEN
from gpumoat.site.page import Page, current_page
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
        for block in blocks.BLOCKS:
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
            hint = f": did you mean {near}?" if near else ": sources stand in src/gpumoat/data/sources/"
            raise page.fail(m[0], f"no source {m[1]!r}{hint}")
        href = f"{page.source_root}bibliography.md#{source.id}"
        element = etree.Element("a", {"class": "gm-cite", "href": href, "title": source.text("title")})
        element.text = AtomicString(f"({source.text('short')}{f', {m[2]}' if m[2] else ''})")
        return element, m.start(0), m.end(0)


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
        if numbers:
            text = text.replace("</h1>", f"</h1>\n{cards.WITHOUT_SCRIPT}", 1)
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
    ours = {block.NAME: list(block.OPTIONS) for block in blocks.BLOCKS}
    for name in ("details", "admonition", "note", "tip", "hint", "warning", "caution", "danger"):
        ours[name] = ["open", "type", "attrs"] if name == "details" else ["type", "attrs"]
    return ours


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
