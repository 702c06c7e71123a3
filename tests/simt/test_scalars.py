"""The typing rules are numba's own, entry by entry, as its CUDA target resolves them."""

import operator

import pytest

from gpumoat.simt import scalars

NAMES = list(scalars.SCALARS)
RULES = {
    "add": scalars.arithmetic,
    "sub": scalars.arithmetic,
    "mul": scalars.arithmetic,
    "floordiv": lambda left, right: scalars.wide(scalars.arithmetic(left, right)),
    "mod": lambda left, right: scalars.wide(scalars.arithmetic(left, right)),
    "truediv": scalars.division,
    "and_": scalars.bitwise,
    "or_": scalars.bitwise,
    "xor": scalars.bitwise,
    "lshift": lambda left, right: scalars.shift(left),
    "rshift": lambda left, right: scalars.shift(left),
    "pow": scalars.power,
}


@pytest.fixture(scope="module")
def typing():
    """Numba's typing context of the CUDA target, and its types by name."""
    descriptor = pytest.importorskip("numba.cuda.descriptor")
    from numba.cuda import types

    context = descriptor.cuda_target.typing_context
    context.refresh()
    return context, {name: getattr(types, "boolean" if name == "bool" else name) for name in NAMES}


@pytest.mark.parametrize("name", RULES)
def test_operators_are_typed_as_numba_types_them(typing, name):
    context, types = typing
    whole = name in ("and_", "or_", "xor", "lshift", "rshift")
    for left in NAMES:
        for right in NAMES:
            if whole and (scalars.is_float(left) or scalars.is_float(right)):
                continue
            if name == "pow" and (left == "bool" or "float16" in (left, right)):
                continue  # numba has no rule of its own for these and takes the first that fits
            signature = context.resolve_function_type(getattr(operator, name), (types[left], types[right]), {})
            assert RULES[name](left, right) == str(signature.return_type), (left, name, right)


def test_variables_are_unified_as_numba_unifies_them(typing):
    context, types = typing
    for left in NAMES:
        for right in NAMES:
            assert scalars.unify(left, right) == str(context.unify_types(types[left], types[right])), (left, right)


def test_a_wrong_rule_would_be_seen(typing):
    context, types = typing
    signature = context.resolve_function_type(operator.add, (types["int32"], types["float32"]), {})
    assert str(signature.return_type) != "float32"  # what NumPy's scalars would suggest


def test_sizes_and_ends_are_those_of_struct():
    import struct

    for scalar in scalars.SCALARS.values():
        assert struct.calcsize(scalar.letter) == scalar.itemsize_bytes
    assert scalars.SCALARS["int16"].low == -32768
    assert scalars.SCALARS["uint32"].high == 4294967295
    assert scalars.SCALARS["bool"].high == 1
    assert scalars.scalar_name("f4") == "float32"
    assert scalars.scalar_name("complex64") is None
