"""Statements to Python code, and what is known of the variables along every way through them.

A loop is translated again until what is known at its head holds at its end; the last translation is kept.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from gpumoat.simt.calls import BARRIERS, MATCHES, SHUFFLES, VOTES, Calls
from gpumoat.simt.expressions import SYMBOLS, named
from gpumoat.simt.record import LOAD, STORE
from gpumoat.simt.scalars import SCALARS, is_float, is_integer, unify
from gpumoat.simt.source import Function, Path
from gpumoat.simt.values import (
    NOTHING,
    Environment,
    Reference,
    Updates,
    Value,
    join_environments,
    literal,
    same,
    typed,
    widen,
)

ROUNDS = 40  # a loop's knowledge settles in three or four


@dataclass
class Loop:
    """Where the ways out of a loop's body lead."""

    breaks: list[Environment] = field(default_factory=list)
    continues: list[Environment] = field(default_factory=list)


class Statements(Calls):
    """The part of a function's translation that deals with statements."""

    out: list[tuple[str, int]]
    indent: int
    line: int
    alive: bool
    loops: list[Loop]
    updates: list[Updates]
    returns: list[Value]
    is_kernel: bool

    # Writing

    def emit(self, text: str) -> None:
        """Add a line to the code."""
        self.out.append(("    " * self.indent + text, self.line))

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Write a block, which is never empty."""
        self.indent += 1
        before = len(self.out)
        yield
        if len(self.out) == before:
            self.emit("pass")
        self.indent -= 1

    @contextmanager
    def hoisting(self, *nodes: ast.AST) -> Iterator[None]:
        """Let roundings move before the statement, unless it has calls whose order matters."""
        self.slot = 0
        self.hoist = None if any(self.effects(node) for node in nodes) else []
        yield
        self.hoist = None

    def flush(self) -> None:
        """Write what was moved before the statement."""
        for line in self.hoist or ():
            self.emit(line)
        if self.hoist is not None:
            self.hoist = []

    def effects(self, node: ast.AST) -> bool:
        """Whether an expression holds a call that waits, updates or may do either."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                found = self.static(inner.func)
                if isinstance(found, Function):
                    return True
                if isinstance(found, Path) and found.name.startswith("cuda."):
                    name = found.name[5:]
                    if name.startswith("atomic.") or name in BARRIERS or name in SHUFFLES or name in VOTES:
                        return True
                    if name in MATCHES or name in ("syncwarp", "activemask"):
                        return True
        return False

    # The dispatcher

    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Translate statements up to the first that is never left."""
        for statement in statements:
            if not self.alive:
                return
            self.line = statement.lineno
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Translate one statement."""
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Assert():
                return
            case ast.Expr(value=value):
                with self.hoisting(value):
                    result = self.expression(value)
                    self.flush()
                    if result.code and result.code != "None":
                        self.emit(result.code)
            case ast.Assign(targets=targets, value=value):
                self.assign(node, targets, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(node, [target], value)
            case ast.AnnAssign():
                return
            case ast.AugAssign():
                self.augment(node)
            case ast.If():
                self.branch(node)
            case ast.For():
                self.for_loop(node)
            case ast.While():
                self.while_loop(node)
            case ast.Break():
                self.loops[-1].breaks.append(dict(self.environment))
                self.emit("break")
                self.alive = False
            case ast.Continue():
                self.loops[-1].continues.append(dict(self.environment))
                self.emit("continue")
                self.alive = False
            case ast.Return():
                self.give_back(node)
            case _:
                self.unsupported(node)

    def give_back(self, node: ast.Return) -> None:
        """Translate return."""
        empty = node.value is None or isinstance(node.value, ast.Constant) and node.value.value is None
        if self.is_kernel:
            if not empty:
                self.fail(node, "a kernel returns nothing")
            self.emit(f"return {node.lineno}")
        else:
            with self.hoisting(node):
                value = Value("None", "none") if node.value is None else self.settle(self.expression(node.value))
                if value.type == "array" or value.type == "static":
                    self.unsupported(node, f"returning a {value.type}")
                if self.result is not None and value.type in SCALARS and self.result.type != value.type:
                    value = self.settle(self.convert(value, self.result.type))
                self.flush()
                self.returns.append(value)
                self.emit(f"return {value.code}")
        self.alive = False

    result: Value | None = None

    # Assignments

    def assign(self, node: ast.AST, targets: Sequence[ast.expr], value: ast.expr) -> None:
        """Translate an assignment."""
        self.target = targets[0].id if isinstance(targets[0], ast.Name) else "array"
        with self.hoisting(value, *targets):
            if len(targets) == 1 and isinstance(targets[0], ast.Tuple) and isinstance(value, ast.Tuple):
                self.assign_each(node, targets[0].elts, value.elts)
                return
            result = self.expression(value)
            if not isinstance(targets[0], ast.Subscript) or len(targets) > 1:
                result = self.settle(result)
            if len(targets) > 1 and not result.atom and result.type in SCALARS:
                self.flush()
                name = self.temporary("_v")
                self.emit(f"{name} = {result.code}")
                result = replace(result, code=name, atom=True)
            for target in targets:
                self.assign_to(target, result, self.added(target, value, result))

    def added(self, target: ast.expr, value: ast.expr, result: Value) -> tuple[int, int] | None:
        """Return what ``x = x + e`` adds, None for any other assignment."""
        if isinstance(target, ast.Name) and isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub)):
            for same_name, other in ((value.left, value.right), (value.right, value.left)):
                if isinstance(same_name, ast.Name) and same_name.id == target.id:
                    if other is value.left and isinstance(value.op, ast.Sub):
                        return None
                    with self.aside():
                        step = self.expression(other)
                    return bounds_of(step, isinstance(value.op, ast.Sub))
        return None

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Translate something only to learn its type and bounds."""
        kept, self.out, hoist, self.hoist = self.out, [], self.hoist, None
        yield
        self.out, self.hoist = kept, hoist

    def assign_each(self, node: ast.AST, targets: Sequence[ast.expr], values: Sequence[ast.expr]) -> None:
        """Translate ``a, b = b, a``: all values are computed first."""
        for target in targets:
            if isinstance(target, ast.Starred):
                self.unsupported(target)
        if len(targets) != len(values):
            self.fail(node, f"{len(values)} values for {len(targets)} names")
        results = []
        for value in values:
            result = self.settle(self.expression(value))
            if result.type in SCALARS and result.constant is NOTHING:
                name = self.temporary("_v")
                self.flush()
                self.emit(f"{name} = {result.code}")
                result = replace(result, code=name, atom=True)
            results.append(result)
        for target, result in zip(targets, results, strict=True):
            self.assign_to(target, result, None)

    def assign_to(self, target: ast.expr, value: Value, added: tuple[int, int] | None) -> None:
        """Store a value into a name, an element or several of them."""
        match target:
            case ast.Name(id=name):
                self.set_local(target, name, value, added)
            case ast.Subscript():
                self.store(target, value)
            case ast.Tuple(elts=targets):
                if value.type != "tuple" or len(value.items) != len(targets):
                    self.fail(target, f"{len(targets)} names for {self.describe(value)}")
                if all(item.code and item.type in SCALARS for item in value.items) and value.code.startswith("("):
                    items = list(value.items)
                    for place, item in enumerate(items):
                        if not item.atom or item.constant is NOTHING:
                            name = self.temporary("_v")
                            self.flush()
                            self.emit(f"{name} = {item.code}")
                            items[place] = replace(item, code=name, atom=True)
                else:
                    self.flush()
                    name = self.temporary("_v")
                    self.emit(f"{name} = {value.code}")
                    items = [
                        replace(item, code=f"{name}[{place}]") if item.type in SCALARS else item
                        for place, item in enumerate(value.items)
                    ]
                for inner, item in zip(targets, items, strict=True):
                    self.assign_to(inner, item, None)
            case _:
                self.unsupported(target, f"an assignment to {named(target)}")

    def set_local(self, node: ast.AST, name: str, value: Value, added: tuple[int, int] | None) -> None:
        """Bind a local variable."""
        for frame in self.updates:
            frame.note(name, added)
        self.flush()
        if value.type == "array" and value.array is not None:
            leading = []
            for index in value.array.leading:
                if not index.atom or index.constant is NOTHING:
                    kept = self.temporary("_i")
                    self.emit(f"{kept} = {index.code}")
                    index = replace(index, code=kept, atom=True)
                leading.append(index)
            self.environment[name] = replace(value, array=replace(value.array, leading=tuple(leading)))
            return
        if value.type == "static":
            self.environment[name] = value
            return
        if value.type == "none":
            if value.code != "None":
                self.emit(value.code)
            self.environment[name] = Value("None", "none", atom=True)
            return
        self.emit(f"v_{name} = {value.code}")
        if value.type == "tuple":
            items = tuple(
                replace(item, code=f"v_{name}[{place}]", atom=False) if item.constant is NOTHING else item
                for place, item in enumerate(value.items)
            )
            self.environment[name] = Value(f"v_{name}", "tuple", items=items, constant=value.constant, atom=True)
            return
        self.environment[name] = replace(value, code=f"v_{name}", atom=True, mixed=False)

    def stored(self, array: Reference, value: Value, node: ast.AST) -> str:
        """Return the code of a value as an array's memory takes it."""
        if value.type not in SCALARS:
            self.fail(node, f"{array.name} holds {array.type}; {self.describe(value)} cannot be stored")
        if not is_float(array.type):
            return self.convert(value, array.type).code
        if array.type == "float16":
            half = value if value.type == "float16" else self.settle(value)
            if array.listed:
                return self.settle(self.convert(half, "float16")).code
            return f"HB({half.code})"
        if array.listed and array.type == "float32":
            return self.settle(self.convert(value, "float32")).code
        if value.type != array.type:
            value = self.settle(value)
        return value.code

    def store(self, target: ast.Subscript, value: Value) -> None:
        """Translate ``a[i] = value``."""
        owner, indices = self.place(target)
        if owner.type != "array" or owner.array is None:
            self.unsupported(target, f"an assignment to an item of a {owner.type}")
        array = self.narrowed(target, owner.array, indices)
        if array.dimensions:
            self.unsupported(target, "an assignment to a whole row of an array")
        code = self.stored(array, value, target)
        if not (value.atom or code.replace("_", "").isalnum() or code.startswith("F[")):
            self.flush()
            name = self.temporary("_v")
            self.emit(f"{name} = {code}")
            code = name
        self.write(target, array, code)

    def write(self, node: ast.AST, array: Reference, code: str) -> None:
        """Write the recorded store of a simple value into an element."""
        if array.space == "constant":
            self.fail(node, f"{array.name} is constant memory and cannot be written")
        condition, linear, again = self.reach(array)
        self.flush()
        site = self.program.site(self.function, self.key, node, array.number, STORE)
        if condition:
            self.emit(f"if {condition}:")
            self.indent += 1
        if self.program.recording and array.space != "local":
            if not (linear.isidentifier() or linear.isdigit()):
                name = self.temporary("_l")
                self.emit(f"{name} = {linear}")
                linear = name
            self.emit(f"RI({linear}); RS({site})")
            if array.space == "shared":
                if array.dynamic:
                    size = SCALARS[array.type].itemsize_bytes
                    self.emit(f"w{array.number}[{linear} * {size}:{linear} * {size} + {size}] = ONES[{size}]")
                else:
                    self.emit(f"w{array.number}[{linear}] = 1")
        self.emit(f"{array.memory}[{linear}] = {code}")
        if condition:
            self.indent -= 1
            self.emit("else:")
            self.indent += 1
            self.emit(f"X({site}, T, {', '.join(again)})")
            self.indent -= 1

    def augment(self, node: ast.AugAssign) -> None:
        """Translate ``x += e`` on a name or an element."""
        if type(node.op) not in SYMBOLS:
            self.unsupported(node, named(node.op))
        symbol = SYMBOLS[type(node.op)]
        self.target = "array"
        with self.hoisting(node.value, node.target):
            if isinstance(node.target, ast.Name):
                step = self.number(node.value)
                name = ast.Name(node.target.id, ast.Load(), lineno=node.lineno, col_offset=node.col_offset)
                old = self.number(name)
                added = bounds_of(step, symbol == "-") if symbol in "+-" else None
                self.set_local(node, node.target.id, self.settle(self.binary(node, symbol, old, step)), added)
                return
            if not isinstance(node.target, ast.Subscript):
                self.unsupported(node.target, f"an assignment to {named(node.target)}")
            owner, indices = self.place(node.target)
            if owner.type != "array" or owner.array is None:
                self.unsupported(node.target, f"an assignment to an item of a {owner.type}")
            array = self.narrowed(node.target, owner.array, indices)
            if array.dimensions:
                self.unsupported(node.target, "an assignment to a whole row of an array")
            leading = []
            for index in array.leading:
                if not index.atom:
                    self.flush()
                    kept = self.temporary("_i")
                    self.emit(f"{kept} = {index.code}")
                    index = replace(index, code=kept, atom=True)
                leading.append(index)
            array = replace(array, leading=tuple(leading))
            old = self.load(node.target, array)
            if self.hoist is None:
                kept = self.temporary("_v")
                self.emit(f"{kept} = {old.code}")
                old = replace(old, code=kept, atom=True)
            step = self.number(node.value)
            code = self.stored(array, self.binary(node, symbol, old, step), node.target)
            self.flush()
            name = self.temporary("_v")
            self.emit(f"{name} = {code}")
            self.write(node.target, array, name)

    # Ways

    def condition(self, test: ast.expr) -> Value:
        """Translate the test of an if."""
        with self.hoisting(test):
            value = self.expression(test)
            if value.type == "none":
                value = literal(False)
            if value.type == "tuple":
                value = literal(bool(value.items))
            if value.type not in SCALARS:
                self.fail(test, f"a truth value is needed here, not {self.describe(value)}")
            value = self.settle(value)
            self.flush()
        return value

    def branch(self, node: ast.If) -> None:
        """Translate if."""
        test = self.condition(node.test)
        if test.constant is not NOTHING:
            self.body(node.body if test.constant else node.orelse)
            return
        self.emit(f"if {test.code}:")
        before = dict(self.environment)
        with self.indented():
            self.body(node.body)
        first = self.environment if self.alive else None
        self.environment, self.alive = before, True
        if node.orelse:
            self.emit("else:")
            with self.indented():
                self.body(node.orelse)
        second = self.environment if self.alive else None
        met = join_environments(first, second)
        self.alive = met is not None
        self.environment = met if met is not None else before

    def turns(self, node: ast.For | ast.While, write: Callable[[], Environment | None]) -> None:
        """Translate a loop until what is known at its head holds at its end.

        ``write`` writes the loop from the current knowledge on, and returns what is known when its test fails.
        """
        start, out, line = dict(self.environment), self.out, self.line
        while True:
            head = dict(start)
            for turn in range(ROUNDS):
                self.environment, self.alive, self.out, self.line = dict(head), True, [], line
                self.updates.append(Updates())
                self.loops.append(Loop())
                normal = write()
                loop, updates = self.loops.pop(), self.updates.pop()
                back = self.environment if self.alive else None
                for way in loop.continues:
                    back = join_environments(back, way)
                met = join_environments(head, back) or head
                if turn:
                    met = {
                        name: widen(head[name], value, updates.added.get(name)) if name in head else value
                        for name, value in met.items()
                    }
                if same(met, head):
                    break
                head = met
            else:
                self.fail(node, "the types of this loop's variables do not settle")
            whole = [
                name
                for name, value in head.items()
                if value.mixed and name in start and start[name].type in SCALARS and is_integer(start[name].type)
            ]
            if not whole:
                break
            # A variable that begins as an int and goes on as a float is a float from the start, as numba unifies it.
            for name in whole:
                kind = head[name].type
                out.append(("    " * self.indent + f"v_{name} = float(v_{name})", line))
                start[name] = Value(f"v_{name}", kind, atom=True)
        body = self.out
        self.out = out
        self.out += body
        self.environment, self.alive = normal or head, normal is not None
        if node.orelse and self.alive:
            self.emit("else:")
            with self.indented():
                self.body(node.orelse)
        met_end = self.environment if self.alive else None
        for way in loop.breaks:
            met_end = join_environments(met_end, way)
        self.alive = met_end is not None
        if met_end is not None:
            self.environment = met_end

    def while_loop(self, node: ast.While) -> None:
        """Translate while."""

        def write() -> Environment | None:
            test = self.number_condition(node.test)
            endless = test.constant is not NOTHING and bool(test.constant)
            self.emit(f"while {test.code}:")
            head = dict(self.environment)
            with self.indented():
                self.body(node.body)
            return None if endless else head

        self.turns(node, write)

    def number_condition(self, test: ast.expr) -> Value:
        """Translate the test of a while: it is evaluated again at each turn, so nothing may move before it."""
        self.hoist, self.slot = None, 0
        return self.settle(self.number(test))

    def for_loop(self, node: ast.For) -> None:
        """Translate for over range or over a tuple."""
        if node.type_comment:
            self.unsupported(node)
        found = self.static(node.iter.func) if isinstance(node.iter, ast.Call) else None
        with self.hoisting(node.iter):
            if found == Path("builtins.range"):
                assert isinstance(node.iter, ast.Call)
                code, item = self.range_of(node.iter)
            else:
                owner = self.expression(node.iter)
                if owner.type != "tuple":
                    self.unsupported(node.iter, "a for statement over anything but range() or a tuple")
                kind = owner.items[0].type if owner.items else "int64"
                if any(entry.type != kind or kind not in SCALARS for entry in owner.items):
                    self.unsupported(node.iter, "a for statement over a tuple of different types")
                code = owner.code
                item = typed("", kind)
            self.flush()
        if not isinstance(node.target, ast.Name):
            self.unsupported(node.target, "a for statement with several names")
        name = node.target.id

        def write() -> Environment | None:
            head = dict(self.environment)
            self.emit(f"for v_{name} in {code}:")
            for frame in self.updates:
                frame.note(name, None)
            self.environment[name] = replace(item, code=f"v_{name}", atom=True)
            with self.indented():
                self.body(node.body)
            after = dict(head)
            if self.alive or self.loops[-1].continues:
                after[name] = replace(item, code=f"v_{name}", atom=True)
            return join_environments(head, after)

        self.turns(node, write)

    def range_of(self, node: ast.Call) -> tuple[str, Value]:
        """Return the code of a range and what is known of its items."""
        given = [self.settle(self.number(item)) for item in self.arguments(node, 1, 3)]
        for value in given:
            if not is_integer(value.type):
                self.fail(node, f"range() needs integers, not {value.type}")
        kind = "int32"
        for value in given:
            kind = unify(kind, value.type)
        kind = kind if kind in ("int32", "int64", "uint64") else "int64"
        start, stop, step = literal(0), given[0], literal(1)
        if len(given) > 1:
            start, stop = given[:2]
        if len(given) == 3:
            step = given[2]
        if step.constant == 0:
            self.fail(node, "range() with a step of 0")
        low, high = start.low, start.high
        if step.high > 0:
            high = max(high, stop.high - 1)
        if step.low < 0:
            low = min(low, stop.low + 1)
        code = f"range({', '.join(value.code for value in given)})"
        return code, Value("", kind, low, max(low, high))


def bounds_of(step: Value, negative: bool) -> tuple[int, int] | None:
    """Return the bounds of what is added, None where it is no integer."""
    if step.type not in SCALARS or not is_integer(step.type):
        return None
    return (-step.high, -step.low) if negative else (step.low, step.high)


__all__ = ["LOAD", "Statements"]
