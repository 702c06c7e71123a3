"""Assignments to Python code: to variables, and the recorded store into an element."""

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from gpumoat.simt.base import named
from gpumoat.simt.calls import Calls
from gpumoat.simt.cuda_calls import BARRIERS, MATCHES, SHUFFLES, VOTES
from gpumoat.simt.expressions import SYMBOLS
from gpumoat.simt.record import STORE
from gpumoat.simt.scalars import SCALARS, is_float, is_integer
from gpumoat.simt.statics import Function, Path
from gpumoat.simt.values import (
    NOTHING,
    Reference,
    Updates,
    Value,
)


class Assignments(Calls):
    """The part of a function's translation that deals with assignments."""

    out: list[tuple[str, int]]
    indent: int
    line: int
    updates: list[Updates]

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
            fresh = self.temporary("_v")
            self.emit(f"{fresh} = {code}")
            self.write(node.target, array, fresh)


def bounds_of(step: Value, negative: bool) -> tuple[int, int] | None:
    """Return the bounds of what is added, None where it is no integer."""
    if step.type not in SCALARS or not is_integer(step.type):
        return None
    return (-step.high, -step.low) if negative else (step.low, step.high)
