"""Links from page to page, looked at before anything is built: does the page exist, and the place on it?

MkDocs reports a missing page only when it builds, and a missing place not at all unless it is told to; a contributor
should hear of both within seconds. Where the page at the other end was rendered in the same run, its places are
known; of a page that was not, the ids that its source writes out are taken. Left out: links to other sites, and links
in finished HTML that already name the built address (``gpumoat.site.pages`` follows those on the built site).
"""

import posixpath
import re
from dataclasses import dataclass, field
from difflib import get_close_matches

from lxml import html
from markdown.extensions.toc import slugify

from gpumoat.site.errors import SiteError
from gpumoat.site.page import Page
from gpumoat.site.project import Project

_GENERATED = re.compile(r"^///\s*(bibliography|ledger|glossary|errata|review|accelerators)\b|^:::\s", re.MULTILINE)
"""Pages whose places are made when they are rendered: only the whole check knows them."""

_MADE = re.compile(r"(table|figure|at|n|line)-|numbers$|listing$")
"""Places that rendering makes for tables, figures, numbers and lines of a listing."""

_WRITTEN = re.compile(r"\{[^{}\n]*#([A-Za-z][\w.-]*)[^{}\n]*\}|\bid=\"([^\"]+)\"")


@dataclass
class Linked:
    """What one rendered page offers and asks for.

    Attributes:
        page: The page.
        ids: The places on it.
        targets: The links in its Markdown, as written.
    """

    page: Page
    ids: set[str] = field(default_factory=set)
    targets: list[str] = field(default_factory=list)


def linked(page: Page, text: str) -> Linked:
    """Read the links and places of a page from its HTML, before the builder has resolved them."""
    if not text.strip():
        return Linked(page)
    tree = html.document_fromstring(text)
    ids = {element.get("id", "") for element in tree.iter() if isinstance(element.tag, str)} - {""}
    targets = [element.get("href", "") for element in tree.iter("a")]
    return Linked(page, ids, [each for each in dict.fromkeys(targets) if _is_ours(each)])


def _is_ours(target: str) -> bool:
    path = target.partition("#")[0]
    return target.startswith("#") or (path.endswith(".md") and ":" not in path and not path.startswith("/"))


def check_links(project: Project, pages: list[Linked]) -> list[str]:
    """Return one line for each link that leads nowhere, with the file, the line and what would be near."""
    known = {one.page.path: one.ids for one in pages if one.ids}  # a page without a place was not rendered
    everything = project.all_pages()
    problems = []
    for one in pages:
        for target in one.targets:
            path, _, place = target.partition("#")
            other = (
                posixpath.normpath(posixpath.join(posixpath.dirname(one.page.path), path)) if path else one.page.path
            )
            if other not in everything:
                near = get_close_matches(other, everything, n=1)
                hint = f": did you mean {near[0]}?" if near else ""
                problems.append(str(one.page.fail(target, f"the link {target!r} leads to no page{hint}")))
            elif place:
                ids = known[other] if other in known else _written(Page(project, other))
                made = other not in known and _MADE.match(place)
                if ids is not None and place not in ids and not made:
                    near = get_close_matches(place, sorted(ids), n=1)
                    hint = f": did you mean #{near[0]}?" if near else ""
                    what = f"the link {target!r} leads to no place on {other}{hint}"
                    problems.append(str(one.page.fail(target, what)))
    return problems


def _written(page: Page) -> set[str] | None:
    """Return the ids that a page's source writes out, or None where most are made when it is rendered."""
    try:
        source = page.file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SiteError(page.file, 0, f"cannot be read: {error}") from None
    if _GENERATED.search(source):
        return None
    headings = re.findall(r"^#{1,6}\s+([^\n{]+?)\s*$", source, re.MULTILINE)
    return {first or second for first, second in _WRITTEN.findall(source)} | {slugify(each, "-") for each in headings}
