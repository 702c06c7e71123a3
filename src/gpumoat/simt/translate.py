"""A kernel's source to code that runs it: one Python function for a thread, made anew for each block.

A kernel that waits anywhere (a barrier or a warp-wide operation) becomes a generator that yields there; any other
kernel becomes a plain function. A translation holds for given element types of the arguments and a given block's
shape, and is kept for the next launch.

What is not supported is one error, raised before anything runs, that names the construct, the file and the line.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gpumoat.simt import runtime
from gpumoat.simt.errors import located
from gpumoat.simt.memory import ArrayArgument, ScalarArgument
from gpumoat.simt.program import Instance, Program
from gpumoat.simt.scalars import SCALARS, is_float, is_integer, unify
from gpumoat.simt.statements import Statements
from gpumoat.simt.statics import Function
from gpumoat.simt.values import NONE, NOTHING, Environment, Reference, Value, join, literal

RUNTIME = runtime.names()
SHARED_NAMES = {*RUNTIME, "RI", "RS", "X", "U", "bx", "by", "bz", "gx", "gy", "gz"}
MEMORY = re.compile(r"[mw]\d+|n\d+_\d+|AT_\w+|d\d+_\w+")
WORD = re.compile(r"[A-Za-z_]\w*")


class Translator(Statements):
    """The translation of one function for given arguments."""

    def __init__(
        self, program: Program, function: Function, key: Any, environment: Environment, result: Value | None = None
    ) -> None:
        self.program, self.function, self.key = program, function, key
        self.environment = environment
        self.hoist = None
        self.counter = self.slot = 0
        self.out = []
        self.indent, self.line, self.alive = 1, function.node.lineno, True
        self.loops, self.updates, self.returns = [], [], []
        self.waits, self.is_kernel, self.target = False, key == "kernel", "array"
        self.result = result

    def run(self) -> None:
        """Translate the function's body."""
        self.body(self.function.node.body)
        if not self.out:
            self.emit("pass")

    def header(self, name: str, parameters: Sequence[str]) -> str:
        """Return the def line: what the code uses of the launch is bound as defaults, which are fast to read."""
        used = {word for text, _ in self.out for word in WORD.findall(text)}
        assigned = {f"m{number}" for number, made in self.program.made.items() if made.space == "local"}
        free = sorted(word for word in used - assigned if word in SHARED_NAMES or MEMORY.fullmatch(word))
        extra = [word for word in free if word not in parameters]
        return f"def {name}({', '.join([*parameters, *(f'{word}={word}' for word in extra)])}):"

    def device(self, node: ast.Call, function: Function) -> Value:
        """Translate a call of a device function."""
        names, given = self.bind(node, function)
        environment: Environment = {}
        parameters, codes = ["tx", "ty", "tz", "T"], ["tx", "ty", "tz", "T"]
        key: list[Any] = []
        for name, value in zip(names, given, strict=True):
            value = self.settle(value)
            if value.type == "array" and value.array is not None:
                array = value.array
                if array.space == "local":
                    parameters.append(f"p_{name}")
                    codes.append(array.memory)
                    array = replace(array, memory=f"p_{name}")
                leading = []
                for axis, index in enumerate(array.leading):
                    parameters.append(f"p_{name}_{axis}")
                    codes.append(index.code)
                    leading.append(replace(coarse(index), code=f"p_{name}_{axis}", atom=True, constant=NOTHING))
                array = replace(array, leading=tuple(leading))
                environment[name] = Value("", "array", array=array)
                key.append(("array", array.number, array.memory, tuple(described(item) for item in leading)))
            elif value.type in ("static", "none"):
                environment[name] = value
                key.append((value.type, str(value.static)))
            else:
                parameters.append(f"v_{name}")
                codes.append(value.code)
                known = received(value, f"v_{name}")
                environment[name] = known
                key.append(described(known))
        instance = self.instance(node, function, tuple(key), environment, parameters)
        self.waits = self.waits or instance.waits
        call = f"{instance.name}({', '.join(codes)})"
        code = f"(yield from {call})" if instance.waits else call
        return replace(instance.result, code=code, atom=False)

    def bind(self, node: ast.Call, function: Function) -> tuple[list[str], list[Value]]:
        """Return the parameters of a device function and the values that a call gives them."""
        signature = function.node.args
        if signature.vararg or signature.kwarg or signature.kwonlyargs:
            raise located(function.file, function.node.lineno, "*args and **kwargs are not supported in a kernel")
        names = [item.arg for item in [*signature.posonlyargs, *signature.args]]
        given: dict[str, ast.expr] = {}
        if len(node.args) > len(names) or any(isinstance(item, ast.Starred) for item in node.args):
            self.fail(node, f"{function.name} takes {len(names)} arguments, not {len(node.args)}")
        given.update(zip(names, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg not in names or keyword.arg in given:
                self.fail(node, f"{function.name} has no parameter {keyword.arg} to be given here")
            given[keyword.arg] = keyword.value
        defaults = dict(zip(names[len(names) - len(signature.defaults) :], signature.defaults, strict=True))
        for name in names:
            if name not in given and name not in defaults:
                self.fail(node, f"{function.name} needs its argument {name}")
        return names, [self.expression(given.get(name, defaults.get(name, ast.Constant(None)))) for name in names]

    def instance(
        self, node: ast.AST, function: Function, key: Any, environment: Environment, parameters: list[str]
    ) -> Instance:
        """Return a device function translated for given arguments."""
        place = (id(function.node), key)
        if place in self.program.instances:
            return self.program.instances[place]
        self.program.enter(function, node, self.function)
        name = f"d{len(self.program.instances) + len(self.program._depth)}_{function.name}"
        while any(other.name == name for other in self.program.instances.values()):
            name += "_"
        result: Value | None = None
        for _ in range(2):
            part = Translator(self.program, function, name, dict(environment), result)
            part.run()
            returns = [*part.returns, NONE] if part.alive else part.returns
            result = returns[0] if returns else NONE
            for other in returns[1:]:
                result = join(result, other, "")
                if result.type == "conflict":
                    self.fail(node, f"{function.name} returns values of different types")
            if result.type in SCALARS and is_float(result.type):
                result = Value("", result.type)
            if all(value.type == result.type for value in returns):
                break
        self.program.leave()
        head = part.header(name, parameters)
        body = [text for text, _ in part.out]
        if part.waits and part.alive:
            body.append("    return None")
        text = "\n".join(["    " + line for line in [head, *body]])
        made = Instance(name, text, part.waits, result or NONE)
        self.program.texts.append(text)
        self.program.instances[place] = made
        return made


def described(value: Value) -> tuple[Any, ...]:
    """Return what a translation depends on of a value."""
    if value.type == "tuple":
        return ("tuple", *(described(item) for item in value.items))
    if value.constant is not NOTHING:
        return (value.type, "constant", value.constant)
    return (value.type, value.low, value.high)


def coarse(value: Value) -> Value:
    """Return the value with rounder bounds, so that one translation serves many calls."""
    if not (value.type in SCALARS and is_integer(value.type)) or value.type == "bool":
        return value
    scalar = SCALARS[value.type]
    low, high = scalar.low, scalar.high
    for bits in (31, 40, 62):
        if value.high < 1 << bits and value.low >= -(1 << bits):
            low, high = max(low, -(1 << bits)), min(high, (1 << bits) - 1)
            break
    return replace(value, low=0 if value.low >= 0 else low, high=high)


def received(value: Value, code: str) -> Value:
    """Return what a parameter is inside a device function."""
    if value.type == "tuple":
        items = tuple(
            received(item, f"{code}[{place}]") if item.type in SCALARS else item
            for place, item in enumerate(value.items)
        )
        return Value(code, "tuple", items=tuple(replace(item, atom=False) for item in items), atom=True)
    if value.type == "text":
        return value
    return replace(coarse(value), code=code, atom=True, constant=NOTHING, mixed=False)


def argument_key(argument: ArrayArgument | ScalarArgument) -> tuple[Any, ...]:
    """Return what a translation depends on of an argument."""
    if isinstance(argument, ArrayArgument):
        return ("array", argument.type, len(argument.shape))
    return described(scalar_value(argument))


def scalar_value(argument: ScalarArgument) -> Value:
    """Return what is known of a scalar argument: its type, and roughly how large it is."""
    code = f"v_{argument.name}"
    if is_float(argument.type):
        return Value(code, argument.type, atom=True)
    exact = literal(argument.value, argument.type)
    return replace(coarse(exact), code=code, constant=NOTHING, atom=True)


_programs: dict[Any, tuple[Function, Program]] = {}
KEPT = 256


def translate(
    kernel: Function,
    arguments: Sequence[ArrayArgument | ScalarArgument],
    block: tuple[int, int, int],
    recording: bool,
) -> Program:
    """Return the kernel translated for these arguments, from the store if it has been before."""
    key = (id(kernel), tuple(argument_key(item) for item in arguments), block, recording)
    if key in _programs and _programs[key][0] is kernel and _programs[key][1].current():
        return _programs[key][1]
    program = Program(kernel, block, recording)
    environment: Environment = {}
    for argument in arguments:
        if isinstance(argument, ScalarArgument):
            environment[argument.name] = scalar_value(argument)
            continue
        number = program.arrays_count
        program.arrays_count += 1
        axes = len(argument.shape)
        reference = Reference(
            number,
            argument.name,
            argument.type,
            "global",
            f"m{number}",
            tuple(f"n{number}_{axis}" for axis in range(axes)),
            (None,) * axes,
        )
        environment[argument.name] = Value("", "array", array=reference)
    program.enter(kernel, kernel.node, kernel)
    part = Translator(program, kernel, "kernel", environment)
    part.run()
    program.leave()
    program.waits = part.waits
    scalars = [f"v_{item.name}=v_{item.name}" for item in arguments if isinstance(item, ScalarArgument)]
    head = part.header("kernel", ["tx", "ty", "tz", "T", *scalars])
    shared = [
        f"{letter}{number}" for number, made in program.made.items() if made.space == "shared" for letter in ("m", "w")
    ]
    top = "\n".join([f"def block({', '.join(['bx', 'by', 'bz', *shared])}):", *program.texts])
    lines = [0] * (top.count("\n") + 1) + [kernel.node.lineno] + [line for _, line in part.out]
    program.text = "\n".join([top, "    " + head, *("    " + text for text, _ in part.out), "    return kernel"])
    program.lines = [0, *lines]
    program.loops = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(kernel.node)
        if isinstance(node, (ast.For, ast.While))
    ]
    try:
        program.code = compile(program.text, f"<{kernel.name} translated>", "exec")
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise located(kernel.file, kernel.node.lineno, f"the kernel is too deeply nested: {error}") from None
    if len(_programs) >= KEPT:
        _programs.pop(next(iter(_programs)))
    _programs[key] = (kernel, program)
    return program


__all__ = ["RUNTIME", "translate", "unify"]
