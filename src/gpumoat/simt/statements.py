"""Statements to Python code, and what is known of the variables along every way through them.

A loop is translated again until what is known at its head holds at its end; the last translation is kept.
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from gpumoat.simt.assignments import Assignments
from gpumoat.simt.scalars import SCALARS, is_integer, unify
from gpumoat.simt.statics import Path
from gpumoat.simt.values import (
    NOTHING,
    Environment,
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


class Statements(Assignments):
    """The part of a function's translation that deals with statements."""

    alive: bool
    loops: list[Loop]
    returns: list[Value]
    is_kernel: bool
    result: Value | None  # what a device function returns, where that is known already

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
        empty = node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
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
