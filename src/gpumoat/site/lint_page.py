"""Cut a Markdown page into flat runs of text, each character with its offset in the file.

Two passes. The first reads lines and sorts them into blocks: front matter, fenced code, formulas, Blocks
(``/// name | argument``) with their options, headings, tables, notes, paragraphs. The second reads the
inline markup of one block and yields a *run*: emphasis and inline tags vanish, so that ``**650** GiB`` reads
``650 GiB``; an inline number, a citation or a formula becomes one mark. Texts that hide in markup (alternative
texts, link titles, ``title=`` and ``aria-label=``) are runs of their own.

Promises: every character a reader can see, hear or find by search is in exactly one run, at its own offset.
Left out: comments, addresses, ids, classes, the names after ``/// table``, options of API pages, and indented
code, which is read as prose (the house style has fences only). It is not a Markdown parser: where markup is
broken, the text is read as prose, which errs towards a finding.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from gpumoat.site.lint_code import (
    LONE_NUMBER,
    code_quantities,
    expression_quantities,
    formula_quantities,
    locator_quantities,
)
from gpumoat.site.lint_core import BREAK, CELL, CITE, DOOR, NUMBER, OPAQUE, SMALL, Quantity, quantities

ENGINE_BLOCKS = frozenset(("worked", "table", "figure", "layers", "html"))
"""Blocks whose argument is a name or a path; any other block's argument is a title that readers see."""

DATE_KEYS = frozenset("date checked updated reviewed as_of published created".split())
"""Front matter keys that may hold a date."""

QUIET_KEYS = frozenset(
    "example template hide order weight boost icon id lang slug level format script heading_level".split()
)
"""Front matter keys and block options that no reader sees."""


@dataclass
class Run:
    """Flat text of one kind, with the offset of each character in its file.

    Attributes:
        kind: ``prose``, ``code``, ``formula``, ``locator`` (where in a source: labels pass, units do not) or
            ``expression`` (of an inline number: names pass, literals do not).
        text: The characters, marks included.
        at: The offset of each character.
    """

    kind: str
    text: str
    at: list[int]

    def __getitem__(self, part: slice) -> "Run":
        return Run(self.kind, self.text[part], self.at[part])

    def quantities(self) -> list[Quantity]:
        """Return the typed quantities, at their offsets in the file."""
        judge = {
            "prose": quantities,
            "code": code_quantities,
            "formula": formula_quantities,
            "locator": locator_quantities,
            "expression": expression_quantities,
        }[self.kind]
        return [
            Quantity(self.at[q.start], self.at[q.end - 1] + 1, q.text, q.rule, q.sentence) for q in judge(self.text)
        ]


@dataclass
class Lines:
    """The lines of a text, and where offsets fall in them."""

    text: str
    starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.starts = [0, *(match.end() for match in re.finditer("\n", self.text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset, both counted from 1."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


def page_runs(text: str) -> list[Run]:
    """Return all runs of a Markdown page."""
    return list(_Page(text).runs())


def inline_runs(text: str, at: list[int] | None = None) -> list[Run]:
    """Return the runs of one piece of text without block structure, such as a docstring's paragraph."""
    return _flatten(Run("prose", text, list(range(len(text))) if at is None else at))


# The first pass: blocks.

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})(.*)")
_BLOCK = re.compile(r"[ \t>]*(/{3,})[ \t]*([\w-]*)[ \t]*(?:\|(.*))?$")
_OPTION = re.compile(r"[ \t]*(?:-[ \t]+)?(?:([\"']?)([^\"':{}\[\]]+)\1[ \t]*:(?:[ \t]+|$))?(.*)")
_ADMONITION = re.compile(r"[ \t>]*(?:!!!|\?\?\?\+?|===[!+]?)[ \t]*[\w -]*(.*)")
_DEFINITION = re.compile(r"[ ]{0,3}(?:\*\[[^\]]+\]:|\[\^[^\]]+\]:)[ \t]*")
_LINK_DEFINITION = re.compile(r"[ ]{0,3}\[[^\]^@]+\]:[ \t]*\S+(.*)")
_HEADING = re.compile(
    r"[ \t>]*#{1,6}[ \t]+"
    r"(?:\d{1,2}(?:\.\d{1,2})*\.[ \t]+"  # 2. A title
    r"|\d{1,2}(?:\.\d{1,2})+[ \t]+(?=[A-Z][A-Za-z]{2,}(?![\w/]))"  # 3.2 A title, but not 3.35 TFLOP
    r"(?!(?:[KMGTP]i?B|[kMGTPE]?FLOP|[GTP]?OPS|[KMGT]?Hz|GPU|USD|EUR|RMB)))?"
)
_PREFIX = re.compile(r"[ \t]*(?:>[ \t]?)*[ \t]*")
_ITEM = re.compile(r"(?:[-*+]|\d{1,2}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)|:[ \t]+")
_DELIMITER = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_RULE = re.compile(r"[ \t]*(?:[-*_=][ \t]*){3,}$")
_API = re.compile(r"[ \t]*::: \S+")
_SILENT_HTML = re.compile(r"[ \t]*<(script|style)\b", re.IGNORECASE)
_FORMAT = r",?(?:\.\d+)?[defg%]"
_FORMATTED = re.compile(rf"(?<=[\w\])]):{_FORMAT}(?: [A-Za-z/%×µ² ]+)?|^[\"']?:?{_FORMAT}(?: [A-Za-z/%×µ²]+)*[\"']?$")


class _Page:
    """One page, read line by line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = Lines(text).starts
        self.lines = text.split("\n")
        self.row = 0
        self.paragraph: list[tuple[int, int]] = []  # spans of the lines gathered so far

    def runs(self) -> Iterator[Run]:
        """Yield the runs of all blocks in order."""
        if self.lines[0].rstrip() == "---" and "---" in (line.rstrip() for line in self.lines[1:]):
            yield from self._front_matter()
        while self.row < len(self.lines):
            line = self.lines[self.row]
            handler = self._handler(line)
            if handler is None:
                yield from self._gather(line)
                continue
            yield from self._flush()
            yield from handler
        yield from self._flush()

    def _handler(self, line: str) -> Iterator[Run] | None:
        """Choose the reader of the block that begins at a line; None for a line of a paragraph."""
        stripped = line.strip()
        if not stripped:
            return self._skip()
        if match := _FENCE.match(line):
            return self._fence(match)
        if match := _BLOCK.match(line):
            return self._block(match)
        if stripped.startswith("<!--"):
            return self._until("-->", 4, None)
        if stripped.startswith(("$$", "\\[", "\\begin{")):
            return self._formula(stripped)
        if match := _SILENT_HTML.match(line):
            return self._until(f"</{match[1]}>", 1, None)
        if _API.match(line):
            return self._api()
        if _RULE.match(line) or stripped.startswith(("--8<--", ";--8<--")):
            return self._skip()
        if match := _DEFINITION.match(line):
            return self._definition(match)
        if match := _LINK_DEFINITION.match(line):
            return self._one_line(match.start(1), len(line))
        if match := _HEADING.match(line):
            return self._one_line(match.end(), len(line))
        if stripped.startswith(("!!!", "???", "===")) and (match := _ADMONITION.match(line)):
            return self._one_line(match.start(1), len(line))
        if "|" in line and self._is_table():
            return self._table()
        return None

    def _piece(self, spans: list[tuple[int, int]]) -> Run:
        parts = [self.text[a:b] for a, b in spans]
        at = [offset for a, b in spans for offset in (*range(a, b), b)][:-1]
        return Run("prose", "\n".join(parts), at)

    def _span(self, first: int, last: int) -> tuple[int, int]:
        return self.starts[self.row] + first, self.starts[self.row] + last

    def _flush(self) -> Iterator[Run]:
        if self.paragraph:
            yield from _flatten(self._piece(self.paragraph))
            self.paragraph = []

    def _gather(self, line: str) -> Iterator[Run]:
        """Add a line to the paragraph; a list item begins a new one, and its marker is no text."""
        prefix = _PREFIX.match(line)
        start = prefix.end() if prefix else 0
        if item := _ITEM.match(line, start):
            yield from self._flush()
            start = item.end()
        self.paragraph.append(self._span(start, len(line)))
        self.row += 1

    def _skip(self) -> Iterator[Run]:
        self.row += 1
        yield from ()

    def _one_line(self, first: int, last: int, table: bool = False) -> Iterator[Run]:
        span = self._span(first, last)
        self.row += 1
        yield from _flatten(self._piece([span]), table)

    def _definition(self, match: re.Match[str]) -> Iterator[Run]:
        """Begin a paragraph behind the label of a footnote or an abbreviation; the label is no text."""
        self.paragraph = [self._span(match.end(), len(self.lines[self.row]))]
        self.row += 1
        yield from ()

    def _front_matter(self) -> Iterator[Run]:
        self.row = 1
        key = ""
        while self.lines[self.row].rstrip() != "---":
            line = self.lines[self.row]
            if match := _OPTION.match(line):
                key = match[2].strip() if match[2] and not line.startswith((" ", "\t")) else key
                value = match[3].strip().strip("\"'")
                is_date = key in DATE_KEYS and re.fullmatch(r"\d{4}(-\d\d){0,2}", value)
                if not (is_date or key in QUIET_KEYS or (match[2] or "").strip() in QUIET_KEYS):
                    yield from _flatten(self._piece([self._span(match.start(3), len(line))]))
            self.row += 1
        self.row += 1

    def _fence(self, match: re.Match[str]) -> Iterator[Run]:
        for title in re.finditer(r"(?:title|alt)=(\"[^\"]*\"|'[^']*')", match[2]):
            start = match.start(2)
            yield from _flatten(self._piece([self._span(start + title.start(1) + 1, start + title.end(1) - 1)]))
        closing = re.compile(rf"[ \t>]*{re.escape(match[1][0])}{{{len(match[1])},}}[ \t]*$")
        self.row += 1
        while self.row < len(self.lines) and not closing.match(self.lines[self.row]):
            start, end = self._span(0, len(self.lines[self.row]))
            yield Run("code", self.text[start:end], list(range(start, end)))
            self.row += 1
        self.row += 1

    def _formula(self, stripped: str) -> Iterator[Run]:
        if stripped.startswith("$$"):
            return self._until("$$", 2, "formula")
        if stripped.startswith("\\["):
            return self._until("\\]", 2, "formula")
        return self._until("\\end{", 1, "formula")

    def _until(self, closing: str, after: int, kind: str | None) -> Iterator[Run]:
        """Read to a closing string, wherever it is; what follows on its line is read as a new block."""
        line = self.lines[self.row]
        start = self.starts[self.row] + len(line) - len(line.lstrip())
        end = self.text.find(closing, start + after)
        if end < 0:
            end = len(self.text)
        if kind:
            yield Run(kind, self.text[start + after : end], list(range(start + after, end)))
        stop = min(end + len(closing), len(self.text))
        self.row = bisect_right(self.starts, stop) - 1
        self.paragraph.append((stop, self.starts[self.row] + len(self.lines[self.row])))
        self.row += 1

    def _api(self) -> Iterator[Run]:
        self.row += 1
        while self.row < len(self.lines) and self.lines[self.row].startswith(("    ", "\t")):
            self.row += 1
        yield from ()

    def _block(self, match: re.Match[str]) -> Iterator[Run]:
        """Read the header of a ``///`` block and the options below it; its body is read as usual."""
        if match[3] and match[2] == "html":
            yield from self._seen(match.start(3), match.end(3))
        elif match[3] and match[2] not in ENGINE_BLOCKS:
            yield from _flatten(self._piece([self._span(match.start(3), match.end(3))]))
        self.row += 1
        if not match[2]:
            return
        key = ""
        while self.row < len(self.lines) and re.match(r"(?: {4}|\t)\s*\S", self.lines[self.row]):
            line = self.lines[self.row]
            if option := _OPTION.match(line):
                key = (option[2] or "").strip()
                if key and not re.fullmatch(r"[a-z_]\w*", key):
                    yield from self._option(option.start(2), option.end(2))
                if key == "attrs":
                    yield from self._seen(option.start(3), len(line))
                elif key not in QUIET_KEYS:
                    yield from self._option(option.start(3), len(line))
            self.row += 1

    def _seen(self, first: int, last: int) -> Iterator[Run]:
        """Read the attributes that a reader sees or hears; the others (id, class) are no text."""
        for match in _SEEN_ATTRIBUTE.finditer(self.lines[self.row], first, last):
            yield from _flatten(self._piece([self._span(*match.span(match.lastindex or 0))]))

    def _option(self, first: int, last: int) -> Iterator[Run]:
        piece = self._piece([self._span(first, last)])
        piece.text = _FORMATTED.sub(lambda match: OPAQUE * len(match[0]), piece.text)
        yield from _flatten(piece)

    def _is_table(self) -> bool:
        return (
            self.row + 1 < len(self.lines)
            and "|" in self.lines[self.row + 1] + self.lines[self.row]
            and bool("-" in self.lines[self.row + 1] and _DELIMITER.match(self.lines[self.row + 1]))
        )

    def _table(self) -> Iterator[Run]:
        header = self.row
        while self.row < len(self.lines) and "|" in self.lines[self.row]:
            if self.row == header + 1:
                self.row += 1
                continue
            yield from self._one_line(0, len(self.lines[self.row]), table=True)


# The second pass: inline markup.

_SPECIAL = re.compile(r"[\\`$<!\[\]{&*_~=^|:+-]|\n")
_MATH = re.compile(r"\$\$(.+?)\$\$|\$(?![\s$]|\{\{)((?:\\.|[^\\$])+?)(?<!\s)\$(?!\d)", re.DOTALL)
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>")
_AUTOLINK = re.compile(r"<(?:https?://|mailto:)[^>\s]*>|<[\w.+-]+@[\w.-]+>")
_SEEN_ATTRIBUTE = re.compile(
    r"(?<![\w-])(?:title|alt|aria-label|aria-description|aria-roledescription|placeholder|label|summary|data-label)"
    r"[\"']?[ \t]*[=:][ \t]*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>}]+))"
)
_ATTRIBUTES = re.compile(
    r"\{:?[ \t]*(?:(?:[#.][\w:.-]+|[\w-]+=(?:\"[^\"]*\"|'[^']*'|[^\s}]+))[ \t]*)+\}|\{:[ \t]*[\w-]+[ \t]*\}"
)
_CITATION = re.compile(r"\[(?:[^\]\[@]{0,40} )?@[^\]]+\]")
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);")
_EMOJI = re.compile(r":[a-z][a-z0-9_+-]*:")
_TARGET = re.compile(
    r"\(\s*(?:<[^>]*>|(?:[^\s()\\]|\\.|\([^\s()]*\))*)(\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)|\s?\[[^\]\n]*\]"
)
_INLINE_TAGS = frozenset(
    "a abbr b bdi cite code data del dfn em i ins kbd mark q s small span strong sub sup time u var wbr".split()
)
_DOOR_CALL = re.compile(r"(?:fact(?:_text)?|claim|measured)\(")


def _flatten(source: Run, table: bool = False) -> list[Run]:
    """Read inline markup; the first run returned is the text itself, the others were hidden in it."""
    return _Inline(source, table).read()


class _Inline:
    """The inline markup of one block."""

    def __init__(self, source: Run, table: bool) -> None:
        self.source, self.text, self.table = source, source.text, table
        self.out: list[str] = []
        self.at: list[int] = []
        self.runs: list[Run] = []
        self.position = 0

    def read(self) -> list[Run]:
        """Walk from one special character to the next."""
        while self.position < len(self.text):
            special = _SPECIAL.search(self.text, self.position)
            if special is None:
                self._copy(self.position, len(self.text))
                break
            self._copy(self.position, special.start())
            self.position = special.start()
            if not self._markup(special[0]):
                self._copy(self.position, self.position + 1)
                self.position += 1
        return [Run(self.source.kind, "".join(self.out), self.at), *self.runs]

    def _copy(self, start: int, end: int) -> None:
        self.out.append(self.text[start:end])
        self.at.extend(self.source.at[start:end])

    def _put(self, characters: str, end: int) -> bool:
        """Put characters in place of the source up to an end."""
        self.out.append(characters)
        self.at.extend([self.source.at[self.position]] * len(characters))
        self.position = end
        return True

    def _hidden(self, start: int, end: int) -> None:
        if start >= 0 and end > start:
            self.runs.extend(_flatten(self.source[start:end]))

    def _markup(self, special: str) -> bool:
        """Read the markup at the position; False where the character is only itself."""
        text, position = self.text, self.position
        if special == "\n":
            return self._put(" ", position + 1)
        if special == "\\":
            return self._backslash()
        if special == "`":
            return self._code()
        if special == "$":
            match = _MATH.match(text, position)
            return match is not None and self._literal("formula", *self._group(match), match.end())
        if special == "<":
            return self._html()
        if special == "!":
            return text.startswith("![", position) and self._image()
        if special == "[":
            return self._bracket()
        if special == "]":
            return self._link_end()
        if special == "{":
            return self._brace()
        if special == "&":
            match = _ENTITY.match(text, position)
            return match is not None and self._put(html.unescape(match[0]), match.end())
        if special == "|":
            return self.table and self._put(CELL, position + 1)
        if special == ":":
            match = _EMOJI.match(text, position)
            if match is None or text[position - 1 : position].isalnum():
                return False
            return self._put("", match.end())
        return self._emphasis(special)

    @staticmethod
    def _group(match: re.Match[str]) -> tuple[int, int]:
        return match.span(match.lastindex or 0)

    def _literal(self, kind: str, start: int, end: int, stop: int) -> bool:
        """Read a code span or a formula; one that is nothing but a number is prose in other type."""
        content = self.text[start:end]
        if LONE_NUMBER.fullmatch(content):
            if re.fullmatch(r"\s*\d\s*", content):
                return self._put(SMALL, stop)
            self._copy(start, end)
            self.position = stop
            return True
        self.runs.append(Run(kind, content, self.source.at[start:end]))
        return self._put(OPAQUE, stop)

    def _backslash(self) -> bool:
        following = self.text[self.position + 1 : self.position + 2]
        if following == "(" and (end := self.text.find("\\)", self.position)) > 0:
            return self._literal("formula", self.position + 2, end, end + 2)
        if not following or following.isalnum():
            return False
        self._put("", self.position + 1)
        self._copy(self.position, self.position + 1)
        self.position += 1
        return True

    def _code(self) -> bool:
        ticks = re.match("`+", self.text[self.position :])
        assert ticks is not None
        closing = re.compile(rf"(?<!`){ticks[0]}(?!`)").search(self.text, self.position + ticks.end())
        if closing is None:
            return self._put("", self.position + ticks.end())
        return self._literal("code", self.position + ticks.end(), closing.start(), closing.end())

    def _html(self) -> bool:
        text, position = self.text, self.position
        if text.startswith("<!--", position):
            end = text.find("-->", position)
            return self._put("", end + 3 if end >= 0 else len(text))
        if match := _AUTOLINK.match(text, position):
            return self._put(OPAQUE, match.end())
        match = _TAG.match(text, position)
        if not match:
            return False
        self._attributes(*match.span(3))
        name = match[2].lower()
        if name in ("script", "style") and not match[1]:
            end = text.lower().find(f"</{name}", position)
            return self._put(BREAK, end if end >= 0 else len(text))
        return self._put("" if name in _INLINE_TAGS else " " if name in ("br", "img") else BREAK, match.end())

    def _attributes(self, start: int, end: int) -> None:
        for match in _SEEN_ATTRIBUTE.finditer(self.text, start, end):
            self._hidden(*self._group(match))

    def _image(self) -> bool:
        end = self._matching(self.position + 1)
        if end < 0:
            return False
        self._hidden(self.position + 2, end)
        self.position = end
        target = _TARGET.match(self.text, end + 1)
        if target:
            self._title(target)
        return self._put(OPAQUE, target.end() if target else end + 1)

    def _matching(self, start: int) -> int:
        depth = 0
        for match in re.compile(r"\\.|[\[\]]").finditer(self.text, start):
            depth += {"[": 1, "]": -1}.get(match[0], 0)
            if depth == 0 and match[0] == "]":
                return match.start()
        return -1

    def _title(self, target: re.Match[str]) -> None:
        if target[1]:
            start, end = target.span(1)
            inner = self.text[start:end]
            lead = len(inner) - len(inner.lstrip())
            self._hidden(start + lead + 1, end - 1)

    def _bracket(self) -> bool:
        text, position = self.text, self.position
        if match := _CITATION.match(text, position):
            self.runs.append(Run("locator", match[0], self.source.at[match.start() : match.end()]))
            return self._put(CITE, match.end())
        if match := re.compile(r"\[\^[^\]]+\]").match(text, position):
            return self._put(OPAQUE, match.end())
        return self._put("", position + 1) if self._matching(position) >= 0 else False

    def _link_end(self) -> bool:
        target = _TARGET.match(self.text, self.position + 1)
        if not target or target[0].startswith(("[@", "[^", " ")):
            return self._put("", self.position + 1)
        self._title(target)
        return self._put("", target.end())

    def _brace(self) -> bool:
        text, position = self.text, self.position
        if text.startswith("{{", position):
            end = _inline_number_end(text, position + 2)
            if end < 0:
                return False
            expression = text[position + 2 : end].strip()
            self.runs.append(Run("expression", text[position + 2 : end], self.source.at[position + 2 : end]))
            return self._put(DOOR if _DOOR_CALL.match(expression) else NUMBER, end + 2)
        match = _ATTRIBUTES.match(text, position)
        if not match:
            return False
        self._attributes(*match.span())
        return self._put("", match.end())

    def _emphasis(self, special: str) -> bool:
        text, position = self.text, self.position
        before, after = text[position - 1 : position] or " ", text[position + 1 : position + 2] or " "
        if special == "*":
            return not (before.isspace() and after.isspace()) and self._put("", position + 1)
        if special == "_":
            inside = (before.isalnum() or before == "_") and (after.isalnum() or after == "_")
            return not inside and self._put("", position + 1)
        if special in "~=^" and after == special:
            return self._put("", position + 2)
        return False


def _inline_number_end(text: str, start: int) -> int:
    """Return where ``}}`` closes an inline number, strings skipped; -1 where it does not on its line."""
    for match in re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|\}\}|\{\{|\n").finditer(text, start):
        if match[0] == "}}":
            return match.start()
        if match[0] in ("{{", "\n"):
            return -1
    return -1
