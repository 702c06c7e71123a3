"""Find the numbers that are typed into Python: worked examples and the package's own models.

A worked example (``lint_script``) is shown on its page, so everything in it counts. A number comes in by one of
four doors; besides 0, 1, 2, -1, an index and a slice bound, a literal is a finding. So is a number in a string,
an f-string, a comment or a docstring, arithmetic on literals alone (``1 + 1 + 1``), and ``len("…")`` or
``int("…")`` of a literal. Arguments of ``assume`` may be numbers; strings given to any door are ids or reasons.

A model (``lint_source``) may also hold powers of two up to 2**40, powers of ten, and the coefficients that stand in
the docstring of the function or class around them. Anything else is an empirical constant, and that is a fact
or a measured value. ``EXEMPT`` names the parts of the package that are no models.

Not found: numbers built from text or truth values at run time (``ord(name[0])``, ``True + True``), and units typed
into what a script prints.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from gpumoat.site.lint_core import OPAQUE
from gpumoat.site.lint_page import inline_runs

DOORS = frozenset("fact fact_text measured assume claim".split())
CATALOGUE = frozenset("gpu model cpu link".split())
"""Functions that take an id of the catalogue: a bundle of facts."""

EXEMPT = {
    "site/": "presents",
    "cli.py": "presents",
    "commands/": "presents; its defaults are options that the reader sees",
    "__main__.py": "presents",
    "bench/": "measures; its settings are in the run's own record",
    "units.py": "defines the units",
    "facts.py": "reads data",
    "registry_check.py": "checks data",
    "llm/fields.py": "reads files; its bounds say what is believed",
    "llm/families.py": "reads configs by the published rules of their families",
    "llm/more_families.py": "reads configs by the published rules of their families",
    "llm/towers.py": "reads configs by the published rules of their families",
    "llm/gguf.py": "reads a file format, whose numbers define it",
    "llm/ggml_mix.py": "follows a file format's rules, tested against the sizes of published files",
    "llm/quantization.py": "bytes of a block are what a format is",
    "llm/cache.py": "bytes of a block are what a format is",
    "llm/reading.py": "reads configs by the defaults of their classes",
    "kernels/": "programs for a card: masks, widths and tile sizes are the program, and every result is tested",
    "simt/": "a machine: lanes, banks and sectors define it, and a real card's counters check it",
    "simulate/full_size.py": "runs and checks a partition: the size to run and a mark for unwritten memory are choices",
}
"""Parts of ``src/gpumoat`` that are no models, by the start of their path inside the package, and why."""

_SMALL = (0, 1, 2)
_HIDING = frozenset("len ord int float complex Decimal Fraction sum".split())
_ID = re.compile(r"[A-Za-z_][\w.\-/]*")
_FORMAT = re.compile(r",?(?:\.\d+)?[defg%]?(?: [A-Za-z/%×µ² ]+)?")
_DIRECTIVE = re.compile(r"#\s*(?:noqa|type:|pragma|ruff:|mypy:|fmt:|-\*-)|#!")
_LIST_MARKER = re.compile(r"^[ \t]*\d{1,2}[.)][ \t]+(?=\S)", re.MULTILINE)
_DOC_NUMBER = re.compile(r"(?<![\w.])\d+(?:_\d+)*(?:\.\d+)?(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class CodeFinding:
    """A number in Python: where, what, under which rule, and the source line for waivers."""

    line: int
    column: int
    quantity: str
    rule: str
    sentence: str


def script_findings(text: str) -> list[CodeFinding]:
    """Find the typed numbers of a worked example.

    Raises:
        SyntaxError: The script is no Python.
    """
    return sorted([*_Script(text).found(), *_comments(text)], key=lambda finding: (finding.line, finding.column))


def source_findings(text: str) -> list[CodeFinding]:
    """Find the empirical constants of a model.

    Raises:
        SyntaxError: The file is no Python.
    """
    return sorted(_Source(text).found(), key=lambda finding: (finding.line, finding.column))


class _Walker:
    """What both lints share: a walk with parents, numeric literals, and findings with their line."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.tree = ast.parse(text)
        self.parents = {child: parent for parent in ast.walk(self.tree) for child in ast.iter_child_nodes(parent)}

    def above(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Yield each node around a node, with its child on the way."""
        while node in self.parents:
            yield self.parents[node], node
            node = self.parents[node]

    def finding(self, node: ast.expr, rule: str, quantity: str | None = None) -> CodeFinding:
        shown = ast.unparse(node) if quantity is None else quantity
        first = self.lines[node.lineno - 1]
        column = len(first.encode()[: node.col_offset].decode(errors="ignore")) + 1
        if quantity is None and isinstance(node, ast.Constant) and node.end_lineno == node.lineno:
            shown = first.encode()[node.col_offset : node.end_col_offset].decode(errors="ignore")
        return CodeFinding(node.lineno, column, shown, rule, " ".join(first.split()))

    def is_index(self, node: ast.AST) -> bool:
        """Say whether a node is an index or a slice bound; ``range(100)[96]`` is arithmetic in disguise."""
        for parent, child in self.above(node):
            if isinstance(parent, ast.Subscript) and child is parent.slice:
                return not (isinstance(parent.value, ast.Call) and _called(parent.value) == "range")
            if not isinstance(parent, (ast.Slice, ast.Tuple, ast.UnaryOp)):
                return False
        return False


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _is_number(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


def _only_literals(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return _only_literals(node.left) and _only_literals(node.right)
    if isinstance(node, ast.UnaryOp):
        return _only_literals(node.operand)
    return _is_number(node)


class _Script(_Walker):
    """The rules for a worked example."""

    def found(self) -> Iterator[CodeFinding]:
        done: set[ast.AST] = set()
        for node in ast.walk(self.tree):
            if node in done:
                continue
            if isinstance(node, ast.BinOp) and _only_literals(node):
                done.update(ast.walk(node))
                if not self._may_be_number(node):
                    yield self.finding(node, "literal")
            elif isinstance(node, ast.Constant) and _is_number(node):
                if node.value not in _SMALL and not self._may_be_number(node):
                    yield self.finding(node, "literal")
            elif isinstance(node, ast.Call) and _called(node) in _HIDING and node.args and self._hides(node.args[0]):
                done.update(ast.walk(node))
                yield self.finding(node, "literal")
            elif isinstance(node, ast.JoinedStr):
                done.update(child for child in ast.walk(node) if isinstance(child, ast.JoinedStr))
                done.update(child for child in node.values if isinstance(child, ast.Constant))
                for child in ast.walk(node):  # the format specifications are no text
                    if isinstance(child, ast.FormattedValue) and child.format_spec:
                        done.update(ast.walk(child.format_spec))
                yield from self._text(node, "".join(self._piece(part) for part in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, bytes):
                yield from self._text(node, node.value.decode("latin-1"))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not self._is_id(node):
                yield from self._text(node, node.value)

    @staticmethod
    def _piece(part: ast.expr) -> str:
        return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else OPAQUE

    @staticmethod
    def _hides(argument: ast.expr) -> bool:
        if isinstance(argument, ast.Constant):
            hidden = isinstance(argument.value, (str, bytes)) and bool(argument.value)
            return hidden and str(argument.value).strip().lower() not in ("inf", "-inf", "nan")
        return isinstance(argument, (ast.List, ast.Tuple)) and all(map(_only_literals, argument.elts))

    def _may_be_number(self, node: ast.AST) -> bool:
        """Say whether a number is an index, or an argument of ``assume``."""
        return self.is_index(node) or any(
            isinstance(parent, ast.Call) and _called(parent) == "assume" for parent, _ in self.above(node)
        )

    def _is_id(self, node: ast.Constant) -> bool:
        """Say whether a string is no text: an id, a format, or what a door is given."""
        parent = self.parents.get(node)
        if isinstance(parent, ast.keyword):
            parent = self.parents.get(parent)
        if isinstance(parent, ast.Call) and _called(parent) in DOORS | CATALOGUE:
            return True
        value = str(node.value)
        return bool(_ID.fullmatch(value) or (_FORMAT.fullmatch(value) and not value[:1].isdigit()))

    def _text(self, node: ast.expr, value: str) -> Iterator[CodeFinding]:
        """Judge a string as prose, paragraph by paragraph, and find its line in the source."""
        end = node.end_lineno or node.lineno
        if "\n" in value:
            value = _LIST_MARKER.sub(lambda match: " " * len(match[0]), value)
        for paragraph in re.finditer(r"(?:(?!\n\s*\n).)+", value, re.DOTALL):
            for run in inline_runs(paragraph[0], list(range(*paragraph.span()))):
                for quantity in run.quantities():
                    line = node.lineno + value.count("\n", 0, quantity.start)
                    first = re.escape(re.split(r"\s", value[quantity.start : quantity.end])[0])
                    lines = [line, *range(node.lineno, end + 1)]  # pieces on several lines: look for the number
                    line = next((n for n in lines if n <= end and re.search(first, self.lines[n - 1])), min(line, end))
                    place = re.search(first, self.lines[line - 1])
                    shown = " ".join(self.lines[line - 1].split())
                    yield CodeFinding(line, place.start() + 1 if place else 1, quantity.text, "string", shown)


def _comments(text: str) -> Iterator[CodeFinding]:
    """Judge comments as prose; comments on adjoining lines are one text."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    blocks: list[list[tuple[int, int, str]]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT or _DIRECTIVE.match(token.string):
            continue
        row, column = token.start
        joins = blocks and blocks[-1][-1][:2] == (row - 1, column) and not lines[row - 1][:column].strip()
        if joins:
            blocks[-1].append((row, column, token.string))
        else:
            blocks.append([(row, column, token.string)])
    for block in blocks:
        characters = ""
        at: list[int] = []
        for row, column, comment in block:
            body = _LIST_MARKER.sub("", comment.lstrip("#:! "))
            first = starts[row - 1] + column + len(comment) - len(body)
            characters += body + "\n"
            at.extend(range(first, first + len(body) + 1))
        for run in inline_runs(characters, at):
            for quantity in run.quantities():
                row = next(n for n, _, _ in reversed(block) if starts[n - 1] <= quantity.start)
                shown = " ".join(lines[row - 1].split())
                yield CodeFinding(row, quantity.start - starts[row - 1] + 1, quantity.text, "comment", shown)


class _Source(_Walker):
    """The rules for a model."""

    def found(self) -> Iterator[CodeFinding]:
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Constant) or not _is_number(node):
                continue
            if not (self._is_power(node) or self.is_index(node) or self._is_documented(node)):
                yield self.finding(node, "source")

    def _is_power(self, node: ast.Constant) -> bool:
        """Say whether a number is structural by itself, or the exponent in ``2**30``, ``10**9`` or ``1 << 20``."""
        parent = self.parents.get(node)
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Pow, ast.LShift)) and node is parent.right:
            base = parent.left.value if isinstance(parent.left, ast.Constant) else None
            return base in (1, 2, 10) and node.value in range(41)
        return _is_structural(node.value)

    def _is_documented(self, node: ast.Constant) -> bool:
        for parent, _ in self.above(node):
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                docstring = ast.get_docstring(parent) or ""
                if any(float(match[0]) == node.value for match in _DOC_NUMBER.finditer(docstring)):
                    return True
        return False


def _is_structural(value: object) -> bool:
    """Say whether a number is 0, a power of two up to 2**40 (or one over it), or a power of ten."""
    if not isinstance(value, (int, float)) or value == 0:
        return value == 0
    if any(value in (2**power, 1 / 2**power) for power in range(41)):
        return True
    return any(value in (10**power, float(f"1e{power}"), float(f"1e-{power}")) for power in range(31))
