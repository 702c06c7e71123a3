"""Checks over the built site: what a reader's browser will meet, read from the files themselves.

What it promises. A builder reports success although links lead nowhere, an anchor is missing or a page
asks another host for a font; so the built folder is read again, by code that knows nothing of Markdown:

- links: each link inside the site names a file of the folder, in the case that the file has, and its
  #fragment is an id of that page; 404.html, which is served at any depth, links from the root, every other
  page relatively;
- files: each image, script, style and font that a page or a style sheet loads is in the folder;
- hosts: nothing is requested from another host by HTML, CSS or JavaScript. A link that a reader follows is
  no request. A host in JavaScript is an error unless `ALLOWED` says why it is never asked;
- ids: no id twice on a page; images have alternative text; each page has a language and a title; `details`
  has one summary, first, and is closed; no `{{` is left over outside code and formulas;
- leftovers: no mark of a footnote, citation, reference link or block is left to be read as text, and no command
  of a formula that the converter did not know;
- numbers: each has one of the five kinds and a card on the same page; a heading that holds one has an id
  that does not change with the number.

What it leaves out. JavaScript is searched, not run, and a host in a comment counts as well as one in a
string: over-reporting is repaired by a line in `ALLOWED`, under-reporting by nobody. Addresses that a script
puts together from parts are seen only by the browser tests, which watch the requests. `srcdoc`, contrast and
keyboard use are left to the browser tests too. Pages of other sites are not looked up: checks work offline.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from lxml import etree, html

KINDS = ("computed", "cited", "measured", "assumed", "claimed")


class PagesError(ValueError):
    """The folder cannot be checked at all: it is missing or holds no page."""


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong, where it is, and what would be right.

    Attributes:
        page: path of the file below the site's folder, with forward slashes.
        line: line in that file, counted from 1; 0 when the whole file is meant.
        rule: name of the rule: link, file, host, id, alt, page, details, braces, leftover, number or heading.
        message: what is wrong and what would be right.
    """

    page: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        """The problem on one line, in the form that editors can jump to."""
        where = f"{self.page}:{self.line}" if self.line else self.page
        return f"{where}: {self.rule}: {self.message}"


@dataclass(frozen=True)
class Allowed:
    """An address that may stand in a JavaScript file, and why no reader's browser asks for it.

    Attributes:
        files: pattern (`fnmatch`) of the files in which it may stand.
        address: regular expression that matches the address from its start.
        reason: why no request comes of it.
        unless: XPath of elements that would make the script ask; a page that has one is an error. Empty when
            nothing on a page can.
    """

    files: str
    address: str
    reason: str
    unless: str = ""


def _has_class(name: str) -> str:
    return f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"


_BUNDLE = "assets/javascripts/bundle.*.js"

# The two builders ship bundles that ask other hosts when a page uses certain features. Each such feature is
# named here, and a page that uses it fails: the exemption holds only as long as its reason does.
ALLOWED = (
    Allowed("*", r"https?://www\.w3\.org/", "name of an XML namespace, not an address that is opened"),
    Allowed(_BUNDLE, r"https://clipboardjs\.com/", "named in the licence comment of the copy button's code"),
    Allowed(
        _BUNDLE,
        r"https://unpkg\.com/resize-observer-polyfill",
        "only for browsers without ResizeObserver; every browser has had it since 2020",
    ),
    Allowed(
        _BUNDLE,
        r"https://unpkg\.com/mermaid@",
        "only where a page draws a diagram in the browser",
        f"//pre[{_has_class('mermaid')}]",
    ),
    Allowed(
        _BUNDLE,
        r"https://(unpkg\.com/(pyodide|ace-builds)@|cdn\.jsdelivr\.net/pyodide/)",
        "only where a page has the builder's own Python editor",
        f"//*[{_has_class('pyodide')}]",
    ),
    Allowed(
        _BUNDLE,
        r"https://unpkg\.com/glightbox@",
        "only where a page has the builder's own image viewer",
        f"//*[{_has_class('glightbox')}]",
    ),
    Allowed(
        _BUNDLE,
        r"https://(api\.github\.com/(users|repos)/|\$\{\w+\}/api/v4/projects/)",
        "only where the page's header counts the stars of the repository; a plain link to it asks nothing",
        "//*[@data-md-component='source']",
    ),
    Allowed(
        "assets/javascripts/workers/search.*.js",
        r"https?://(lunrjs\.com|tartarus\.org/|bit\.ly/2s3ChXG)",
        "named in comments and in a warning on the console",
    ),
    Allowed(
        "assets/javascripts/lunr/*.js",
        r"https?://",
        "word stemmers and splitters of the search: addresses in comments and error messages only",
    ),
)

_PARSER_OPTIONS: dict[str, Any] = {"encoding": "utf-8", "huge_tree": True}

# rel values of <link> that name an address without the browser asking for it
_QUIET_RELS = {"canonical", "alternate", "next", "prev", "license", "author", "help", "bookmark", "me"}
# attributes whose address a browser asks for unasked; then those to which it sends something
_LOADED = ("src", "poster", "background", "data", "href", "xlink:href")
_SETS = ("srcset", "imagesrcset")
_SENT = ("action", "formaction", "ping")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")

_OPAQUE = "ancestor::*[self::code or self::pre or self::math or self::script or self::style]"


def _find(expression: str) -> Callable[[html.HtmlElement], list[Any]]:
    """An XPath, compiled once; its results are untyped, as lxml's are."""
    compiled = etree.XPath(expression)
    return lambda tree: list(cast("list[Any]", compiled(tree)))


_ADDRESSED = _find(
    "//*[@href or @src or @srcset or @imagesrcset or @poster or @background or @action or @formaction"
    " or @ping or @style or self::object[@data]] | //svg//*[@*[name()='xlink:href']]"
)
_IDS = _find("//*[@id]")
_NAMED = _find("//a[@name]")
_IMAGES = _find("//img[not(@alt)]")
_FOLDS = _find("//details | //summary")
_STYLES = _find("//style")
_SCRIPTS = _find("//script[not(@src) and not(@type='application/ld+json')]")
_HANDLERS = _find("//@*[starts-with(name(), 'on')]")
_REFRESH = _find("//meta[translate(@http-equiv, 'REFSH', 'refsh')='refresh']")
_BASES = _find("//base")
_BRACES = _find(f"//text()[contains(., '{{{{')][not({_OPAQUE})] | //@*[contains(., '{{{{')][not({_OPAQUE})]")
_TEXTS = _find(f"//body//text()[contains(., '[') or contains(., '///')][not({_OPAQUE})]")
_COMMANDS = _find("//math//text()[contains(., '\\')]")
_LEFT = (
    (
        re.compile(r"\[\^[^\[\]\s]+\]"),
        "is a footnote that is defined nowhere; add a line that begins with it and a colon",
    ),
    (re.compile(r"\[@[^\]]*\]?"), "is no citation of one source; write [@source] or [@source, locator], one for each"),
    (re.compile(r"\[[^\[\]]+\]\[[^\[\]]*\]"), "is a link whose target is defined nowhere; write [text](target)"),
    (
        re.compile(r"^[ \t]*///.*", re.MULTILINE),
        "is a block that was not understood; see the form of blocks in the guide",
    ),
)
_NUMBERS = _find(f"//data[{_has_class('n')}]")
_HEADED = _find(f"//data[{_has_class('n')}][ancestor::{' or ancestor::'.join(_HEADINGS)}]")

_SRCSET = re.compile(r"([^\s,]\S*?)(?:,(?=\s)|,?$|\s+[^,]*(?:,|$))")
_CSS = re.compile(
    r"/\*.*?\*/"
    r"|@import\s+[\"'](?P<imported>[^\"']*)[\"']"
    r"|url\(\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\"')\s]*))\s*\)"
    r"|(?P<string>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')",
    re.DOTALL | re.IGNORECASE,
)
_HOST_IN_STRING = re.compile(r"[\"'](https?:)?//[\w.-]+\.\w", re.IGNORECASE)
_SLASHES = r"(?:\\?/){2}"  # in a regular expression or a JSON string inside a script, slashes are escaped
_JS = re.compile(
    rf"(?<![\w$])(?:https?|wss?):{_SLASHES}(?P<host>[^\s/\\\"'`<>(),;?#]*)"
    rf"|(?<=[\"'`]){_SLASHES}(?P<bare>(?:[\w-]+\.)+[a-z]{{2,}}|\$\{{\w+\}})(?=[/:\"'`])",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"<!--.*?-->|<(script|style|textarea)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)


class _Page:
    """One HTML file, parsed once."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.source = path.read_bytes()
        self.tree: html.HtmlElement = html.document_fromstring(
            self.source or b"<html></html>", parser=html.HTMLParser(**_PARSER_OPTIONS)
        )

    @cached_property
    def ids(self) -> frozenset[str]:
        """Everything a #fragment can name."""
        ids = {element.get("id") for element in _IDS(self.tree)}
        return frozenset(ids | {anchor.get("name") for anchor in _NAMED(self.tree)})

    def at(self, element: Any, rule: str, message: str) -> Problem:
        """A problem at an element of this page."""
        return Problem(self.name, element.sourceline or 0, rule, message)


class _Site:
    """The files of a built site and the rules by which an address inside it names one of them."""

    def __init__(self, folder: Path, site_url: str) -> None:
        self.folder = folder
        self.files = frozenset(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
        names = sorted(name for name in self.files if name.endswith(".html"))
        self.pages = {name: _Page(folder / name, name) for name in names}
        if site_url and not re.match(r"https?://[^/]+", site_url):
            raise PagesError(f"site_url: {site_url!r} is no address; write https://host/path/, or nothing")
        self.site_url = site_url.rstrip("/") + "/" if site_url else ""
        self.prefix = urlsplit(self.site_url).path or "/"

    def foreign(self, address: str) -> str:
        """The other host that an address names, or an empty string."""
        if self.site_url and address.startswith(self.site_url):
            return ""
        try:
            parts = urlsplit(address)
        except ValueError:  # brackets that do not pair, characters that no host has
            return repr(address)
        if parts.netloc and parts.scheme in {"", "http", "https", "ws", "wss"}:
            return parts.netloc
        return ""

    def locate(self, page: str, address: str) -> tuple[str, str]:
        """The file that a local address names, and what is wrong with it (empty when nothing is)."""
        path = urlsplit(address).path
        if self.site_url and address.startswith(self.site_url):
            path = self.prefix + address[len(self.site_url) :].split("#")[0].split("?")[0]
        elif not path:
            return page, ""
        elif path.startswith("/") and page != "404.html":
            return "", "starts at the host's root, where the site may not be; write it relative to the page"
        elif not path.startswith("/") and page == "404.html":
            return "", f"is relative, and 404.html is shown at any depth; start it with {self.prefix}"
        if path.startswith("/"):
            if not (path + "/").startswith(self.prefix):
                return "", f"is outside the site; start it with {self.prefix}"
            parts, path = [], path[len(self.prefix) :]
        else:
            parts = page.split("/")[:-1]
        segments = [unquote(segment) for segment in path.split("/")]
        for segment in segments:
            if segment == "..":
                if not parts:
                    return "", "leads out of the site; take one ../ away"
                parts.pop()
            elif segment not in {"", "."}:
                parts.append(segment)
        name = "/".join(parts)
        if segments[-1] in {"", ".", ".."}:
            name = f"{name}/index.html" if name else "index.html"
        if name in self.files:
            return name, ""
        if f"{name}/index.html" in self.files:
            return "", f"names a folder; end it with a slash: {address.split('#')[0]}/"
        folded = [other for other in self.files if other.casefold() == name.casefold()]
        hint = f"the file is written {folded[0]}" if folded else "name a file that the site has"
        return "", f"names {name}, which is not in the site; {hint}"


def _css_addresses(text: str) -> Iterator[tuple[int, str]]:
    """Addresses that a style sheet asks for, with offsets; of plain strings only those that name a host."""
    for match in _CSS.finditer(text):
        found = next((match[name] for name in ("imported", "double", "single", "bare") if match[name]), "")
        if match["string"] and _HOST_IN_STRING.match(match["string"]):
            found = match["string"][1:-1]
        if found and not found.startswith("#"):
            yield match.start(), found


def _check_css(site: _Site, name: str, text: str, first_line: int) -> Iterator[Problem]:
    """Style sheets: no other host, and each file there."""
    for offset, address in _css_addresses(text):
        line = first_line + text.count("\n", 0, offset)
        yield from _check_loaded(site, name, line, "style", address)


def _check_loaded(site: _Site, name: str, line: int, what: str, address: str) -> Iterator[Problem]:
    """An address that the browser asks for by itself: on this host, and there."""
    address = address.strip()
    if re.match(r"(data|blob|about):", address, re.IGNORECASE) or (not address and what == "style"):
        return
    if host := site.foreign(address):
        yield Problem(name, line, "host", f"{what} asks {host}; put the file into the site and name it there")
        return
    if re.match(r"[a-z][a-z0-9+.-]*:", address, re.IGNORECASE) and not (
        site.site_url and address.startswith(site.site_url)
    ):
        message = f"{what} has the address {address!r}; write one relative to the page"
        yield Problem(name, line, "file", message)
        return
    wrong = "is empty; name a file" if not address else site.locate(name, address)[1]
    if wrong:
        yield Problem(name, line, "file", f"{what} {address!r} {wrong}")


def _check_link(site: _Site, page: _Page, element: Any, address: str) -> Iterator[Problem]:
    """A link that the reader follows: to another site, or to a file and an id of this one."""
    address = address.strip()
    scheme = re.match(r"([a-z][a-z0-9+.-]*):", address, re.IGNORECASE)
    inside = bool(site.site_url) and address.startswith(site.site_url)
    if scheme and not inside:
        if scheme[1].lower() not in {"http", "https", "mailto", "tel"}:
            yield page.at(element, "link", f"{address!r} is no link for a reader; write https:// or a page")
        return
    if address.startswith("//"):
        yield page.at(element, "link", f"{address!r} has no scheme; write https:{address}")
        return
    target, wrong = site.locate(page.name, address)
    if wrong:
        yield page.at(element, "link", f"{address!r} {wrong}")
        return
    fragment = unquote(urlsplit(address).fragment)
    if not fragment or fragment == "top" or fragment.startswith(":~:"):
        return
    if target not in site.pages:
        if not target.endswith((".svg", ".pdf")):  # both have fragments of their own
            yield page.at(element, "link", f"{address!r}: {target} is no page; leave the #fragment out")
    elif fragment not in site.pages[target].ids:
        yield page.at(element, "link", f"{address!r}: {target} has no id {fragment!r}; name one it has")


def _check_addresses(site: _Site, page: _Page) -> Iterator[Problem]:
    """Every attribute that holds an address, and the styles written on elements."""
    for element in _ADDRESSED(page.tree):
        tag, line = str(element.tag), element.sourceline or 0
        for key, value in element.attrib.items():
            if key == "style":
                yield from _check_css(site, page.name, value, line)
            elif key in {"href", "xlink:href"} and (tag in {"a", "area"} or value.startswith("#")):
                yield from _check_link(site, page, element, value)  # "#x" elsewhere: a part of a drawing
            elif key == "href" and tag == "link" and _is_quiet(element):
                if set(element.get("rel").lower().split()) & {"next", "prev"}:
                    yield from _check_link(site, page, element, value)
            elif (key == "href" and tag == "base") or (key == "data" and tag != "object"):
                continue  # <base> is reported as such
            elif key in _LOADED:
                yield from _check_loaded(site, page.name, line, f"<{tag}>", value)
            elif key in _SETS:
                for match in _SRCSET.finditer(value):
                    yield from _check_loaded(site, page.name, line, f"<{tag}>", match[1])
            elif key in _SENT and (host := site.foreign(value)):
                yield page.at(element, "host", f"<{tag}> sends to {host}; take {key} away")


def _is_quiet(link: Any) -> bool:
    """Whether a <link> only names an address, without the browser asking for it."""
    rels = set((link.get("rel") or "").lower().split())
    return bool(rels) and rels <= _QUIET_RELS


def _check_ids(site: _Site, page: _Page) -> Iterator[Problem]:
    """No id twice."""
    first: dict[str, int] = {}
    for element in _IDS(page.tree):
        name = element.get("id")
        if not name.strip():
            yield page.at(element, "id", "an empty id; give it a name or leave it out")
        elif name in first:
            yield page.at(element, "id", f"{name!r} stands on line {first[name]} already; rename one of the two")
        else:
            first[name] = element.sourceline or 0


def _check_page(site: _Site, page: _Page) -> Iterator[Problem]:
    """What each page as a whole must have."""
    if not (page.tree.get("lang") or "").strip():
        yield Problem(page.name, 0, "page", '<html> has no language; write lang="en" or that of the page')
    title = page.tree.find("head/title")
    if title is None or not (title.text or "").strip():
        yield Problem(page.name, 0, "page", "no <title>; name the page")
    for element in _BASES(page.tree):
        yield page.at(element, "page", "<base> moves every link; write links relative to the page instead")
    for element in _REFRESH(page.tree):
        yield page.at(element, "page", "<meta> refresh sends the reader on unasked; link to the page instead")
    for image in _IMAGES(page.tree):
        message = f'image {image.get("src")!r} has no alt; describe it, or write alt="" for an ornament'
        yield page.at(image, "alt", message)


def _fold_fault(element: Any) -> str:
    """What is wrong with a <details> or <summary>; empty when nothing is."""
    if element.tag == "summary":
        parent = element.getparent()
        if parent is None or parent.tag != "details":
            return "<summary> outside <details>; wrap both"
        return "" if element.text_content().strip() else "<summary> without text; say what is folded away"
    children = [child for child in element if isinstance(child.tag, str)]
    summaries = [child for child in children if child.tag == "summary"]
    if len(summaries) != 1:
        return f"<details> has {len(summaries)} summaries; give it exactly one"
    if children[0] is not summaries[0] or (element.text or "").strip():
        return "<details> does not begin with its <summary>; move it to the front"
    if next(element.iterancestors("p"), None) is not None:
        return "<details> inside a paragraph, which a browser ends there; set it apart"
    return ""


def _check_details(site: _Site, page: _Page) -> Iterator[Problem]:
    """Folded parts: one summary, first, with text; closed; not inside a paragraph."""
    for element in _FOLDS(page.tree):
        if wrong := _fold_fault(element):
            yield page.at(element, "details", wrong)
    # The parser closes silently what the author left open, so the tags are counted in the source.
    shown = _HIDDEN.sub("", page.source.decode("utf-8", "replace")).lower()
    for tag in ("details", "summary"):
        opened = len(re.findall(rf"<{tag}\b", shown))
        closed = len(re.findall(rf"</{tag}\s*>", shown))
        if opened != closed:
            message = f"{opened} <{tag}> but {closed} </{tag}>; close each one"
            yield Problem(page.name, 0, "details", message)


def _check_braces(site: _Site, page: _Page) -> Iterator[Problem]:
    """No number left unfilled."""
    for found in _BRACES(page.tree):
        excerpt = " ".join(found[found.index("{{") :][:40].split())
        message = f"{excerpt!r} was not replaced; write it in Markdown, or as code if it is to be read"
        yield page.at(found.getparent(), "braces", message)


def _check_leftovers(site: _Site, page: _Page) -> Iterator[Problem]:
    """No mark of Markdown or of a formula that nobody understood."""
    for text in _TEXTS(page.tree):
        for pattern, message in _LEFT:
            for match in pattern.finditer(text):
                yield page.at(text.getparent(), "leftover", f"{match[0].strip()!r} {message}")
    for text in _COMMANDS(page.tree):
        message = f"'{text.strip()}' in a formula is no command that the converter knows; write it another way"
        yield page.at(text.getparent(), "leftover", message)


def _check_numbers(site: _Site, page: _Page) -> Iterator[Problem]:
    """Numbers have a text, a value, a kind and a card of that kind."""
    cards = {e.get("id"): e for e in _IDS(page.tree) if "gm-card" in (e.get("class") or "").split()}
    for number in _NUMBERS(page.tree):
        text, kind, name = number.text_content().strip(), number.get("data-kind"), number.get("data-card")
        if not text:
            yield page.at(number, "number", f"{number.get('data-expr')!r} shows nothing; give it a text")
        if number.get("value") is None:
            yield page.at(number, "number", f"{text!r} has no value attribute; give the full value")
        if kind not in KINDS:
            yield page.at(number, "number", f"{text!r} has the kind {kind!r}; write one of {', '.join(KINDS)}")
        if name not in cards:
            yield page.at(number, "number", f"{text!r} has the card {name!r}, not on this page; add it there")
        elif (other := cards[name].get("data-kind")) != kind:
            yield page.at(number, "number", f"{text!r} is {kind}, its card says {other}; make both the same")


def _check_headings(site: _Site, page: _Page) -> Iterator[Problem]:
    """A heading that holds a number has an id that stays when the number changes."""
    for number in _HEADED(page.tree):
        heading = next(number.iterancestors(*_HEADINGS))
        name, text = heading.get("id") or "", number.text_content()
        if not name:
            yield page.at(heading, "heading", f"holds {text!r} and has no id; write {{ #name }} after it")
        # An id made from the heading drops everything but word characters: 12,288 becomes 12288.
        digits = set(re.findall(r"\d+", re.sub(r"[^\w\s-]", "", text)))
        if digits & set(re.findall(r"\d+", name)):
            message = f"id {name!r} is made of the number {text!r} and moves with it; write {{ #name }} in words"
            yield page.at(heading, "heading", message)


def _js_addresses(text: str) -> Iterator[tuple[int, str, str]]:
    """Addresses with a host in a script: offset, the address as written (slashes unescaped), the host."""
    for match in _JS.finditer(text):
        address = text[match.start() : match.start() + 120].split("\n")[0].replace("\\/", "/")
        yield match.start(), address, match["host"] if match["host"] is not None else match["bare"]


def _check_script(
    site: _Site, name: str, text: str, first_line: int, allowed: tuple[Allowed, ...], used: set[Allowed]
) -> Iterator[Problem]:
    """Scripts name no other host, unless it is known why they never ask it; exemptions used go to `used`."""
    for offset, address, host in _js_addresses(text):
        if site.site_url and address.startswith(site.site_url):
            continue
        entry = next((a for a in allowed if fnmatch(name, a.files) and re.match(a.address, address)), None)
        if entry is not None:
            used.add(entry)
            continue
        who = f"the host {host}" if host and "$" not in host else "a host put together at run time"
        message = f"script names {who} ({address[:60]!r}); serve it from the site, or say in ALLOWED why not"
        yield Problem(name, first_line + text.count("\n", 0, offset), "host", message)


def _check_scripts(site: _Site, allowed: tuple[Allowed, ...]) -> Iterator[Problem]:
    """All scripts, in files and in pages; then the pages for whatever ends an exemption that was used."""
    used: set[Allowed] = set()
    for name in sorted(site.files):
        if name.endswith((".js", ".mjs")):
            text = (site.folder / name).read_text("utf-8", "replace")
            yield from _check_script(site, name, text, 1, allowed, used)
    for page in site.pages.values():
        for element in _SCRIPTS(page.tree):
            line = element.sourceline or 0
            yield from _check_script(site, page.name, element.text or "", line, allowed, used)
        for value in _HANDLERS(page.tree):
            line = value.getparent().sourceline or 0
            yield from _check_script(site, page.name, str(value), line, allowed, used)
    for entry in sorted((a for a in used if a.unless), key=lambda a: a.address):
        finder = _find(entry.unless)
        for page in site.pages.values():
            for element in finder(page.tree):
                message = f"<{element.tag}> makes a script ask another host ({entry.reason}); leave it out"
                yield page.at(element, "host", message)


_PAGE_CHECKS = (
    _check_addresses,
    _check_ids,
    _check_page,
    _check_details,
    _check_braces,
    _check_leftovers,
    _check_numbers,
    _check_headings,
)


def check(folder: Path, *, site_url: str = "", allowed: tuple[Allowed, ...] = ALLOWED) -> list[Problem]:
    """Check every page, style sheet and script of a built site.

    Args:
        folder: the folder that was built, with its `index.html`.
        site_url: the address at which it will be published, as in mkdocs.yml; empty when not known. Links
            that begin with it are links inside the site, and 404.html links from its path.
        allowed: addresses that scripts may name, with reasons.

    Returns:
        The problems, in the order of page and line; an empty list when all is well.

    Raises:
        PagesError: the folder is missing or holds no HTML file, or `site_url` is no address.
    """
    if not folder.is_dir():
        raise PagesError(f"{folder} is no folder; build the site first: make build")
    site = _Site(folder, site_url)
    if not site.pages:
        raise PagesError(f"{folder} holds no HTML file; build the site first: make build")
    problems = list(_check_scripts(site, allowed))
    for page in site.pages.values():
        for page_check in _PAGE_CHECKS:
            problems.extend(page_check(site, page))
        for style in _STYLES(page.tree):
            problems.extend(_check_css(site, page.name, style.text or "", style.sourceline or 0))
    for name in site.files:
        if name.endswith(".css"):
            text = (site.folder / name).read_text("utf-8", "replace")
            problems.extend(_check_css(site, name, text, 1))
    return sorted(set(problems))
