"""``docs/numbers.lock``: every number of the site as it is shown, one line each.

The diff of this file in a pull request is the review of what changed: which number on which page, from what to
what, and on which facts it rests. Promises: no time, no path of a machine, no order of rendering, so that two
machines write the same bytes. Left out: why a number changed; that is in the diff of data and code.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markdown import Markdown
from mkdocs.utils import meta

from gpumoat.site.errors import SiteError
from gpumoat.site.page import Page
from gpumoat.site.project import Project

HEAD = """\
# Every number of the site as it is shown. Written by `make lock`, never by hand.
# page | expression and format | shown | kind | what it rests on
"""


@dataclass(frozen=True)
class Change:
    """One line of the lock that the pages do not agree with.

    Attributes:
        key: Page, expression and format.
        before: The line's rest as the lock has it, empty where the number is new.
        after: What the pages show now, empty where the number is gone.
    """

    key: str
    before: str
    after: str

    def __str__(self) -> str:
        if not self.before:
            return f"{self.key}: new, {self.after}"
        if not self.after:
            return f"{self.key}: gone, was {self.before.split(' | ')[0]}"
        return f"{self.key}: was {self.before}, is {self.after}"


def render(project: Project, path: str) -> tuple[Page, str]:
    """Render one page on its own, without the site around it, and return it with its HTML.

    Raises:
        SiteError: Something on the page is wrong.
    """
    names, settings = [], {}
    for entry in project.settings.get("markdown_extensions", []):
        name, options = next(iter(entry.items())) if isinstance(entry, dict) else (entry, None)
        names.append(name)
        if options:
            settings[name] = options
    try:
        md = Markdown(extensions=names, extension_configs=settings)
    except (ImportError, AttributeError, TypeError, KeyError) as error:
        raise SiteError(project.root / "mkdocs.yml", 0, f"markdown_extensions: {error}") from error
    page = Page(project, path)
    md.moat_page = page
    text, _ = meta.get_data(page.file.read_text(encoding="utf-8"))
    return page, md.convert(text)


def lock_lines(page: Page) -> list[str]:
    """Return the lines of one page: its numbers by expression, then what its example prints."""
    lines = []
    for number in page.numbers.values():
        rests = {read.id if read.kind != "assumed" else "an assumption" for read in number.origin.reads}
        parts = [page.path, number.inline.key, number.text, number.origin.kind, grouped(rests)]
        lines.append(" | ".join(parts))
    lines.sort()
    if page.script.is_file() and page.numbers:
        for count, line in enumerate(page.example.output.splitlines(), 1):
            lines.append(f"{page.path} | output {count:03d} | {line.rstrip()} | printed | -")
    return lines


def grouped(ids: set[str]) -> str:
    """Write ids shortly, the fields of one subject together: ``gpt3.{heads, layers}``."""
    subjects: dict[str, list[str]] = {}
    for id in sorted(ids):
        subject, dot, field = id.partition(".")
        subjects.setdefault(subject + dot, []).append(field)
    parts = [
        subject + (fields[0] if len(fields) == 1 else "{" + ", ".join(fields) + "}")
        for subject, fields in subjects.items()
    ]
    return ", ".join(parts) or "nothing else"


def lock_text(pages: Iterable[Page]) -> str:
    """Return the lock of some pages, in the order of their paths."""
    ordered = sorted(pages, key=lambda page: page.path)
    return HEAD + "".join(line + "\n" for page in ordered for line in lock_lines(page))


def changes(before: str, after: str) -> list[Change]:
    """Return what differs between two locks."""
    old, new = _by_key(before), _by_key(after)
    return [
        Change(key, old.get(key, ""), new.get(key, ""))
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    ]


def _by_key(text: str) -> Mapping[str, str]:
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            page, expression, rest = [*line.split(" | ", 2), "", ""][:3]
            # A line that is none, such as the mark of a merge conflict, shows up as gone.
            found[f"{page} | {expression}" if rest else line] = rest or "no line of a lock"
    return found
