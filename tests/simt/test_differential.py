"""The arithmetic of translated kernels is that of compiled ones: bit for bit, against numba's compiler for the CPU.

The compiler for the card types expressions by the same rules (tests of scalars), so what the CPU computes from integers
and from + - * / of floats is what a card computes, but for the fusing of a product and a sum.
"""

import itertools
import linecache

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gpumoat import simt

numba = pytest.importorskip("numba")

ROWS = 24
INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
FLOATS = ["float32", "float64"]
_names = itertools.count()


def columns():
    """One array of each type, with its ends, small numbers and anything between."""
    random = np.random.default_rng(5)
    made = {}
    for name in INTEGERS:
        info = np.iinfo(name)
        special = [0, 1, 2, 3, 7, info.max, info.min, info.max - 1, info.max // 2]
        rest = random.integers(info.min, info.max, ROWS - len(special), dtype=name, endpoint=True)
        made[name] = np.concatenate([np.array(special, name), rest])
    for name in FLOATS:
        special = [0.0, -0.0, 1.0, -1.5, 0.1, 1e30, -1e-30, 3.0, 1 / 3]
        made[name] = np.concatenate([special, random.normal(0, 100, ROWS - len(special))]).astype(name)
    made["bool"] = np.arange(ROWS) % 3 == 0
    for place, column in enumerate(made.values()):
        column[:] = np.roll(column, place * 5)  # ends of different types meet in different rows
    return made


COLUMNS = columns()
whole_leaf = st.one_of(
    st.sampled_from([*INTEGERS, "bool"]).map(lambda name: f"a_{name}[t]"),
    st.sampled_from(["0", "1", "3", "-2", "255", "65537", "2147483648", "t"]),
    st.sampled_from(["uint32(2654435769)", "int8(-100)", "np.uint8(200)", "np.uint64(3)"]),
)
part_leaf = st.one_of(
    st.sampled_from(FLOATS).map(lambda name: f"a_{name}[t]"),
    st.sampled_from(["0.5", "0.1", "float32(0.1)", "np.float32(3.0)", "-2.0", "1e-9"]),
)


def whole_more(inner):
    cast = st.sampled_from(INTEGERS)
    return st.one_of(
        st.tuples(inner, st.sampled_from("+ - * // % & | ^".split()), inner).map(" ".join).map("({})".format),
        st.tuples(inner, inner).map(lambda p: f"({p[0]} << ({p[1]} & 63))"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]} >> ({p[1]} & 31))"),
        st.tuples(cast, inner).map(lambda p: f"{p[0]}({p[1]})"),
        inner.map(lambda p: f"(-{p})"),
        inner.map(lambda p: f"(~int64({p}))"),
        inner.map(lambda p: f"abs({p})"),
        inner.map(lambda p: f"({p} ** 2)"),
        st.tuples(inner, inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} < {p[2]} else int64({p[3]}))"),
        st.tuples(inner, inner).map(lambda p: f"min(int64({p[0]}), {p[1]} & 255)"),
        st.tuples(inner, inner).map(lambda p: f"max(int32({p[0]}), int16({p[1]}))"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} <= {p[1]} != {p[2]})"),
    )


whole = st.recursive(whole_leaf, whole_more, max_leaves=7)


def part_more(inner):
    either = st.one_of(inner, inner, whole_leaf)
    return st.one_of(
        st.tuples(inner, st.sampled_from("+ - * /".split()), either).map(" ".join).map("({})".format),
        st.tuples(either, st.sampled_from("+ - * /".split()), inner).map(" ".join).map("({})".format),
        st.tuples(whole_leaf, whole_leaf).map(lambda p: f"({p[0]} / {p[1]})"),
        st.tuples(st.sampled_from(FLOATS), either).map(lambda p: f"{p[0]}({p[1]})"),
        inner.map(lambda p: f"(-{p})"),
        inner.map(lambda p: f"abs({p})"),
        st.tuples(inner, st.sampled_from("234")).map(lambda p: f"({p[0]} ** {p[1]})"),
        st.tuples(inner, inner, either).map(lambda p: f"({p[0]} if {p[1]} > 0 else {p[2]})"),
        inner.map(lambda p: f"math.sqrt(abs({p}))"),
    )


part = st.recursive(part_leaf, part_more, max_leaves=7)
output = st.one_of(
    st.tuples(whole, st.sampled_from(INTEGERS)),
    st.tuples(part, st.sampled_from(FLOATS)),
    st.tuples(whole, st.just("float64")),
    st.tuples(st.tuples(part, part).map(lambda p: f"({p[0]} < {p[1]})"), st.just("bool")),
)
HEADER = "import math\nimport numpy as np\nfrom numba import cuda, " + ", ".join(INTEGERS + FLOATS) + "\n"


def both(body, results):
    """Run the body in both ways over all rows; return the results of each as dicts of arrays."""
    parameters = ", ".join([f"a_{name}" for name in COLUMNS] + list(results))
    file = f"<differential {next(_names)}>"
    text = HEADER + (
        f"def compiled(rows, {parameters}):\n    for t in range(rows):\n"
        + "".join(f"        {line}\n" for line in body)
        + f"def kernel({parameters}):\n    t = cuda.grid(1)\n"
        + "".join(f"    {line}\n" for line in body)
    )
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {}
    exec(compile(text, file, "exec"), names)
    first = {name: np.zeros(ROWS, kind) for name, kind in results.items()}
    second = {name: np.zeros(ROWS, kind) for name, kind in results.items()}
    numba.njit(error_model="numpy")(names["compiled"])(ROWS, *COLUMNS.values(), *first.values())
    simt.run(names["kernel"], 1, ROWS)(*COLUMNS.values(), *second.values())
    return first, second, text


def assert_same(body, results):
    first, second, text = both(body, results)
    for name in results:
        same = np.array_equal(first[name], second[name], equal_nan=results[name].startswith("float"))
        assert same, f"{text}\n{name}: numba {first[name]}\nours {second[name]}"


@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
@given(st.lists(output, min_size=12, max_size=12))
def test_expressions_are_computed_as_compiled(expressions):
    body = [f"o{place}[t] = {text}" for place, (text, _) in enumerate(expressions)]
    try:
        assert_same(body, {f"o{place}": kind for place, (_, kind) in enumerate(expressions)})
    except numba.core.errors.TypingError as error:  # literals that meet beyond 64 bits do not compile
        assume("too large" not in str(error))
        raise
