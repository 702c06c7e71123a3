"""Arrays in a kernel: their attributes, and the recorded load of an element."""

import ast
from collections.abc import Sequence
from dataclasses import replace

from gpumoat.simt.operators import Operators
from gpumoat.simt.record import LOAD
from gpumoat.simt.scalars import SCALARS, is_float, is_integer
from gpumoat.simt.statics import ElementType
from gpumoat.simt.values import NOTHING, Reference, Value, literal, typed


class Access(Operators):
    """The part of a function's translation that deals with arrays and tuples."""

    def attribute(self, node: ast.Attribute) -> Value:
        """Translate an attribute: of an array, or of a module."""
        if (isinstance(node.value, ast.Name) and node.value.id in self.environment) or not isinstance(
            node.value, (ast.Name, ast.Attribute)
        ):
            owner = self.expression(node.value)
            if owner.type == "array" and owner.array is not None:
                return self.array_attribute(node, owner.array)
            if owner.type != "static":
                self.unsupported(node, f"the attribute .{node.attr} of a {owner.type}")
        found = self.static(node)
        if found is None:
            owner = self.expression(node.value)
            if owner.type == "array" and owner.array is not None:
                return self.array_attribute(node, owner.array)
            self.unsupported(node, f"the attribute .{node.attr}")
        return self.from_static(node, found, ast.unparse(node))

    def array_attribute(self, node: ast.Attribute, array: Reference) -> Value:
        """Translate .shape, .size, .ndim, .dtype and .itemsize."""
        left = len(array.leading)
        extents = [self.extent(array, axis) for axis in range(left, len(array.extents))]
        match node.attr:
            case "shape":
                return self.tuple_of(node, extents)
            case "size":
                total = extents[0]
                for extent in extents[1:]:
                    total = self.ring("*", total, extent)
                return replace(total, high=min(total.high, 1 << 40)) if len(extents) > 1 else total
            case "ndim":
                return literal(array.dimensions)
            case "dtype":
                return Value("", "static", static=ElementType(array.type))
            case "itemsize":
                return literal(SCALARS[array.type].itemsize_bytes)
            case "nbytes":
                return self.ring(
                    "*",
                    self.array_attribute(ast.Attribute(node.value, "size", lineno=node.lineno), array),
                    literal(SCALARS[array.type].itemsize_bytes),
                )
        self.unsupported(node, f"the attribute .{node.attr} of an array")

    @staticmethod
    def extent(array: Reference, axis: int) -> Value:
        """Return the length of an axis."""
        size = array.sizes[axis]
        return literal(size) if size is not None else Value(array.extents[axis], "int64", 0, 1 << 40, atom=True)

    def place(self, node: ast.Subscript) -> tuple[Value, list[Value]]:
        """Return what is indexed, and all indices of a chain of subscripts on an array."""
        owner = self.expression(node.value)
        if isinstance(node.slice, ast.Slice) or (
            isinstance(node.slice, ast.Tuple) and any(isinstance(item, ast.Slice) for item in node.slice.elts)
        ):
            self.unsupported(node, "a slice")
        given = self.expression(node.slice)
        return owner, list(given.items) if given.type == "tuple" else [given]

    def subscript(self, node: ast.Subscript) -> Value:
        """Translate an element, a row of an array, or an item of a tuple."""
        owner, indices = self.place(node)
        if owner.type == "tuple":
            return self.item(node, owner, indices[0])
        if owner.type != "array" or owner.array is None:
            self.unsupported(node, f"an index into a {owner.type}")
        array = self.narrowed(node, owner.array, indices)
        if array.dimensions:
            return Value("", "array", array=array)
        return self.load(node, array)

    def item(self, node: ast.Subscript, owner: Value, index: Value) -> Value:
        """Translate an item of a tuple."""
        if index.constant is not NOTHING and isinstance(index.constant, int):
            if not -len(owner.items) <= index.constant < len(owner.items):
                self.fail(node, f"the tuple has {len(owner.items)} items, not {index.constant}")
            item = owner.items[index.constant]
            if item.atom or item.type not in SCALARS:
                return item
            return replace(item, code=f"{owner.code}[{index.constant}]", atom=False)
        kinds = {item.type for item in owner.items}
        if len(kinds) != 1 or not kinds <= set(SCALARS):
            self.unsupported(node, "a computed index into a tuple of different types")
        low, high = min(item.low for item in owner.items), max(item.high for item in owner.items)
        return Value(f"{owner.code}[{self.settle(index).code}]", kinds.pop(), low, high)

    def narrowed(self, node: ast.AST, array: Reference, indices: Sequence[Value]) -> Reference:
        """Return the array with more of its leading indices fixed."""
        if len(indices) > array.dimensions:
            self.fail(node, f"{array.name} has {len(array.extents)} axes, not {len(array.leading) + len(indices)}")
        settled = []
        for index in indices:
            if index.type not in SCALARS or not is_integer(index.type):
                self.fail(node, f"{array.name} is indexed with {self.describe(index)}; an integer is needed")
            settled.append(self.settle(index))
        return replace(array, leading=(*array.leading, *settled))

    def reach(self, array: Reference) -> tuple[str, str, list[str]]:
        """Return the condition that the indices are inside, the linear place, and each index after the condition."""
        conditions: list[str] = []
        again: list[str] = []
        opening: list[str] = []
        ahead = self.hoist is None and any(not index.atom for index in array.leading[1:])
        for axis, index in enumerate(array.leading):
            size = array.sizes[axis]
            first = later = index.code
            if not index.atom:
                later = self.temporary()
                first = f"({later} := {index.code})"
                if self.hoist is not None and len(array.leading) > 1:
                    self.hoist.append(f"{later} = {index.code}")
                    first = later
                elif ahead:
                    opening.append(first)
                    first = later
            again.append(later)
            if size is not None and index.low >= 0 and index.high < size:
                if first != later:
                    opening.append(first)
                continue
            extent = array.extents[axis]
            conditions.append(f"0 <= {first} < {extent}" if index.low < 0 else f"{first} < {extent}")
        linear = again[0]
        for axis in range(1, len(again)):
            start = f"({linear})" if axis > 1 else linear
            linear = f"{start} * {array.extents[axis]} + {again[axis]}"
        if opening:
            conditions.insert(0, f"({', '.join(opening)},)")
        return " and ".join(conditions), linear, again

    def load(self, node: ast.AST, array: Reference) -> Value:
        """Translate the load of an element."""
        condition, linear, again = self.reach(array)
        site = self.program.site(self.function, self.key, node, array.number, LOAD)
        code = self.element(array, linear, site, again)
        if condition:
            zero = "0.0" if is_float(array.type) else "False" if array.type == "bool" else "0"
            code = f"({code} if {condition} else X({site}, T, {', '.join(again)}) or {zero})"
        return typed(code, array.type)

    def element(self, array: Reference, linear: str, site: int, again: Sequence[str]) -> str:
        """Return the code that records and loads an element inside the array."""
        if not self.program.recording or array.space == "local":
            read = f"{array.memory}[{linear}]"
            return f"HV({read})" if array.type == "float16" and not array.listed else read
        if linear.isidentifier() or linear.isdigit():
            named_linear = linear
            first = linear
        else:
            named_linear = self.temporary("_l")
            first = f"{named_linear} := {linear}"
        read = f"{array.memory}[{named_linear}]"
        if array.type == "float16" and not array.listed:
            read = f"HV({read})"
        if array.space == "shared":
            flag = f"w{array.number}[{self.flag(array, named_linear)}]"
            read = f"({flag} or U({site}, T, {', '.join(again)})) and {read}"
        return f"(RI({first}) or RS({site}) or {read})"

    @staticmethod
    def flag(array: Reference, linear: str) -> str:
        """Return the place of the flag that says whether an element has been written."""
        return f"({linear}) * {SCALARS[array.type].itemsize_bytes}" if array.dynamic else linear
