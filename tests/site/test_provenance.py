"""The probes of the execution record: each is checked for the facts and for the lines behind a number."""

import textwrap
from pathlib import Path

import pytest

from gpumoat import facts
from gpumoat.facts import Registry
from gpumoat.site import turns
from gpumoat.site.errors import SiteError
from gpumoat.site.execute import Example, run_example
from gpumoat.site.provenance import ExpressionError, element, origin
from gpumoat.site.reach import Reach
from gpumoat.site.syntax import Names

VALUES = {"a": 10, "b": 20, "c": 30, "d": 40, "ten": 10}


@pytest.fixture(autouse=True)
def small_registry(monkeypatch):
    """Four facts a to d, one with the value of a, and three cards with a memory and a price each."""
    small = Registry()
    small.add("sources", {"id": "s"}, "t")
    for id, value in VALUES.items():
        small.add("facts", {"id": id, "value": value, "unit": "", "status": "verified", "source": "s"}, "t")
    for index, card in enumerate(["one", "two", "three"]):
        small.add("subjects", {"id": card, "kind": "gpu", "name": card}, "t")
        row = {"id": f"{card}.memory_bytes", "value": 8 * (index + 1), "unit": "GiB", "status": "quoted"}
        small.add("facts", row, "t")
        small.add("facts", {"id": f"{card}.price_usd", "value": 100 + index, "unit": "USD"}, "t")
    small.add("claims", {"id": "said", "value": 99, "unit": "", "verdict": "wrong"}, "t")
    monkeypatch.setattr(facts, "_registry", small)


@pytest.fixture
def run(tmp_path):
    def run(source: str) -> Example:
        path = tmp_path / "example.py"
        path.write_text("from gpumoat import assume, claim, fact, gpu, measured\n" + textwrap.dedent(source).lstrip())
        return run_example(path)

    return run


def ids(found) -> set[str]:
    return {read.id for read in found.reads}


# Each probe: a script (line 1 is the import), the expression, the facts and the lines behind it.
PROBES = {
    "append": ("xs = []\nd = fact('a')\nxs.append(d)\nn = len(xs) + sum(xs)", "n", {"a"}, {2, 3, 4, 5}),
    "item": ("d = {}\nv = fact('a')\nd['k'] = v\nn = d['k'] + 1", "n", {"a"}, {2, 3, 4, 5}),
    "attribute": (
        "class A: pass\na = A()\nv = fact('a')\na.x = v\nn = a.x * 2",
        "n",
        {"a"},
        {2, 3, 4, 5, 6},
    ),
    "alias": ("xs = [1]\nys = xs\nys += [fact('a')]\nn = sum(xs)", "n", {"a"}, {2, 3, 4, 5}),
    "rebound": ("k = fact('a')\ndef f(): return k * 2\nk = fact('b')\nn = f()", "n", {"b"}, {3, 4, 5}),
    "cache": (
        "from functools import lru_cache\n@lru_cache\ndef f(): return fact('a')\nx = f()\ny = f() + 1",
        "y",
        {"a"},
        {3, 4, 5, 6},
    ),
    "local": ("k = fact('a')\ndef f(x):\n    k = x + 1\n    return k\nn = f(fact('b'))", "n", {"b"}, {3, 4, 5, 6}),
    "comprehension": ("i = fact('a')\nn = sum([i * 2 for i in [fact('b')]])", "n", {"b"}, {3}),
    "rows": ("m = [gpu(i).memory_bytes for i in ['one', 'two']]", "m[1]", {"two.memory_bytes"}, {2}),
    # More of the same kind, each a way in which a plain record of names would miss something.
    "nested alias": ("a = []\nb = [a]\nb[0].append(fact('a'))\nn = len(a)", "n", {"a"}, {2, 3, 4, 5}),
    "closure": (
        "def make():\n    xs = []\n    def add(v):\n        xs.append(v)\n        return sum(xs)\n    return add\n"
        "add = make()\nadd(fact('a'))\nn = add(1)",
        "n",
        {"a"},
        {2, 3, 4, 5, 6, 7, 8, 9, 10},
    ),
    "global statement": (
        "t = 0\ndef f(v):\n    global t\n    t += v\nf(fact('a'))\nn = t * 2",
        "n",
        {"a"},
        {2, 3, 4, 5, 6, 7},
    ),
    "iterator": ("it = iter([fact('a'), fact('b')])\nx = next(it)\ny = next(it) + 1", "y", {"a", "b"}, {2, 3, 4}),
    "used up": ("g = (fact(i) for i in 'ab')\nt = sum(g)\nn = len(list(g)) + 1", "n", {"a", "b"}, {2, 3, 4}),
    "walrus": ("xs = [(y := fact(i)) for i in 'ab']\nn = y + 1", "n", {"a", "b"}, {2, 3}),
    "branch": ("x = fact('a')\nif x > 5:\n    x = fact('b')\nn = x + 1", "n", {"a", "b"}, {2, 3, 4, 5}),
    "lambda": ("k = fact('a')\nf = lambda v: v * k\nn = f(2)", "n", {"a"}, {2, 3, 4}),
    "method": (
        "class Sum:\n    def __init__(self): self.t = 0\n    def add(self, v): self.t += v\n"
        "s = Sum()\ns.add(fact('a'))\nn = s.t + 1",
        "n",
        {"a"},
        {2, 3, 4, 5, 6, 7},
    ),
    "partial": (
        "from functools import partial\ndef f(x, y): return x * k + y\nk = fact('a')\ng = partial(f, 2)\nn = g(1)",
        "n",
        {"a"},
        {3, 4, 5, 6},
    ),
    "unrelated": ("x = fact('a')\ny = fact('b')\nprint(x, y)\nn = x + 1", "n", {"a"}, {2, 5}),
    "tuple": ("x, y = fact('a'), fact('b')\nn = y + 1", "n", {"a", "b"}, {2, 3}),
    "printing changes nothing": ("xs = [fact('a')]\nprint(len(xs), f'{xs}')\nn = sum(xs)", "n", {"a"}, {2, 4}),
    "guard block": (
        "n = 0\nif __name__ == '__main__':\n    x = fact('a')\n    n = x + 1",
        "n",
        {"a"},
        {2, 3, 4, 5},
    ),
    "output argument": (
        "def fill(v, out):\n    out.append(v)\nxs = []\nfill(fact('a'), out=xs)\nn = sum(xs)",
        "n",
        {"a"},
        {2, 3, 4, 5, 6},
    ),
}


@pytest.mark.parametrize("name", PROBES)
def test_probe(run, name):
    source, expression, reads, lines = PROBES[name]
    found = origin(run(source), expression)
    assert ids(found) == reads
    assert set(found.lines) == lines


ROWS = """
total = 100
rows = []
for name in ["one", "two", "three"]:
    card = gpu(name)
    rows.append({"name": name, "memory_bytes": card.memory_bytes, "cards": total // card.memory_bytes, "fixed": total})
table = {name: gpu(name).price_usd for name in ["one", "two"]}
nested = []
for name in ["one", "two"]:
    memory = gpu(name).memory_bytes
    for price in [gpu(name).price_usd]:
        nested.append({"ratio": memory / price})
running = []
so_far = 0
for name in ["one", "two", "three"]:
    so_far = so_far + gpu(name).memory_bytes
    running.append({"sum_bytes": so_far})
by_price = sorted(rows, key=lambda row: -row["memory_bytes"])
"""


class TestRows:
    def test_a_cell_rests_on_its_row_alone(self, run):
        example = run(ROWS)
        for index, name in enumerate(["one", "two", "three"]):
            assert ids(element(example, "rows", index, "cards")) == {f"{name}.memory_bytes"}
        assert ids(element(example, "table", "two", None)) == {"two.price_usd"}

    def test_a_bare_cell_keeps_its_kind(self, run):
        example = run(ROWS)
        assert element(example, "rows", 0, "memory_bytes").kind == "cited"
        assert element(example, "rows", 0, "cards").kind == "computed"
        assert element(example, "table", "one", None).kind == "cited"

    def test_an_inner_turn_knows_the_outer_one(self, run):
        assert ids(element(run(ROWS), "nested", 1, "ratio")) == {"two.memory_bytes", "two.price_usd"}

    def test_a_running_sum_rests_on_every_turn_before(self, run):
        example = run(ROWS)
        assert ids(element(example, "running", 0, "sum_bytes")) == {"one.memory_bytes"}
        assert ids(element(example, "running", 1, "sum_bytes")) == {"one.memory_bytes", "two.memory_bytes"}

    def test_a_sorted_copy_is_no_narrower_than_the_truth(self, run):
        assert "three.memory_bytes" in ids(element(run(ROWS), "by_price", 0, "cards"))

    def test_sorting_in_place_keeps_each_row_its_own(self, run):
        example = run(ROWS + "rows.reverse()\n")
        assert "three.memory_bytes" in ids(element(example, "rows", 0, "cards"))

    def test_equal_numbers_are_told_apart_by_place(self, run):
        example = run("m = [gpu(i).memory_bytes // gpu(i).memory_bytes for i in ['one', 'two']]")
        assert ids(origin(example, "m[0]")) == {"one.memory_bytes"}


KINDS = {
    "cited": "n = fact('a')",
    "assumed": "n = assume(5, 'the picture of the problem')",
    "claimed": "n = claim('said')",
    "computed": "n = fact('a') + 1",
}


class TestKind:
    @pytest.mark.parametrize("kind", KINDS)
    def test_bare_reads_keep_their_kind(self, run, kind):
        assert origin(run(KINDS[kind]), "n").kind == kind

    @pytest.mark.parametrize("source", ["m = fact('a')\nn = m", "n, m = fact('a'), fact('b')", "n: int = fact('a')"])
    def test_a_second_name_changes_nothing(self, run, source):
        found = origin(run(source), "n")
        assert (found.kind, ids(found)) == ("cited", {"a"})

    @pytest.mark.parametrize("source", ["n = int(fact('a'))", "n = fact('a')\nn = n * 1", "n = -fact('a')", "n = 10"])
    def test_anything_done_makes_it_computed(self, run, source):
        assert origin(run(source), "n").kind == "computed"

    def test_a_catalogue_field_is_cited(self, run):
        example = run("card = gpu('one')\nn = card.memory_bytes")
        assert origin(example, "n").kind == "cited"
        assert origin(example, "card.memory_bytes").kind == "cited"
        assert origin(example, "fact('a')").kind == "cited"

    def test_marks_say_what_the_arithmetic_rests_on(self, run):
        example = run("n = assume(2, 'a guess') * claim('said') * gpu('one').memory_bytes")
        marks = origin(example, "n").marks
        assert marks == ["rests on an assumption", "rests on a claim under examination", "rests on a quoted source"]


class TestExpressions:
    @pytest.mark.parametrize(
        "text",
        ["a + 1", "(a := 1)", "lambda: 1", "f(x)", "a if b else c", "[a]", "a.b()", "x[f(1)]", "x[1 + 1]", "1", "a, b"],
    )
    def test_arithmetic_belongs_in_the_script(self, run, text):
        with pytest.raises(ExpressionError):
            origin(run("a = b = c = x = 1"), text)

    def test_an_unknown_name_is_no_blank(self, run):
        with pytest.raises(ExpressionError, match="no 'weights_gib': it has weights_bytes"):
            origin(run("weights_bytes = 1"), "weights_gib")

    def test_an_unknown_fact_is_no_blank(self, run):
        with pytest.raises(ExpressionError, match="no fact 'zzz'"):
            origin(run("a = 1"), "fact('zzz')")


class TestRunning:
    def test_the_script_sees_what_it_sees_alone(self, run):
        example = run(
            """
            import dataclasses, inspect, sys
            @dataclasses.dataclass
            class Point:
                x: "int" = 0
            assert __name__ == "__main__"
            assert sys.modules["__main__"].__dict__ is globals()
            source = inspect.getsource(Point)
            assert __file__.endswith("example.py")
            print("done")
            """
        )
        assert example.output == "done\n"
        assert "class Point" in example.namespace["source"]

    def test_future_flags_reach_every_statement(self, tmp_path):
        path = tmp_path / "flags.py"
        path.write_text("from __future__ import annotations\ndef f(x: nowhere) -> never: return 1\nn = f(1)\n")
        assert run_example(path).namespace["n"] == 1

    @pytest.mark.parametrize(
        ("source", "line", "words"),
        [
            ("x = 1\ny = x / 0\n", 3, "ZeroDivisionError"),
            ("def f():\n    return 1 / 0\n\nf()\n", 3, "ZeroDivisionError"),
            ("for i in [1, 0]:\n    x = 1 / i\n", 3, "ZeroDivisionError"),
            ("x = [1 / i for i in [0]]\n", 2, "ZeroDivisionError"),
            ("x = (\n", 2, "does not parse"),
            ("import sys\nsys.exit(3)\n", 3, "exits with 3"),
            ("x = fact('zzz')\n", 2, "no fact 'zzz'"),
        ],
    )
    def test_a_failing_script_names_its_line(self, run, source, line, words):
        with pytest.raises(SiteError, match=words) as caught:
            run(source)
        assert caught.value.line == line

    def test_a_missing_script_is_one_clear_line(self, tmp_path):
        with pytest.raises(SiteError, match="no such example"):
            run_example(Path(tmp_path / "nowhere.py"))

    def test_what_the_record_adds_is_not_seen(self, run):
        example = run(
            "xs = [i for i in range(2)]\nd = {i: i for i in range(2)}\nfor j in range(2): pass\nn = sorted(globals())"
        )
        assert not [name for name in example.namespace["n"] if "moat" in name]
        assert example.namespace["d"] == {0: 0, 1: 1}


# Ways to bind, to change and to read that Python has beside the plain assignment.
STATEMENTS = {
    "starred": ("x, *y = [fact('a'), fact('b'), 1]\nn = len(y) + 1", "n", {"a", "b"}, {2, 3}),
    "swap": ("x = fact('a')\ny = fact('b')\nx, y = y, x\nn = x + 1", "n", {"a", "b"}, {2, 3, 4, 5}),
    "nested targets": ("(x, [y, z]) = (1, [fact('a'), 2])\nn = y + z", "n", {"a"}, {2, 3}),
    "chained": ("x = y = fact('a')\nx = 1\nn = y + 1", "n", {"a"}, {2, 4}),
    "try": ("try:\n    x = fact('a')\nexcept KeyError:\n    x = fact('b')\nn = x + 1", "n", {"a"}, {2, 3, 4, 5, 6}),
    "exception value": (
        "try:\n    raise ValueError(fact('a'))\nexcept ValueError as error:\n    x = error.args[0]\nn = x + 1",
        "n",
        {"a"},
        {2, 3, 4, 5, 6},
    ),
    "try keeps the old value": (
        "x = fact('a')\ntry:\n    x = {}['k']\nexcept KeyError:\n    pass\nn = x + 1",
        "n",
        {"a"},
        {2, 3, 4, 5, 6, 7},
    ),
    "with": (
        "from contextlib import contextmanager\n@contextmanager\ndef f():\n    yield fact('a')\n"
        "with f() as x:\n    y = x + 1\nn = y * 2",
        "n",
        {"a"},
        {3, 4, 5, 6, 7, 8},
    ),
    "while": (
        "x = fact('a')\ni = 0\nwhile i < 2:\n    x = x + fact('b')\n    i += 1\nn = x * 2",
        "n",
        {"a", "b"},
        {2, 3, 4, 5, 6, 7},
    ),
    "while that does not run": ("x = fact('a')\nwhile x < 0:\n    x = 1\nn = x + 1", "n", {"a"}, {2, 3, 4, 5}),
    "for else": (
        "x = fact('a')\nfor i in []:\n    x = 1\nelse:\n    x = x + 1\nn = x * 2",
        "n",
        {"a"},
        {2, 3, 4, 5, 6, 7},
    ),
    "match": (
        "p = {'k': fact('a'), 'r': fact('b')}\n"
        "match p:\n    case {'k': x, **rest}:\n        y = x + rest['r']\nn = y + 1",
        "n",
        {"a", "b"},
        {2, 3, 4, 5, 6},
    ),
    "match a sequence": (
        "match [1, fact('a'), 3]:\n    case [first, *others]:\n        pass\nn = sum(others)",
        "n",
        {"a"},
        {2, 3, 4, 5},
    ),
    "decorator": (
        "k = fact('a')\ndef times(f):\n    return lambda v: f(v) * k\n@times\ndef g(v):\n    return v + 1\nn = g(1)",
        "n",
        {"a"},
        {2, 3, 4, 5, 6, 7, 8},
    ),
    "decorator that registers": (
        "known = []\ndef keep(f):\n    known.append(f)\n    return f\n@keep\ndef g():\n    return fact('a')\n"
        "n = known[0]() + 1",
        "n",
        {"a"},
        {2, 3, 4, 5, 6, 7, 8, 9},
    ),
    "class state": ("class A:\n    t = 0\nA.t += fact('a')\nn = A.t + 1", "n", {"a"}, {2, 3, 4, 5}),
    "class body": ("k = fact('a')\nclass A:\n    t = k + 1\nn = A.t + 1", "n", {"a"}, {2, 3, 4, 5}),
    "state behind an instance": (
        "class A:\n    seen = []\nA().seen.append(fact('a'))\nn = sum(A.seen)",
        "n",
        {"a"},
        {2, 3, 4, 5},
    ),
    "property": (
        "k = fact('a')\nclass A:\n    @property\n    def x(self): return k + 1\na = A()\nn = a.x * 2",
        "n",
        {"a"},
        {2, 3, 4, 5, 6, 7},
    ),
    "delete an item": ("d = {'k': 1, 'j': 2}\nif fact('a'):\n    del d['k']\nn = len(d) + 1", "n", {"a"}, {2, 3, 4, 5}),
    "delete a name": ("x = fact('a')\ndel x\nx = fact('b')\nn = x + 1", "n", {"b"}, {4, 5}),
    "annotation alone": ("x = fact('a')\nx: int\nn = x + 1", "n", {"a"}, {2, 4}),
    "annotation alone in a block": ("x = fact('a')\nif x:\n    x: int\n    n = x + 1", "n", {"a"}, {2, 3, 4, 5}),
    "star import": ("from math import *\nx = fact('a')\nn = floor(x) + 1", "n", {"a"}, {3, 4}),
    "globals": ("globals()['x'] = fact('a')\nn = x + 1", "n", {"a"}, {2, 3}),
    "exec": ("exec('x = fact(\"a\")')\nn = x + 1", "n", {"a"}, {2, 3}),
    "setattr": ("class A: pass\na = A()\nsetattr(a, 'x', fact('a'))\nn = a.x + 1", "n", {"a"}, {2, 3, 4, 5}),
    "bound method": ("xs = []\nadd = xs.append\nadd(fact('a'))\nn = sum(xs)", "n", {"a"}, {2, 3, 4, 5}),
    "function attribute": ("def f(): pass\nf.x = fact('a')\nn = f.x + 1", "n", {"a"}, {2, 3, 4}),
    "default argument": (
        "def f(v, seen=[]):\n    seen.append(v)\n    return sum(seen)\nf(fact('a'))\nn = f(1)",
        "n",
        {"a"},
        {2, 3, 4, 5, 6},
    ),
    "lazy map": ("xs = []\nm = map(abs, xs)\nxs.append(fact('a'))\nn = sum(m)", "n", {"a"}, {2, 3, 4, 5}),
    "dict view": ("d = {}\nv = d.values()\nd['k'] = fact('a')\nn = sum(v)", "n", {"a"}, {2, 3, 4, 5}),
    "slice assignment": ("xs = [1, 2]\nxs[:] = [fact('a')]\nn = sum(xs)", "n", {"a"}, {2, 3, 4}),
    "sorted in place": ("xs = [fact('b'), fact('a')]\nxs.sort()\nn = xs[0] + 1", "n", {"a", "b"}, {2, 3, 4}),
    "dict of lists": ("d = {'k': []}\nd['k'].append(fact('a'))\nn = sum(d['k'])", "n", {"a"}, {2, 3, 4}),
    "two names for a record": (
        "rows = [{'x': 1}]\nfirst = rows[0]\nfirst['x'] = fact('a')\nn = rows[0]['x'] + 1",
        "n",
        {"a"},
        {2, 3, 4, 5},
    ),
    "generator function": (
        "def g():\n    yield fact('a')\n    yield fact('b')\nit = g()\nx = next(it)\nn = next(it) + 1",
        "n",
        {"a", "b"},
        {2, 3, 4, 5, 6, 7},
    ),
    "conditional expression": ("x = fact('a')\nn = 1 if x > 5 else 2", "n", {"a"}, {2, 3}),
    "formatted text": ("x = fact('a')\nn = f'{x} layers'", "n", {"a"}, {2, 3}),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statement(run, name):
    source, expression, reads, lines = STATEMENTS[name]
    found = origin(run(source), expression)
    assert ids(found) == reads
    assert set(found.lines) == lines


# A cell, and the facts and lines behind it. Line 1 is the import.
CELLS = {
    "a list of records": (
        "rows = [\n    {'x': fact('a'), 'y': fact('b') + 1},\n    {'x': fact('c'), 'y': 2},\n]",
        "rows",
        {(0, "x"): ({"a"}, {3}), (0, "y"): ({"b"}, {3}), (1, "x"): ({"c"}, {4}), (1, "y"): (set(), {4})},
    ),
    "a loop with a local name": (
        "rows = []\nfor i in 'ab':\n    v = fact(i)\n    rows.append({'x': v * 2, 'y': 1})",
        "rows",
        {(0, "x"): ({"a"}, {2, 3, 4, 5}), (1, "x"): ({"b"}, {2, 3, 4, 5})},
    ),
    "a loop that only prints": (
        "rows = []\nfor i in 'ab':\n    rows.append({'x': fact(i) * 2})\n"
        "for row in rows:\n    print(row['x'], fact('c'))",
        "rows",
        {(0, "x"): ({"a"}, {2, 3, 4}), (1, "x"): ({"b"}, {2, 3, 4})},
    ),
    "a record named before it is kept": (
        "rows = []\nfor i in 'ab':\n    row = {'x': fact(i) + 1}\n    rows.append(row)",
        "rows",
        {(0, "x"): ({"a"}, {2, 3, 4, 5}), (1, "x"): ({"b"}, {2, 3, 4, 5})},
    ),
    "a dict of records": (
        "rows = {\n    'p': {'x': fact('a')},\n    'q': {'x': fact('b')},\n}",
        "rows",
        {("p", "x"): ({"a"}, {3}), ("q", "x"): ({"b"}, {4})},
    ),
    "a later field rests on an earlier name": (
        "k = fact('a')\nrows = [\n    {'x': k + 1, 'y': fact('b')},\n]",
        "rows",
        {(0, "x"): ({"a"}, {2, 4}), (0, "y"): ({"b"}, {4})},
    ),
    "a record from another record of the same turn": (
        "rows = []\nfor i in 'ab':\n    part = {'q': fact(i)}\n    rows.append({'x': part['q'] + 1, 'y': 2})",
        "rows",
        {(0, "x"): ({"a"}, {2, 3, 4, 5}), (1, "x"): ({"b"}, {2, 3, 4, 5})},
    ),
    "a loop in the loop adds up": (
        "rows = []\nfor i in 'ab':\n    t = 0\n    for j in [i]:\n        t += fact(j)\n    rows.append({'x': t})",
        "rows",
        {(0, "x"): ({"a"}, {2, 3, 4, 5, 6, 7}), (1, "x"): ({"b"}, {2, 3, 4, 5, 6, 7})},
    ),
    "a record in a block": (
        "if True:\n    v = fact('a')\n    rows = [{'x': v + 1}]",
        "rows",
        {(0, "x"): ({"a"}, {2, 3, 4})},
    ),
    "a comprehension of records": (
        "rows = [{'x': fact(i) + 1, 'y': 3} for i in 'ab']",
        "rows",
        {(0, "x"): ({"a"}, {2}), (1, "x"): ({"b"}, {2})},
    ),
}


@pytest.mark.parametrize("name", CELLS)
def test_cell(run, name):
    source, rows, cells = CELLS[name]
    example = run(source)
    for (key, field), (reads, lines) in cells.items():
        found = element(example, rows, key, field)
        assert ids(found) == reads, (key, field)
        assert set(found.lines) == lines, (key, field)


# What an earlier part of a row or of a loop did to a later part must be in its facts: narrow, but never too narrow.
WIDE = {
    "a list named later": (
        "outer = [[]]\nfor i in 'ab':\n    outer[0].append(fact(i))\ninner = outer[0]",
        "inner",
        1,
        {"a", "b"},
    ),
    "a walrus in a list": ("xs = [(y := fact('a')), y + 1]", "xs", 1, {"a"}),
    "an element that changes what the next one reads": (
        "seen = []\nxs = [seen.append(fact('a')) or 1, sum(seen)]",
        "xs",
        1,
        {"a"},
    ),
    "rows under a second name": (
        "rows = []\nsame = rows\nfor i in 'ab':\n    rows.append(fact(i) + len(same))",
        "rows",
        1,
        {"a", "b"},
    ),
    "rows under a name of the loop": (
        "rows = []\nfor i in 'ab':\n    r = rows\n    r.append(fact(i) + len(rows))",
        "rows",
        1,
        {"a", "b"},
    ),
    "rows read by a function": (
        "rows = []\ndef so_far(): return sum(rows)\nfor i in 'ab':\n    rows.append(fact(i) + so_far())",
        "rows",
        1,
        {"a", "b"},
    ),
    "a record from another record of the same turn": (
        "rows = []\nfor i in 'ab':\n    part = {'q': fact(i)}\n    rows.append({'x': part['q'] + 1}['x'])",
        "rows",
        1,
        {"b"},
    ),
    "a list from another list of the same turn": (
        "rows = []\nfor i in 'ab':\n    part = [fact(i)]\n    rows.append([part[0] + 1, 2][0])",
        "rows",
        1,
        {"b"},
    ),
    "a field that a field before it feeds": (
        "seen = []\nrows = []\nfor i in 'ab':\n"
        "    rows.append([{'x': seen.append(fact(i)) or 1, 'y': sum(seen)}['y']][0])",
        "rows",
        1,
        {"a", "b"},
    ),
    "two loops in one block": (
        "rows = []\nif True:\n    t = 0\n    for i in 'ab':\n        t += fact(i)\n    for i in 'cd':\n"
        "        rows.append(t + fact(i))",
        "rows",
        1,
        {"a", "b", "d"},
    ),
    "the last row": ("rows = []\nfor i in 'ab':\n    rows.append(fact(i) + sum(rows[-1:]))", "rows", 1, {"a", "b"}),
    "inserted in front": ("rows = []\nfor i in 'ab':\n    rows.insert(0, fact(i) + 1)", "rows", 1, {"a"}),
    "a second loop that changes rows": (
        "rows = []\nfor i in 'ab':\n    rows.append({'x': fact(i)})\nfor row in rows:\n    row['x'] += fact('c')",
        "rows",
        0,
        {"a", "c"},
    ),
    "a state in a closure": (
        "def make():\n    t = [0]\n    def add(v):\n        t[0] += v\n        return t[0]\n    return add\n"
        "add = make()\nrows = [add(fact(i)) for i in 'ab']",
        "rows",
        1,
        {"a", "b"},
    ),
    "an item set with the same value": ("xs = [fact('a'), 1]\nxs[0] = fact('ten')", "xs", 0, {"ten"}),
}


@pytest.mark.parametrize("name", WIDE)
def test_never_too_narrow(run, name):
    source, rows, key, reads = WIDE[name]
    assert ids(element(run(source), rows, key, None)) >= reads


class TestTheProbesBite:
    """Each check of what a row rests on, with the fault that it is there to see."""

    def test_without_the_reads_of_other_loops_a_sum_is_lost(self, run, monkeypatch):
        monkeypatch.setattr(turns, "besides", lambda reads, scopes, own: [])
        source, rows, _ = CELLS["a loop in the loop adds up"]
        assert ids(element(run(source), rows, 0, "x")) == set()

    def test_without_entanglement_an_alias_is_lost(self, run, monkeypatch):
        monkeypatch.setattr(Reach, "meets", lambda self, other: False)
        source, expression, *_ = PROBES["alias"]
        found = origin(run(source.replace("sum(xs)", "len(xs)")), expression)
        assert ids(found) == set()

    def test_without_what_was_stored_unseen_exec_is_lost(self, run, monkeypatch):
        monkeypatch.setattr(Names, "stores", property(lambda self: set(), lambda self, _: None), raising=False)
        source, expression, *_ = STATEMENTS["exec"]
        assert ids(origin(run(source), expression)) == set()


class TestTheRightOneOfTwo:
    """Two facts may have one value; a bare read must name the one that it is, or claim to be none."""

    @pytest.mark.parametrize(
        ("source", "expression", "right"),
        [
            ("n, m = fact('a'), fact('ten')", "n", "a"),
            ("n, m = fact('a'), fact('ten')", "m", "ten"),
            ("m = fact('a')\nn = m\nm = fact('ten')", "n", "a"),
            ("n, m = fact(id='a'), fact('ten')", "n", "a"),
            ("d = {'x': fact('a'), 'y': fact('ten')}", "d['x']", "a"),
            ("d = {'x': fact('a'), 'y': fact('ten')}", "d['y']", "ten"),
            ("xs = [fact('a'), fact('ten')]", "xs[0]", "a"),
            ("xs = [fact('a'), fact('ten')]", "xs[-1]", "ten"),
            ("xs = [fact(i) for i in ['a', 'ten']]", "xs[0]", "a"),
            ("rows = [{'x': fact(i), 'y': fact('a')} for i in ['ten', 'b']]", "rows[0]['x']", "ten"),
        ],
    )
    def test_a_bare_read_names_its_own_fact(self, run, source, expression, right):
        found = origin(run(source), expression)
        assert (found.kind, ids(found)) == ("cited", {right})

    @pytest.mark.parametrize(
        ("source", "expression", "wrong"),
        [
            ("xs = [fact('a'), 1]\nxs[0] = fact('ten')", "xs[0]", "a"),
            ("d = {'x': fact('a')}\nd['x'] = fact('ten')", "d['x']", "a"),
            ("xs = [fact('a')]\nn = xs[0]\nxs = [fact('ten')]", "n", "ten"),
        ],
    )
    def test_a_value_set_again_is_not_the_first_fact(self, run, source, expression, wrong):
        found = origin(run(source), expression)
        assert found.door is None or found.door.id != wrong

    def test_two_assumptions_with_one_reason_are_two(self, run):
        found = origin(run("n = assume(2, 'a guess') * assume(3, 'a guess')"), "n")
        assert [read.value for read in found.reads] == [2, 3]


class TestDoorsOnly:
    """What is no door is computed, whatever it is called."""

    @pytest.mark.parametrize(
        "source",
        [
            "fact = lambda id: 10\nn = fact('a')",
            "def fact(id): return 10\nn = fact('a')",
            "real = fact\ndef fact(id): return real(id) * 1\nn = fact('a')",
            "def look(id): return fact(id)\nn = look('a')",
            "n = int(fact('a'))",
            "n = max(fact('a'), 3)",
            "class Card:\n    @property\n    def x(self): return fact('a') * 1\ncard = Card()\nn = card.x",
        ],
    )
    def test_anything_else_is_computed(self, run, source):
        assert origin(run(source), "n").kind == "computed"

    def test_a_false_door_on_a_page_is_no_citation(self, run):
        found = origin(run("fact = lambda id: 10"), "fact('a')")
        assert (found.kind, ids(found)) == ("computed", set())

    def test_a_property_of_the_script_is_no_catalogue_field(self, run):
        source = (
            "class Card:\n    @property\n    def memory_bytes(self): return gpu('one').memory_bytes * 1\ncard = Card()"
        )
        assert origin(run(source), "card.memory_bytes").kind == "computed"

    @pytest.mark.parametrize(
        "source", ["from gpumoat import fact as f\nn = f('a')", "import gpumoat\nn = gpumoat.fact('a')"]
    )
    def test_a_door_under_another_name_is_a_door(self, run, source):
        assert origin(run(source), "n").kind == "cited"

    def test_a_catalogue_object_cannot_be_changed(self, run):
        with pytest.raises(SiteError, match="AttributeError") as caught:
            run("card = gpu('one')\ncard.memory_bytes = 3\n")
        assert caught.value.line == 3


class TestLeaving:
    def test_a_script_that_exits_well_stops_there(self, run):
        example = run("import sys\nn = 1\nprint('first')\nsys.exit()\nn = fact('a')\nprint('second')")
        assert (example.namespace["n"], example.output) == (1, "first\n")

    def test_output_belongs_to_its_statement(self, run):
        example = run("print('one')\nx = 1\nfor i in range(2):\n    print(i)\n")
        assert [statement.output for statement in example.statements] == ["", "one\n", "", "0\n1\n"]
