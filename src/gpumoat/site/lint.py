"""No number on the site is typed: this check holds the promise over pages, navigation, examples and models.

A *quantity* in what a reader sees is computed by the page's example, cited through a door, or waived by name.
Anything else fails with file, line and what would be right. The rules for prose are in ``gpumoat.site.lint_core``,
those for code and formulas in ``gpumoat.site.lint_code``, the reading of Markdown in ``gpumoat.site.lint_page``,
that of Python in ``gpumoat.site.lint_script``.

A waiver is an entry of ``docs/waivers.toml``: page, number, a fragment of the sentence as a reader sees it (without
markup), and a reason. It covers that number in that sentence only, and one that covers nothing is itself a finding.

Why a check and not a custom: a rival book forbade typed numbers in a comment, and an audit of its case studies
found nearly all of them wrong. The planted set in ``tests/site/lint_faults.toml`` shows what this one catches.
Left out: whether a computed number is the right one for its sentence (tests of claims do that), and the text
inside built figures, for which ``lint_text`` is offered.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from gpumoat.site.lint_core import Name, Quantity, lint_text, load_names
from gpumoat.site.lint_page import Lines, inline_runs, page_runs
from gpumoat.site.lint_script import EXEMPT, CodeFinding, script_findings, source_findings

__all__ = [
    "Finding",
    "Name",
    "Waiver",
    "apply_waivers",
    "lint_navigation",
    "lint_page",
    "lint_project",
    "lint_script",
    "lint_source",
    "lint_text",
    "load_names",
    "load_waivers",
]

_REMEDY = (
    "make it {{ … }}: compute it in the example, cite it with fact(), or waive it with a reason in docs/waivers.toml"
)
_DOORS = (
    "let it in by a door: fact(id) if a source says it, measured(run, key) if we measured it, "
    "assume(value, why) if it is a choice, claim(id) if it is what a document claims"
)
_MESSAGES = {
    "digits": f"typed number; {_REMEDY}",
    "word": f"number in words; {_REMEDY}",
    "unit": "unit typed beside an inline number; put the unit into the format, as in {{ weights_bytes:.0f GiB }}",
    "year": "year or date without a source; cite one in the same sentence ([@source] or {{ fact(…) }}), "
    "or waive it with a reason in docs/waivers.toml",
    "name": "word with digits; if it is a name, list it in src/gpumoat/data/names.toml, else " + _REMEDY,
    "code": f"number typed into code; {_REMEDY}",
    "formula": f"number typed into a formula; use a letter and say its value in the sentence: {_REMEDY}",
    "literal": f"number typed into an example; {_DOORS}",
    "string": f"number typed into a text of an example; print a name instead, or {_DOORS}",
    "comment": f"number typed into a comment of an example; name what it is, or {_DOORS}",
    "source": "constant in a model: an empirical constant is a fact or a measured value; "
    "a coefficient stands in the formula of the docstring around it",
}
_MIN_REASON = 10


@dataclass(frozen=True)
class Finding:
    """A typed number, and what would be right.

    Attributes:
        path: The file, as given.
        line: Its line in the file on disk, counted from 1.
        column: Its column, counted from 1.
        quantity: The number with its unit, as the reader sees it.
        rule: Which rule found it: a key of the messages above, or ``waiver``.
        message: What is wrong and what would be right.
        sentence: The sentence around it; a waiver quotes a fragment of it.
    """

    path: Path
    line: int
    column: int
    quantity: str
    rule: str
    message: str
    sentence: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.path.as_posix()}:{self.line}:{self.column}: {self.quantity}: {self.message}"


@dataclass(frozen=True)
class Waiver:
    """Leave to type one number in one sentence of one file.

    Attributes:
        page: The file, relative to the checkout, with forward slashes.
        number: The quantity as a finding shows it.
        sentence: A fragment of the sentence that holds it.
        reason: Why it may stand.
        line: Where the entry begins in the file of waivers.
    """

    page: str
    number: str
    sentence: str
    reason: str
    line: int = 0


def lint_page(path: Path, text: str | None = None) -> list[Finding]:
    """Find the typed quantities of a Markdown page.

    Args:
        path: The page.
        text: Its text, if it is not to be read from disk.

    Returns:
        The findings in the order of the page.
    """
    source = path.read_text("utf-8") if text is None else text
    source = source.replace("\r\n", "\n")
    return _placed(path, source, (quantity for run in page_runs(source) for quantity in run.quantities()))


def lint_navigation(path: Path, text: str | None = None) -> list[Finding]:
    """Find the typed quantities in the site's name, description and navigation titles of a ``mkdocs.yml``."""
    source = path.read_text("utf-8") if text is None else text
    root = yaml.compose(source, Loader=yaml.SafeLoader)  # nodes only: tags such as !!python/name stay unresolved
    found: list[Quantity] = []
    if isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            if key.value in ("site_name", "site_description"):
                found.extend(_scalar(value, source))
            elif key.value == "nav":
                found.extend(_titles(value, source))
    return _placed(path, source, found)


def lint_script(path: Path, text: str | None = None) -> list[Finding]:
    """Find the typed numbers of a worked example.

    Raises:
        SyntaxError: The script is no Python.
    """
    source = path.read_text("utf-8") if text is None else text
    return _python(path, script_findings(source))


def lint_source(path: Path, text: str | None = None) -> list[Finding]:
    """Find the empirical constants of a model of the package; exempt parts (``EXEMPT``) give none.

    Raises:
        SyntaxError: The file is no Python.
    """
    inside = path.as_posix().rpartition("gpumoat/")[2]
    if inside.startswith(tuple(EXEMPT)):
        return []
    source = path.read_text("utf-8") if text is None else text
    return _python(path, source_findings(source))


def load_waivers(path: Path) -> list[Waiver]:
    """Read the waivers.

    Raises:
        ValueError: An entry lacks a field, or its reason is shorter than ten characters.
    """
    text = path.read_text("utf-8")
    starts = [number for number, line in enumerate(text.split("\n"), 1) if line.strip() == "[[waiver]]"]
    waivers = []
    for entry, line in zip(tomllib.loads(text).get("waiver", []), starts, strict=True):
        where = f"{path.name}:{line}"
        for name in ("page", "number", "sentence", "reason"):
            if not isinstance(entry.get(name), str) or not entry[name].strip():
                raise ValueError(f"{where}: a waiver needs {name}, as text: page, number, sentence and reason")
        if unknown := set(entry) - {"page", "number", "sentence", "reason"}:
            raise ValueError(
                f"{where}: unknown field {', '.join(sorted(unknown))}: a waiver has page, number, sentence, reason"
            )
        if len(entry["reason"].strip()) < _MIN_REASON:
            raise ValueError(f"{where}: reason {entry['reason']!r} is too short: say why this number may be typed")
        waivers.append(Waiver(entry["page"], entry["number"], entry["sentence"], entry["reason"], line))
    return waivers


def apply_waivers(findings: Iterable[Finding], waivers: Iterable[Waiver], path: Path) -> list[Finding]:
    """Take away the findings that a waiver covers, and add one for each waiver that covers nothing.

    Args:
        findings: What the lints found, of all files.
        waivers: All waivers.
        path: The file of waivers, for its own findings.
    """
    waivers = list(waivers)
    used: set[Waiver] = set()
    kept = []
    for finding in findings:
        cover = [waiver for waiver in waivers if _covers(waiver, finding)]
        used.update(cover)
        if not cover:
            kept.append(finding)
    for waiver in waivers:
        if waiver not in used:
            message = f"this waiver covers nothing: no such number in that sentence of {waiver.page}; remove it"
            kept.append(Finding(path, waiver.line, 1, waiver.number, "waiver", message, waiver.sentence))
    return kept


def lint_project(root: Path) -> list[Finding]:
    """Run every lint over a checkout, waivers applied: pages, navigation, examples, models."""
    found: list[Finding] = []
    for pages in sorted((root / "docs").glob("??")):
        for page in sorted(pages.rglob("*.md")):
            found.extend(lint_page(page))
    for config in sorted(root.glob("mkdocs*.yml")):
        found.extend(lint_navigation(config))
    for script in sorted((root / "docs" / "examples").rglob("*.py")):
        found.extend(lint_script(script))
    for model in sorted((root / "src" / "gpumoat").rglob("*.py")):
        found.extend(lint_source(model))
    waivers = root / "docs" / "waivers.toml"
    return apply_waivers(found, load_waivers(waivers), waivers) if waivers.exists() else found


def _covers(waiver: Waiver, finding: Finding) -> bool:
    same_file = finding.path.as_posix() == waiver.page or finding.path.as_posix().endswith("/" + waiver.page)
    fragment = " ".join(waiver.sentence.split())
    return same_file and finding.quantity == " ".join(waiver.number.split()) and fragment in finding.sentence


def _placed(path: Path, source: str, found: Iterable[Quantity]) -> list[Finding]:
    lines = Lines(source)
    findings = [
        Finding(path, *lines.place(q.start), q.text, q.rule, _MESSAGES[q.rule], q.sentence)
        for q in sorted(found, key=lambda q: q.start)
    ]
    return findings


def _python(path: Path, found: Iterable[CodeFinding]) -> list[Finding]:
    return [Finding(path, f.line, f.column, f.quantity, f.rule, _MESSAGES[f.rule], f.sentence) for f in found]


def _scalar(node: yaml.Node, source: str) -> Iterator[Quantity]:
    """Judge one YAML text as written; quotes and block indicators are no text."""
    if not isinstance(node, yaml.ScalarNode):
        return
    start, end = node.start_mark.index, node.end_mark.index
    written = source[start:end]
    lead = re.match(r"[|>][+-]?\n?|[\"']?", written)
    start += lead.end() if lead else 0
    for run in inline_runs(source[start:end], list(range(start, end))):
        yield from run.quantities()


def _titles(node: yaml.Node, source: str) -> Iterator[Quantity]:
    if isinstance(node, yaml.SequenceNode):
        for child in node.value:
            yield from _titles(child, source)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _scalar(key, source)
            yield from _titles(value, source)
