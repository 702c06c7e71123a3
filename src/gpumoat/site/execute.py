"""Run a worked example statement by statement and record what each statement read, bound and changed.

The record answers, for any name at the end of the script, which statements made it and which facts they
read (``gpumoat.site.provenance`` asks). Promises: the script runs as ``python script.py`` would run it
(its own path and line numbers, ``__name__ == "__main__"``, its future flags, its module in
``sys.modules``); what a statement depends on is over-approximated, never missed; each turn of a top-level
loop or comprehension that builds rows keeps its own reads, so that a table cell rests on its row.
Left out: taking a called function's inside apart. A call depends on the globals its function reads.
"""

import __future__

import ast
import builtins
import contextlib
import copy
import dis
import io
import linecache
import sys
import traceback
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpumoat.facts import Read, recording
from gpumoat.site.errors import SiteError
from gpumoat.site.reach import Reach, reach
from gpumoat.site.syntax import Names, escaping, names_of
from gpumoat.site.turns import Rows, Scope, besides
from gpumoat.site.watch import Watch

_ROWS_LIMIT = 10_000  # containers longer than this are not followed row by row

# Statements that bind their names whatever happens; a loop or a branch may not.
_CERTAIN = (
    *(ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
)


@dataclass
class Statement:
    """One top-level statement of the script, after it ran.

    Attributes:
        node: Its syntax tree.
        first: Its first line.
        last: Its last line.
        names: What its text uses, binds and may change.
        reads: The facts that it read, however deep.
        output: What it printed.
        needs: Indices of the statements that it builds on.
        before: For each name, the statements that had made it when this one began.
    """

    node: ast.stmt
    first: int
    last: int
    names: Names
    reads: list[Read] = field(default_factory=list)
    output: str = ""
    needs: set[int] = field(default_factory=set)
    before: dict[str, tuple[int, ...]] = field(default_factory=dict)


class Example:
    """A worked example that has run.

    Attributes:
        path: The script.
        source: Its text.
        namespace: Its module's names at the end.
        statements: Its top-level statements, in order.
        made: For each name, the statements that bound it or may have changed its object.
        rows: For the identity of a list or dict, which turn of a loop made which element.
    """

    def __init__(self, path: Path, source: str) -> None:
        self.path = path
        self.source = source
        self.module = types.ModuleType("__main__")
        self.namespace: dict[str, Any] = self.module.__dict__
        self.statements: list[Statement] = []
        self.made: dict[str, list[int]] = {}
        self.rows: dict[int, Rows] = {}
        self.scopes: list[Scope] = []
        self._open: list[Scope] = []
        self._rows_open: list[list[tuple[Any, Scope | None]]] = []
        self._listeners: list[recording] = []
        self.places: list[tuple[ast.expr, set[str] | None, bool]] = []
        self.told: dict[Any, Any] = {}  # answers about the example, which stay when it has run
        self._current = 0
        self._after: dict[str, Reach] | None = None

    @property
    def output(self) -> str:
        """Everything that the script printed."""
        return "".join(statement.output for statement in self.statements)

    @property
    def file(self) -> str:
        """The path as the script's code objects know it."""
        return str(self.path)

    def lines(self) -> list[str]:
        """Return the script's lines."""
        return self.source.splitlines()

    # Running

    def run(self) -> "Example":
        """Execute the script.

        Raises:
            SiteError: The script does not parse, or raises; the error names its line.
        """
        try:
            tree = ast.parse(self.source, self.file)
        except SyntaxError as error:
            raise SiteError(self.path, error.lineno or 0, f"the example does not parse: {error.msg}") from None
        linecache.cache[self.file] = (len(self.source), None, self.source.splitlines(True), self.file)
        extra = {
            "__moat_turns__": self._turns,
            "__moat_start__": self._start,
            "__moat_row__": self._row,
            "__moat_rows__": self._finish,
            "__moat_in__": self._enter,
            "__moat_out__": self._leave,
            "__moat_record__": self._record,
        }
        self.namespace.update(__file__=self.file, __doc__=ast.get_docstring(tree, clean=False))
        self.namespace["__builtins__"] = {**vars(builtins), **extra}
        flags = 0
        with self.as_main():
            for node in tree.body:
                if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                    for alias in node.names:
                        flags |= getattr(__future__, alias.name).compiler_flag
                if not self._execute(node, flags):
                    break
        return self

    @contextlib.contextmanager
    def as_main(self) -> Iterator[None]:
        """Let the script's module be ``__main__``, as it is when the script runs alone."""
        before, arguments = sys.modules.get("__main__"), sys.argv
        sys.modules["__main__"], sys.argv = self.module, [self.file]
        try:
            yield
        finally:
            sys.argv = arguments
            if before is not None:
                sys.modules["__main__"] = before

    def _execute(self, node: ast.stmt, flags: int) -> bool:
        """Run one statement and record it; say whether the script goes on after it."""
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        statement = Statement(node, first, node.end_lineno or node.lineno, names_of(node))
        self._current = len(self.statements)
        self.statements.append(statement)
        statement.before = {name: tuple(made) for name, made in self.made.items()}
        before, values = self.at_the_end, dict(self.namespace)
        watched = ast.fix_missing_locations(Watch(self, node).visit(copy.deepcopy(node)))
        code = compile(ast.Module([watched], type_ignores=[]), self.file, "exec", flags, dont_inherit=True)
        printed = io.StringIO()
        goes_on = True
        try:
            with contextlib.redirect_stdout(printed), recording() as reads:
                exec(code, self.namespace)
        except SystemExit as error:
            if error.code not in (None, 0):
                raise SiteError(self.path, node.lineno, f"the example exits with {error.code!r}") from None
            goes_on = False
        except Exception as error:
            raise SiteError(self.path, *_where(error, self.file, node.lineno)) from error
        finally:
            self._open.clear()
            self._listeners.clear()
            self._rows_open.clear()
        statement.output = printed.getvalue()
        statement.reads = reads
        # A star-import, exec or globals() binds names that the statement's text does not show.
        hidden = {name for name, value in self.namespace.items() if values.get(name, values) is not value}
        statement.names.stores = {name for name in hidden if not name.startswith("__")} - statement.names.binds
        self._after = self.reaches()
        self._link(statement, before, self._after)
        return goes_on

    def outside(self, scope: Scope) -> list[Read]:
        """Return what a turn's statement read elsewhere than in the turn's siblings."""
        while scope.parent is not None:
            scope = scope.parent
        outermost = [each for each in self.scopes if each.statement == scope.statement and each.parent is None]
        return besides(self.statements[scope.statement].reads, outermost, scope)

    # What a statement builds on

    @property
    def at_the_end(self) -> dict[str, Reach]:
        """What each of the script's names reaches since the last statement that ran."""
        if self._after is None:
            self._after = self.reaches()
        return self._after

    def reaches(self) -> dict[str, Reach]:
        """Return what each of the script's names reaches now."""
        return {name: reach(value, self.file) for name, value in self.namespace.items() if not name.startswith("__")}

    def _link(self, statement: Statement, before: dict[str, Reach], after: dict[str, Reach]) -> None:
        """Note what the statement needs, binds and may have changed."""
        names = statement.names
        uses, changes = set(names.uses), set(names.changes)
        changes |= {name for name in names.consumes if any(_risky(each, name) for each in (before, after))}
        read, stored = self.called_globals(uses, before, after)
        uses |= read
        stored |= names.stores
        changes |= read  # a function may change in place whatever it can see
        changes = {name for name in changes if any(_changeable(each, name) for each in (before, after))}
        touched = Reach()
        for each in (before, after):
            for name in changes & each.keys():
                touched.ids |= each[name].ids
                touched.whole = touched.whole or each[name].whole
        if touched.ids or touched.whole:
            for each in (before, after):
                changes |= {name for name, found in each.items() if touched.meets(found)}
        for name in uses | changes | stored:
            statement.needs.update(self.made.get(name, ()))
        statement.needs.discard(self._current)
        certain = isinstance(statement.node, _CERTAIN)
        for name in sorted(names.binds):
            self.made[name] = [self._current] if certain else [*self.made.get(name, []), self._current]
        for name in sorted((changes | stored) - names.binds):
            self.made.setdefault(name, []).append(self._current)

    def called_globals(self, uses: set[str], *tables: dict[str, Reach]) -> tuple[set[str], set[str]]:
        """Return the module names that functions reached from some names read, and store, when called."""
        read: set[str] = set()
        stored: set[str] = set()
        todo, seen = list(uses), set(uses)
        done: set[int] = set()
        while todo:
            name = todo.pop()
            for table in tables:
                for function in table[name].functions if name in table else ():
                    if id(function.__code__) in done:
                        continue
                    done.add(id(function.__code__))
                    for opcode, target in _global_names(function.__code__):
                        if opcode == "STORE":
                            stored.add(target)
                        read.add(target)
                        if target not in seen:
                            seen.add(target)
                            todo.append(target)
        return read, stored

    def carried(self, body: list[ast.AST], targets: set[str]) -> bool:
        """Say whether a turn of a loop may build on what an earlier turn did.

        Args:
            body: The statements or expressions of one turn, in order.
            targets: The names that each turn binds afresh.
        """
        table = self.at_the_end
        all_names = [names_of(part) for part in body]
        changed: set[str] = set()
        for names in all_names:
            changed |= names.binds
            unknown = {name for name in names.changes if name not in table and not hasattr(builtins, name)}
            changed |= unknown | {name for name in names.changes if _changeable(table, name)}
            changed |= {name for name in names.consumes if _risky(table, name)}
        changed |= {node.target.id for part in body for node in ast.walk(part) if isinstance(node, ast.NamedExpr)}
        grown = {name for name in changed if _only_grows(body, name)}
        changed -= grown
        # What grows may be read under another name: one from before the loop, or one that a turn gives it.
        changed |= {
            name for name, found in table.items() if name not in grown and any(found.meets(table[g]) for g in grown)
        }
        for part in body:
            for node in ast.walk(part):
                if isinstance(node, ast.Assign) and names_of(node).binds & changed:
                    changed |= {name for name in escaping(node.value) if _changeable(table, name)}
        fresh = set(targets)
        for part, names in zip(body, all_names, strict=True):
            read, stored = self.called_globals(names.uses, table)
            if stored or read & changed or any(_changeable(table, name) for name in read):
                return True
            if (names.uses - fresh) & changed:
                return True
            if isinstance(part, (ast.Assign, ast.AnnAssign)):
                fresh |= names.binds
        return False

    # Rows: which turn of a loop made which element

    def _turns(self, iterable: Any, carried: bool, watch: bool) -> Iterator[Any]:
        """Yield the items of a loop, each turn with a record of its own; placed around every top-level loop."""
        iterator = iter(iterable)
        earlier: list[Scope] = []
        group = object()
        while True:
            scope = Scope(self._current, self._open[-1] if self._open else None, group=group)
            if scope.parent is not None:
                scope.parent.children.append(scope)
            self.scopes.append(scope)
            if carried:
                scope.carried = list(earlier)
            before = self._contents() if watch else {}
            self._open.append(scope)
            listener = recording()
            scope.reads = listener.__enter__()
            try:
                try:
                    item = next(iterator)
                except StopIteration:
                    return
                yield item
            finally:
                listener.__exit__()
                if scope in self._open:
                    self._open.remove(scope)
                if watch:
                    self._attribute(before, scope)
                earlier.append(scope)

    def _contents(self) -> dict[int, tuple[Any, Any]]:
        """Return the lists and dicts that the script has names for, each with a copy of what is in it."""
        found: dict[int, tuple[Any, Any]] = {}
        for name, value in self.namespace.items():
            if type(value) in (list, dict) and not name.startswith("__") and len(value) <= _ROWS_LIMIT:
                found[id(value)] = (value, value.copy())
        return found

    def _attribute(self, before: dict[int, tuple[Any, Any]], scope: Scope) -> None:
        """Give the elements that are new to a turn, unless a turn inside it has them already."""
        for identity, (container, now) in self._contents().items():
            if identity not in before:
                continue  # only named in this turn: it may have been made anywhere
            old = before[identity][1]
            for key, value in enumerate(now) if isinstance(now, list) else now.items():
                if _has(old, key) and old[key] is value:
                    continue
                made = self.rows.setdefault(identity, Rows(container)).made
                if key not in made or made[key][0] is not value or not made[key][1].within(scope):
                    made[key] = (value, scope)

    def _start(self) -> None:
        """Open the record of a comprehension's elements."""
        self._rows_open.append([])

    def _row(self, key: Any, value: Any) -> Any:
        """Note which turn made an element of a comprehension."""
        self._rows_open[-1].append((key, self._open[-1] if self._open else None))
        return value

    def _finish(self, _: None, container: Any) -> Any:
        """Note the elements of a finished comprehension."""
        made = self._rows_open.pop()
        if len(container) <= _ROWS_LIMIT:
            rows = Rows(container)
            for index, (key, scope) in enumerate(made):
                place = index if isinstance(container, list) else key
                if scope is not None and _has(container, place):
                    rows.made[place] = (container[place], scope)
            self.rows[id(container)] = rows
        return container

    # Written-out lists and records: which expression made which element or field

    def _enter(self, place: int) -> Scope:
        """Open the record of one element or field."""
        scope = Scope(self._current, self._open[-1] if self._open else None, group=self._rows_open[-1])
        scope.node, scope.uses, scope.alone = self.places[place]
        if scope.parent is not None:
            scope.parent.children.append(scope)
        self.scopes.append(scope)
        self._open.append(scope)
        self._listeners.append(recording())
        scope.reads = self._listeners[-1].__enter__()
        return scope

    def _leave(self, scope: Scope, key: Any, value: Any) -> Any:
        """Close the record of one element or field and pass its value on."""
        self._listeners.pop().__exit__()
        self._open.remove(scope)
        self._rows_open[-1].append((key, scope))
        return value

    def _record(self, _: None, container: Any) -> Any:
        """Note the elements of a written-out list or the fields of a written-out record."""
        rows = Rows(container)
        for key, scope in self._rows_open.pop():
            if scope is not None:
                rows.made[key] = (container[key], scope)
        self.rows[id(container)] = rows
        return container


def _only_grows(body: list[ast.AST], name: str) -> bool:
    """Say whether a name is only ever appended to, or has items set, so that no turn reads an earlier one."""
    total = sum(isinstance(node, ast.Name) and node.id == name for part in body for node in ast.walk(part))
    grown = 0
    for part in body:
        for node in ast.walk(part):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                target = node.value.func
                if isinstance(target, ast.Attribute) and target.attr in ("append", "add", "extend", "update"):
                    grown += isinstance(target.value, ast.Name) and target.value.id == name
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Subscript):
                        grown += isinstance(target.value, ast.Name) and target.value.id == name
    return total > 0 and grown == total


def _has(container: Any, key: Any) -> bool:
    return key < len(container) if isinstance(container, list) else key in container


def _risky(table: dict[str, Reach], name: str) -> bool:
    return name in table and (table[name].iterators or table[name].whole)


def _changeable(table: dict[str, Reach], name: str) -> bool:
    return name in table and (bool(table[name].ids) or table[name].whole)


def _global_names(code: types.CodeType) -> Iterator[tuple[str, str]]:
    """Yield the module names that a function's code loads and stores, nested functions included."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield "LOAD", str(instruction.argval)
        elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            yield "STORE", str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)


def _where(error: Exception, file: str, line: int) -> tuple[int, str]:
    """Return the line of the script on which an error rose, and one line that says what it was."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename == file and frame.lineno:
            line = frame.lineno
            break
    first = str(error).splitlines()[0] if str(error) else "without a message"
    return line, f"the example fails: {type(error).__name__}: {first}"


def run_example(path: Path) -> Example:
    """Run a worked example from its file.

    Raises:
        SiteError: The file is missing, does not parse, or raises.
    """
    if not path.is_file():
        raise SiteError(path, 0, "there is no such example: a page and its example share their stem")
    return Example(path.resolve(), path.read_text(encoding="utf-8")).run()
