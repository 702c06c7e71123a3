"""numba's cuda module in a kernel: indices, arrays that the kernel makes, waiting together, atomics, intrinsics."""

import ast
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gpumoat.simt.expressions import Expressions
from gpumoat.simt.half import HALF_BINARY, HALF_COMPARE, HALF_UNARY
from gpumoat.simt.memory import type_name
from gpumoat.simt.program import Made
from gpumoat.simt.record import ATOMIC, WARP_LANES
from gpumoat.simt.scalars import SCALARS, is_float, is_integer
from gpumoat.simt.statics import Constant, ConstantArray, ElementType
from gpumoat.simt.values import NONE, Reference, Value, literal, typed

AXES = "xyz"
NO_OPERATION = {"threadfence", "threadfence_block", "threadfence_system", "nanosleep"}
BARRIERS = {"syncthreads": 0, "syncthreads_count": 1, "syncthreads_and": 1, "syncthreads_or": 1}
SHUFFLES = {"shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"}
VOTES = {"all_sync": "bool", "any_sync": "bool", "eq_sync": "bool", "ballot_sync": "int32"}
MATCHES = {"match_any_sync", "match_all_sync"}
ATOMICS = {
    "add": "int32 uint32 int64 uint64 float32 float64",
    "sub": "int32 uint32 int64 uint64 float32 float64",
    "max": "int32 uint32 int64 uint64 float32 float64",
    "min": "int32 uint32 int64 uint64 float32 float64",
    "nanmax": "int32 uint32 int64 uint64 float32 float64",
    "nanmin": "int32 uint32 int64 uint64 float32 float64",
    "and_": "int32 uint32 int64 uint64",
    "or_": "int32 uint32 int64 uint64",
    "xor": "int32 uint32 int64 uint64",
    "inc": "uint32 uint64",
    "dec": "uint32 uint64",
    "exch": "int32 uint32 int64 uint64",
    "cas": "int8 uint8 int16 uint16 int32 uint32 int64 uint64",
    "compare_and_swap": "int32 uint32 int64 uint64",
}


class CudaCalls(Expressions):
    """The part of a function's translation that deals with calls of numba's cuda module."""

    waits: bool
    target: str  # the name that the statement assigns to, for arrays made in it

    def index_value(self, node: ast.AST, path: str) -> Value | None:
        """Return the value of an index or size of the launch, None if the path is none."""
        if not path.startswith("cuda."):
            return None
        first, _, axis = path[5:].partition(".")
        if first in ("laneid", "warpsize") and not axis:
            if first == "warpsize":
                return literal(WARP_LANES, "int32")
            return Value("(T & 31)", "int32", 0, WARP_LANES - 1)
        if axis not in AXES or not axis:
            return None
        block = self.program.block[AXES.index(axis)]
        match first:
            case "threadIdx":
                return literal(0, "int32") if block == 1 else Value(f"t{axis}", "int32", 0, block - 1, atom=True)
            case "blockIdx":
                return Value(f"b{axis}", "int32", 0, (1 << 31) - 2, atom=True)
            case "blockDim":
                return literal(block, "int32")
            case "gridDim":
                return Value(f"g{axis}", "int32", 1, (1 << 31) - 1, atom=True)
        return None

    def along(self, axis: int, whole: bool) -> Value:
        """Return the index of the thread in the grid along an axis, or the grid's length in threads."""
        name, block = AXES[axis], self.program.block[axis]
        start = f"g{name}" if whole else f"b{name}"
        code = start if block == 1 else f"{start} * {block}"
        top = ((1 << 31) - 1) * block
        if whole:
            return Value(f"({code})", "int64", block, top)
        if block > 1:
            code = f"{code} + t{name}"
        return Value(f"({code})", "int64", 0, top)

    def cuda(self, node: ast.Call, name: str, text: str) -> Value:
        """Translate a call of numba's cuda module."""
        if name in ("grid", "gridsize"):
            count = self.number(*self.arguments(node, 1)).constant
            if count not in (1, 2, 3):
                self.fail(node, f"{text} takes the literal 1, 2 or 3")
            values = [self.along(axis, name == "gridsize") for axis in range(count)]
            return values[0] if count == 1 else self.tuple_of(node, values)
        if name in NO_OPERATION:
            return NONE
        if name in BARRIERS or name == "syncwarp" or name in SHUFFLES or name in VOTES or name in MATCHES:
            return self.waiting(node, name)
        if name == "activemask":
            self.arguments(node, 0, 0)
            return typed(self.wait(node, "activemask", ["0xFFFFFFFF"]), "uint32")
        if name == "lanemask_lt":
            return Value("((1 << (T & 31)) - 1)", "uint32", 0, (1 << 31) - 1)
        if name in ("shared.array", "local.array"):
            return self.make_array(node, name.partition(".")[0])
        if name == "const.array_like":
            (given,) = self.arguments(node, 1)
            found = self.static(given)
            if isinstance(found, ConstantArray):
                return Value("", "array", array=self.constant_array(node, found, ast.unparse(given)))
            self.fail(node, "cuda.const.array_like needs an array of the module, known before the launch")
        if name.startswith("atomic."):
            return self.atomic(node, name[7:])
        if name.startswith("fp16."):
            return self.half(node, name[5:])
        return self.intrinsic(node, name, text)

    def intrinsic(self, node: ast.Call, name: str, text: str) -> Value:
        """Translate the intrinsics on single numbers."""
        match name:
            case "popc" | "brev" | "clz" | "ffs":
                value = self.settle(self.number(*self.arguments(node, 1)))
                if not is_integer(value.type):
                    self.fail(node, f"{text} needs an integer, not {value.type}")
                bits = 8 * SCALARS[value.type].itemsize_bytes
                if name == "popc":
                    return replace(
                        self.wrap(Value(f"POPC({value.code} & {(1 << bits) - 1})", "int64", 0, bits), value.type)
                    )
                if name == "ffs":
                    return Value(f"FFS({value.code}, {bits})", "uint32", 0, bits)
                if bits < 32:
                    value, bits = self.wrap(value, "int32"), 32
                if name == "clz":
                    return Value(f"CLZ({value.code}, {bits})", value.type, 0, bits)
                return self.wrap(Value(f"BREV({value.code}, {bits})", "uint64", 0, (1 << bits) - 1), value.type)
            case "fma":
                values = [self.settle(self.number(item)) for item in self.arguments(node, 3)]
                kinds = {value.type for value in values}
                if kinds == {"float32"}:
                    return Value(f"FMA32({', '.join(value.code for value in values)})", "float32")
                return Value("({} * {} + {})".format(*(f"float({v.code})" for v in values)), "float64")
            case "cbrt":
                value = self.settle(self.number(*self.arguments(node, 1)))
                kind = value.type if is_float(value.type) else "float64"
                return Value(f"CBRT({value.code})", kind, rounded=kind == "float64")
            case "selp":
                test, first, second = self.arguments(node, 3)
                condition, one = self.settle(self.number(test)), self.settle(self.number(first))
                other = self.settle(self.number(second))
                if one.type != other.type:
                    self.fail(node, f"cuda.selp needs two values of one type, not {one.type} and {other.type}")
                code = f"({one.code}, {other.code})[not {condition.code}]"
                return Value(code, one.type, min(one.low, other.low), max(one.high, other.high))
        self.unsupported(node, f"{text}()")

    def half(self, node: ast.Call, name: str) -> Value:
        """Translate cuda.fp16."""
        if name not in {*HALF_BINARY, *HALF_COMPARE, *HALF_UNARY, "hfma"}:
            self.unsupported(node, f"cuda.fp16.{name}()")
        count = 3 if name == "hfma" else 1 if name in HALF_UNARY else 2
        values = [self.settle(self.convert(self.number(item), "float16")) for item in self.arguments(node, count)]
        codes = [value.code for value in values]
        if name in HALF_BINARY:
            return Value(HALF_BINARY[name].format(*codes), "float16", rounded=name in ("hmax", "hmin"))
        if name in HALF_COMPARE:
            return Value(f"({codes[0]} {HALF_COMPARE[name]} {codes[1]})", "bool", 0, 1)
        if name == "hfma":
            return Value("({} * {} + {})".format(*codes), "float16", rounded=False)
        return Value(HALF_UNARY[name].format(*codes), "float16", rounded=name in ("hneg", "habs"))

    def make_array(self, node: ast.Call, space: str) -> Value:
        """Translate cuda.shared.array and cuda.local.array."""
        given = self.arguments(node, 2, 3, ("shape", "dtype", "alignment"))  # the alignment changes nothing here
        shape = self.expression(given[0]).constant
        sizes: tuple[Any, ...] = shape if isinstance(shape, tuple) else (shape,)
        if any(not isinstance(size, int) or isinstance(size, bool) or size < 0 for size in sizes):
            self.fail(node, f"the shape {ast.unparse(given[0])} is not known before the launch")
        kind = self.static(given[1])
        if isinstance(kind, Constant) and isinstance(kind.value, str):
            kind = ElementType(type_name(kind.value))
        if kind is None:
            value = self.expression(given[1])
            kind = value.static
        if not isinstance(kind, ElementType):
            self.fail(node, f"the element type {ast.unparse(given[1])} is not known")
        dynamic = space == "shared" and sizes == (0,)
        itemsize = SCALARS[kind.name].itemsize_bytes
        made = Made(self.target, space, kind.name, None if dynamic else sizes, node.lineno)
        reference = self.program.make(self.function, self.key, node, made, (None,) if dynamic else sizes, itemsize)
        if space == "local":
            count = math.prod(sizes)
            zero = "0.0" if is_float(kind.name) else "False" if kind.name == "bool" else "0"
            self.emit(f"{reference.memory} = [{zero}] * {count}")
        return Value("", "array", array=reference)

    def constant_array(self, node: ast.AST, found: ConstantArray, text: str) -> Reference:
        """Return the reference to a module-level array."""
        made = Made(text, "constant", found.type, found.shape, getattr(node, "lineno", 0), found.values)
        key = ("constant", id(found.values))
        if key not in self.program.constants:
            self.program.constants[key] = self.program.make(
                self.function, key, self.function.node, made, found.shape, SCALARS[found.type].itemsize_bytes
            )
        return self.program.constants[key]

    def wait(self, node: ast.AST, name: str, codes: Sequence[str]) -> str:
        """Return the code that waits, and gives what the scheduler answers."""
        self.waits = True
        number = self.program.barrier(self.function, self.key, node, name)
        if name == "syncthreads":
            return f"(yield {number})"
        return f"(yield ({number}, {', '.join(codes)}))"

    def waiting(self, node: ast.Call, name: str) -> Value:
        """Translate a barrier, a shuffle, a vote or a match."""
        if name in BARRIERS:
            given = self.arguments(node, BARRIERS[name], BARRIERS[name] or 0)
            codes = [f"bool({self.settle(self.number(item)).code})" for item in given]
            return (
                typed(self.wait(node, name, codes), "int32") if codes else replace(NONE, code=self.wait(node, name, ()))
            )
        if name == "syncwarp":
            given = self.arguments(node, 0, 1, ("mask",))
            mask = self.convert(self.number(given[0]), "uint32").code if given else "0xFFFFFFFF"
            return replace(NONE, code=self.wait(node, name, [mask]))
        given = self.arguments(node, 3 if name in SHUFFLES else 2)
        mask = self.convert(self.number(given[0]), "uint32").code
        value = self.settle(self.number(given[1]))
        if name in VOTES:
            return typed(self.wait(node, name, [mask, f"bool({value.code})"]), VOTES[name])
        if name in MATCHES:
            code = self.wait(node, name, [mask, value.code])
            if name == "match_any_sync":
                return typed(code, "int32")
            return Value(code, "tuple", items=(typed("", "int32"), typed("", "bool")))
        if value.type not in ("int32", "int64", "float32", "float64"):
            if value.type not in ("bool", "int8", "int16", "uint8", "uint16", "uint32", "uint64"):
                self.fail(node, f"{name} shuffles int32, int64, float32 or float64, not {value.type}")
            self.fail(node, f"{name} shuffles int32, int64, float32 or float64, not {value.type}: convert it first")
        other = self.settle(self.number(given[2]))
        return typed(self.wait(node, name, [mask, value.code, other.code]), value.type)

    def atomic(self, node: ast.Call, name: str) -> Value:
        """Translate an atomic operation."""
        if name not in ATOMICS:
            self.unsupported(node, f"cuda.atomic.{name}()")
        given = self.arguments(node, 4 if name == "cas" else 3)
        owner = self.expression(given[0])
        if owner.type != "array" or owner.array is None:
            self.fail(node, f"cuda.atomic.{name} needs an array")
        if name == "compare_and_swap":
            index, values = literal(0), given[1:]
            indices = [index] * owner.array.dimensions
        else:
            index, values = self.expression(given[1]), given[2:]
            indices = list(index.items) if index.type == "tuple" else [index]
        array = self.narrowed(node, owner.array, indices)
        if array.dimensions:
            self.fail(node, f"cuda.atomic.{name} needs an index for each of {array.name}'s {len(array.extents)} axes")
        if array.type not in ATOMICS[name].split():
            self.fail(node, f"cuda.atomic.{name} is not there for {array.type}, only for {ATOMICS[name]}")
        if array.listed:
            self.fail(node, f"cuda.atomic.{name} on {array.space} memory makes no sense")
        operands = [self.once(self.convert(self.number(value), array.type)) for value in values]
        condition, linear, again = self.reach(array)
        site = self.program.site(self.function, self.key, node, array.number, ATOMIC)
        if name in ("cas", "compare_and_swap"):
            routine = "CAS"
        else:
            routine = f"AT_{name}_{array.type}"
            self.program.atomics.add((name, array.type))
        # The operands are computed first, whether the place is inside the array or not.
        opening = [first for first, later in operands if first != later]
        place = linear if linear.isidentifier() or linear.isdigit() else self.temporary("_l")
        first = place if place == linear else f"{place} := {linear}"
        done = f"{routine}({array.memory}, {place}, {', '.join(later for _, later in operands)})"
        if self.program.recording:
            if array.space == "shared":
                flag = self.flag(array, place)
                count = SCALARS[array.type].itemsize_bytes if array.dynamic else 1
                known = f"(w{array.number}[{flag}] or U({site}, T, {', '.join(again)}))"
                done = f"{known} and (WR(w{array.number}, {flag}, {count}) or {done})"
            done = f"(RI({first}) or RS({site}) or {done})"
        else:
            done = done.replace(f", {place}, ", f", ({first}), " if first != place else f", {place}, ", 1)
        if condition:
            done = f"({done} if {condition} else X({site}, T, {', '.join(again)}) or 0)"
        if opening:
            done = f"(({', '.join(opening)},) and {done})"
        return typed(done, array.type)
