"""The glossary: terms as data, a page that lists them, and a short word at their first mention on a page.

Promises: in a chapter, the first mention of a term in running text is an ``<abbr>`` with the definition as its title,
reachable by keyboard and touch; headings, links, code, formulas, numbers and table heads are left alone, and every
later mention is plain text. A term is listed with the chapters that use it. ``check_glossary`` says which terms no
chapter uses, and which words a chapter introduces (sets in italics) without a definition.

Left out: whether a definition is right; and terms whose chapter does not exist yet, which wait unseen.
"""

import re
import tomllib
import xml.etree.ElementTree as etree  # noqa: N813 - as Python-Markdown calls it
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from markdown.util import HTML_PLACEHOLDER, AtomicString

from gpumoat.site.chapters import chapters, title_of
from gpumoat.site.errors import SiteError
from gpumoat.site.lint_core import lint_text
from gpumoat.site.lint_page import page_runs
from gpumoat.site.page import Page
from gpumoat.site.project import Project

GLOSSARY = Path(__file__).parent.parent / "data" / "glossary.toml"
TEXTS = ("name", "chapter", "short", "more")
LISTS = ("also", "pages")

UNTOUCHED = frozenset(
    "h1 h2 h3 h4 h5 h6 a abbr button cite code data dt label math pre script style summary svg th title".split()
)
"""Elements in which no term is marked: something else is said, linked or pressed there."""


@dataclass(frozen=True)
class Term:
    """One term.

    Attributes:
        name: As the glossary heads it.
        chapter: The page, without its ending, that explains or needs it.
        short: What it is, in one sentence.
        more: What follows from it, in one sentence.
        also: Other forms in which it stands in a text.
        pages: Parts or pages in which the word has this meaning; everywhere where there are none.
    """

    name: str
    chapter: str
    short: str
    more: str
    also: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Its place on the glossary's page."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    @property
    def forms(self) -> tuple[str, ...]:
        """Every form in which it stands in a text."""
        return (self.name, *self.also)

    def means_this_on(self, path: str) -> bool:
        """Whether the word has this meaning on a page, such as ``memory/gpt3.md``."""
        return not self.pages or path.startswith(tuple(page + ("." if "/" in page else "/") for page in self.pages))


@dataclass(frozen=True)
class Glossary:
    """All terms.

    Attributes:
        terms: In the order of the alphabet.
        plain: Words in italics that are no terms, in small letters.
    """

    terms: tuple[Term, ...] = ()
    plain: frozenset[str] = frozenset()

    def of(self, page: Page) -> list[Term]:
        """Return the terms that can be marked on a page."""
        return [term for term in self.shown(page.project) if term.means_this_on(page.path)]

    def shown(self, project: Project) -> list[Term]:
        """Return the terms whose chapter exists."""
        return [term for term in self.terms if (project.pages / f"{term.chapter}.md").is_file()]


def load_glossary(path: Path = GLOSSARY) -> Glossary:
    """Read the glossary.

    Raises:
        SiteError: An entry lacks something or is there twice, or a number is typed in it.
    """
    return _parse(path, path.read_text(encoding="utf-8"))


@lru_cache(maxsize=4)
def _parse(path: Path, text: str) -> Glossary:
    """Read a text of the glossary once: every page asks for it."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SiteError(path, 0, f"no valid TOML: {error}") from None
    starts = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == "[[term]]"]
    terms: list[Term] = []
    taken: dict[str, str] = {}
    for row, line in zip(data.get("term", []), starts, strict=True):
        term = _term(path, line, row)
        for form in term.forms:
            if form.lower() in taken:
                raise SiteError(path, line, f"{form!r} is there already, as {taken[form.lower()]!r}")
            taken[form.lower()] = term.name
        terms.append(term)
    ordered = sorted(terms, key=lambda term: term.name.lower())
    return Glossary(tuple(ordered), frozenset(str(word).lower() for word in data.get("plain", [])))


def _term(path: Path, line: int, row: dict[str, object]) -> Term:
    for name in TEXTS:
        if not isinstance(row.get(name), str) or not str(row[name]).strip():
            raise SiteError(
                path, line, f"a term needs {name}, as text: {', '.join(TEXTS)}, and also where it has forms"
            )
    if unknown := sorted(set(row) - {*TEXTS, *LISTS}):
        raise SiteError(path, line, f"unknown field {', '.join(unknown)}: a term has {', '.join((*TEXTS, *LISTS))}")
    lists = []
    for name in LISTS:
        words = row.get(name, [])
        if not isinstance(words, list) or not all(isinstance(word, str) and word.strip() for word in words):
            raise SiteError(path, line, f"{name} must be a list of texts")
        lists.append(tuple(words))
    name, chapter, short, more = (str(row[name]).strip() for name in TEXTS)
    term = Term(name, chapter, short, more, *lists)
    for name, sentence in (("short", term.short), ("more", term.more)):
        if not sentence.endswith("."):
            raise SiteError(path, line, f"{name} of {term.name!r} must be a sentence and end with a full stop")
        if typed := lint_text(sentence):
            raise SiteError(path, line, f"{name} of {term.name!r} holds a typed number, {typed[0]}: say it without")
    return term


def pattern(terms: Iterable[Term]) -> re.Pattern[str] | None:
    """Return what finds the forms of some terms in a text, or None where there is no term.

    A form in small letters is found with a capital too, as at the beginning of a sentence; others are found as they
    are. The longest form wins, and a form is found as a whole word only.
    """
    forms = sorted((form for term in terms for form in term.forms), key=len, reverse=True)
    if not forms:
        return None
    # A line of the file may end inside a term.
    written = (
        r"\s+".join(
            f"[{word[0]}{word[0].upper()}]{re.escape(word[1:])}" if not at and word[0].islower() else re.escape(word)
            for at, word in enumerate(form.split())
        )
        for form in forms
    )
    return re.compile(rf"(?<![\w-])(?:{'|'.join(written)})(?![\w-])")


def _by_form(terms: Iterable[Term]) -> dict[str, Term]:
    return {" ".join(form.split()).lower(): term for term in terms for form in term.forms}


# On a page


def mark_first_mentions(root: etree.Element, terms: list[Term], raw: Sequence[object] = ()) -> list[Term]:
    """Make the first mention of each term below an element an ``<abbr>``; return the terms that were marked.

    Args:
        root: The page's tree.
        terms: What to look for.
        raw: Python-Markdown's store of finished HTML, whose places stand in the texts: a tag of an author is there.
    """
    find = pattern(terms)
    if find is None:
        return []
    marker = _Marker(find, _by_form(terms), raw)
    marker.walk(root)
    return marker.marked


class _Marker:
    """Goes through a page in the order of reading."""

    def __init__(self, find: re.Pattern[str], terms: dict[str, Term], raw: Sequence[object]) -> None:
        self.find = re.compile(f"{find.pattern}|{HTML_PLACEHOLDER % '(?P<raw>[0-9]+)'}")
        self.terms = terms
        self.raw = raw
        self.inside: list[str] = []  # the tags of an author that are open here and in which nothing is marked
        self.marked: list[Term] = []

    def walk(self, element: etree.Element) -> None:
        if not isinstance(element.tag, str) or element.tag in UNTOUCHED:
            return
        children = list(element)
        place = 0
        text, found = self._cut(element.text)
        element.text = text
        place = self._insert(element, found, place)
        for child in children:
            self.walk(child)
            place += 1
            child.tail, found = self._cut(child.tail)
            place = self._insert(element, found, place)

    def _cut(self, text: str | None) -> tuple[str | None, list[etree.Element]]:
        """Cut a text at the first mentions in it: what stands before, then a marked word each with its tail."""
        if not text or isinstance(text, AtomicString):
            return text, []
        found: list[etree.Element] = []
        head, last = text, 0
        for match in self.find.finditer(text):
            if match["raw"]:
                self._pass(self.raw[int(match["raw"])] if int(match["raw"]) < len(self.raw) else "")
                continue
            term = self.terms[" ".join(match[0].split()).lower()]
            if self.inside or term in self.marked:
                continue
            self.marked.append(term)
            if found:
                found[-1].tail = text[last : match.start()]
            else:
                head = text[: match.start()]
            # Focusable, so that the keyboard and a finger reach the definition as well as a mouse does.
            mark = etree.Element(
                "abbr", {"class": "gm-term", "title": term.short, "tabindex": "0", "data-term": term.id}
            )
            mark.text = AtomicString(match[0])
            mark.tail = text[match.end() :]
            found.append(mark)
            last = match.end()
        return head, found

    def _pass(self, html: object) -> None:
        """Note that a tag which an author has written begins or ends."""
        tag = re.match(r"<(/?)([a-z0-9]+)[^>]*?(/?)>", html, re.IGNORECASE) if isinstance(html, str) else None
        if not tag or tag[3] or tag[2].lower() not in UNTOUCHED or tag.end() < len(str(html)):
            return
        if not tag[1]:
            self.inside.append(tag[2].lower())
        elif tag[2].lower() in self.inside:
            self.inside.remove(tag[2].lower())

    @staticmethod
    def _insert(element: etree.Element, found: list[etree.Element], place: int) -> int:
        for mark in found:
            element.insert(place, mark)
            place += 1
        return place


def build_list(parent: etree.Element, page: Page, glossary: Glossary) -> None:
    """Add the list of terms to a page: definition, and the chapters that use the term."""
    used = usage(page.project, glossary)
    listing = etree.SubElement(parent, "dl", {"class": "gm-glossary"})
    for term in glossary.shown(page.project):
        if not used[term.name]:
            continue
        etree.SubElement(listing, "dt", {"id": term.id}).text = AtomicString(term.name)
        entry = etree.SubElement(listing, "dd")
        text = etree.SubElement(entry, "p")
        text.text = AtomicString(f"{term.short} {term.more}")
        links = etree.SubElement(entry, "p", {"class": "gm-used"})
        links.text = "Used in "
        for count, chapter in enumerate(used[term.name]):
            link = etree.SubElement(links, "a", {"href": page.source_root + chapter.path})
            link.text = AtomicString(title_of(chapter))
            link.tail = "; " if count < len(used[term.name]) - 1 else ""


# Checks


def usage(project: Project, glossary: Glossary) -> dict[str, list[Page]]:
    """Return, for each term, the chapters whose text has it; the one that the term names comes first."""
    found: dict[str, list[Page]] = {term.name: [] for term in glossary.terms}
    terms = _by_form(glossary.terms)
    find = pattern(glossary.terms)
    for page in chapters(project) if find else []:
        runs = page_runs(page.file.read_text(encoding="utf-8"))
        text = "\n".join(run.text for run in runs if run.kind == "prose")
        for term in {terms[" ".join(match[0].split()).lower()] for match in find.finditer(text)} if find else ():
            if term.means_this_on(page.path):
                found[term.name].append(page)
    for term in glossary.terms:
        found[term.name].sort(key=lambda page: (page.path != f"{term.chapter}.md", page.path))
    return found


_ITALIC = re.compile(r"(?<![*\w\\])\*([^*\n{}]+)\*(?![*\w])")


def introduced(page: Page) -> list[tuple[int, str]]:
    """Return what a page sets in italics, with its line: by our custom, the terms that it introduces."""
    found = []
    fence = False
    for number, line in enumerate(page.file.read_text(encoding="utf-8").splitlines(), 1):
        if re.match(r"\s*(```|~~~)", line):
            fence = not fence
        if not fence:
            bare = re.sub(r"`[^`]*`|\$[^$]*\$", "", line)
            words = (match[1].strip() for match in _ITALIC.finditer(bare))
            found += [(number, word) for word in words if word and word[-1] not in ".:!?"]
    return found


def check_glossary(project: Project, only: str = "", path: Path = GLOSSARY) -> list[str]:
    """Return what is wrong with the glossary, one line each.

    Args:
        project: The checkout.
        only: A page whose words alone are looked at; empty for all.
        path: The data.
    """
    try:
        glossary = load_glossary(path)
    except SiteError as error:
        return [str(error)]
    problems = []
    if not only:
        used = usage(project, glossary)
        lines = path.read_text(encoding="utf-8").splitlines()
        for term in glossary.shown(project):
            if not used[term.name]:
                line = lines.index(f'name = "{term.name}"') + 1
                what = f"no chapter uses {term.name!r}: remove it, or add the form in which it is used to `also`"
                problems.append(str(SiteError(path, line, what)))
    known = set(_by_form(glossary.terms)) | glossary.plain
    for page in chapters(project):
        if only and page.path != only:
            continue
        for line, word in introduced(page):
            if " ".join(word.split()).lower() not in known:
                what = f"{word!r} is introduced and not defined: add it to src/gpumoat/data/glossary.toml, "
                problems.append(str(SiteError(page.file, line, what + "or to `plain` there if it is no term")))
    return problems
