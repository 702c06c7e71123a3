"""One page while it is rendered: its file, its worked example, and every number that it shows.

The extension, the lock file and the build all ask this object, so a number is made in one way only.
Nothing here depends on other pages or on the order in which pages are rendered.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markdown import Markdown

from gpumoat.site.errors import SiteError
from gpumoat.site.execute import Example, run_example
from gpumoat.site.numbers import OPEN, Inline, Number, NumberError, make_number, scan
from gpumoat.site.project import Project, find_project
from gpumoat.site.provenance import ExpressionError, element, origin


@dataclass
class Column:
    """One column of a table or one encoding of a figure.

    Attributes:
        field: The record's field.
        spec: The format, with a display unit.
        title: The heading that readers see.
    """

    field: str
    spec: str
    title: str


@dataclass
class Table:
    """Records of an example as a page shows them.

    Attributes:
        name: The list's or dict's name in the example.
        columns: What is shown of each record.
        rows: For each record and column, a number, or text, or None where the record has nothing there.
    """

    name: str
    columns: list[Column]
    rows: list[list["Number | str | None"]] = field(default_factory=list)


_runs: dict[Path, tuple[str, Example]] = {}


def example_for(path: Path) -> Example:
    """Return a page's example, run once for each text of the script; without a script, an empty one."""
    if not path.is_file():
        return Example(path, "").run()
    source = path.read_text(encoding="utf-8")
    if path not in _runs or _runs[path][0] != source:
        _runs[path] = (source, run_example(path))
    return _runs[path][1]


class Page:
    """A page of one project.

    Attributes:
        project: The checkout.
        path: The page's file below the folder of pages, such as ``memory/gpt3.md``.
        rebased: Whether the builder takes every link in finished HTML as relative to the page's file and moves it to
            the page's address, as Zensical does. MkDocs leaves links in finished HTML as they are.
        numbers: Every number shown, by expression and format, in the order of rendering.
        tables: Every table and figure, by the name of its records.
        listed: Whether the page shows its script, with an id for each line.
        files: Texts that are published beside the page, by file name.
    """

    def __init__(self, project: Project, path: str, rebased: bool = False) -> None:
        self.project = project
        self.path = path
        self.rebased = rebased
        self.numbers: dict[str, Number] = {}
        self.tables: dict[str, Table] = {}
        self.files: dict[str, str] = {}
        self.listed = False
        self._ids: dict[str, str] = {}
        self._anchored: set[str] = set()
        self._example: Example | None = None

    @property
    def file(self) -> Path:
        """The page's file on disk."""
        return self.project.pages / self.path

    @property
    def script(self) -> Path:
        """The page's worked example, whether or not it exists."""
        return self.project.example_of(self.path)

    @property
    def example(self) -> Example:
        """The page's worked example, after it has run."""
        if self._example is None:
            self._example = example_for(self.script)
        return self._example

    @property
    def root(self) -> str:
        """The way from the page up to the site's root in finished HTML: ``../../`` for ``memory/gpt3`` under MkDocs."""
        if self.rebased:
            return self.source_root
        parts = Path(self.path).with_suffix("").parts
        return "../" * (len(parts) - (parts[-1] == "index"))

    @property
    def source_root(self) -> str:
        """The way from the page's file up to the folder of pages, for links that the builder resolves."""
        return "../" * (len(Path(self.path).parts) - 1)

    @property
    def beside(self) -> str:
        """The way from the page to the files that are published beside it, as finished HTML must have it."""
        stem = Path(self.path).stem
        return f"{stem}/" if self.rebased and stem != "index" else ""

    # Errors with a line

    def line_of(self, raw: str) -> int:
        """Return the line of the file on disk, front matter included, on which some text stands first."""
        if raw and self.file.is_file():
            for number, line in enumerate(self.file.read_text(encoding="utf-8").splitlines(), 1):
                if raw in line:
                    return number
        return 0

    def fail(self, raw: str, message: str) -> SiteError:
        """Return the error that stops the build, at the line where some text stands."""
        return SiteError(self.file, self.line_of(raw), message)

    # Numbers

    def inline(self, text: str, start: int) -> tuple[Number, int]:
        """Make the number that begins at a position of some text; return it with the position after it.

        Raises:
            SiteError: It is not well-formed, unknown, or its format does not fit.
        """
        try:
            found, end = scan(text, start)
        except NumberError as error:
            raise self.fail(text[start:].split("\n")[0][:20], str(error)) from None
        return self.number(found), end

    def number(self, inline: Inline) -> Number:
        """Make a number, once for each expression and format."""
        if inline.key not in self.numbers:
            try:
                self.numbers[inline.key] = make_number(inline, origin(self.example, inline.expression))
            except ExpressionError as error:
                raise self.fail(inline.raw, f"{inline.raw}: {error}") from None
            except NumberError as error:
                raise self.fail(inline.raw, str(error)) from None
        return self.numbers[inline.key]

    def plain(self, text: str) -> str:
        """Return a text with its inline numbers written out, for places that hold text only."""
        out, position = "", 0
        while (start := text.find(OPEN, position)) >= 0:
            number, end = self.inline(text, start)
            out += text[position:start] + number.text
            position = end
        return out + text[position:]

    def card_id(self, number: Number) -> str:
        """Return the id of a number's card: its expression in letters a link can carry, unique on the page."""
        key = number.inline.key
        if key not in self._ids:
            base = re.sub(r"[^a-z0-9]+", "-", number.inline.expression.lower()).strip("-")
            taken = set(self._ids.values())
            count, one = 1, base
            while one in taken:
                count += 1
                one = f"{base}-{count}"
            self._ids[key] = one
        return "n-" + self._ids[key]

    def anchor(self, number: Number) -> str:
        """Return the id of the place where a number stands first, and an empty text for every later place."""
        card = self.card_id(number)
        if card in self._anchored:
            return ""
        self._anchored.add(card)
        return "at-" + card.removeprefix("n-")

    # Tables

    def table(self, name: str, columns: list[Column], where: str) -> Table:
        """Make the numbers of a table from a list or dict of records in the example.

        Args:
            name: The list's or dict's name.
            columns: What to show of each record.
            where: The text of the page at which errors point.

        Raises:
            SiteError: There are no such records, or a field or format does not fit.
        """
        records = self.example.namespace.get(name)
        if not isinstance(records, (list, tuple, dict)) or not records:
            raise self.fail(where, f"the example has no list or dict of records called {name!r}")
        found = Table(name, columns)
        for key in records if isinstance(records, dict) else range(len(records)):
            row: list[Number | str | None] = []
            for column in columns:
                row.append(self._cell(name, records[key], key, column, where))
            found.rows.append(row)
        return found

    def _cell(self, name: str, record: Any, key: Any, column: Column, where: str) -> "Number | str | None":
        if column.field.endswith(".verdict"):
            return self._verdict(name, record, key, column, where)
        has = column.field in record if isinstance(record, dict) else hasattr(record, column.field)
        if not has:
            names = sorted(record) if isinstance(record, dict) else sorted(k for k in vars(record) if k[0] != "_")
            raise self.fail(where, f"{name}[{key!r}] has no field {column.field!r}: it has {', '.join(names)}")
        value = record[column.field] if isinstance(record, dict) else getattr(record, column.field)
        if value is None:
            return None
        if isinstance(value, str):
            # Text that a source states, such as a card's form factor, keeps its card; other text is a heading.
            found = element(self.example, name, key, column.field)
            if found.door is None or found.door.value != value:
                return value
        access = f'["{column.field}"]' if isinstance(record, dict) else f".{column.field}"
        inline = Inline(f"{name}[{key!r}]{access}", column.spec, f"{column.field}:{column.spec}")
        if inline.key not in self.numbers:
            try:
                self.numbers[inline.key] = make_number(inline, element(self.example, name, key, column.field))
            except NumberError as error:
                raise self.fail(where, f"{name}[{key!r}], {error}") from None
        return self.numbers[inline.key]

    def _verdict(self, name: str, record: Any, key: Any, column: Column, where: str) -> str:
        """Return our verdict on the claim that another field of the record reads."""
        base = Column(column.field.removesuffix(".verdict"), "", column.title)
        has = base.field in record if isinstance(record, dict) else hasattr(record, base.field)
        door = element(self.example, name, key, base.field).door if has else None
        if door is None or door.kind != "claimed" or door.record is None:
            raise self.fail(where, f"{name}[{key!r}]: {base.field!r} is no claim, so it has no verdict")
        return door.record.text("verdict")


def current_page(md: Markdown) -> Page:
    """Find the page that a Markdown instance is rendering, under MkDocs, under Zensical or on its own.

    Raises:
        SiteError: The instance renders no page that anybody has named.
    """
    own = getattr(md, "moat_page", None)
    if isinstance(own, Page):
        return own
    processors = md.treeprocessors
    if "relpath" in processors:  # MkDocs
        file = processors["relpath"].file
        return Page(find_project(Path(file.abs_src_path).parent), file.src_uri)
    project = find_project()
    for registry in (md.preprocessors, md.treeprocessors, md.postprocessors):
        if "rendering_context" in registry:  # Zensical
            return Page(project, registry["rendering_context"].page.path, rebased=True)
    raise SiteError(project.root, 0, "an inline number stands where no page is rendered (a docstring, perhaps)")
