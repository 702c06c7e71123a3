"""What a number on a page rests on: the backward slice of its script, and what kind of number it is.

Given an example that has run and an expression (a name, an attribute, an index or a door call), this finds
the lines that made it, the facts they read, the library functions they called, and its kind. A bare read
keeps its kind: ``layers = fact("gpt3.layers")`` is cited. Arithmetic makes *computed*; what the arithmetic
rests on stays visible as marks. Left out: formatting and HTML.
"""

import ast
import copy
import difflib
import inspect
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpumoat import facts
from gpumoat.facts import Read, recording
from gpumoat.hardware import Subject
from gpumoat.review import due_since
from gpumoat.site.execute import Example, Statement
from gpumoat.site.syntax import names_of
from gpumoat.site.turns import Scope
from gpumoat.units import name_unit

DOORS = {
    facts.fact: "cited",
    facts.fact_text: "cited",
    facts.measured: "measured",
    facts.assume: "assumed",
    facts.claim: "claimed",
}


INLINE_DOORS = ("fact", "fact_text", "measured", "claim", "gpu", "model")
"""What a page may call between its braces."""


class ExpressionError(ValueError):
    """An expression in a page is not allowed or does not evaluate; the message says what would be right."""


@dataclass
class Origin:
    """What a value rests on.

    Attributes:
        value: The value, in the unit of its name.
        kind: ``computed``, ``cited``, ``measured``, ``assumed`` or ``claimed``.
        name: The name whose suffix states the unit; empty for a door call.
        reads: The facts behind it, each once, in the order in which the script read them.
        lines: Line numbers of the statements that made it.
        functions: Qualified names of the library functions called on those lines.
        door: The read itself where the value is a bare read.
    """

    value: Any
    kind: str
    name: str
    reads: list[Read] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    door: Read | None = None

    @property
    def marks(self) -> list[str]:
        """What a reader must know of a computed number's inputs, worst first."""
        found = []
        if self.kind != "assumed" and any(read.kind == "assumed" for read in self.reads):
            found.append("rests on an assumption")
        if self.kind != "claimed" and any(read.kind == "claimed" for read in self.reads):
            found.append("rests on a claim under examination")
        statuses = {read.record.text("status") for read in self.reads if read.kind == "cited" and read.record}
        if "unverified" in statuses:
            found.append("rests on an unverified source")
        elif "quoted" in statuses:
            found.append("rests on a quoted source")
        if any(read.kind == "cited" and read.record and due_since(read.record) for read in self.reads):
            found.append("rests on a fact due for review")
        return found


def parse_expression(text: str) -> ast.expr:
    """Parse the expression of an inline number.

    Raises:
        ExpressionError: It is no name, attribute, index or door call. Arithmetic belongs in the script.
    """
    allowed = "a name, an attribute, an index or a door call; arithmetic belongs in the example"
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise ExpressionError(f"{text.strip()!r} is no expression: a page holds {allowed}") from None
    if not _is_allowed(node):
        raise ExpressionError(f"{text.strip()!r} is not allowed: a page holds {allowed}")
    return node


def _is_allowed(node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.Attribute):
        return _is_allowed(node.value)
    if isinstance(node, ast.Subscript):
        index = node.slice
        if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
            index = index.operand
        return _is_allowed(node.value) and isinstance(index, (ast.Constant, ast.Name, ast.Attribute))
    if isinstance(node, ast.Call):
        doors = INLINE_DOORS
        constants = all(isinstance(argument, ast.Constant) for argument in node.args)
        return isinstance(node.func, ast.Name) and node.func.id in doors and constants and not node.keywords
    return False


def unit_name(node: ast.expr) -> str:
    """Return the name whose suffix states an expression's unit.

    ``card.memory_bytes`` is named by its attribute, ``state["weights_bytes"]`` by its key where the key has
    a suffix and by ``state`` where it has none.
    """
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        key = node.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and facts_unit(key.value):
            return key.value
        return unit_name(node.value)
    return ""


def facts_unit(name: str) -> str:
    """Return the dimension that a name states, empty for a pure number."""
    return name_unit(name).dimension


def origin(example: Example, text: str) -> Origin:
    """Find what an expression's value rests on.

    Raises:
        ExpressionError: The expression is not allowed, or the script has no such name.
    """
    node = parse_expression(text)
    scope = {**_doors(), **example.namespace}
    for name in sorted(names_of(node).uses):
        if name not in scope:
            near = set(difflib.get_close_matches(name, example.made, 3))
            near |= {each for each in example.made if each.split("_")[0] == name.split("_")[0]}
            hint = f": it has {', '.join(sorted(near))}" if near else ""
            raise ExpressionError(f"the example has no {name!r}{hint}")
    try:
        with example.as_main(), recording() as reads:
            value = eval(compile(ast.Expression(node), "<page>", "eval"), scope)
    except Exception as error:
        raise ExpressionError(f"{text.strip()!r} fails: {type(error).__name__}: {error}") from None
    return trace(example, node, value, reads)


def _needs_of(example: Example, scope: Scope) -> set[int]:
    """Return the statements that a row, an element or a field builds on."""
    statement = example.statements[scope.statement]
    if scope.uses is None:
        return statement.needs
    called, _ = example.called_globals(scope.uses, example.at_the_end)
    return {index for name in scope.uses | called for index in statement.before.get(name, ())}


def _doors() -> dict[str, Any]:
    import gpumoat

    return {name: getattr(gpumoat, name) for name in INLINE_DOORS}


def trace(example: Example, node: ast.expr, value: Any, reads: list[Read]) -> Origin:
    """Build the origin of a value that an expression gave, with what was read while it was evaluated."""
    uses = names_of(node).uses
    called, _ = example.called_globals(uses, example.at_the_end)
    todo = [index for name in uses | called for index in example.made.get(name, ())]
    narrow = _narrowed(example, node)
    rows_statement = narrow[1].statement if narrow else -1
    # The statement that built the rows counts with the row's own part only, unless something else needs it too.
    if narrow and todo.count(rows_statement) == 1:
        todo.remove(rows_statement)
        todo.extend(_needs_of(example, narrow[1]))
    else:
        narrow = None
    full: set[int] = set()
    while todo:
        index = todo.pop()
        if index not in full:
            full.add(index)
            todo.extend(example.statements[index].needs)
    if narrow and rows_statement in full:
        narrow = None
    found = [read for index in sorted(full) for read in example.statements[index].reads]
    statements = set(full)
    if narrow:
        statements.add(rows_statement)
        found += narrow[1].provenance()
        if narrow[1].uses is None:
            found += example.outside(narrow[1])
    door = _bare(example, node, value, reads)
    if door is not None:
        found = [door]
    every = _unique(found + ([] if door else reads))
    return Origin(
        value=value,
        kind=door.kind if door else "computed",
        name=unit_name(node),
        reads=every,
        lines=_lines(example, statements, narrow[1] if narrow else None),
        functions=_all_functions(example, statements),
        door=door,
    )


def element(example: Example, container_name: str, key: Any, field_name: str | None) -> Origin:
    """Find what one cell of a table rests on: an element of a list or dict, or one field of it.

    Args:
        example: The example that has run.
        container_name: The list's or dict's name in the script.
        key: The row's position or key.
        field_name: The record's field, or None where the row itself is the value.
    """
    # The check, the builder and each copy of a page ask the same of an example that does not change any more.
    asked = (container_name, key, field_name)
    if asked not in example.told:
        example.told[asked] = _element(example, *asked)
    found = copy.copy(example.told[asked])
    assert isinstance(found, Origin)
    return found


def _element(example: Example, container_name: str, key: Any, field_name: str | None) -> Origin:
    with recording() as reads:
        row = example.namespace[container_name][key]
        value = row
        if field_name is not None:
            value = row[field_name] if isinstance(row, dict) else getattr(row, field_name)
    text = f"{container_name}[{key!r}]"
    if field_name is not None:
        text += f"[{field_name!r}]" if isinstance(row, dict) else f".{field_name}"
    index = ast.parse(text, mode="eval").body
    found = trace(example, index, value, reads)
    found.name = field_name or container_name
    return found


def _narrowed(example: Example, node: ast.expr) -> tuple[Any, Scope] | None:
    """Return the row, and the turn that made it, where an expression begins with one row of a list or dict."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Constant, ast.UnaryOp)):
            container = _value_of(example, node.value)
            found = _maker(example, container, _value_of(example, node.slice))
            if found is not None:
                return found
        node = node.value
    return None


def _value_of(example: Example, node: ast.expr) -> Any:
    """Evaluate a name, attribute or index of the script once more; None where that fails."""
    try:
        return eval(compile(ast.Expression(node), "<page>", "eval"), {**example.namespace})
    except Exception:
        return None


def _maker(example: Example, container: Any, place: Any) -> tuple[Any, Scope] | None:
    """Return an element of a list or dict with the record of what made it, if there is one."""
    rows = example.rows.get(id(container))
    if rows is None or rows.container is not container:
        return None
    if isinstance(container, list) and isinstance(place, int) and place < 0:
        place += len(container)
    try:
        item = container[place]
    except (KeyError, IndexError, TypeError):
        return None
    made = rows.made.get(place)
    if made is not None and made[0] is item:
        return made
    # The list was sorted or filtered since: find the row itself, if it is one that can be told apart.
    same = [entry for entry in rows.made.values() if entry[0] is item]
    return same[0] if len(same) == 1 and not isinstance(item, (int, float, str)) else None


def _bare(example: Example, node: ast.expr, value: Any, reads: list[Read]) -> Read | None:
    """Return the read that a value is, where nothing was computed on the way."""
    if isinstance(node, ast.Name):
        return _bare_name(example, node.id, value, example.made.get(node.id, ()))
    if isinstance(node, (ast.Call, ast.Attribute)):
        found = _match(example, node, value, reads)
        if found is not None:
            return found
    narrow = _narrowed(example, node)
    if narrow is not None:
        statement = example.statements[narrow[1].statement]
        source = narrow[1].node or _cell_source(statement.node, node)
        if source is not None:
            found = _match_form(example, source, value, narrow[1].provenance(), statement, inside=True)
            return found if found and not _set_again(example, node, narrow[1].statement, found) else None
    return None


def _bare_name(example: Example, name: str, value: Any, made: Sequence[int]) -> Read | None:
    """Return the read that a name's value is, given the statements that had made it at some moment."""
    if len(made) != 1:
        return None
    statement = example.statements[made[0]]
    source = _assigned(statement.node, name)
    return None if source is None else _match_form(example, source, value, statement.reads, statement)


def _set_again(example: Example, node: ast.expr, index: int, found: Read) -> bool:
    """Say whether a later statement that may have changed an element read an equal value from elsewhere."""
    later = {each for name in names_of(node).uses for each in example.made.get(name, ()) if each > index}
    reads = [read for each in later for read in example.statements[each].reads]
    return any(read.value == found.value and read.key != found.key for read in reads)


def _match_form(
    example: Example, source: ast.expr, value: Any, reads: list[Read], statement: Statement, inside: bool = False
) -> Read | None:
    """Return the read that an expression of the script is, where its form shows no arithmetic.

    Args:
        example: The example that has run.
        source: The expression.
        value: What it gave.
        reads: What was read for it.
        statement: The statement that it stands in.
        inside: Whether that is a loop or a comprehension, with names of its own.
    """
    if isinstance(source, (ast.Call, ast.Attribute)):
        return _match(example, source, value, reads)
    if isinstance(source, ast.Name):
        if inside:
            for part in ast.walk(statement.node):
                local = (
                    _assigned(part, source.id) if isinstance(part, ast.stmt) and part is not statement.node else None
                )
                if local is not None:
                    return _match_form(example, local, value, reads, statement, inside)
        return _bare_name(example, source.id, value, statement.before.get(source.id, ()))
    if isinstance(source, ast.Subscript):
        kept = all(list(statement.before.get(name, ())) == example.made.get(name) for name in names_of(source).uses)
        return _bare(example, source, value, reads) if kept else None
    return None


def _match(example: Example, source: ast.Call | ast.Attribute, value: Any, reads: list[Read]) -> Read | None:
    """Return the read that a door call or a catalogue field is.

    Two facts may have one value. What is written out, the id or the field, tells them apart; where it does not,
    the value is none of them for certain and counts as computed.
    """
    same = {read.key: read for read in reads if type(read.value) is type(value) and read.value == value}
    found = list(same.values())
    if isinstance(source, ast.Call):
        if not _is_door(example, source):
            return None
        given = [*source.args, *(word.value for word in source.keywords)]
        words = [part.value for part in given if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if words and len(words) == len(given):
            found = [read for read in found if read.id == ".".join(words)]
        elif words:  # assume(5, "why") or measured(run, "key")
            found = [read for read in found if read.id.endswith(words[-1])]
    else:
        base = _value_of(example, source.value) if isinstance(source.value, ast.Name) else None
        if base is not None and not isinstance(base, Subject):
            return None
        found = [read for read in found if read.kind in ("cited", "measured")]
        named = [read for read in found if read.id.endswith("." + source.attr)]
        found = named or found
    return found[0] if len(found) == 1 else None


def _is_door(example: Example, node: ast.Call) -> bool:
    if not isinstance(node.func, (ast.Name, ast.Attribute)):
        return False
    target = _resolve(example, node.func)
    try:
        return target in DOORS
    except TypeError:
        return False


def _assigned(node: ast.AST, name: str) -> ast.expr | None:
    """Return the expression that a plain assignment gives to a name, looking into tuples pairwise."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
        return node.value
    if not isinstance(node, ast.Assign):
        return None
    for target in node.targets:
        if isinstance(target, ast.Name) and target.id == name:
            return node.value
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            for left, right in zip(target.elts, node.value.elts, strict=False):
                if isinstance(left, ast.Name) and left.id == name:
                    return right
    return None


def _cell_source(statement: ast.stmt, node: ast.expr) -> ast.expr | None:
    """Return the expression that gave an element, where a single comprehension in the statement made it."""
    comprehensions = [part for part in ast.walk(statement) if isinstance(part, (ast.ListComp, ast.DictComp))]
    if len(comprehensions) != 1 or not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return None
    return comprehensions[0].elt if isinstance(comprehensions[0], ast.ListComp) else comprehensions[0].value


def _unique(reads: list[Read]) -> list[Read]:
    found: dict[tuple[str, str], Read] = {}
    for read in reads:
        found.setdefault(read.key, read)
    return list(found.values())


def _lines(example: Example, statements: set[int], scope: Scope | None = None) -> list[int]:
    """Return the lines of statements, without imports: those say where names come from, not what was done."""
    found: set[int] = set()
    for index in statements:
        statement = example.statements[index]
        if scope is not None and scope.statement == index and scope.node is not None and scope.alone:
            found.update(range(scope.node.lineno, (scope.node.end_lineno or scope.node.lineno) + 1))
            continue
        if not isinstance(statement.node, (ast.Import, ast.ImportFrom)):
            found.update(range(statement.first, statement.last + 1))
    return sorted(found)


def _all_functions(example: Example, statements: set[int]) -> list[str]:
    """Return the package's functions that some statements call; many numbers rest on the same statements."""
    asked = frozenset(statements)
    if asked not in example.told:
        example.told[asked] = list(_functions(example, statements))
    return list(example.told[asked])


def _functions(example: Example, statements: set[int]) -> Iterator[str]:
    """Yield the qualified names of the package's functions that statements call, each once."""
    seen: set[str] = set()
    for index in sorted(statements):
        for node in ast.walk(example.statements[index].node):
            if not isinstance(node, ast.Call):
                continue
            target = _resolve(example, node.func)
            module = getattr(target, "__module__", None) or ""
            if not (inspect.isfunction(target) or inspect.isclass(target)) or not module.startswith("gpumoat."):
                continue
            name = f"{module}.{target.__qualname__}"
            if name not in seen:
                seen.add(name)
                yield name


def _resolve(example: Example, node: ast.expr) -> Any:
    """Return the object that a name or dotted name in the script means, without running anything."""
    if isinstance(node, ast.Name):
        return example.namespace.get(node.id, _doors().get(node.id))
    if isinstance(node, ast.Attribute):
        base = _resolve(example, node.value)
        if isinstance(base, (types.ModuleType, type)):
            return getattr(base, node.attr, None)
        if base is not None:
            return inspect.getattr_static(type(base), node.attr, None)
    return None
