"""The files with which a chapter begins: prose, worked example, tests, and its entry in the navigation.

Promises: what it writes builds and passes ``gpumoat check`` at once (apart from the lock, which a person writes), holds
one of everything a chapter has, and says in comments what to replace. Either all of it is written or nothing is: every
text is made, and every reason to refuse is looked for, before the first byte is written. ``mkdocs.yml`` is edited as
text, so that its comments and its order stay; the result is parsed again and must differ by the new entry only.

Left out: the lock, links to the chapter from other pages, and a part of the book that does not exist: its first page is
written by hand. A chapter that still holds a comment of the model's is not finished; ``unfinished`` finds it.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from gpumoat.site.errors import SiteError
from gpumoat.site.lint_core import lint_text
from gpumoat.site.project import Project

MODEL = Path(__file__).with_name("chapter")
"""The model of a chapter: ``page.md``, ``example.txt`` and ``test.txt`` (no ``.py``, for they are no modules)."""

NO_PARTS = frozenset({"assets", "claims", "reference"})
"""Folders of pages that hold no chapters: the look, the ledger of claims, the pages made from docstrings."""

MARK = "REPLACE:"
"""Stands in every comment of the model; a page or an example that holds it is not finished."""

LONGEST = 100
"""Characters of a title, at most; it is also the first line of the worked example."""

_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_NOT_PLAIN = re.compile(r"[<>{}\[\]`$\\*#|]|[\x00-\x1f]")


@dataclass
class Begun:
    """A chapter that was begun.

    Attributes:
        page: The page below the folder of pages, without its ending.
        written: Every file that was written, relative to the checkout.
        line: The line of ``mkdocs.yml`` at which the entry stands.
    """

    page: str
    written: list[str] = field(default_factory=list)
    line: int = 0

    def report(self) -> list[str]:
        """Return what was done and what comes next, a line each."""
        return [
            *(f"wrote {name}" for name in self.written),
            f"added a line to mkdocs.yml:{self.line}",
            f"next: replace what the comments with {MARK} say, then `gpumoat check {self.page}`",
            "when it is done: `gpumoat lock`, and a link from the part's first page",
        ]


def new_chapter(project: Project, path: str, title: str) -> Begun:
    """Write the files of a new chapter.

    Args:
        project: The checkout.
        path: Part and name, such as ``compute/occupancy``.
        title: The chapter's title, a question; plain text without typed numbers.

    Raises:
        SiteError: Path, title or ``mkdocs.yml`` do not allow it; nothing was written.
    """
    part, name = _part_and_name(project, path)
    title = _title(title)
    page = f"{part}/{name}"
    config = project.root / "mkdocs.yml"
    before = config.read_text(encoding="utf-8")
    after, line = with_entry(project, before, part, f"{page}.md", title)
    test = f"test_{name.replace('-', '_')}.py"
    if (project.root / "tests/chapters" / test).exists():  # a chapter of the same name in another part
        test = f"test_{part}_{name}".replace("-", "_") + ".py"
    texts = {
        project.pages / f"{page}.md": _from_model("page.md", page, title),
        project.example_of(f"{page}.md"): _from_model("example.txt", page, title),
        project.root / "tests/chapters" / test: _from_model("test.txt", page, title),
    }
    for file in [*texts, project.pages / page / "index.md"]:
        if file.exists():
            raise SiteError(file, 0, "exists already: choose another name, or edit it")
    _write(texts, config, before, after)
    return Begun(page, [file.relative_to(project.root).as_posix() for file in texts], line)


def unfinished(project: Project) -> list[str]:
    """Return the places, file and line, at which a page or an example still holds a comment of the model's."""
    found = []
    for file in sorted([*project.pages.rglob("*.md"), *project.examples.rglob("*.py")]):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if re.match(rf"\s*(?:<!--|#)\s*{MARK}", line):
                found.append(str(SiteError(file, number, "the model's comment still stands: do what it says")))
    return found


# What is refused


def _part_and_name(project: Project, path: str) -> tuple[str, str]:
    given = path.replace("\\", "/")
    inner = given.removeprefix(project.pages.relative_to(project.root).as_posix() + "/").removesuffix(".md")
    part, slash, name = inner.partition("/")
    if not slash or not _NAME.fullmatch(part) or not _NAME.fullmatch(name) or name == "index":
        raise SiteError(
            "PATH", 0, f"{path!r} is no path of a chapter: write part/name in small letters, such as compute/occupancy"
        )
    parts = parts_of(project)
    if part not in parts:
        raise SiteError(
            "PATH", 0, f"the book has no part {part!r}: it has {', '.join(parts)}; a new part begins with "
            f"{project.pages.relative_to(project.root).as_posix()}/{part}/index.md"
        )  # fmt: skip
    return part, name


def parts_of(project: Project) -> list[str]:
    """Return the parts of the book: folders with a first page, in the order of the navigation, then new ones."""
    inside = {file.parent.name for file in project.pages.glob("*/index.md")} - NO_PARTS
    order = [folder for folder in map(_folder, project.settings.get("nav") or []) if folder in inside]
    return list(dict.fromkeys([*order, *sorted(inside)]))


def _title(title: str) -> str:
    plain = title.strip()
    if len(plain) > LONGEST:
        raise SiteError("--title", 0, f"is {len(plain)} characters long: navigation and search show at most {LONGEST}")
    if not plain:
        raise SiteError("--title", 0, "is empty: write the question that the chapter answers")
    if odd := _NOT_PLAIN.search(plain):
        raise SiteError("--title", 0, f"holds {odd[0]!r}: a title is plain text on one line")
    if typed := lint_text(plain):
        raise SiteError("--title", 0, f"holds a typed number, {typed[0]}: say it without the number")
    return plain


# The navigation


def with_entry(project: Project, text: str, part: str, page: str, title: str) -> tuple[str, int]:
    """Return ``mkdocs.yml`` with a page added at the end of its part, and the line at which the entry stands.

    Raises:
        SiteError: The navigation is not written as a list with a line an entry.
    """
    config = project.root / "mkdocs.yml"
    items = _items(config, text)
    entry = f"- {json.dumps(title, ensure_ascii=False)}: {page}"
    lines = text.splitlines(keepends=True)
    mine = next((item for item in items if _first_folder(item) == part), None)
    if mine is None:  # the part is new: it follows the last part that the navigation has
        parts = set(parts_of(project))
        last = next((item for item in reversed(items) if _first_folder(item) in parts), items[-1])
        name = json.dumps(_heading(project, part), ensure_ascii=False)
        indent = _dash(config, lines, items[0])
        at = _end(last) + 1
        new = [f"{indent}- {name}:", f"{indent}    - {part}/index.md", f"{indent}    {entry}"]
    else:
        value = mine.value[0][1]
        indent = _dash(config, lines, mine)
        at = _end(value) + 1
        if isinstance(value, yaml.SequenceNode):
            if value.flow_style:
                raise SiteError(config, value.start_mark.line + 1, "write this list with a line for each page")
            new = [f"{_dash(config, lines, value.value[0])}{entry}"]
        else:  # a part of one page becomes a list of pages; what follows the page on its line stays behind the title
            line = lines[value.start_mark.line]
            rest = line[value.end_mark.column :]
            lines[value.start_mark.line] = line[: value.start_mark.column].rstrip() + rest
            new = [f"{indent}    - {value.value}", f"{indent}    {entry}"]
    if not lines[at - 1].endswith("\n"):
        lines[at - 1] += "\n"
    after = "".join([*lines[:at], *(line + "\n" for line in new), *lines[at:]])
    _only_added(config, text, after, title, page)
    return after, at + len(new)


def _items(config: Path, text: str) -> list[Any]:
    """Return the entries of the navigation as YAML nodes, which know their places."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            if key.value == "nav" and isinstance(value, yaml.SequenceNode) and value.value and not value.flow_style:
                return list(value.value)
    raise SiteError(config, 0, "has no nav with a line for each page, so no chapter can be added to it")


def _first_folder(node: Any) -> str:
    """Return the folder of the first page below a navigation node, empty where it lies in none."""
    if isinstance(node, yaml.MappingNode):
        node = node.value[0][1]
    if isinstance(node, yaml.SequenceNode):
        return _first_folder(node.value[0]) if node.value else ""
    return str(node.value).partition("/")[0] if "/" in str(node.value) else ""


def _folder(entry: Any) -> str:
    """The same for an entry that is read."""
    while isinstance(entry, (dict, list)):
        entry = next(iter(entry.values() if isinstance(entry, dict) else entry), "")
    return str(entry).partition("/")[0] if "/" in str(entry) else ""


def _end(node: Any) -> int:
    """Return the line, counted from 0, on which a node's last text ends; a block's own end lies behind comments."""
    while not isinstance(node, yaml.ScalarNode):
        node = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
    return int(node.end_mark.line)


def _dash(config: Path, lines: list[str], node: Any) -> str:
    """Return what stands before the dash of a list's entry."""
    line = lines[node.start_mark.line]
    found = re.match(r"(\s*)- ", line)
    if not found:
        raise SiteError(config, node.start_mark.line + 1, "write this list with a line for each page")
    return found[1]


def _heading(project: Project, part: str) -> str:
    first = project.pages / part / "index.md"
    for line in first.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            return re.sub(r"\s*\{[^{}]*\}\s*$", "", line[2:]).strip()
    raise SiteError(first, 0, "has no heading, from which the navigation would name the part: begin it with '# Title'")


def _only_added(config: Path, before: str, after: str, title: str, page: str) -> None:
    """Make sure that the edit of the text did what was meant: all that was there is there, in its order."""
    new = list(_leaves(yaml.compose(after, Loader=yaml.SafeLoader)))
    rest = iter(new)
    kept = all(leaf in rest for leaf in _leaves(yaml.compose(before, Loader=yaml.SafeLoader)))
    if not kept or page not in new:
        raise SiteError(config, 0, f"its nav could not be edited: add {title!r}: {page} by hand")


def _leaves(node: Any) -> Any:
    if isinstance(node, yaml.ScalarNode):
        yield node.value
    elif node is not None:
        for child in node.value:
            for each in child if isinstance(child, tuple) else (child,):
                yield from _leaves(each)


# Writing


def _from_model(file: str, page: str, title: str) -> str:
    text = (MODEL / file).read_text(encoding="utf-8")
    quoted = json.dumps(title, ensure_ascii=False)  # which YAML reads as well
    if file.endswith(".txt"):  # in a docstring, where a quotation mark could end the text
        title = title.replace('"', "'")
    return text.replace('title: "@TITLE@"', f"title: {quoted}").replace("@TITLE@", title).replace("@PAGE@", page)


def _write(texts: dict[Path, str], config: Path, before: str, after: str) -> None:
    """Write everything, or take back what was written and raise."""
    written: list[Path] = []
    try:
        for file, text in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            written.append(file)
            file.write_text(text, encoding="utf-8")
        config.write_text(after, encoding="utf-8")
    except OSError as error:
        for file in written:
            file.unlink(missing_ok=True)
        if config.read_text(encoding="utf-8") != before:
            config.write_text(before, encoding="utf-8")
        what = error.strerror or str(error)
        raise SiteError(error.filename or config, 0, f"cannot be written ({what}); nothing was changed") from None
